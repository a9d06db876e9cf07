"""A study for asyncio: what blocks runs in threads, and asks that come at once share a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Self, Unpack, overload

from belman.bridges.in_threads import InThreads, changing, reading
from belman.errors import StudyError
from belman.studies import Ask, Study, Tell, Ticket
from belman.studies.group_commit import GroupCommit
from belman.studies.requests.asking import AskOptions

Given = Mapping[str, Any]


class AsyncStudy(InThreads[Study]):
    """The same study, awaited.

    Parameters
    ----------
    study
        A study that `belman.open_study` opened. Leave it to this object from then on.

    `ask` and `tell` of coroutines that run at once are written in one transaction. One that is
    cancelled before it is written is not made; the tickets of an ask that is cancelled later are
    given back to the study, unless it had a key, with which the same tickets can be asked for
    again. A tell that is cancelled counts or does not: tell it once more, which changes nothing
    where it did.

    All other methods are those of the study, as coroutines; what only looks has a thread and a
    state of its own, so that no report keeps a decision waiting. `await study.run(work)` does
    whatever else there is to do with the study.

    >>> import asyncio, belman, tempfile
    >>> async def main(url):
    ...     async with AsyncStudy(belman.open_study("page", ["a", "b"], storage=url)) as study:
    ...         ticket = await study.ask()
    ...         return await study.tell(ticket, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(main(f"sqlite:///{folder}/studies.db"))
    True
    """

    def __init__(self, study: Study) -> None:
        self.name = study.name
        self._study, self._beside = study, study.beside()
        self._deciding = ThreadPoolExecutor(1, "belman-decide")
        self._looking = ThreadPoolExecutor(1, "belman-look")
        self._commit = GroupCommit(study, self._deciding)
        self._is_closed = False

    def _position(self, reading: bool) -> tuple[Study, Executor]:
        if self._is_closed:
            raise StudyError(f"study {self.name!r} is closed here")
        return (self._beside, self._looking) if reading else (self._study, self._deciding)

    @overload
    async def ask(self, n: None = None, **options: Unpack[AskOptions]) -> Ticket: ...
    @overload
    async def ask(self, n: int, **options: Unpack[AskOptions]) -> list[Ticket]: ...
    async def ask(
        self,
        n: int | None = None,
        *,
        context: Given | None = None,
        candidates: Sequence[Given] | None = None,
        top: int | None = None,
        attributes: Given | None = None,
        key: str | None = None,
    ) -> Any:
        """Ask for an arm to try now, as `Study.ask` does.

        Parameters
        ----------
        n
            The size of a batch; by default one ticket that is no list.
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.
        top
            How many arms or candidates the ticket ranks, best first.
        attributes
            Values by name that are kept in the log for `report(by=…)`.
        key
            An idempotency key: the same key gives the same tickets.

        Returns
        -------
        Ticket, or a list of them
            A list where `n` is given.
        """
        self._position(False)
        count = 1 if n is None else n
        request = Ask(count, key, attributes, context, candidates, top)
        tickets: Any = await self._commit.answer(request)
        return tickets[0] if n is None else tickets

    async def tell(
        self,
        ticket: str | Ticket,
        reward: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Learn the reward of a ticket, as `Study.tell` does.

        Parameters
        ----------
        ticket
            A ticket, or its id.
        reward
            The reward; left out where the study computes it from metrics.
        metrics
            Other measurements by name.
        key
            An idempotency key; needed where rewards accumulate and a request may be sent again.

        Returns
        -------
        bool
            True if the reward is new, False if the same one was told before.
        """
        self._position(False)
        return bool(await self._commit.answer(Tell(ticket, reward, key, metrics)))

    correct = changing(Study.correct)
    give_back = changing(Study.give_back)
    record = changing(Study.record)
    observe = changing(Study.observe)
    correct_rows = changing(Study.correct_rows)
    publish = changing(Study.publish)
    weights = changing(Study.weights)
    archive_events = changing(Study.archive_events)
    pause = changing(Study.pause)
    resume = changing(Study.resume)
    add_arm = changing(Study.add_arm)
    retire_arm = changing(Study.retire_arm)
    set_exposure = changing(Study.set_exposure)
    set_policy = changing(Study.set_policy)
    set_guard = changing(Study.set_guard)
    spend = changing(Study.spend)
    ship = changing(Study.ship)
    unship = changing(Study.unship)

    status = reading(Study.status)
    beliefs = reading(Study.beliefs)
    report = reading(Study.report)
    verdict = reading(Study.verdict)
    metrics = reading(Study.metrics)
    spending = reading(Study.spending)
    affordable = reading(Study.affordable)
    explain = reading(Study.explain)
    contexts = reading(Study.contexts)
    segments = reading(Study.segments)
    changes = reading(Study.changes)
    history = reading(Study.history)
    export = reading(Study.export)
    replay = reading(Study.replay)

    async def close(self) -> None:
        """Finish what is under way, and end the threads; the storage stays open."""
        self._is_closed = True
        await self._commit.settled()
        for threads in (self._deciding, self._looking):
            await asyncio.to_thread(threads.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncStudy({self.name!r})"

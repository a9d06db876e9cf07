"""Calls that a study routes: an ask picks who answers, and what became of the call is its reward.

Nothing here knows of any router; `litellm_router` has the one of litellm.
"""

from __future__ import annotations

import logging
import random
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from belman.bridges.async_study import AsyncStudy
from belman.errors import BelmanError, BudgetError, PausedError, SettingError, shown
from belman.studies import Study, Ticket

log = logging.getLogger("belman.bridges")

#: How many more tickets are asked for, at once, where the first is for an arm that cannot be had.
MORE = 16
#: Sessions that are remembered; the one that was heard of least lately goes first.
SESSIONS = 100_000


@dataclass
class Call:
    """A call under way, or one whose quality is still to come."""

    ticket: str
    id: str
    arm: Hashable
    begun: float
    session: str | None
    metrics: dict[str, float] | None = None
    quality: float | None = None


class RoutedCalls:
    """Routes calls by a study; for one event loop, which makes every change of it.

    Parameters
    ----------
    study
        Whose arms are what calls can go to. Leave it to this object from then on.
    patience
        Seconds after which a call that was not heard of any more is given back.
    clock
        What time it is, in seconds.
    """

    def __init__(
        self, study: Study, patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.study = AsyncStudy(study)
        self.segments: tuple[str, ...] = study.settings.segments or ()
        self._minimises = study.settings.minimise
        self._has_formula = study.settings.reward is not None
        budget = study.settings.budget
        #: The metric that has a budget, against which calls count that no ask decided.
        self.cost: str | None = None if budget is None else budget.metric
        self._patience, self._clock = patience, clock
        self._open: OrderedDict[str, Call] = OrderedDict()  # by ticket, the oldest first
        self._tickets: dict[str, str] = {}  # by the name of a call
        self._sessions: OrderedDict[str, str] = OrderedDict()

    async def choose(
        self,
        targets: Mapping[str, Hashable],
        call: str,
        context: Mapping[str, Any] | None = None,
        session: str | None = None,
    ) -> tuple[str, str | None]:
        """Pick the target of a call, and the ticket of the decision where the study made one.

        Parameters
        ----------
        targets
            The arm of each target that can be had now, by the target's name.
        call
            The name of the call, by which a quality can be told.
        context
            What the study is asked with.
        session
            A session keeps its target while that can be had: only its first call is asked for.

        Raises
        ------
        BudgetError
            Where the study has a budget that has no room for another call.
        """
        await self._give_up()
        arms = set(targets.values())
        if session is not None and (kept := self._sessions.get(session)) in targets:
            assert kept is not None
            if targets[kept] in await self._affordable(arms, context):
                self._sessions.move_to_end(session)
                return kept, None
        ticket = await self._asked(arms, context)
        arm = await self._best(arms, context) if ticket is None else ticket.arm
        target = random.choice([name for name, its in targets.items() if its == arm])
        if ticket is None:
            return target, None
        self._open[ticket.id] = Call(ticket.id, call, arm, self._clock(), session)
        self._tickets[call] = ticket.id
        if session is not None:
            self._sessions[session] = target
            if len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
        return target, ticket.id

    async def _asked(self, arms: set[Hashable], context: Mapping[str, Any] | None) -> Ticket | None:
        """Return the first ticket for an arm that can be had, and give those before it back.

        Each was drawn with the chance that it says. None where the study is paused, or insists.
        """
        if self.cost is not None:
            return await self._asked_singly(arms, context)
        unused: list[Ticket] = []
        try:
            for n in (1, MORE):
                asked = await self.study.ask(n, context=context)
                unused += asked
                for ticket in asked:
                    if ticket.arm in arms:
                        unused.remove(ticket)
                        return ticket
        except PausedError:
            return None
        finally:
            if unused:
                await self.study.give_back(unused)
        return None

    async def _asked_singly(
        self, arms: set[Hashable], context: Mapping[str, Any] | None
    ) -> Ticket | None:
        """Do the same one by one: tickets that are out count against the budget."""
        for _ in range(1 + MORE):
            try:
                (ticket,) = await self.study.ask(1, context=context)
            except PausedError:
                return None
            if ticket.arm in arms:
                return ticket
            await self.study.give_back([ticket])
        return None

    async def _affordable(
        self, arms: set[Hashable], context: Mapping[str, Any] | None
    ) -> set[Hashable]:
        """Return those of these arms that the budget has room for."""
        if self.cost is None:
            return arms
        return arms.intersection(await self.study.affordable(context=context))

    async def _best(self, arms: set[Hashable], context: Mapping[str, Any] | None) -> Hashable:
        """Return the arm that has earned most so far; no decision of the study, and not learnt."""
        if not (arms := await self._affordable(arms, context)):
            words = "its budget has no room for another call of an arm that can be had"
            raise BudgetError(f"study {self.study.name!r} decides nothing now, and {words}")
        table = await self.study.beliefs(context=context)
        means = dict(zip(table["arm"], table["expected reward"], strict=True))
        sign = -1.0 if self._minimises else 1.0
        known = [arm for arm in arms if arm in means] or list(arms)
        return max(known, key=lambda arm: sign * means.get(arm, 0.0))

    async def ended(self, ticket: str, metrics: Mapping[str, float], quality: float | None) -> None:
        """Learn what became of a call; where its quality is None, that comes later by `tell`."""
        call = self._open.get(ticket)
        if call is None or call.metrics is not None:
            return  # it was given back, or its end was told
        call.metrics = dict(metrics)
        call.quality = call.quality if quality is None else quality
        if call.quality is not None:
            await self._told(call)

    def waits_for(self, call: str) -> bool:
        """Whether a call of this name is under way, or waits for its quality."""
        return call in self._tickets

    async def tell(self, call: str, quality: float) -> None:
        """Learn the quality of a call that waits for it, before or after it ended."""
        result = self._open[self._tickets[call]]
        result.quality = quality
        if result.metrics is not None:
            await self._told(result)

    async def _told(self, call: Call) -> None:
        self._close(call)
        assert call.metrics is not None
        assert call.quality is not None
        if self._has_formula:
            told = self.study.tell(call.ticket, metrics={**call.metrics, "quality": call.quality})
        else:
            told = self.study.tell(call.ticket, call.quality, metrics=call.metrics)
        await self._or_back(told, call)

    async def _or_back(self, told: Awaitable[bool], call: Call) -> None:
        """Give a ticket back whose reward the study refuses, and raise why."""
        try:
            await told
        except BelmanError:
            await self._back(call)
            raise

    async def give_back(self, ticket: str) -> None:
        """Forget a call that says nothing of who answers: it was cancelled, or not answered. What
        is known of its cost counts.
        """
        call = self._open.get(ticket)
        if call is None:
            return
        self._close(call)
        if call.session is not None:
            self._sessions.pop(call.session, None)
        await self._back(call)

    async def spoilt(self, ticket: str, metrics: Mapping[str, float]) -> None:
        """Give a call back that ended, and whose quality nobody knows."""
        if (call := self._open.get(ticket)) is not None:
            call.metrics = dict(metrics)
            await self.give_back(ticket)

    async def _back(self, call: Call) -> None:
        await self.study.give_back([call.ticket])
        await self.spent(call.arm, call.metrics or {})

    async def spent(self, arm: Hashable, metrics: Mapping[str, float]) -> None:
        """Count the cost of a call that no ask decided, or whose ask was given back."""
        if self.cost is not None and metrics.get(self.cost, 0.0) > 0.0:
            await self.study.spend(metrics[self.cost], "a call without a ticket", arm=arm)

    async def cancel(self, call: str) -> None:
        """Give a call back by its name, if it is under way."""
        if (ticket := self._tickets.get(call)) is not None:
            await self.give_back(ticket)

    def leave(self, session: str) -> None:
        """Let the next call of a session be asked for: where it went has failed."""
        self._sessions.pop(session, None)

    async def _give_up(self) -> None:
        late = self._clock() - self._patience
        while self._open and (first := next(iter(self._open.values()))).begun < late:
            words = "call %s was not heard of for %g s, and is given back"
            log.warning(words, first.id, self._patience)
            await self.give_back(first.ticket)

    def _close(self, call: Call) -> None:
        self._open.pop(call.ticket, None)
        if self._tickets.get(call.id) == call.ticket:
            del self._tickets[call.id]

    async def close(self) -> None:
        """Give back what is under way, and end the threads of the study."""
        for ticket in list(self._open):
            await self.give_back(ticket)
        await self.study.close()


def check_patience(patience: float) -> float:
    """Return how long a call is waited for, if it can be."""
    if isinstance(patience, bool) or not isinstance(patience, int | float) or not patience > 0:
        raise SettingError(f"patience={shown(patience)} is no time to wait: give seconds above 0")
    return float(patience)

"""A study that a service has: ask and tell, tables, and changes while it runs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, overload
from urllib.parse import quote, urlencode

from .messages import (
    RemoteTicket,
    arm_in,
    arm_out,
    finite,
    id_of,
    metrics_out,
    number_in,
    tell_out,
    tickets_in,
    told_in,
    understood,
)
from .prefetched import MOST, Prefetched
from .refusals import BelmanError
from .remote_edge import RemoteEdge

if TYPE_CHECKING:
    from .client import AnyClient

Given = Mapping[str, Any]
Rows = Iterable[dict[str, Any]]
T = TypeVar("T")


def in_context(context: Given | None, candidates: Iterable[Given] | None) -> dict[str, str | None]:
    """What an address says of a look at a study in a context, or at candidates in one.

    >>> in_context({"age": 31}, None)
    {'context': '{"age": 31}', 'candidates': None}
    """
    return {
        "context": None if context is None else json.dumps(dict(context)),
        "candidates": None if candidates is None else json.dumps([dict(one) for one in candidates]),
    }


class Asked(TypedDict, total=False):
    """Name the options of an ask beside the number of tickets."""

    attributes: Given | None
    key: str | None
    context: Given | None
    candidates: Iterable[Given] | None
    top: int | None


class AnyRemoteStudy(RemoteEdge, ABC, Generic[T]):
    """A study of a service; `_table` makes the tables that its methods return."""

    def __init__(self, client: AnyClient[Any], name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/api/studies/{quote(name, safe='')}"

    @overload
    def ask(self, n: None = None, **asked: Unpack[Asked]) -> RemoteTicket: ...
    @overload
    def ask(self, n: int, **asked: Unpack[Asked]) -> list[RemoteTicket]: ...
    def ask(
        self,
        n: int | None = None,
        *,
        attributes: Given | None = None,
        key: str | None = None,
        context: Given | None = None,
        candidates: Iterable[Given] | None = None,
        top: int | None = None,
    ) -> Any:
        """Ask for an arm to try now.

        Parameters
        ----------
        n
            The size of a batch; by default one ticket that is no list.
        attributes
            Values by name that are kept for reports, such as {"device": "phone"}.
        key
            An idempotency key: the same key gives the same tickets.
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.
        top
            How many arms or candidates the ticket ranks, best first.

        Returns
        -------
        RemoteTicket, or a list of them
            A list where `n` is given.
        """
        parts = {"attributes": attributes, "context": context}
        body: dict[str, Any] = {name: dict(one) for name, one in parts.items() if one is not None}
        body |= {"tickets": 1 if n is None else n} | ({} if top is None else {"top": top})
        body |= {} if candidates is None else {"candidates": [dict(one) for one in candidates]}
        tickets = tickets_in(self._post("ask", body, key))
        return tickets[0] if n is None else tickets

    def tell(
        self,
        ticket: str | RemoteTicket,
        reward: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Learn the reward of a ticket, its metrics, or both.

        Parameters
        ----------
        ticket
            A ticket, or its id.
        reward
            The reward; left out where the study computes it from metrics.
        metrics
            Other measurements by name.
        key
            An idempotency key: the same request with the same key counts once.

        Returns
        -------
        bool
            True if the reward is new, False if the same one was told before.
        """
        body = tell_out(ticket, reward, metrics)
        return bool(self._post("tell", body, key)["news"])

    def tell_many(
        self, tells: Iterable[tuple[str | RemoteTicket, float]]
    ) -> list[bool | BelmanError]:
        """Learn many rewards at once. A number that is not finite is refused before any is sent.

        Parameters
        ----------
        tells
            (ticket, reward) pairs.

        Returns
        -------
        list
            For each pair whether the reward is new, or the error that it caused.
        """
        body = [tell_out(ticket, reward) for ticket, reward in tells]
        answers = self._post("tells", {"tells": body})["answers"]
        return [told_in(answer) for answer in answers]

    def give_back(self, tickets: Iterable[str | RemoteTicket]) -> int:
        """Give back tickets that were asked for ahead and used for nobody.

        Parameters
        ----------
        tickets
            Tickets, or their ids.

        Returns
        -------
        int
            How many of them are given back, now or by an earlier call.
        """
        given = [id_of(ticket) for ticket in tickets]
        count = 0
        for i in range(0, len(given), MOST):
            body = {"tickets": given[i : i + MOST]}
            count += self._post("tickets/return", body).count("returned")
        return count

    def prefetched(
        self, ahead: int = 64, *, oldest: float = 1.0, attributes: Given | None = None
    ) -> Prefetched:
        """Ask for tickets ahead, so that an ask does not wait for the service.

        Parameters
        ----------
        ahead
            The most tickets at a time.
        oldest
            Seconds after which tickets that nobody took are given back.
        attributes
            Values by name that are kept for reports.

        Returns
        -------
        Prefetched
            An object to ask and tell.
        """
        return Prefetched(self, ahead, oldest, attributes)

    def correct(
        self,
        ticket: str | RemoteTicket,
        reward: float | None,
        reason: str,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Change the reward of a ticket that has counted.

        Parameters
        ----------
        ticket
            A ticket, or its id.
        reward
            The right reward; None removes the ticket from what was learnt.
        reason
            Why, for the log.
        metrics
            New values of some metrics; the others stay.
        key
            An idempotency key: the same request with the same key changes the study once.

        Returns
        -------
        bool
            True if this changes anything.
        """
        new = None if reward is None else finite(reward)
        body = {"reward": new, "reason": reason, **metrics_out(metrics)}
        path = f"tickets/{quote(id_of(ticket), safe='')}/correct"
        return bool(self._post(path, body, key)["changed"])

    def status(self) -> dict[str, Any]:
        """Return counts of all kinds, from one moment.

        Returns
        -------
        dict
            Counts by name.
        """
        return self._get()

    def beliefs(
        self,
        level: float = 0.95,
        *,
        context: Given | None = None,
        candidates: Iterable[Given] | None = None,
    ) -> T:
        """Return rewards told, expected reward, credible interval and probability of being best for
        each arm.

        Parameters
        ----------
        level
            The probability of intervals.
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.

        Returns
        -------
        table
            A row for each arm or candidate.
        """
        return self._look("beliefs", level=level, **in_context(context, candidates))

    def contexts(self) -> dict[str, dict[str, list[Any]]]:
        """Return the beliefs by context.

        Returns
        -------
        dict
            Columns by title: `coefficients` of features, or the best arm of each of the `segments`;
            {} in a study without contexts.
        """
        return self._get("/contexts")

    def report(
        self, level: float = 0.95, *, by: str | None = None, control: Hashable | None = None
    ) -> dict[str, Any]:
        """Return the verdict as plain data: its state and sentence, and lift, intervals and traffic
        of each arm.

        Parameters
        ----------
        level
            The probability of intervals.
        by
            An attribute: the report then also has its segments.
        control
            Another control than the study's, for this report alone.

        Returns
        -------
        dict
            See `StudyReport.to_dict`.
        """
        against = None if control is None else str(control)
        return self._get("/report", level=level, by=by, control=against)

    def metrics(self, level: float = 0.95) -> T:
        """Return for each arm and metric how many tickets counted with it, the mean, and Student's
        interval.

        Parameters
        ----------
        level
            The probability of intervals.

        Returns
        -------
        table
            A row for each arm and metric.
        """
        return self._look("metrics", level=level)

    def spending(self) -> T:
        """Return for each period of a budget what was spent and is expected, how many asks, and the
        price.

        Returns
        -------
        table
            A row for each period.
        """
        return self._look("spending")

    def explain(
        self, *, context: Given | None = None, candidates: Iterable[Given] | None = None
    ) -> T:
        """Return why the next arm is chosen: what the policy sees of each arm, the largest index
        first.

        Parameters
        ----------
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.

        Returns
        -------
        table
            A row for each arm or candidate.
        """
        return self._look("explain", **in_context(context, candidates))

    def changes(self) -> T:
        """Return the changes of the world that the study noticed, where it follows them (`drift`).

        Returns
        -------
        table
            A row for each change.
        """
        return self._look("changes")

    def history(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Iterate over the log.

        Parameters
        ----------
        after
            The number of the event to begin behind.

        Returns
        -------
        Iterator
            Events as plain data.
        """
        while result := self._get("/history", after=after)["events"]:
            yield from result
            after = result[-1]["number"]

    def exported(self, format: str = "csv") -> bytes:
        """Return the log as the content of a file.

        Parameters
        ----------
        format
            "csv" or "parquet".

        Returns
        -------
        bytes
            The content.
        """
        query = urlencode({"format": format})
        return self.client.text(f"{self._path}/export?{query}")

    def pause(self, reason: str = "", *, key: str | None = None) -> None:
        """Refuse asks until `resume`; rewards are still accepted.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("pause", {"reason": reason}, key)

    def resume(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide again.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("resume", {"reason": reason}, key)

    def add_arm(
        self,
        arm: Hashable,
        prior: Sequence[float] | None = None,
        reason: str = "",
        *,
        key: str | None = None,
    ) -> None:
        """Add a new arm, or a retired one with what was learnt of it.

        Parameters
        ----------
        arm
            The name of the arm.
        prior
            The belief about a new arm at first; by default that of the study.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        body = {"arm": arm_out(arm), "prior": prior, "reason": reason}
        self._post("arms", body, key)

    def retire_arm(self, arm: Hashable, reason: str = "", *, key: str | None = None) -> None:
        """Stop playing an arm.

        Parameters
        ----------
        arm
            The name of the arm.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("arms/retire", {"arm": arm_out(arm), "reason": reason}, key)

    def ship(
        self, arm: Hashable | None = None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Give all traffic to one arm.

        Parameters
        ----------
        arm
            The name of the arm; by default the arm that is most likely the best.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("ship", {"arm": arm_out(arm), "reason": reason}, key)

    def unship(self, reason: str = "", *, key: str | None = None) -> None:
        """Let the policy decide again.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("unship", {"reason": reason}, key)

    def set_exposure(self, exposure: Any, reason: str = "", *, key: str | None = None) -> None:
        """Set how greedy the policy is.

        Parameters
        ----------
        exposure
            A number from 0 (explore) to 1 (exploit), ½ by default; or an exposure by its name, or
            name and settings.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        name = "dial" if isinstance(exposure, (int, float)) else "exposure"
        body = {name: self.client.described(exposure), "reason": reason}
        self.client.call("PUT", f"{self._path}/exposure", body, key=key)

    def set_guard(
        self, guard: Mapping[str, str] | None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Replace the limits on metrics.

        Parameters
        ----------
        guard
            Limits by metric, {"refund": "< 0.05"}; None for no limits.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        body = {"guard": dict(guard or {}), "reason": reason}
        self.client.call("PUT", f"{self._path}/guard", body, key=key)

    def spend(
        self, amount: float, reason: str = "", *, arm: Any = None, key: str | None = None
    ) -> None:
        """Count a cost that no ticket brought against the budget.

        Parameters
        ----------
        amount
            The cost.
        reason
            Why, for the log.
        arm
            The arm that it was spent on, if any.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        own = {} if arm is None else {"arm": arm}
        body = {"amount": finite(amount, "cost"), "reason": reason, **own}
        self._post("spend", body, key)

    def archive(self, reason: str = "", *, key: str | None = None) -> None:
        """Pause the study and leave it out of lists; its log stays.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.
        """
        self._post("archive", {"reason": reason}, key)

    def restore(self) -> None:
        """List the study again; it stays paused until it is resumed."""
        self._post("restore", {})

    def delete(self, confirm: str, *, key: str | None = None) -> int:
        """Delete the study with its whole log, for good.

        Parameters
        ----------
        confirm
            The name of the study.
        key
            An idempotency key: the same request with the same key changes the study once.

        Returns
        -------
        int
            How many events were deleted.
        """
        return self._post("delete", {"confirm": confirm}, key).count("deleted")

    @staticmethod
    @abstractmethod
    def _table(columns: dict[str, list[Any]], title: str) -> T:
        """Make a table of its columns."""

    def _look(self, what: str, **query: Any) -> T:
        result = self._get(f"/{what}", **query)
        cells_in: dict[str, Callable[[Any], Any]] = {"arm": arm_in, "metric": str}
        with understood():
            columns = {
                name: list(map(cells_in.get(name, number_in), cells))
                for name, cells in result["columns"].items()
            }
        return self._table(columns, result["title"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class RemoteStudy(AnyRemoteStudy[Rows]):
    """A study of a service; a table is a list of rows."""

    @staticmethod
    def _table(columns: dict[str, list[Any]], title: str) -> Rows:
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

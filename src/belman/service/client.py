"""The HTTP client: the studies of a service, with the same ask and tell."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, overload
from urllib.parse import quote, urlencode

from belman import errors, spec
from belman.errors import BelmanError, RewardError, ServiceError, problem_type
from belman.exposure import Exposure
from belman.families import Family
from belman.files import write_atomically
from belman.measures.stop_rules import StopRule
from belman.policies import Policy
from belman.service.remote_edge import RemoteEdge
from belman.service.transport import Transport
from belman.table import Table

Given = Mapping[str, Any]

#: Every error that a service may send, by the type of its problem.
_ERRORS = {
    problem_type(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, BelmanError)
    and kind is not errors.MissingExtraError  # that is missing there, not here
}


class RemoteTicket(NamedTuple):
    """One decision: hand in `id` with the reward; `probability` is the chance `arm` had."""

    id: str
    arm: Hashable
    probability: float
    uniform: bool
    time: float


class Client:
    """A service at `url`, opened with a `key` where it asks for one.

    Requests are sent again after failures that pass (`retries` times, waiting longer each time).
    That is safe: every change carries an idempotency key, so that the service gives the same answer
    again and does nothing twice. Objects may be shared between threads, and by processes that are
    forked.
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 10.0, retries: int = 6
    ) -> None:
        self._transport = Transport(url, key, timeout, retries)

    def studies(self, query: str = "", *, archived: bool = False) -> list[str]:
        """The names of the studies, or of those with `query` in their name, that are (or are not)
        archived.
        """
        given = {"query": query, "limit": 1000, "archived": str(archived).lower()}
        path = f"/api/studies?{urlencode(given)}"
        found: list[str] = self.call("GET", path)["studies"]
        return found

    def study(self, name: str) -> RemoteStudy:
        """The study of that name; raises UnknownStudyError where there is none."""
        study = RemoteStudy(self, name)
        study.status()
        return study

    def create(self, name: str, arms: Iterable[Hashable], **settings: Any) -> RemoteStudy:
        """The study of that name, created with these settings of `belman.open_study` if new."""
        body = {"name": name, "arms": [_arm_out(arm) for arm in arms]}
        body |= {key: _described(value) for key, value in settings.items()}
        self.call("POST", "/api/studies", body)
        return RemoteStudy(self, name)

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """The JSON that a route answers with; raises what the study would have raised.

        A change carries an idempotency key, this one or one of its own.
        """
        status, kind, content = self._transport.send(method, path, body, key)
        if kind.endswith("json"):
            found = json.loads(content)
            if status >= 400:
                _raise_problem(status, found)
            return found
        if status >= 400:
            _raise_problem(status, {})
        return content

    def close(self) -> None:
        """Close the connections; the next request opens a new one."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({str(self._transport)!r})"


class RemoteStudy(RemoteEdge):
    """A study of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/api/studies/{quote(name, safe='')}"

    @overload
    def ask(
        self, n: None = None, *, attributes: Given | None = None, key: str | None = None
    ) -> RemoteTicket: ...
    @overload
    def ask(
        self, n: int, *, attributes: Given | None = None, key: str | None = None
    ) -> list[RemoteTicket]: ...
    def ask(
        self, n: int | None = None, *, attributes: Given | None = None, key: str | None = None
    ) -> Any:
        """A ticket for the arm to try now, or a list of `n`; the same `key`, the same tickets.

        `attributes` of whoever it is for, such as {"device": "phone"}, are kept for reports.
        """
        body: dict[str, Any] = {"tickets": 1 if n is None else n}
        if attributes is not None:
            body["attributes"] = dict(attributes)
        found = self.client.call("POST", f"{self._path}/ask", body, key=key)["tickets"]
        tickets = [RemoteTicket(**{**one, "arm": _arm_in(one["arm"])}) for one in found]
        return tickets[0] if n is None else tickets

    def tell(
        self,
        ticket: str | RemoteTicket,
        reward: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Learn the reward of a ticket, or its metrics, or both: True if it was news, False if it
        was known; a request with the same `key` counts once.
        """
        body = _tell_body(ticket, reward, metrics)
        return bool(self.client.call("POST", f"{self._path}/tell", body, key=key)["news"])

    def tell_many(
        self, tells: Iterable[tuple[str | RemoteTicket, float]]
    ) -> list[bool | BelmanError]:
        """Learn many rewards at once; each has an answer of its own, be it an error.

        What is no finite number is refused before any is sent.
        """
        body = [_tell_body(ticket, reward) for ticket, reward in tells]
        answers = self.client.call("POST", f"{self._path}/tells", {"tells": body})["answers"]
        return [_told(answer) for answer in answers]

    def correct(
        self,
        ticket: str | RemoteTicket,
        reward: float | None,
        reason: str,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Replace what a ticket counted as (None forgets it): True if that changes anything."""
        new = None if reward is None else _finite(reward)
        body = {"reward": new, "reason": reason, **_metrics_out(metrics)}
        path = f"{self._path}/tickets/{quote(_id(ticket), safe='')}/correct"
        return bool(self.client.call("POST", path, body, key=key)["changed"])

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, from one moment."""
        found: dict[str, Any] = self.client.call("GET", self._path)
        return found

    def beliefs(self, level: float = 0.95) -> Table:
        """Per arm: rewards told, expected reward, credible interval, P(best)."""
        return self._table(f"beliefs?{urlencode({'level': level})}")

    def report(
        self, level: float = 0.95, *, by: str | None = None, control: Hashable | None = None
    ) -> dict[str, Any]:
        """The verdict as plain data: its state and sentence, and per arm lift, intervals, traffic;
        `by` an attribute also its segments. See `StudyReport.to_dict`.
        """
        given = {"level": level, "by": by, "control": None if control is None else str(control)}
        query = {name: value for name, value in given.items() if value is not None}
        found: dict[str, Any] = self.client.call("GET", f"{self._path}/report?{urlencode(query)}")
        return found

    def metrics(self, level: float = 0.95) -> Table:
        """Per arm and metric: how many tickets counted with it, mean, Student's interval for it."""
        return self._table(f"metrics?{urlencode({'level': level})}")

    def explain(self) -> Table:
        """Why this arm now: what the policy sees of each arm, the largest index first."""
        return self._table("explain")

    def history(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """The log, from the event that follows number `after`."""
        while found := self.client.call("GET", f"{self._path}/history?after={after}")["events"]:
            yield from found
            after = found[-1]["number"]

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a file whose name ends in .csv or .parquet."""
        query = urlencode({"format": Path(path).suffix.removeprefix(".")})
        write_atomically(path, self.client.call("GET", f"{self._path}/export?{query}"))

    def pause(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide nothing until resumed."""
        self.client.call("POST", f"{self._path}/pause", {"reason": reason}, key=key)

    def resume(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide again."""
        self.client.call("POST", f"{self._path}/resume", {"reason": reason}, key=key)

    def add_arm(
        self,
        arm: Hashable,
        prior: Sequence[float] | None = None,
        reason: str = "",
        *,
        key: str | None = None,
    ) -> None:
        """Take in a new arm, or one that was retired."""
        body = {"arm": _arm_out(arm), "prior": prior, "reason": reason}
        self.client.call("POST", f"{self._path}/arms", body, key=key)

    def retire_arm(self, arm: Hashable, reason: str = "", *, key: str | None = None) -> None:
        """Play an arm no more."""
        body = {"arm": _arm_out(arm), "reason": reason}
        self.client.call("POST", f"{self._path}/arms/retire", body, key=key)

    def ship(
        self, arm: Hashable | None = None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Give all traffic to one arm, by default to the one that is likeliest the best."""
        body = {"arm": None if arm is None else _arm_out(arm), "reason": reason}
        self.client.call("POST", f"{self._path}/ship", body, key=key)

    def unship(self, reason: str = "", *, key: str | None = None) -> None:
        """Let the policy decide again."""
        self.client.call("POST", f"{self._path}/unship", {"reason": reason}, key=key)

    def set_exposure(
        self, exposure: Exposure | float, reason: str = "", *, key: str | None = None
    ) -> None:
        """Explore more or less: an exposure, or a dial from 0 (explore) over ½ to 1 (exploit)."""
        chosen = _described(exposure) if isinstance(exposure, Exposure) else float(exposure)
        name = "exposure" if isinstance(exposure, Exposure) else "dial"
        body = {name: chosen, "reason": reason}
        self.client.call("PUT", f"{self._path}/exposure", body, key=key)

    def archive(self, reason: str = "", *, key: str | None = None) -> None:
        """Pause the study and leave it out of lists; everything of it stays."""
        self.client.call("POST", f"{self._path}/archive", {"reason": reason}, key=key)

    def restore(self) -> None:
        """List it again; it stays paused until it is resumed."""
        self.client.call("POST", f"{self._path}/restore", {})

    def delete(self, confirm: str) -> int:
        """Delete the study with its whole log for good, where `confirm` is its name; gives the
        count of events.
        """
        found = self.client.call("POST", f"{self._path}/delete", {"confirm": confirm})
        return int(found["deleted"])

    def _table(self, what: str) -> Table:
        found = self.client.call("GET", f"{self._path}/{what}")
        cells_in: dict[str, Callable[[Any], Any]] = {"arm": _arm_in, "metric": str}
        columns = {
            name: list(map(cells_in.get(name, _number_in), cells))
            for name, cells in found["columns"].items()
        }
        return Table(columns, found["title"])

    def __repr__(self) -> str:
        return f"RemoteStudy({self.name!r})"


def _told(answer: dict[str, Any]) -> bool | BelmanError:
    if "problem" not in answer:
        return bool(answer["news"])
    problem = answer["problem"]
    return _ERRORS.get(problem["type"], BelmanError)(problem["detail"])


def _tell_body(
    ticket: str | RemoteTicket, reward: float | None, metrics: Mapping[str, float] | None = None
) -> dict[str, Any]:
    told = {} if reward is None and metrics else {"reward": _finite(reward)}
    return {"ticket": _id(ticket), **told, **_metrics_out(metrics)}


def _metrics_out(metrics: Mapping[str, float] | None) -> dict[str, Any]:
    if metrics is None:
        return {}
    return {"metrics": {name: _finite(value, "metric") for name, value in metrics.items()}}


def _id(ticket: str | RemoteTicket) -> str:
    return ticket if isinstance(ticket, str) else ticket.id


def _finite(given: Any, what: str = "reward") -> float:
    """A number that JSON can carry; what else it has to be is known to the service."""
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RewardError(f"{what} {given!r} is no finite number, and nothing was told")
    return number


def _arm_in(arm: Any) -> Hashable:
    return tuple(arm) if isinstance(arm, list) else arm


def _number_in(cell: Any) -> Any:
    """A number that JSON lacks, from its word."""
    return float(cell) if cell in ("inf", "-inf", "nan") else cell


def _arm_out(arm: Hashable) -> Any:
    return list(arm) if isinstance(arm, tuple) else arm


_PARTS = (Family, Policy, Exposure, StopRule)


def _described(value: Any) -> Any:
    """A policy, family, exposure or rule to stop by as its description, a length of time in
    seconds, a tuple as a list; anything else as it is.
    """
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    return spec.describe(value) if isinstance(value, _PARTS) else value


def _raise_problem(status: int, problem: Mapping[str, Any]) -> NoReturn:
    """Raise what a problem describes, as the study itself would have raised it."""
    kind = _ERRORS.get(str(problem.get("type")), ServiceError)
    raise kind(problem.get("detail") or f"the service answered {status}")

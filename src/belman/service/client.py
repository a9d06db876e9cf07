"""The HTTP client: the studies of a service, with the same ask and tell."""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import ssl
import time
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, overload
from urllib.parse import quote, urlencode, urlsplit

from belman import errors, spec
from belman.errors import BelmanError, RewardError, ServiceError, SettingError, problem_type
from belman.exposure import Exposure
from belman.families import Family
from belman.files import write_atomically
from belman.policies import Policy
from belman.table import Table

_RETRIED = {429, 502, 503, 504}
_MAX_WAIT = 5.0
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
    That is safe: every ask, tell and correction carries an idempotency key, so that the service
    gives the same tickets again, and a tell that was heard changes nothing. Objects may be shared
    between threads.
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 10.0, retries: int = 6
    ) -> None:
        self._transport = Transport(url, key, timeout, retries)

    def studies(self, query: str = "") -> list[str]:
        """The names of the studies, or of those with `query` in their name."""
        path = f"/api/studies?{urlencode({'query': query, 'limit': 1000})}"
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

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that a route answers with; raises what the study would have raised."""
        status, kind, content = self._transport.send(method, path, body)
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


class RemoteStudy:
    """A study of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/api/studies/{quote(name, safe='')}"

    @overload
    def ask(self, n: None = None, *, key: str | None = None) -> RemoteTicket: ...
    @overload
    def ask(self, n: int, *, key: str | None = None) -> list[RemoteTicket]: ...
    def ask(self, n: int | None = None, *, key: str | None = None) -> Any:
        """A ticket for the arm to try now, or a list of `n`; the same `key`, the same tickets."""
        body = {"tickets": 1 if n is None else n, "key": uuid.uuid4().hex if key is None else key}
        found = self.client.call("POST", f"{self._path}/ask", body)["tickets"]
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
        body = _tell_body(ticket, reward, key, metrics)
        return bool(self.client.call("POST", f"{self._path}/tell", body)["news"])

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
        body = {
            "reward": None if reward is None else _finite(reward),
            "reason": reason,
            "key": uuid.uuid4().hex if key is None else key,
            **_metrics_out(metrics),
        }
        path = f"{self._path}/tickets/{quote(_id(ticket), safe='')}/correct"
        return bool(self.client.call("POST", path, body)["changed"])

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, from one moment."""
        found: dict[str, Any] = self.client.call("GET", self._path)
        return found

    def beliefs(self, level: float = 0.95) -> Table:
        """Per arm: rewards told, expected reward, credible interval, P(best)."""
        return self._table(f"beliefs?{urlencode({'level': level})}")

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

    def pause(self, reason: str = "") -> None:
        """Decide nothing until resumed."""
        self.client.call("POST", f"{self._path}/pause", {"reason": reason})

    def resume(self, reason: str = "") -> None:
        """Decide again."""
        self.client.call("POST", f"{self._path}/resume", {"reason": reason})

    def add_arm(
        self, arm: Hashable, prior: Sequence[float] | None = None, reason: str = ""
    ) -> None:
        """Take in a new arm, or one that was retired."""
        body = {"arm": _arm_out(arm), "prior": prior, "reason": reason}
        self.client.call("POST", f"{self._path}/arms", body)

    def retire_arm(self, arm: Hashable, reason: str = "") -> None:
        """Play an arm no more."""
        body = {"arm": _arm_out(arm), "reason": reason}
        self.client.call("POST", f"{self._path}/arms/retire", body)

    def set_exposure(self, exposure: Exposure | float, reason: str = "") -> None:
        """Explore more or less: an exposure, or a dial from 0 (explore) over ½ to 1 (exploit)."""
        chosen = _described(exposure) if isinstance(exposure, Exposure) else float(exposure)
        name = "exposure" if isinstance(exposure, Exposure) else "dial"
        self.client.call("PUT", f"{self._path}/exposure", {name: chosen, "reason": reason})

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
    ticket: str | RemoteTicket,
    reward: float | None,
    key: str | None = None,
    metrics: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """A tell with an idempotency key, since it may be sent again."""
    own = uuid.uuid4().hex if key is None else key
    told = {} if reward is None and metrics else {"reward": _finite(reward)}
    return {"ticket": _id(ticket), **told, "key": own, **_metrics_out(metrics)}


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


def _described(value: Any) -> Any:
    """A policy, family or exposure as its description, a length of time in seconds; anything else
    as it is.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    return spec.describe(value) if isinstance(value, (Family, Policy, Exposure)) else value


def _raise_problem(status: int, problem: Mapping[str, Any]) -> NoReturn:
    """Raise what a problem describes, as the study itself would have raised it."""
    kind = _ERRORS.get(str(problem.get("type")), ServiceError)
    raise kind(problem.get("detail") or f"the service answered {status}")


class Transport:
    """Sends JSON over a pool of open connections; waits and retries where a failure may pass."""

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            remedy = "write http://127.0.0.1:8000"
            raise SettingError(f"url={url!r} is no address of a service: {remedy}")
        if retries < 0 or not timeout > 0.0:
            allowed = "give seconds above 0, and a number from 0 up"
            raise SettingError(f"timeout={timeout!r} and retries={retries!r}: {allowed}")
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._path = parts.path.rstrip("/")
        self._key, self._timeout, self._retries = key, timeout, retries
        self._pool: deque[http.client.HTTPConnection] = deque()

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, str, bytes]:
        """Status, media type and body of the answer."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        wait = 0.05
        for left in reversed(range(self._retries + 1)):
            try:
                status, kind, answer = self._send_once(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                if not left:
                    words = error or type(error).__name__
                    raise ServiceError(f"{self} cannot be reached: {words}") from error
            else:
                if status not in _RETRIED or not left:
                    return status, kind, answer
            time.sleep(wait * random.uniform(0.5, 1.0))  # nothing that is decided depends on it
            wait = min(2.0 * wait, _MAX_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def _send_once(self, method: str, path: str, data: bytes | None) -> tuple[int, str, bytes]:
        connection = self._connection()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request(method, self._path + path, data, headers)
            response = connection.getresponse()
            answer = response.status, response.headers.get_content_type(), response.read()
        except BaseException:
            connection.close()
            raise
        self._pool.append(connection)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        """An idle one of the pool, or a new one: threads that send at once have one each."""
        try:
            return self._pool.pop()
        except IndexError:
            pass
        place: Any = {"host": self._host, "port": self._port, "timeout": self._timeout}
        if self._secure:
            return http.client.HTTPSConnection(**place, context=ssl.create_default_context())
        return http.client.HTTPConnection(**place)

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens a new one."""
        while self._pool:
            self._pool.pop().close()

    def __str__(self) -> str:
        scheme, usual = ("https", 443) if self._secure else ("http", 80)
        return f"{scheme}://{self._host}:{self._port or usual}{self._path}"

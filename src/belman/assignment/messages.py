"""What client and service say to one another: arms, rewards and problems as JSON, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from .refusals import SENT, STRANGER, BelmanError, RewardError, ServiceError


class RemoteTicket(NamedTuple):
    """One decision: hand in its `id` with the reward.

    Attributes
    ----------
    id
        The id, such as '17-pht2ghxb8k'; only its own study accepts it.
    arm
        The arm to try; where arms are candidates, the position of the candidate in the list.
    probability
        The chance that `arm` had: that of a uniform draw where `uniform`, else that of the policy
        and the floors. None where it is not known.
    uniform
        Whether it was drawn by the share of traffic that is kept uniform.
    time
        When it was asked for, in seconds since 1970.
    context
        What was asked with, in a study with contexts; else None.
    candidate
        The features of the candidate to try, where arms are candidates; else None.
    ranking
        As many arms (or positions of candidates) as `top` asked for: the one to try, then those
        with the largest indices. None where no ranking was asked for.
    chances
        The chance that each of the ranking had of being the first; None where it is not known.
    """

    id: str
    arm: Any
    probability: float
    uniform: bool
    time: float
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    ranking: list[Any] | None = None
    chances: list[float] | None = None


class Found(dict[str, Any]):
    """A JSON object of an answer; what should be in it and is not is an error of the service."""

    def __missing__(self, name: str) -> NoReturn:
        raise ServiceError(f"an answer lacks {name!r}: {STRANGER}")

    def count(self, name: str) -> int:
        """A whole number that is in it."""
        if type(self[name]) is not int:
            raise ServiceError(f"{name!r} of an answer is not a count: {STRANGER}")
        result: int = self[name]
        return result


@contextmanager
def understood() -> Iterator[None]:
    """What an answer holds is not of the kind that it should be: an error of the service."""
    try:
        yield
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, BelmanError):
            raise
        raise ServiceError(f"an answer is not understood ({error}): {STRANGER}") from None


def found_in(content: bytes) -> Found:
    """The JSON object that an answer is."""
    try:
        result = json.loads(content, object_hook=Found)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, Found):
        raise ServiceError(f"an answer is {content[:40]!r}, which is not a JSON object: {STRANGER}")
    return result


def arm_in(arm: Any) -> Hashable:
    """An arm's name; a list stands for a tuple."""
    return tuple(arm) if isinstance(arm, list) else arm


def arm_out(arm: Hashable) -> Any:
    """An arm's name as JSON has it."""
    return list(arm) if isinstance(arm, tuple) else arm


def number_in(cell: Any) -> Any:
    """A number that JSON lacks, from its word."""
    return float(cell) if cell in ("inf", "-inf", "nan") else cell


def tickets_in(answer: Mapping[str, Any]) -> list[RemoteTicket]:
    """The tickets of an ask."""
    with understood():
        return [RemoteTicket(**{**one, "arm": arm_in(one["arm"])}) for one in answer["tickets"]]


def told_in(answer: Mapping[str, Any]) -> bool | BelmanError:
    """Whether one tell of many was news, or what was wrong with it."""
    if "problem" not in answer:
        return bool(answer["news"])
    problem = answer["problem"]
    return SENT.get(problem["type"], BelmanError)(problem["detail"])


def tell_out(
    ticket: str | RemoteTicket, reward: float | None, metrics: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """A ticket with its reward, metrics, or both."""
    told = {} if reward is None and metrics else {"reward": finite(reward)}
    return {"ticket": id_of(ticket), **told, **metrics_out(metrics)}


def metrics_out(metrics: Mapping[str, float] | None) -> dict[str, Any]:
    """Metrics, where there are any."""
    if metrics is None:
        return {}
    return {"metrics": {name: finite(value, "metric") for name, value in metrics.items()}}


def id_of(ticket: str | RemoteTicket) -> str:
    """The id of a ticket, which may be given instead of it."""
    return ticket if isinstance(ticket, str) else ticket.id


def finite(given: Any, what: str = "reward") -> float:
    """A number that JSON can carry; what else it has to be is known to the service."""
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RewardError(f"{what} {given!r} is not a finite number, and nothing was told")
    return number


def raise_problem(status: int, problem: Mapping[str, Any]) -> NoReturn:
    """Raise what a problem describes, as the study itself would have raised it."""
    kind = SENT.get(str(problem.get("type")), ServiceError)
    raise kind(problem.get("detail") or f"the service answered {status}")

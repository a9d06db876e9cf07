"""Guard-rails: limits on the means of metrics, and the arms that crossed one.

Of values x ≥ 0 whose mean is at most m, a gambler who puts the share c on x/m each time owns
Π(1 + c(x/m − 1)), which grows on average by nothing: whoever starts with 1 owns 1/δ with a chance
of at most δ, ever. The capital is averaged over some c. Values need no other bound than the one on
their side: from 0 up for a mean that has to stay below a limit, up to a largest value for one that
has to stay above.

A guard says which means are allowed. Against every arm and limit a gambler's capital is kept,
ticket by ticket as they count; where it reaches 1/`RISK` the limit is
crossed, and whoever counts the ticket writes down that the arm is out of play, and why. An arm that
is brought back is watched anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from belman.codec import DERIVED, Count, Form, Place
from belman.errors import RewardError, SettingError, shown
from belman.measures.martingales import BETS
from belman.studies.rules.attributes import check_name
from belman.studies.rules.metrics import MOST, Metrics, SumsByArm

_MOST = 1e100
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BELOW = re.compile(rf"<\s*({_NUMBER})(?:\s+from\s+({_NUMBER}))?")
_ABOVE = re.compile(rf">\s*({_NUMBER})(?:\s+up\s+to\s+({_NUMBER}))?")


@dataclass(frozen=True)
class Limit:
    """A mean has to stay below (or above) `limit`; no value lies beyond `end` on the other side.

    >>> Limit.parse("< 0.05"), Limit.parse("> 3 up to 5")
    (Limit(below=True, limit=0.05, end=0.0), Limit(below=False, limit=3.0, end=5.0))
    """

    below: bool
    limit: float
    end: float

    @classmethod
    def parse(cls, text: object) -> Limit:
        """The limit that a text describes: "< 0.05", "< 0.5 from -1", "> 0.3", "> 3 up to 5"."""
        words = text.strip() if isinstance(text, str) and len(text) <= 100 else ""
        for below, pattern, usual in ((True, _BELOW, 0.0), (False, _ABOVE, 1.0)):
            if result := pattern.fullmatch(words):
                limit = float(result[1])
                end = usual if result[2] is None else float(result[2])
                inside = limit > end if below else limit < end
                if not inside or not (math.isfinite(limit) and math.isfinite(end)):
                    side = "above the least" if below else "below the largest"
                    raise SettingError(
                        f"{text!r} limits nothing: it must lie {side} value, {end:g}"
                    )
                return cls(below, limit, end)
        allowed = "write '< 0.05' (values from 0 up), '< 0.5 from -1' or '> 3 up to 5'"
        raise SettingError(f"{shown(text)} is not a limit: {allowed}")

    @property
    def text(self) -> str:
        """As `parse` takes it."""
        if self.below:
            return f"< {self.limit!r}" + (f" from {self.end!r}" if self.end != 0.0 else "")
        return f"> {self.limit!r}" + (f" up to {self.end!r}" if self.end != 1.0 else "")

    def takes(self, value: float) -> bool:
        """Whether a value lies on the right side of the end."""
        return value >= self.end if self.below else value <= self.end

    def gains(self, value: float) -> list[float]:
        """ln of what a value multiplies the capital of every gambler by; one beyond the end counts
        as the end itself.
        """
        odds = (value - self.end) / (self.limit - self.end) - 1.0
        odds = min(max(odds, -1.0), _MOST)
        return [math.log1p(bet * odds) for bet in BETS]


def log_odds(capitals: Sequence[float]) -> float:
    """ln of the average capital: at ln 1/δ the limit is crossed, up to a risk δ.

    >>> limit, capitals = Limit.parse("< 0.05"), [0.0] * len(BETS)
    >>> for value in [1.0, 0.0, 0.0, 0.0, 0.0] * 20:
    ...     capitals = [a + b for a, b in zip(capitals, limit.gains(value))]
    >>> round(log_odds(capitals), 1)
    11.3
    """
    top = max(capitals)
    return top + math.log(math.fsum(math.exp(one - top) for one in capitals) / len(capitals))


#: The chance that an arm which keeps within a limit is ever taken out of play by it.
RISK = 0.01

Guard = Mapping[str, Limit]


def check_guard(given: object) -> Guard | None:
    """Limits on metrics as the settings keep them.

    >>> check_guard({"refund": "< 0.05"})
    {'refund': Limit(below=True, limit=0.05, end=0.0)}
    """
    if given is None:
        return None
    if not isinstance(given, Mapping) or not given:
        raise SettingError(f"guard={shown(given)} is not valid: write guard={{'refund': '< 0.05'}}")
    if len(given) > MOST:
        raise SettingError(f"guard has {len(given)} limits: a study has at most {MOST} metrics")
    limits = sorted((check_name(name, "a metric"), limit) for name, limit in given.items())
    return {name: one if isinstance(one, Limit) else Limit.parse(one) for name, one in limits}


def check_values(guard: Guard, metrics: Metrics) -> None:
    """Refuse a metric that its limit does not bound."""
    for name, limit in guard.items():
        if name in metrics and not limit.takes(metrics[name]):
            ends = f"from {limit.end:g} up" if limit.below else f"up to {limit.end:g}"
            said = f"metric {name!r} cannot be {metrics[name]:g}"
            raise RewardError(f"{said}: its guard ({limit.text!r}) holds for values {ends}")


class Crossed(NamedTuple):
    """A limit that an arm, by its place, has crossed."""

    arm: int
    metric: str
    limit: Limit


_LIMIT = Form(lambda limit: limit.text, lambda text, _: Limit.parse(text))


def _is_capital(result: list[float]) -> bool:
    return len(result) == len(BETS)


@dataclass
class Guards:
    """The capital against every arm and limit, and which arms are out of play by which."""

    capitals: dict[tuple[Place, str], Annotated[list[float], _is_capital]] = field(
        default_factory=dict
    )
    stopped: dict[Place, str] = field(default_factory=dict)
    limits: dict[str, Annotated[Limit, _LIMIT]] = field(default_factory=dict)  # by metric
    #: The number of the event that set a limit, where that was not the first: it is held against
    #: tickets that were asked for later, so that a correction finds what it takes back.
    since: dict[str, Count] = field(default_factory=dict)
    #: Arms that were counted since somebody looked.
    touched: set[int] = field(default_factory=set, metadata=DERIVED)

    def count(self, ticket: int, arm: int, metrics: Metrics, times: int = 1) -> None:
        """A ticket with these metrics counts, or (-1) counts no more."""
        for name, limit in self.limits.items():
            if name in metrics and ticket > self.since.get(name, 0):
                before = self.capitals.get((arm, name), [0.0] * len(BETS))
                gains = limit.gains(metrics[name])
                after = [a + times * b for a, b in zip(before, gains, strict=True)]
                self.capitals[arm, name] = after
                self.touched.add(arm)

    def change(self, limits: Guard, number: int) -> None:
        """Hold other limits from an event on; those that stay as they are go on."""
        for name in {*self.limits, *limits}:
            if self.limits.get(name) != limits.get(name):
                self.capitals = {at: one for at, one in self.capitals.items() if at[1] != name}
                self.since.pop(name, None)
                if name in limits:
                    self.since[name] = number
        self.since = dict(sorted(self.since.items()))
        self.limits = dict(limits)

    def crossed(self, arm: int) -> Crossed | None:
        """The first limit that an arm has crossed, if any."""
        for name, limit in self.limits.items():
            capitals = self.capitals.get((arm, name))
            if capitals is not None and log_odds(capitals) >= _BAR:
                return Crossed(arm, name, limit)
        return None

    def stop(self, arm: int, metric: str | None) -> None:
        """An arm is out of play by a limit, or (None) it is back: it is watched anew."""
        self.stopped.pop(arm, None)
        if metric is not None:
            self.stopped[arm] = metric
        for name in self.limits:
            self.capitals.pop((arm, name), None)

    def resume(self, retired: Container[int]) -> None:
        """A study that a limit had paused goes on: only arms that are retired are out of play."""
        self.stopped = {arm: name for arm, name in self.stopped.items() if arm in retired}

    def rows(self, register: Sequence[Hashable], sums: SumsByArm) -> Iterator[dict[str, Any]]:
        """Per arm and limit: how many tickets, their mean, the odds against the arm, and whether it
        is out of play for it.
        """
        for position, arm in enumerate(register):
            for name, limit in self.limits.items():
                result, capitals = (
                    sums.sums.get((position, name)),
                    self.capitals.get((position, name)),
                )
                yield {
                    "arm": arm,
                    "metric": name,
                    "limit": limit.text,
                    "n": 0 if result is None else result.n,
                    "mean": None if result is None else float(result.sum / result.n),
                    "log_odds": 0.0 if capitals is None else log_odds(capitals),
                    "crossed": self.stopped.get(position) == name,
                }


_BAR = -math.log(RISK)

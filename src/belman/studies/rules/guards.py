"""Guards: limits on metrics, and what a study holds against each arm so far.

A guard says which means are allowed. Against every arm and limit a gambler's capital is kept,
ticket by ticket as they count (`measures/limits.py`); where it reaches 1/`RISK` the limit is
crossed, and whoever counts the ticket writes down that the arm is out of play, and why. An arm that
is brought back is watched anew.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from belman.errors import RewardError, SettingError
from belman.measures.limits import Limit, log_odds
from belman.measures.martingales import BETS
from belman.studies.codec import DERIVED, Place
from belman.studies.rules.metrics import MOST, Metrics, SumsByArm, check_name

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
        shown = str(given)[:80]
        raise SettingError(f"guard={shown!r} is not valid: write guard={{'refund': '< 0.05'}}")
    if len(given) > MOST:
        raise SettingError(f"guard has {len(given)} limits: a study has at most {MOST} metrics")
    limits = sorted((check_name(name), limit) for name, limit in given.items())
    return {name: one if isinstance(one, Limit) else Limit.parse(one) for name, one in limits}


def check_values(guard: Guard | None, metrics: Metrics) -> None:
    """Refuse a metric that its limit does not bound."""
    for name, limit in (guard or {}).items():
        if name in metrics and not limit.takes(metrics[name]):
            ends = f"from {limit.end:g} up" if limit.below else f"up to {limit.end:g}"
            said = f"metric {name!r} cannot be {metrics[name]:g}"
            raise RewardError(f"{said}: its guard ({limit.text!r}) holds for values {ends}")


class Crossed(NamedTuple):
    """A limit that an arm, by its place, has crossed."""

    arm: int
    metric: str
    limit: Limit


def _is_capital(found: list[float]) -> bool:
    return len(found) == len(BETS)


@dataclass
class Guards:
    """The capital against every arm and limit, and which arms are out of play by which."""

    capitals: dict[tuple[Place, str], Annotated[list[float], _is_capital]] = field(
        default_factory=dict
    )
    stopped: dict[Place, str] = field(default_factory=dict)
    limits: Any = field(default_factory=dict, metadata=DERIVED)  # by the names of metrics
    #: Arms that were counted since somebody looked.
    touched: set[int] = field(default_factory=set, metadata=DERIVED)

    def count(self, arm: int, metrics: Metrics, times: int = 1) -> None:
        """A ticket with these metrics counts, or (-1) counts no more."""
        for name, limit in self.limits.items():
            if name in metrics:
                before = self.capitals.get((arm, name), [0.0] * len(BETS))
                gains = limit.gains(metrics[name])
                after = [a + times * b for a, b in zip(before, gains, strict=True)]
                self.capitals[arm, name] = after
                self.touched.add(arm)

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
        for place, arm in enumerate(register):
            for name, limit in self.limits.items():
                found, capitals = sums.sums.get((place, name)), self.capitals.get((place, name))
                yield {
                    "arm": arm,
                    "metric": name,
                    "limit": limit.text,
                    "n": 0 if found is None else found.n,
                    "mean": None if found is None else float(found.sum / found.n),
                    "log_odds": 0.0 if capitals is None else log_odds(capitals),
                    "crossed": self.stopped.get(place) == name,
                }


_BAR = -math.log(RISK)

"""Metrics: named numbers that are told beside a reward, or instead of it, and their sums by arm.

The sums are exact fractions: they do not depend on the order in which tickets count, a correction
takes out what was put in and nothing else, and a variance does not drown in the squares of which it
is the difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

import numpy as np

from belman.codec import Place, Whole
from belman.errors import BelmanError, RewardError, SettingError, shown
from belman.studies.log.event_log import Event
from belman.studies.rules.attributes import check_few, check_name, is_name
from belman.studies.rules.utility import Utility
from belman.table import Table

MOST = 20  # metrics of a study
LARGEST = 1e100  # so that sums of squares are finite
_COLUMNS = ("arm", "metric", "n", "mean", "low", "high")

Metrics = dict[str, float]


# At the door


def check_metrics(given: object, known: Set[str] = frozenset()) -> Metrics:
    """Metrics as a log keeps them, in the order of their names; of a study that knows others.

    >>> check_metrics({"refund": 0, "latency": 0.8})
    {'latency': 0.8, 'refund': 0.0}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingError(
            f"metrics={shown(given)} are not valid: write metrics={{'latency': 0.8}}"
        )
    names = {name: check_name(name, "a metric") for name in given}
    result = {names[name]: _check_value(name, value) for name, value in given.items()}
    check_few(known, result, "metrics", MOST)
    return dict(sorted(result.items()))


def are_metrics(result: Metrics) -> bool:
    """Whether these are metrics as a log keeps them."""
    try:
        return check_metrics(result) == result
    except BelmanError:
        return False


def _check_value(name: object, value: Any) -> float:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    plain = value.item() if isinstance(value, np.generic) else value  # compared without a cast
    if not is_number or not -LARGEST <= plain <= LARGEST:
        allowed = f"it must be a number, at most {LARGEST:g} in size"
        raise RewardError(f"metric {name!r} cannot be {shown(value)}: {allowed}")
    return float(value) + 0.0  # a log has one zero


def check_utility(text: str | Utility | None) -> Utility | None:
    """A reward that is declared as an expression over metrics."""
    if text is None:
        return None
    utility = text if isinstance(text, Utility) else Utility(text)
    names = [check_name(name, "a metric") for name in utility.names]
    check_few(frozenset(), names, "metrics", MOST)
    return utility


def together(before: Metrics, given: Metrics, add: bool = False) -> Metrics:
    """The metrics of a ticket that is told more: the last of a name counts, or their sum."""
    new = {name: before.get(name, 0.0) + given[name] for name in given} if add else given
    return dict(sorted({**before, **new}.items()))


def check_values(metrics: Metrics) -> Metrics:
    """Metrics that added up over several tells."""
    return {name: _check_value(name, value) for name, value in metrics.items()}


# In the log


def body(metrics: Metrics) -> str | None:
    """What the event of a tell keeps of them."""
    return json.dumps({"metrics": metrics}, allow_nan=False) if metrics else None


def told_in(event: Event) -> Metrics:
    """The metrics that an event tells."""
    result: Metrics = event.content.get("metrics", {})
    return result


# By arm


class Sums(NamedTuple):
    """How often a metric counted, its sum and its sum of squares, which are exact."""

    n: Annotated[int, Whole(1)] = 0
    sum: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def interval(self, level: float) -> tuple[float, float, float]:
        """The mean and Student's interval for it, which one value alone does not bound.

        >>> [round(x, 6) for x in Sums(4, Fraction(10), Fraction(30)).interval(0.95)]  # of 1 to 4
        [2.5, 0.44574, 4.55426]
        """
        mean = self.sum / self.n
        if self.n == 1:
            return float(mean), -math.inf, math.inf
        from scipy.special import stdtrit  # a fifth of a second, for those who look at metrics

        variance = (self.squares - self.sum * mean) / (self.n - 1)
        error = math.sqrt(variance / self.n)
        width = float(stdtrit(self.n - 1, 0.5 + 0.5 * level)) * error
        return float(mean), float(mean) - width, float(mean) + width


def _are_of_numbers(sums: Sums) -> bool:
    return sums.squares * sums.n >= sums.sum * sums.sum


@dataclass
class SumsByArm:
    """The sums of every metric of every arm, by the arm's place in the register."""

    names: set[Annotated[str, is_name]] = field(default_factory=set)  # that were ever told
    sums: dict[tuple[Place, str], Annotated[Sums, _are_of_numbers]] = field(default_factory=dict)

    def count(self, arm: int, metrics: Metrics, times: int = 1) -> None:
        """A ticket with these counts, or (-1) counts no more."""
        for name, value in metrics.items():
            n, total, squares = self.sums.get((arm, name), Sums())
            exact = Fraction(value)
            total, squares = total + times * exact, squares + times * exact * exact
            self.sums[arm, name] = Sums(n + times, total, squares)
            if n + times == 0:
                del self.sums[arm, name]

    def rows(self, register: Sequence[Hashable], level: float) -> Iterator[dict[str, Any]]:
        """Yield per metric and arm: how many, the mean, and its interval."""
        for (arm, metric), sums in sorted(self.sums.items(), key=lambda one: one[0][::-1]):
            values = (register[arm], metric, sums.n, *sums.interval(level))
            yield dict(zip(_COLUMNS, values, strict=True))

    def table(self, register: Sequence[Hashable], level: float) -> Table:
        """Sums of all arms and metrics as a table: count, mean and interval."""
        positions = {arm: position for position, arm in enumerate(register)}
        rows = sorted(self.rows(register, level), key=lambda row: positions[row["arm"]])
        return Table({name: [row[name] for row in rows] for name in _COLUMNS})

"""A claim of speed: what was measured, what it is held against, and the verdict."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belman.table import Table


class Claim(NamedTuple):
    """A measurement and its limit; `more` where larger is better."""

    what: str
    measured: float
    limit: float
    unit: str
    more: bool = False

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.more else self.measured <= self.limit


class Ratio(NamedTuple):
    """A ratio of means, and its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


def geometric_mean(ratios: list[Ratio]) -> Ratio:
    """Of ratios that are independent of one another."""
    middle = math.exp(float(np.mean([math.log(result.value) for result in ratios])))
    error = math.sqrt(sum(math.log(r.high / r.value) ** 2 for r in ratios)) / len(ratios)
    return Ratio(middle, middle * math.exp(-error), middle * math.exp(error))


def report(title: str, claims: list[Claim], notes: dict[str, str] | None = None) -> None:
    """Print a table of claims and leave with an error if one does not hold."""
    columns: dict[str, list[object]] = {
        "claim": [claim.what for claim in claims],
        "measured": [float(claim.measured) for claim in claims],
        "limit": [f"{'≥' if claim.more else '≤'} {claim.limit:g} {claim.unit}" for claim in claims],
        "holds": ["yes" if claim.holds else "NO" for claim in claims],
    }
    print(Table(columns, title))
    for name, text in (notes or {}).items():
        print(f"  {name}: {text}")
    print()
    if not all(claim.holds for claim in claims):
        sys.exit(1)


def best_cpu_seconds(
    work: Callable[[], object], repeats: int = 5, before: Callable[[], object] = lambda: None
) -> float:
    """The least CPU time of some repeats, without what comes `before` each: what the work costs
    when nothing disturbs it.
    """
    times = []
    for _ in range(repeats):
        before()
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)

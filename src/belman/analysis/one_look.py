"""A verdict at one look: a test of the leader that is right as often as it says if asked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from belman import spec
from belman.errors import SettingError
from belman.measures.stop_rules import StopRule, Verdict

_EXACT = 400.0  # conversions up to which rates are compared by Fisher's test


@spec.member
@dataclass(frozen=True)
class OneLook(StopRule):
    """Stop when a test tells the leader from control, or from every other arm without one.

    The chance of a false verdict is at most `delta` over all comparisons, if the data are looked at
    once, at a time that did not depend on them.

    >>> OneLook(0.05)
    OneLook(delta=0.05)
    """

    delta: float = 0.05
    name = "one-look"
    guaranteed = True

    def __post_init__(self) -> None:
        if not isinstance(self.delta, (int, float)) or not 0.0 < self.delta < 1.0:
            raise SettingError(f"delta={self.delta!r} is not valid: it must lie between 0 and 1")

    def decided(self, report: Any) -> Verdict:
        best = report.leader
        result = getattr(report, "comparison", None)
        if result is None:
            return Verdict(False, best.arm, "one look cannot decide: there is nothing to compare")
        enough = result.corrected <= self.delta
        words = f"{'tells' if enough else 'does not tell'} {result.arm} from {result.against}"
        size = (
            f"p = {result.corrected:.2g}, {self.delta:.4g} {'is' if enough else 'would be'} enough"
        )
        return Verdict(enough, best.arm, f"a test at one look {words} ({size})")


def rates_differ(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The p-value of two rates, each from (conversions, visitors): Fisher's exact test where
    conversions are few, else the test of scores.

    >>> round(rates_differ((5, 1_000), (0, 1_000)), 3)
    0.062
    >>> round(rates_differ((381, 10_000), (300, 10_000)), 4)
    0.0016
    """
    from scipy.special import gammaln, ndtr

    (k, n), (j, m) = first, second
    total, few = k + j, min(k + j, n + m - k - j)
    if few > _EXACT:
        rate = total / (n + m)
        score = (k / n - j / m) / math.sqrt(rate * (1.0 - rate) * (1.0 / n + 1.0 / m))
        return 2.0 * float(ndtr(-abs(score)))
    import numpy as np

    ways = np.arange(max(total - m, 0.0), min(total, n) + 1.0)

    def choices(of: float, some: Any) -> Any:
        return gammaln(of + 1.0) - gammaln(some + 1.0) - gammaln(of - some + 1.0)

    logs = choices(n, ways) + choices(m, total - ways) - choices(n + m, total)
    own = logs[int(k - ways[0])]
    return min(float(np.exp(logs[logs <= own + 1e-9]).sum()), 1.0)

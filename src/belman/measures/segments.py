"""Segments: how the leader does among phones, in one country, on Sundays, without being fooled.

A small segment shows large differences by luck. So the difference in each segment is drawn towards
the difference of all of them: differences are taken as normal around a common one with a spread τ
that is estimated from the data (DerSimonian and Laird), an empirical-Bayes shrinkage. Where
segments differ no more than luck explains, τ is 0 and all are shown the common difference.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.families.family import Family
from belman.measures.lift import OWN, Units
from belman.measures.report import Report, plain
from belman.table import Table

Floats = NDArray[np.float64]

_SCORE = 0.15865525393145707  # the chance below one standard deviation under the mean
#: How sure one has to be that the leader does worse in a segment before it is flagged.
FLAG = 0.9


class Pooled(NamedTuple):
    """A common difference and its error, the spread τ, and each segment's estimate and error."""

    common: float
    error: float
    spread: float
    estimates: Floats
    errors: Floats


def partial_pooling(estimates: Floats, errors: Floats) -> Pooled:
    """Draw estimates with known standard errors towards their common value.

    >>> result = partial_pooling(np.array([1.0, 1.2, 0.8]), np.array([1.0, 1.0, 1.0]))
    >>> result.spread, result.estimates.round(3).tolist()
    (0.0, [1.0, 1.0, 1.0])
    >>> result = partial_pooling(np.array([1.0, 5.0, -3.0]), np.array([0.5, 0.5, 0.5]))
    >>> round(result.spread, 2), result.estimates.round(2).tolist()
    (3.97, [1.0, 4.94, -2.94])
    """
    weights = errors**-2.0
    common = float((weights * estimates).sum() / weights.sum())
    excess = float((weights * (estimates - common) ** 2).sum()) - (len(estimates) - 1)
    scale = float(weights.sum() - (weights**2).sum() / weights.sum())
    variance = max(excess / scale, 0.0) if scale > 0.0 else 0.0
    own = 1.0 / (errors**2 + variance)
    common = float((own * estimates).sum() / own.sum())
    error = 1.0 / math.sqrt(float(own.sum()))
    trust = variance / (variance + errors**2)
    drawn = common + trust * (estimates - common)
    width = np.sqrt(trust * errors**2 + ((1.0 - trust) * error) ** 2)
    return Pooled(common, error, math.sqrt(variance), drawn, width)


class Segments(NamedTuple):
    """Per segment: the arm beside the other, alone and drawn to all, and the chance to be worse."""

    attribute: str
    arm: Hashable
    against: Hashable
    names: tuple[str, ...]
    alone: Floats
    pooled: Pooled
    worse: Floats
    plays: Floats

    @property
    def flagged(self) -> list[str]:
        """Segments in which the arm loses, as far as one can be sure."""
        pairs = zip(self.names, self.worse, strict=True)
        return [name for name, chance in pairs if chance >= FLAG]

    @property
    def sentence(self) -> str:
        """What the segments say, in words."""
        if not self.flagged:
            return f"In no {self.attribute} is {self.arm} known to do worse than {self.against}."
        positions = ", ".join(self.flagged)
        return f"{self.arm} does worse than {self.against} where {self.attribute} is {positions}."

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {
            "attribute": self.attribute,
            "arm": plain(self.arm),
            "against": plain(self.against),
            "sentence": self.sentence,
            "flagged": self.flagged,
            "rows": [{name: plain(cell) for name, cell in row.items()} for row in self.table()],
        }

    def table(self) -> Table:
        """One row a segment; `drawn` is the difference drawn towards that of all segments."""
        low = self.pooled.estimates - 1.959964 * self.pooled.errors
        high = self.pooled.estimates + 1.959964 * self.pooled.errors
        return Table(
            {
                self.attribute: list(self.names),
                "plays": [round(plays) for plays in self.plays],
                "difference": self.alone.tolist(),
                "drawn": self.pooled.estimates.tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "P(worse)": [round(float(chance), 4) for chance in self.worse],
                "flag": ["!" if chance >= FLAG else "" for chance in self.worse],
            },
            f"{self.arm} beside {self.against} by {self.attribute}",
        )


def compared(report: Report) -> tuple[Hashable, Hashable]:
    """The leader, and what it is compared with: control, or the runner-up where control leads."""
    ranked = sorted(report.arms, key=lambda arm: -arm.chance_best)
    mine = ranked[0].arm
    return mine, report.control if report.control not in (None, mine) else ranked[1].arm


def segments(
    attribute: str,
    family: Family,
    beliefs: Mapping[str, tuple[Floats, Floats]],
    plays: Mapping[str, float],
    arm: Hashable,
    against: Hashable,
    units: Units = OWN,
) -> Segments:
    """The difference between two arms in every segment, from (belief, belief) of each.

    >>> from belman.families import Bernoulli
    >>> wins = {"phone": (400, 300), "desktop": (390, 310), "tablet": (10, 60)}
    >>> beliefs = {s: tuple(np.array([k + 1.0, 1001.0 - k]) for k in w) for s, w in wins.items()}
    >>> result = segments("device", Bernoulli(), beliefs, dict.fromkeys(wins, 2_000), "a", "b")
    >>> print(result.sentence)
    a does worse than b where device is tablet.
    """
    names = tuple(beliefs)
    rows = [[_moments(family, belief, units) for belief in beliefs[name]] for name in names]
    alone = np.array([mine[0] - other[0] for mine, other in rows])
    errors = np.array([math.hypot(mine[1], other[1]) for mine, other in rows])
    pooled = partial_pooling(alone, np.maximum(errors, 1e-300))
    from scipy.special import ndtr

    worse = ndtr(-pooled.estimates / np.maximum(pooled.errors, 1e-300))
    worse = 1.0 - worse if units.minimise else worse
    counts = np.array([float(plays[name]) for name in names])
    return Segments(attribute, arm, against, names, alone, pooled, worse, counts)


def _moments(family: Family, belief: Floats, units: Units) -> tuple[float, float]:
    """The median of a mean in the user's units, and half the distance of its middle two thirds."""
    middle = family.mean_quantile(belief, 0.5)
    low = family.mean_quantile(belief, _SCORE)
    high = family.mean_quantile(belief, _SCORE, upper=True)
    return units.offset + units.slope * middle, 0.5 * abs(units.slope) * (high - low)

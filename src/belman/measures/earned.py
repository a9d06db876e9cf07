"""What was earned, beside what a fixed split would have earned of the same turns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from belman.measures.mean_tables import tabulated
from belman.measures.report import Known, plain

_SCORE = 1.959963984540054  # standard deviations of a central 95 %


class Earned(NamedTuple):
    """The sum of some rewards, and what an even split over the arms would have earned by what is
    believed of them now, with its credible interval of 95 %.
    """

    rewards: int
    total: float
    fixed_split: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `gain` is how much more was earned."""
        split = {"middle": plain(self.fixed_split), "credible": plain(self[3:])}
        gain = plain(self.total - self.fixed_split)
        return {"rewards": self.rewards, "total": self.total, "fixed_split": split, "gain": gain}


def earned(known: Known, rewards: int, total: float) -> Earned:
    """What was earned beside a fixed split over these arms.

    >>> from belman.families import Bernoulli
    >>> beliefs = np.array([[31.0, 71.0], [61.0, 41.0]])
    >>> told = (np.array([100.0, 100.0]), np.array([30.0, 60.0]), np.array([30.0, 60.0]))
    >>> result = earned(Known(Bernoulli(), ["a", "b"], np.ones((2, 2)), beliefs, *told), 200, 90.0)
    >>> [round(number, 2) for number in result[1:]]
    [90.0, 90.2, 77.25, 103.15]
    """
    (distributions, rows), units = tabulated(known.family, known.beliefs), known.units
    means = [units.shown(distributions.expected_reward(row)) for row in rows]
    low, high = distributions.mean_intervals(rows, 0.025)
    with np.errstate(invalid="ignore"):  # what is infinite has no spread
        spread = abs(units.slope) * (np.asarray(high) - np.asarray(low)) / (2.0 * _SCORE)
    mean = math.fsum(means) / len(means) if np.isfinite(means).all() else float(np.sum(means))
    wide = _SCORE * float(np.sqrt((spread**2).sum())) / len(means)
    ends = (rewards * (mean + side * wide) if rewards else 0.0 for side in (-1.0, 1.0))
    return Earned(rewards, total, rewards * mean if rewards else 0.0, *ends)

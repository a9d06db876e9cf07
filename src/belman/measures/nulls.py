"""What ends of a trial would be worth if no arm were better than control, at any common rate.

A statistic such as the posterior chance of being better exceeds a value more often at some rates
than at others, so that one value for all of them would be much too large at most. Its *p-value at
the rate that was seen* is alike at all rates, nearly; the least of these p-values that is reached
with a chance of at most α at every rate is then hardly below α, and the test is as sharp as it can
be while its error is held (Lloyd, 2008, "estimation and maximisation").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from belman.measures.trial_plays import Ends

Floats = NDArray[np.float64]
TIE = 1e-11  # of two statistics that are the same but for rounding
#: Rates at which trials are played that cannot be computed.
PLAYED_RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_RATES = np.linspace(0.002, 0.998, 499)  # at which the error of a computed test is held
_KNOTS = 0.5 - 0.5 * np.cos(np.linspace(0.05, 0.95, 31) * np.pi)  # p-values are between these


def at_rates(n: Any, s: Any, chances: Any, rate: Any) -> Any:
    """Chances at even odds as chances at a rate, of n patients with s successes of one arm."""
    logs = n * math.log(2.0) + special.xlogy(s, rate) + special.xlog1py(n - s, -rate)
    return chances * np.exp(logs)


def critical_value(ends: Ends, statistic: Floats, alpha: float) -> float:
    """The least value of a statistic that is reached with chance α at most at every common rate."""
    total, won = ends.patients.sum(axis=1), ends.successes.sum(axis=1)
    pairs, of = np.unique(np.stack([total, won]), axis=1, return_inverse=True)
    weights = at_rates(
        pairs[0][:, None], pairs[1][:, None], 1.0, _RATES
    )  # of a pair (patients, successes), by rate
    values = np.unique(statistic)
    low, high = 0, len(values)  # errors at `high` are at most α: nothing is declared
    while low < high:
        middle = (low + high) // 2
        chosen = ends.chance * (statistic >= values[middle] - TIE)
        error = (np.bincount(of.ravel(), chosen, pairs.shape[1]) @ weights).max()
        low, high = (low, middle) if error <= alpha else (middle + 1, high)
    return float(values[low]) if low < len(values) else 2.0


@dataclass(frozen=True)
class Nulls:
    """A statistic where no arm is better: its values in order, and the chance to reach each, by
    common rate.
    """

    rates: Floats
    ordered: list[Floats]
    tails: list[Floats]

    @classmethod
    def computed(cls, ends: Ends, statistic: Floats) -> Nulls:
        """From all ends of a trial with their chances at even odds."""
        order = np.argsort(statistic, kind="stable")
        total, won = ends.patients.sum(axis=1)[order], ends.successes.sum(axis=1)[order]
        tails = []
        for rate in _KNOTS:
            likely = at_rates(total, won, ends.chance[order], rate)
            tails.append(np.append(np.cumsum(likely[::-1])[::-1], 0.0))
        return cls(_KNOTS, [statistic[order]] * len(_KNOTS), tails)

    @classmethod
    def played(cls, rates: Sequence[float], statistics: Sequence[Floats]) -> Nulls:
        """From trials that were played at each rate."""
        tails = [np.arange(len(one), -1, -1.0) / len(one) for one in statistics]
        return cls(np.array(rates), [np.sort(one) for one in statistics], tails)

    def values(self, ends: Ends, statistic: Floats) -> Floats:
        """The p-value of every end at the rate that was seen, straight between the rates known."""
        seen = (ends.successes.sum(axis=1) + 0.5) / (ends.patients.sum(axis=1) + 1.0)
        right = np.clip(np.searchsorted(self.rates, seen), 1, len(self.rates) - 1)
        low, high = self.rates[right - 1], self.rates[right]
        part = np.clip((seen - low) / (high - low), 0.0, 1.0)
        result = np.zeros(len(statistic))
        for i in range(len(self.rates)):
            weight = np.where(right == i, part, np.where(right - 1 == i, 1.0 - part, 0.0))
            some = weight > 0.0
            if some.any():
                position = np.searchsorted(self.ordered[i], statistic[some] - TIE)
                result[some] += weight[some] * self.tails[i][position]
        return result

    def statistic(self, ends: Ends, better: Floats) -> Floats:
        """1 − the p-value of every arm."""
        return 1.0 - np.stack([self.values(ends, column) for column in better.T], axis=1)

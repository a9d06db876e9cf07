"""What was earned, as a share of what was attainable: the best arm, known from the start.

No policy attains it, since it must learn which arm that is. How good the best arm is nobody knows
either: the interval is that of its mean, given what is believed now. Its ends are the highest of
the low ends and the highest of the high ends of all arms, at a level for which all arms hold
together. So it is right at least as often as it says on average over the prior, and also where arms
are alike, where the best of many estimates is too good.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from belman.measures.mean_tables import tabulated
from belman.measures.report import Known, plain

_RISK = 0.05  # of the interval


class Attained(NamedTuple):
    """What the best of some arms is expected to have earned in as many turns; what was earned as a
    share of it, and the credible interval of that share, of 95 % or more.
    """

    best: float
    share: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """It in words; the interval is rounded outwards."""
        digits = 0 if self.high - self.low > 0.02 else 1
        scale = 10.0**digits
        low = math.floor(100.0 * scale * self.low) / scale
        high = math.ceil(100.0 * scale * self.high) / scale
        ends = f"{low:,.{digits}f}–{high:,.{digits}f} %"
        return (
            f"Earned {100.0 * self.share:,.{digits}f} % of what was attainable ({ends}): the best "
            f"arm, known from the start, would have earned about {self.best:,.5g}, given the prior "
            "and what was told."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {"best": self.best, "share": self.share, "credible": plain(self[2:])}


def attained(known: Known, best: float, rewards: int, total: float) -> Attained | None:
    """What was earned of the attainable, where the best arm's mean is expected to be `best`.

    None where that is no share: without rewards, of costs, and where the best arm may have a mean
    of 0 or less, or an infinite one.

    >>> from belman.families import Bernoulli
    >>> beliefs = np.array([[301.0, 701.0], [6_001.0, 4_001.0]])
    >>> told = (np.array([1e3, 1e4]), np.array([300.0, 6e3]), np.array([300.0, 6e3]))
    >>> of = Known(Bernoulli(), ["a", "b"], np.ones((2, 2)), beliefs, *told)
    >>> attained(of, 0.6, 11_000, 6_300.0).sentence[:53]
    'Earned 95 % of what was attainable (93–98 %): the bes'
    """
    (distributions, rows), units = tabulated(known.family, known.beliefs), known.units
    if not rewards or units.minimise:
        return None
    lows, highs = distributions.mean_intervals(rows, 0.5 * _RISK / len(rows))
    low, high = (float(units.shown(float(np.max(ends)))) for ends in (lows, highs))
    if not 0.0 < low <= best <= high < math.inf:
        return None
    return Attained(rewards * best, *(total / (rewards * of) for of in (best, high, low)))

"""The scale of a number: the mean and the standard deviation of the values seen up to the last
power of two of them, or up to the last value that made the deviation much larger than the one in
use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from belman.assignment.contexts import FURTHEST
from belman.codec import Count

_GROWN = 2.0  # times the variance in use, beyond which it is renewed
_MANY = 100  # values after which none counts as further than 2√n deviations: it may be a slip


@dataclass(slots=True)
class Moments:
    """The values of a number so far, and the scale in use: its centre and spread, 0 before any."""

    seen: Count = 0
    mean: float = 0.0
    squares: Annotated[float, (0.0).__le__] = 0.0
    centre: float = 0.0
    spread: Annotated[float, (0.0).__le__] = 0.0

    def add(self, value: float) -> bool:
        """Count a value, and return whether the scale in use was renewed.

        No value is cut before `_MANY`: a scale that is renewed whenever the variance has doubled
        has none of up to 100 values beyond 10 deviations.
        """
        self.seen = count = self.seen + 1
        if count > _MANY and self.spread > 0.0:
            furthest = 2.0 * math.sqrt(count) * self.spread
            value = min(max(value, self.centre - furthest), self.centre + furthest)
        apart = value - self.mean
        self.mean += apart / count
        self.squares += apart * (value - self.mean)
        grown = self.squares > _GROWN * self.spread * self.spread * (count - 1)
        if count & (count - 1) != 0 and not grown:
            return False
        self.renew()
        return True

    def renew(self) -> None:
        """Use the scale of the values so far."""
        spread = math.sqrt(self.squares / (self.seen - 1)) if self.seen > 1 else 0.0
        if spread > 1e-12 * abs(self.mean):  # with one value all along the scale stays
            self.spread = spread
        self.centre = self.mean

    def standardised(self, value: float) -> float:
        """The value in use."""
        if self.spread == 0.0:
            return 0.0
        score = (value - self.centre) / self.spread
        if -FURTHEST <= score <= FURTHEST:
            return score
        return FURTHEST if score > 0.0 else -FURTHEST

"""Waves: random Fourier features of the numbers of a context (Rahimi and Recht, 2007).

A wave is √2 cos(wᵀz + b) of the standardised numbers z, cut at 3. Sums of waves with independent
coefficients approximate a Gaussian process, so they bend as rewards do, in all numbers together.
Their scale is the one of the numbers at the time the waves came, for good: a cosine on another
scale is no sum of cosines on this one. The words of SHAKE-256 say w and b, so that every process
and machine draws the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from belman.engine import LATER, Call, entry, kernel
from belman.special import normal_quantile

Floats = NDArray[np.float64]

#: How many waves there are, of how many numbers at most, and after how many values of a number.
COUNT, MOST_NUMBERS, VALUES = 40, 12, 32
#: The distance over which a process bends is this times the root of how many numbers there are.
_LENGTH = 0.35
_FURTHEST = 3.0


@lru_cache(maxsize=64)
def drawn(numbers: int) -> tuple[Floats, Floats]:
    """Return the directions of waves (COUNT, numbers), and where each begins."""
    wanted = COUNT * (numbers + 1)
    seed = f"belman: {COUNT} waves of {numbers}".encode()
    words = np.frombuffer(hashlib.shake_256(seed).digest(4 * wanted), "<u4")
    chances = ((words + 0.5) / 2.0**32).tolist()
    steep = 1.0 / (_LENGTH * math.sqrt(numbers))
    slopes = [steep * normal_quantile(chance) for chance in chances[COUNT:]]
    directions = np.array(slopes).reshape(COUNT, numbers)
    directions.flags.writeable = False
    begins = 2.0 * math.pi * np.array(chances[:COUNT])
    begins.flags.writeable = False
    return directions, begins


@kernel
def swing(directions, begins, scores, out):
    """Fill in the waves at these scores."""
    for k in range(out.size):
        angle = begins[k]
        for i in range(scores.size):
            angle += directions[k, i] * scores[i]
        out[k] = math.sqrt(2.0) * math.cos(angle)
    return 0


@dataclass(frozen=True)
class Waves:
    """Which numbers waves are of, and on which scale: their centres and spreads."""

    names: list[str]
    centres: list[float]
    spreads: list[Annotated[float, (0.0).__lt__]]

    def fill(self, values: Mapping[str, Any], out: Floats) -> None:
        """Fill in the waves of some values; a number that is missing is at its centre."""
        scores = []
        for name, centre, spread in zip(self.names, self.centres, self.spreads, strict=True):
            value = values.get(name)
            score = 0.0 if value is None else (value - centre) / spread
            scores.append(min(max(score, -_FURTHEST), _FURTHEST))
        self._scores[:] = scores
        self._call()
        out[:] = self._waves

    @cached_property
    def _scores(self) -> Floats:
        return np.zeros(len(self.names))

    @cached_property
    def _waves(self) -> Floats:
        return np.zeros(COUNT)

    @cached_property
    def _call(self) -> Call:
        directions, begins = drawn(len(self.names))
        arrays = {"directions": directions, "begins": begins}
        return entry(swing).hold(LATER, scores=self._scores, **arrays, out=self._waves)

    def __reduce__(self) -> Any:
        """All but the call, which holds arrays by their addresses: a copy has its own."""
        return type(self), (self.names, self.centres, self.spreads)

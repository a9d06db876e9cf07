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
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
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


class Swing(NamedTuple):
    """What waves are worked out from, of m numbers; no waves without a number."""

    rows: NDArray[np.int64]  # (m) where each number is among the values
    centres: Floats  # (m)
    spreads: Floats  # (m)
    directions: Floats  # (COUNT, m)
    begins: Floats  # (COUNT)
    scores: Floats  # (m) scratch
    first: int  # the slot of the first wave


@kernel
def swing(waves, values, out):
    """Fill in the waves of some values, NaN for none; a number that is missing is at its centre."""
    for i in range(waves.rows.size):
        value = values[waves.rows[i]]
        score = (value - waves.centres[i]) / waves.spreads[i] if value == value else 0.0
        waves.scores[i] = min(max(score, -_FURTHEST), _FURTHEST)
    for k in range(waves.begins.size):
        angle = waves.begins[k]
        for i in range(waves.scores.size):
            angle += waves.directions[k, i] * waves.scores[i]
        out[waves.first + k] = math.sqrt(2.0) * math.cos(angle)


@dataclass(frozen=True)
class Waves:
    """Which numbers waves are of, and on which scale: their centres and spreads."""

    names: list[str]
    centres: list[float]
    spreads: list[Annotated[float, (0.0).__lt__]]


def swing_of(waves: Waves | None, rows: Mapping[str, int], first: int) -> Swing:
    """Return what waves are worked out from, by the rows of numbers among the values; `first` is
    the slot of the first wave.
    """
    if waves is None:
        none = np.zeros(0)
        return Swing(np.zeros(0, dtype=np.int64), none, none, np.zeros((0, 0)), none, none, 0)
    size = len(waves.names)
    at = np.array([rows[name] for name in waves.names], dtype=np.int64)
    scales = np.array(waves.centres), np.array(waves.spreads)
    return Swing(at, *scales, *drawn(size), np.zeros(size), first)

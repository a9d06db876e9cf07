"""Where to search a box: points spread evenly, points that were tried, and ever closer ones.

Points spread evenly go on where those of the turn before ended, so that every corner is looked at
again and again. Around the best that were found, and around the leader, points come closer in four
rounds, along one side or along all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from belman.deciders.box.processes import Moments

Floats = NDArray[np.float64]
#: The index of places, from their means, their variances and the noise.
Rule = Callable[[Floats, Floats, float], Floats]

SPREAD = 384  # points spread evenly over the box
#: Of each round: how far it reaches, in length scales, and around how many of the best.
_ROUNDS = ((0.5, 5), (0.2, 3), (0.06, 2), (0.02, 1))
_AROUND = 96  # points of a round


class Seen(NamedTuple):
    """Places that were searched, and what is believed of each."""

    positions: Floats
    mean: Floats
    variance: Floats
    indices: Floats

    @property
    def leader(self) -> int:
        """Where the largest mean is."""
        return int(np.argmax(self.mean))


def search(
    moments: Callable[[Floats], Moments],
    rule: Rule,
    told: Floats,
    lengths: Floats,
    shift: Floats,
    first: int,
) -> Seen:
    """Look for the largest index and the largest mean: at points spread evenly from the `first` of
    them on, at those `told`, and ever closer to the best.
    """
    positions = np.vstack([evenly(SPREAD, shift, first), told])
    result = moments(positions)
    seen = Seen(positions, result.mean, result.variance, np.zeros(0))
    seen = seen._replace(indices=rule(seen.mean, seen.variance, result.noise))
    for reach, most in _ROUNDS:
        steps = reach * np.minimum(lengths, 1.0)
        centres = [*_best(seen, most, steps), seen.leader]
        offsets = steps * _offsets(_AROUND, shift, first)
        around = seen.positions[np.resize(centres, _AROUND)] + offsets
        positions = np.clip(around, 0.0, 1.0)
        result = moments(positions)
        parts = (
            (seen.positions, positions),
            (seen.mean, result.mean),
            (seen.variance, result.variance),
        )
        positions, mean, variance = (np.concatenate(pair) for pair in parts)
        seen = Seen(positions, mean, variance, rule(mean, variance, result.noise))
    return seen


def _best(seen: Seen, most: int, steps: Floats) -> list[int]:
    """Return the places with the largest index that are apart from one another."""
    chosen: list[int] = []
    for at in np.argsort(-seen.indices, kind="stable")[:64].tolist():
        apart = np.abs(seen.positions[chosen] - seen.positions[at]) / steps
        if (apart.max(axis=1, initial=0.0) > 1.0).all():
            chosen.append(at)
        if len(chosen) == most:
            break
    return chosen


def _offsets(count: int, shift: Floats, first: int) -> Floats:
    """Steps of a normal spread, the second half of them along one side alone."""
    result: Floats = special.ndtri(np.clip(evenly(count, shift, first), 1e-6, 1.0 - 1e-6))
    sides = len(shift)
    alone = np.arange(count // 2, count)
    kept = result[alone, alone % sides]
    result[alone] = 0.0
    result[alone, alone % sides] = kept
    return result


def evenly(count: int, shift: Floats, first: int = 0) -> Floats:
    """Points spread evenly over the unit cube: multiples of the roots of x^(d+1) = x + 1 (for one
    side the golden ratio), modulo 1.
    """
    sides = len(shift)
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (sides + 1))
    steps = root ** -np.arange(1.0, sides + 1.0)
    return (shift + np.arange(first + 1, first + count + 1)[:, None] * steps) % 1.0

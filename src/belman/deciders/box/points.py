"""Points that were tried, each with how often and what it brought on average.

Rewards of the same point, in the same context, are one point with a count. There are at most `MOST`
points: beyond, the two that are least apart become one, where they would be on average, so that
what a belief costs has a bound however many rewards there are. How far two points are apart is
their squared distance times n₁n₂/(n₁ + n₂), by which the squares within all points grow when they
are joined (Ward's rule).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Context = dict[str, Any]

MOST = 256


class Points:
    """What was told, by point.

    >>> points = Points(1)
    >>> for at, reward in ((0.2, 1.0), (0.7, 5.0), (0.2, 3.0)):
    ...     points.tell(np.array([at]), {}, reward)
    >>> points.counts.tolist(), points.means.tolist(), points.squares.tolist()
    ([2.0, 1.0], [2.0, 5.0], [2.0, 0.0])
    """

    def __init__(self, sides: int) -> None:
        self.positions: Floats = np.zeros((0, sides))
        self.contexts: list[Context] = []
        self.counts: Floats = np.zeros(0)
        self.means: Floats = np.zeros(0)
        #: Sums of squares of rewards about their mean.
        self.squares: Floats = np.zeros(0)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def rewards(self) -> int:
        """How many rewards were told."""
        return int(self.counts.sum())

    def tell(self, position: Floats, context: Context, reward: float) -> None:
        """Count a reward of a point."""
        here = np.flatnonzero((self.positions == position).all(axis=1)).tolist()
        at = next((one for one in here if self.contexts[one] == context), None)
        if at is None:
            self.positions = np.vstack([self.positions, position])
            self.contexts = [*self.contexts, context]
            self.counts = np.append(self.counts, 1.0)
            self.means = np.append(self.means, reward)
            self.squares = np.append(self.squares, 0.0)
            return
        self.counts[at] += 1.0
        apart = reward - self.means[at]
        self.means[at] += apart / self.counts[at]
        self.squares[at] += apart * (reward - self.means[at])

    def join(self, distances: Callable[[Points], Floats]) -> None:
        """Join points until there are at most `MOST`, those with the least squared distances."""
        while len(self) > MOST:
            counts = self.counts
            apart = distances(self) * (counts * counts[:, None] / (counts + counts[:, None]))
            apart[np.tril_indices(len(self))] = np.inf
            one, other = divmod(int(np.argmin(apart)), len(self))
            self._join(one, other)

    def _join(self, one: int, other: int) -> None:
        """Let one point have the rewards of both, in the context of the one with more."""
        both = [one, other]
        weights = self.counts[both] / self.counts[both].sum()
        mean = float(weights @ self.means[both])
        spread = float(self.counts[both] @ (self.means[both] - mean) ** 2)
        self.squares[one] = self.squares[both].sum() + spread
        self.means[one], self.positions[one] = mean, weights @ self.positions[both]
        names = self.contexts[both[int(np.argmax(weights))]]
        self.contexts[one] = {
            name: self._average(both, weights, name, value) for name, value in names.items()
        }
        self.counts[one] = self.counts[both].sum()
        for name in ("positions", "counts", "means", "squares"):
            setattr(self, name, np.delete(getattr(self, name), other, axis=0))
        del self.contexts[other]

    def _average(self, both: list[int], weights: Floats, name: str, value: Any) -> Any:
        values = [self.contexts[position][name] for position in both]
        if all(isinstance(each, float) for each in values):
            return float(weights @ np.array(values))
        return value

"""A belief about a function on the unit cube: Gaussian processes, weighed by what they foresaw.

A member says that rewards are y = f(x) + noise, f = constant + Matérn-5/2 of one length scale, the
noise a fixed multiple g of the process's variance σ², and σ² has an inverse-gamma prior, so that
everything is in closed form: Student's t for f(x), the marginal likelihood as a weight. Nothing is
fitted: a bank of length scales and noise levels is averaged. Rewards are standardised as they are
seen. A reward appends one row to each Cholesky factor, O(n²) a member.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special
from scipy.spatial import distance

Floats = NDArray[np.float64]

LENGTHS = (0.05, 0.1, 0.2, 0.4, 0.8)  # of the cube's side
NOISES = (1e-3, 0.03, 1.0, 30.0)  # the variance of the noise over that of the process
_CONSTANT = 4.0  # the variance of the constant over that of the process
_SHAPE = _RATE = 1.0  # of the prior of σ², for standardised rewards


class Moments(NamedTuple):
    """What is believed of f at some places: by each member, and by all together."""

    centre: Floats  # (members, places), in the user's units as all that follows
    scale: Floats  # (members, places), of Student's t
    freedom: float  # its degrees of freedom
    weights: Floats  # (members)
    mean: Floats  # (places)
    variance: Floats  # (places)
    noise: float  # the variance of a reward about f

    def chance_below(self, values: Floats) -> Floats:
        """P(f ≤ value) at each place."""
        with np.errstate(divide="ignore", invalid="ignore"):
            standing = (values - self.centre) / self.scale
        return self.weights @ special.stdtr(self.freedom, np.nan_to_num(standing))

    def quantile(self, chance: float) -> Floats:
        """The value below which f lies with this chance, at each place, by bisection."""
        reach = special.stdtrit(self.freedom, max(chance, 1.0 - chance)) * self.scale
        low, high = (self.centre - reach).min(axis=0), (self.centre + reach).max(axis=0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.chance_below(middle) < chance
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)


def squares(one: Floats, other: Floats) -> Floats:
    """Squared distances between the rows of two arrays."""
    found: Floats = distance.cdist(one, other, "sqeuclidean")
    return found


def correlation(square: Floats, length: float) -> Floats:
    """Matérn-5/2, of squared distances.

    >>> correlation(np.array([0.0, 1e18]), 1.0)
    array([1., 0.])
    """
    near = np.sqrt(5.0 * square) / length
    found: Floats = (1.0 + near + near * near / 3.0) * np.exp(-near)
    return found


class _Fit(NamedTuple):
    """What a member makes of all rewards, standardised."""

    solution: Floats  # L⁻¹ times the rewards
    rate: float  # of the posterior of σ²
    evidence: float  # the logarithm of the marginal likelihood, up to a constant of all members


class _Member:
    """One process: the Cholesky factor L of its rewards' covariance over σ², and L⁻¹ times their
    covariance with the places that are looked at in every turn.
    """

    def __init__(self, length: float, noise: float, watched: int) -> None:
        self.length, self.noise = length, noise
        self.factor = np.zeros((16, 16))
        self.solved = np.zeros((16, watched))

    def covariance(self, square: Floats) -> Floats:
        return _CONSTANT + correlation(square, self.length)

    def append(self, told: Floats, watched: Floats) -> None:
        """Take a new place, by its squared distances from those it has and those watched."""
        n = len(told)
        if n == len(self.factor):
            self.factor = np.pad(self.factor, ((0, n), (0, n)))
            self.solved = np.pad(self.solved, ((0, n), (0, 0)))
        row = self.solve(self.covariance(told))
        own = _CONSTANT + 1.0 + self.noise - float(row @ row)
        self.factor[n, :n] = row
        self.factor[n, n] = math.sqrt(max(own, 0.5 * self.noise))
        self.solved[n] = (self.covariance(watched) - row @ self.solved[:n]) / self.factor[n, n]

    def solve(self, columns: Floats) -> Floats:
        """L⁻¹ times columns with a row for every reward."""
        n = len(columns)
        if n == 0:
            return columns
        found: Floats = linalg.solve_triangular(
            self.factor[:n, :n], columns, lower=True, check_finite=False
        )
        return found

    def fit(self, standard: Floats) -> _Fit:
        solution, shape = self.solve(standard), _shape(len(standard))
        rate = _RATE + 0.5 * float(solution @ solution)
        diagonal = float(np.log(np.diagonal(self.factor)[: len(standard)]).sum())
        return _Fit(solution, rate, -diagonal - shape * math.log(rate))


def _shape(rewards: int) -> float:
    return _SHAPE + 0.5 * rewards


class Processes:
    """A bank of Gaussian processes about rewards at places of the unit cube.

    >>> bank = Processes(np.array([[0.25], [0.75]]))
    >>> for _ in range(20):
    ...     bank.tell(np.array([0.25]), 1.0)
    ...     bank.tell(np.array([0.75]), 3.0)
    >>> bank.watched_moments().mean.round(1).tolist()
    [1.0, 3.0]
    """

    def __init__(self, watched: Floats) -> None:
        self.watched = watched
        self.places = np.zeros((0, watched.shape[1]))
        self.rewards = np.zeros(0)
        pairs = itertools.product(LENGTHS, NOISES)
        self._members = [_Member(length, noise, len(watched)) for length, noise in pairs]
        self._fits: list[_Fit] | None = None

    def tell(self, place: Floats, reward: float) -> None:
        """Learn a reward at a place."""
        told, watched = (squares(place[None, :], of)[0] for of in (self.places, self.watched))
        for member in self._members:
            member.append(told, watched)
        self.places = np.vstack([self.places, place])
        self.rewards = np.append(self.rewards, reward)
        self._fits = None

    def watched_moments(self) -> Moments:
        """What is believed of the places that are watched."""
        n = len(self.rewards)
        return self._moments(member.solved[:n] for member in self._members)

    def moments(self, places: Floats) -> Moments:
        """What is believed of any places."""
        apart = squares(self.places, places)
        return self._moments(member.solve(member.covariance(apart)) for member in self._members)

    def _moments(self, solved: Iterable[Floats]) -> Moments:
        shape = _shape(len(self.rewards))
        offset, unit = self._standard()
        if self._fits is None:
            standard = (self.rewards - offset) / unit
            self._fits = [member.fit(standard) for member in self._members]
        centre, scale = [], []
        for fit, columns in zip(self._fits, solved, strict=True):
            left = np.maximum(1.0 + _CONSTANT - np.einsum("ij,ij->j", columns, columns), 0.0)
            centre.append(fit.solution @ columns)
            scale.append(np.sqrt(fit.rate / shape * left))
        weights = special.softmax([fit.evidence for fit in self._fits])
        centres, scales = offset + unit * np.array(centre), unit * np.array(scale)
        mean = weights @ centres
        spread = shape / max(
            shape - 1.0, 0.5
        )  # the variance of Student's t over its scale's square
        variance = weights @ (spread * scales**2 + (centres - mean) ** 2)
        noises = [
            member.noise * fit.rate / shape
            for member, fit in zip(self._members, self._fits, strict=True)
        ]
        noise = unit * unit * float(weights @ np.array(noises))
        return Moments(centres, scales, 2.0 * shape, weights, mean, variance, noise)

    def _standard(self) -> tuple[float, float]:
        """The mean of the rewards and their deviation, 1 where there is none to be seen."""
        if len(self.rewards) == 0:
            return 0.0, 1.0
        offset, deviation = float(self.rewards.mean()), float(self.rewards.std())
        seen = deviation > 1e-9 * max(abs(offset), 1e-290)
        return offset, deviation if seen else max(abs(offset), 1.0)

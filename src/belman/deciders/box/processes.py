"""A belief about a function of a point and its context: Gaussian processes, weighed by what they
foretold.

A member says that rewards are y = f(x) + noise, f = constant + Matérn-5/2 with a length scale for
each side and each name of the context, the noise a fixed multiple g of the process's variance σ²,
and σ² has an inverse-gamma prior, so that everything is in closed form: Student's t for f(x), the
marginal likelihood as a weight. n rewards of one point are their mean, with noise gσ²/n, and the
squares within them. Rewards are standardised as they are seen.

Length scales and noise lie on a grid, with a prior. What is averaged are the members of a *bank*,
those with the largest posterior that a search finds: from all length scales alike, and from the
best of the bank before, one step at a time while that leads up. The search is made again when there
are a twentieth more rewards.

Points that are out count as if they had brought what each member expects there: means stay as they
are, and variances are those with their rewards.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special
from scipy.spatial import distance

from belman.deciders.box.contexts import Contexts
from belman.deciders.box.points import Context, Points
from belman.errors import StateError

Floats = NDArray[np.float64]
#: The places on the grid of the length scales, and last that of the noise.
Member = tuple[int, ...]

LENGTHS = tuple(0.05 * 2.0**step for step in range(8))  # of a side; the last one is 6.4
NOISES = tuple(10.0**step for step in range(-5, 3))  # the variance of noise over the process's
_ALIKE = (0, 1, 2, 3, 4, 5)  # length scales from which a search starts, with each of these noises
_NOISY = (1, 3, 5, 6, 7)
_CENTRE, _SPREAD = 0.3, 1.5  # the prior of a length scale: its median over √sides, in doublings
_CONSTANT = 4.0  # the variance of the constant over that of the process
_JITTER = 1e-8  # more noise of every point, which covers rounding
_SHAPE = _RATE = 1.0  # of the prior of σ², for standardised rewards
_MOST_MEMBERS, _LEAST_WEIGHT, _SWEEPS = 10, 0.003, 4
_MORE = 1.05  # times the rewards of one search are those of the next


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


def correlation(square: Floats) -> Floats:
    """Matérn-5/2, of squared distances in length scales.

    >>> correlation(np.array([0.0, 1e18]))
    array([1., 0.])
    """
    near = np.sqrt(5.0 * square)
    result: Floats = (1.0 + near + near * near / 3.0) * np.exp(-near)
    return result


class Out(NamedTuple):
    """Points whose rewards are not told yet: each with its context, and how often it is out."""

    positions: Floats
    contexts: list[Context]
    counts: Floats


class _Standard(NamedTuple):
    """Rewards less their mean, over their deviation."""

    offset: float
    unit: float
    means: Floats
    squares: float  # those within points


class _Fit(NamedTuple):
    """What a member makes of all rewards, standardised."""

    factor: Floats  # L, LLᵀ the covariance of the points' means over σ²
    solution: Floats  # L⁻¹ times these means
    rate: float  # of the posterior of σ²
    posterior: float  # its logarithm, up to a constant of all members


class Knowledge:
    """What points brought, as members see it: distances, and standardised rewards."""

    def __init__(self, points: Points, contexts: Contexts) -> None:
        self.points, self.contexts = points, contexts
        self.standard = _standardised(points)
        self._units = contexts.units(points.contexts, points.counts)
        self._within = self.apart(points.contexts, points.contexts)

    def apart(self, one: Sequence[Context], other: Sequence[Context]) -> Floats:
        """Return squared distances of contexts by name; of one context, with all the others."""
        return self.contexts.apart(one, other, self._units)

    def squares(self, member: Member, one: Floats, other: Floats, apart: Floats) -> Floats:
        """Return squared distances between points in a member's length scales."""
        sides = one.shape[1]
        lengths = np.array([LENGTHS[at] for at in member[:-1]])
        own = lengths[:sides]
        result: Floats = distance.cdist(one / own, other / own, "sqeuclidean")
        for length, part in zip(lengths[sides:], apart, strict=True):
            result += part / length**2
        return result

    def covariance(self, member: Member, one: Floats, other: Floats, apart: Floats) -> Floats:
        """Return the covariance of f between points, over σ²."""
        return _CONSTANT + correlation(self.squares(member, one, other, apart))

    def fit(self, member: Member) -> _Fit:
        points, standard = self.points, self.standard
        noise = NOISES[member[-1]]
        covariance = self.covariance(member, points.positions, points.positions, self._within)
        covariance[np.diag_indices(len(points))] += noise / points.counts + _JITTER
        factor = cholesky(covariance)
        solution = solve(factor, standard.means)
        told, shape = points.rewards, _shape(points.rewards)
        rate = _RATE + 0.5 * (float(solution @ solution) + standard.squares / noise)
        volume = float(np.log(np.diagonal(factor)).sum())
        volume += 0.5 * (told - len(points)) * math.log(noise)
        evidence = -volume - shape * math.log(rate)
        return _Fit(factor, solution, rate, evidence + log_prior(member))


def cholesky(covariance: Floats) -> Floats:
    """L, with LLᵀ the covariance."""
    result: Floats = np.linalg.cholesky(covariance).astype(np.float64, copy=False)
    return result


def solve(factor: Floats, columns: Floats) -> Floats:
    """L⁻¹ times columns with a row for every point."""
    if not len(factor):
        return columns
    result: Floats = linalg.solve_triangular(factor, columns, lower=True, check_finite=False)
    return result


def _shape(rewards: int) -> float:
    return _SHAPE + 0.5 * rewards


@lru_cache(maxsize=100_000)
def log_prior(member: Member) -> float:
    """The logarithm of a member's prior, up to a constant of all with as many length scales."""
    lengths = member[:-1]
    centre = math.log2(_CENTRE * math.sqrt(len(lengths)))
    steps = ((math.log2(LENGTHS[at]) - centre) / _SPREAD for at in lengths)
    return -0.5 * sum(step * step for step in steps)


def _standardised(points: Points) -> _Standard:
    """Rewards about their mean in units of their deviation; 1 where there is none to be seen."""
    if not len(points):
        return _Standard(0.0, 1.0, points.means, 0.0)
    weights = points.counts / points.counts.sum()
    offset = float(weights @ points.means)
    variance = float(weights @ ((points.means - offset) ** 2 + points.squares / points.counts))
    deviation = math.sqrt(variance)
    seen = deviation > 1e-9 * max(abs(offset), 1e-290)
    unit = deviation if seen else max(abs(offset), 1.0)
    squares = float((points.squares / unit / unit).sum())
    return _Standard(offset, unit, (points.means - offset) / unit, squares)


# The bank


def first_bank(lengths: int) -> list[Member]:
    """Return the members from which a search starts: all length scales alike."""
    return [(at,) * lengths + (noise,) for at, noise in itertools.product(_ALIKE, _NOISY)]


def searched(knowledge: Knowledge, bank: Iterable[Member]) -> list[Member]:
    """Return the members with the largest posterior that are found, the largest first."""
    known: dict[Member, float] = {}

    def consider(members: Iterable[Member]) -> None:
        for member in members:
            if member not in known:
                known[member] = knowledge.fit(member).posterior

    lengths = len(next(iter(bank := list(bank)))) - 1
    consider(first_bank(lengths))
    consider(bank)
    for _ in range(_SWEEPS):
        best = max(known, key=known.__getitem__)
        before = len(known)
        consider(_beside(best))
        if len(known) == before:
            break
    result = sorted(known, key=known.__getitem__, reverse=True)
    least = known[result[0]] + math.log(_LEAST_WEIGHT)
    return [member for member in result[:_MOST_MEMBERS] if known[member] >= least]


def check_bank(kept: Sequence[Sequence[int]], lengths: int) -> list[Member]:
    """Return the bank that a file kept; StateError where it is none."""
    most = [len(LENGTHS)] * lengths + [len(NOISES)]
    for member in kept:
        if len(member) != len(most) or not all(map(range.__contains__, map(range, most), member)):
            raise StateError(f"{str(list(member))[:40]} is no member of a bank of this box")
    if not 1 <= len(kept) <= max(_MOST_MEMBERS, len(_ALIKE) * len(_NOISY)):
        raise StateError(f"a bank has no {len(kept)} members")
    return [tuple(member) for member in kept]


def _beside(member: Member) -> Iterable[Member]:
    """Return the members one step away on the grid."""
    most = [len(LENGTHS)] * (len(member) - 1) + [len(NOISES)]
    for at, step in itertools.product(range(len(member)), (-1, 1)):
        if 0 <= member[at] + step < most[at]:
            yield (*member[:at], member[at] + step, *member[at + 1 :])


def next_search(rewards: int) -> int:
    """Return how many rewards there are when the bank is searched for again."""
    return max(rewards + 1, math.ceil(_MORE * rewards))


class Belief:
    """What a bank believes.

    >>> points = Points(1)
    >>> for _ in range(20):
    ...     points.tell(np.array([0.25]), {}, 1.0)
    ...     points.tell(np.array([0.75]), {}, 3.0)
    >>> belief = Belief(Knowledge(points, Contexts([])), first_bank(1))
    >>> belief.moments(np.array([[0.25], [0.75]]), {}).mean.round(1).tolist()
    [1.0, 3.0]
    """

    def __init__(self, knowledge: Knowledge, bank: Sequence[Member]) -> None:
        self.knowledge, self.members = knowledge, list(bank)
        self._fits = [knowledge.fit(member) for member in bank]
        self._factors = [fit.factor for fit in self._fits]
        self._out = Out(knowledge.points.positions[:0], [], np.zeros(0))
        self.weights = special.softmax([fit.posterior for fit in self._fits])

    @property
    def lengths(self) -> Floats:
        """The length scales of the sides, by the member that weighs most."""
        best = self.members[int(np.argmax(self.weights))]
        return np.array([LENGTHS[at] for at in best[: self.knowledge.points.positions.shape[1]]])

    def with_out(self, out: Out) -> Belief:
        """Return the same belief with these points out."""
        result, known = copy.copy(self), self.knowledge
        result._out, result._factors = out, []
        across = known.apart(known.points.contexts, out.contexts)
        within = known.apart(out.contexts, out.contexts)
        for member, fit in zip(self.members, self._fits, strict=True):
            columns = known.covariance(member, known.points.positions, out.positions, across)
            own = known.covariance(member, out.positions, out.positions, within)
            own[np.diag_indices(len(own))] += NOISES[member[-1]] / out.counts + _JITTER
            result._factors.append(_extended(fit.factor, columns, own))
        return result

    def moments(self, positions: Floats, context: Context) -> Moments:
        """What is believed of places, in a context."""
        known, told = self.knowledge, len(self.knowledge.points)
        shape = _shape(known.points.rewards)
        everything = np.vstack([known.points.positions, self._out.positions])
        apart = known.apart([*known.points.contexts, *self._out.contexts], [context])
        centre, scale = [], []
        for member, fit, factor in zip(self.members, self._fits, self._factors, strict=True):
            columns = solve(factor, known.covariance(member, everything, positions, apart))
            left = np.maximum(1.0 + _CONSTANT - np.einsum("ij,ij->j", columns, columns), 0.0)
            centre.append(fit.solution @ columns[:told])
            scale.append(np.sqrt(fit.rate / shape * left))
        offset, unit = known.standard.offset, known.standard.unit
        centres, scales = offset + unit * np.array(centre), unit * np.array(scale)
        mean = self.weights @ centres
        spread = shape / max(shape - 1.0, 0.5)  # Student's variance over the square of its scale
        variance = self.weights @ (spread * scales**2 + (centres - mean) ** 2)
        noises = [
            NOISES[member[-1]] * fit.rate / shape
            for member, fit in zip(self.members, self._fits, strict=True)
        ]
        noise = unit * unit * float(self.weights @ np.array(noises))
        return Moments(centres, scales, 2.0 * shape, self.weights, mean, variance, noise)


def _extended(factor: Floats, columns: Floats, own: Floats) -> Floats:
    """The factor of a covariance with more rows: what they have with the others, and their own."""
    size, more = columns.shape
    result = np.zeros((size + more, size + more))
    result[:size, :size] = factor
    rows = solve(factor, columns)
    result[size:, :size] = rows.T
    result[size:, size:] = cholesky(own - rows.T @ rows)
    return result

"""By how much an arm beats control: the distribution of a difference and of a ratio of two means.

Under independent beliefs P(μ_a − μ_c ≤ x) = ∫ F_a(x + Q_c(u)) du, an integral over the quantiles of
one arm. It is taken over the narrower belief, in the normal score z of u = Φ(z) and by the
trapezoidal rule: the integrand is then as smooth as the normal density, and the rule gains digits
as fast as its step is halved. Ends of an interval are roots of that distribution, found between the
ends that two single intervals allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.special import normal_cdf

Floats = NDArray[np.float64]

_FAR = 1e300
_REACH = 8.0  # scores beyond which a distribution has no more than 1e-15
_NODES = 512  # intervals of the finest rule …
_COARSEST = 32  # … and of the first
_ENOUGH = 1e-6  # a change of the distribution at which its rule is fine enough
_CLOSE = 1e-7  # to the level of a quantile
_ULP = 2.0**-52
#: What is asked of the distribution: the difference, its share of control's mean, or the difference
#: beside 0, in steps that numbers can just tell apart (beliefs may crowd at an end of the range).
_ABSOLUTE, _RELATIVE, _BESIDE_ZERO = 0, 1, 2
_STEPS = 64
_INSIDE = 0.87  # of a pair's spread: where its ends are, if both means are normal


class MeanDistributions(Protocol):
    """What is asked of a family where only the distributions of means count."""

    @property
    def mean_range(self) -> tuple[float, float]: ...
    def expected_reward(self, belief: Floats) -> float: ...
    def enter(self, template: Callable[..., Any], **arguments: Any) -> Any: ...
    def mean_intervals(self, beliefs: Floats, tail: float) -> tuple[Floats, Floats]: ...


class Units(NamedTuple):
    """How a user counts: a mean of the family is offset + slope × mean.

    Attributes
    ----------
    offset
        What the user sees where the family's mean is 0.
    slope
        What one unit of the family is for the user; it is negative where less is better.
    """

    offset: float = 0.0
    slope: float = 1.0

    @property
    def minimise(self) -> bool:
        """Whether less is better."""
        return self.slope < 0.0

    def shown(self, mean: float) -> float:
        """Convert a mean of the family to what the user sees.

        Parameters
        ----------
        mean
            A mean on the scale of the family.

        Returns
        -------
        float
            The mean as the user counts it; infinite where the family's mean is.
        """
        return math.inf if mean == math.inf else self.offset + self.slope * mean


#: The units of the family itself.
OWN = Units()


class Interval(NamedTuple):
    """A median and the two ends around it.

    Parameters
    ----------
    middle
        The median.
    low
        The lower end.
    high
        The upper end.
    """

    middle: float
    low: float
    high: float


class Lift(NamedTuple):
    """What beliefs say of an arm beside control, in the user's units.

    Parameters
    ----------
    absolute
        The difference to control.
    relative
        The difference as a share of control's mean; None where that may be 0.
    beats
        The probability of beating control.
    """

    absolute: Interval
    relative: Interval | None
    beats: float


@kernel
def _below(family, constants, row, offset, slope, x):
    """P(the mean that the user sees is at most x)."""
    chance = family.mean_cdf(constants, row, (x - offset) / slope)
    return chance if slope > 0.0 else 1.0 - chance


@kernel
def quantile_at_score(family, constants, row, offset, slope, score):
    """The mean that the user sees at the level Φ(score)."""
    upper = (score > 0.0) == (slope > 0.0)
    value = family.mean_quantile(constants, row, normal_cdf(-abs(score)), upper)
    return offset + slope * min(max(value, -_FAR), _FAR)


@kernel
def _at_node(family, constants, arm, control, offset, slope, x, kind, over_control, q):
    """The chance that the lift is at most x, given that the narrower mean is q."""
    shift = x * (_ULP * abs(q) + 1.0 / _FAR) if kind == _BESIDE_ZERO else x
    if over_control:
        point = q + x * abs(q) if kind == _RELATIVE else q + shift
        return _below(family, constants, arm, offset, slope, min(max(point, -_FAR), _FAR))
    if kind == _RELATIVE and x <= -1.0:
        return 0.0
    point = q / (1.0 + x) if kind == _RELATIVE else q - shift
    return 1.0 - _below(family, constants, control, offset, slope, min(max(point, -_FAR), _FAR))


@kernel
def _chance_below(family, constants, arm, control, offset, slope, x, kind, over_control, quantiles):
    """P(lift ≤ x), by a rule that is halved until it no longer moves; quantiles are kept."""
    narrow = control if over_control else arm
    stride = _NODES // _COARSEST
    total, before = 0.0, -1.0
    start, step = 0, stride
    while stride >= 1:
        for i in range(start, _NODES + 1, step):
            score = _REACH * (2.0 * i / _NODES - 1.0)
            if np.isnan(quantiles[i]):
                quantiles[i] = quantile_at_score(family, constants, narrow, offset, slope, score)
            weight = math.exp(-0.5 * score * score)
            total += weight * _at_node(
                family, constants, arm, control, offset, slope, x, kind, over_control, quantiles[i]
            )
        width = 2.0 * _REACH * stride / _NODES
        chance = min(total * width / math.sqrt(2.0 * math.pi), 1.0)
        if abs(chance - before) < _ENOUGH:
            return chance
        before = chance
        start, step = stride // 2, stride
        stride //= 2
    return before


@kernel
def _halfway(low, high):
    """Between two ends that may be many powers of ten apart."""
    small, large = min(abs(low), abs(high)), max(abs(low), abs(high))
    if large <= 16.0 * small:
        return 0.5 * (low + high)
    between = math.sqrt(max(small, 1.0 / _FAR)) * math.sqrt(large)
    return between if high == large else -between


@kernel
def _quantile(
    family, constants, arm, control, offset, slope, level, kind, over_control, quantiles, low, high,
    guess, density,
):  # fmt: skip
    """The lift at a level, between ends where the distribution is below it and above it: by
    secants, from a guess and what the density may be there, and halfway where these leave the ends.
    """
    x, rise, last, before = guess, density, guess, 0.0
    for i in range(_STEPS):
        if not low < x < high:
            x = _halfway(low, high)
        if not low < x < high:
            break
        gap = -level + _chance_below(
            family, constants, arm, control, offset, slope, x, kind, over_control, quantiles
        )
        if abs(gap) < _CLOSE:
            return x
        if i > 0 and x != last:
            rise = (gap - before) / (x - last)
        low, high = (x, high) if gap < 0.0 else (low, x)
        if high - low <= 1e-13 * max(abs(low), abs(high)):
            break
        last, before = x, gap
        x = x - gap / rise if rise > 0.0 and i % 4 != 3 else _halfway(low, high)
    return 0.5 * low + 0.5 * high


@kernel
def _lift(family, constants, arm, control, offset, slope, score, positive, quantiles, out):
    """Fill P(lift ≤ 0), its median and ends, and those of the ratio (NaN where there is none)."""
    a_low = quantile_at_score(family, constants, arm, offset, slope, -score)
    a_high = quantile_at_score(family, constants, arm, offset, slope, score)
    c_low = quantile_at_score(family, constants, control, offset, slope, -score)
    c_high = quantile_at_score(family, constants, control, offset, slope, score)
    over_control = c_high - c_low <= a_high - a_low
    tail = 2.0 * normal_cdf(-score)
    quantiles[:] = np.nan
    out[0] = 0.0
    for side in (-1.0, 1.0):
        out[0] += 0.5 * _chance_below(
            family,
            constants,
            arm,
            control,
            offset,
            slope,
            side,
            _BESIDE_ZERO,
            over_control,
            quantiles,
        )
    middle = 0.5 * (a_low + a_high - c_low - c_high)
    spread = 0.5 * math.hypot(a_high - a_low, c_high - c_low)
    steepness = 1.0 / spread if spread > 0.0 else 0.0
    for j in range(3):
        level = 0.5 if j == 0 else tail if j == 1 else 1.0 - tail
        side = 0.0 if j == 0 else _INSIDE if j == 2 else -_INSIDE
        out[1 + j] = _quantile(
            family, constants, arm, control, offset, slope, level, _ABSOLUTE, over_control,
            quantiles,
            a_low - c_high, a_high - c_low, middle + side * spread,
            level * (1.0 - level) * steepness,
        )  # fmt: skip
        out[4 + j] = np.nan
    if c_low * c_high <= 0.0 and not positive:
        return
    if not positive and not over_control:  # a ratio to what may be negative has one rule
        over_control = True
        quantiles[:] = np.nan
    near, far = min(abs(c_low), abs(c_high)), max(abs(c_low), abs(c_high))
    near = max(near, 1.0 / _FAR)
    sign = 1.0 if c_high > 0.0 else -1.0
    low = min(a_low / near, a_low / far) - sign
    high = max(a_high / near, a_high / far) - sign
    usual = max(0.5 * abs(c_low + c_high), 1.0 / _FAR)
    for j in range(3):
        level = 0.5 if j == 0 else tail if j == 1 else 1.0 - tail
        out[4 + j] = _quantile(
            family, constants, arm, control, offset, slope, level, _RELATIVE, over_control,
            quantiles,
            max(low, -_FAR), min(high, _FAR), out[1 + j] / usual,
            level * (1.0 - level) * usual * steepness,
        )  # fmt: skip


def lift(
    family: MeanDistributions,
    belief: Sequence[float] | Floats,
    control: Sequence[float] | Floats,
    level: float = 0.95,
    units: Units = OWN,
) -> Lift:
    """Compare an arm with control under independent beliefs, with credible intervals.

    Parameters
    ----------
    family
        The family of the rewards.
    belief, control
        The beliefs about the arm and about control.
    level
        The level of the credible intervals. It is met to 2e-5, and far closer unless a belief has
        much of its mass at an end of the range.
    units
        How the user counts rewards.

    Returns
    -------
    Lift
        The difference, its share of control's mean, and the chance that the arm is better.

    >>> from belman.families import Bernoulli
    >>> result = lift(Bernoulli(), (331.0, 9671.0), (301.0, 9701.0))
    >>> round(result.beats, 4), [round(share, 3) for share in result.relative]
    (0.8876, [0.1, -0.057, 0.283])
    """
    from scipy.special import ndtri

    ends = [units.offset + units.slope * end for end in family.mean_range]
    out = np.empty(7)
    family.enter(
        _lift,
        arm=np.array(belief, dtype=np.float64),
        control=np.array(control, dtype=np.float64),
        offset=units.offset,
        slope=units.slope,
        score=-float(ndtri(0.25 * (1.0 - level))),
        positive=min(ends) >= 0.0,
        quantiles=np.empty(_NODES + 1),
        out=out,
    )
    numbers = [float(number) for number in out]
    relative = None if math.isnan(numbers[4]) else _interval(numbers[4:])
    less = min(max(numbers[0], 0.0), 1.0)
    return Lift(_interval(numbers[1:4]), relative, less if units.minimise else 1.0 - less)


def _interval(quantiles: Sequence[float]) -> Interval:
    """The interval of quantiles, which rounding may have put out of order where they are close."""
    low, middle, high = sorted(quantiles)
    return Interval(middle, low, high)

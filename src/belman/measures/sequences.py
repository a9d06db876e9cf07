"""Confidence sequences: intervals that hold at every look at once, whatever was played and why.

`mean_sequence` is where a martingale is below 1/δ. `difference_sequence` and `ratio_sequence` are
the differences and ratios of all pairs of means at which the *product* of two martingales is below
1/δ: tighter than two intervals of δ/2 each once both arms were played a while. `log_separation`
says how much the rewards of some arms speak against one mean for all of them.

`policy_value_sequence` is what a policy would have earned, from logged chances. A weighted reward
ξ = w·r, with w the policy's chance of what was played over the logged one, is at least 0 and has
the value ν of that moment as its mean, whatever came before and however that value changes. With a
prediction p made beforehand and ψ(λ) = −ln(1 − λ) − λ, exp(λ Σ(ξ − ν) − ψ(λ) Σ(ξ − p)²) is a
supermartingale for every λ in [0, 1) (Fan, Grama and Liu, 2015; Howard, Ramdas, McAuliffe and
Sekhon, 2021), and so is an average over some λ. No bound on the weights is needed; shortfalls,
w·(1 − r), give the other side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from belman.errors import SettingError
from belman.measures.martingales import Floats, Martingale

_FAR, _NEAR = 1e300, 1e-300
_RATES = 0.5 ** np.arange(1.0, 13.0)  # λ: for differences that are plain, and for small ones
_COSTS = -np.log1p(-_RATES) - _RATES


def mean_sequence(martingale: Martingale, delta: float) -> tuple[float, float]:
    """Compute a confidence sequence of a mean: where the martingale is below 1/δ.

    Parameters
    ----------
    martingale
        What the rewards of the arm say against each mean (`mixture`).
    delta
        The chance with which the mean may ever lie outside, over all looks.

    Returns
    -------
    tuple of float
        The least and the largest mean.

    >>> from belman.families import Bernoulli
    >>> from belman.measures.martingales import mixture
    >>> result = mixture(Bernoulli(), (1.0, 1.0), (301.0, 701.0), 1000.0, 0.3)
    >>> [round(end, 4) for end in mean_sequence(result, 0.05)]
    [0.2503, 0.353]
    """
    bar = -math.log(delta)
    return _end(martingale, bar, -1), _end(martingale, bar, 1)


def difference_sequence(arm: Martingale, control: Martingale, delta: float) -> tuple[float, float]:
    """Compute a confidence sequence of the difference arm − control.

    It holds the differences of all pairs of means whose martingales multiply to less than 1/δ. The
    largest is the largest over s of upper end(s) − lower end(ln 1/δ − s): how much of the doubt
    is given to which arm.

    Parameters
    ----------
    arm, control
        What the rewards of either arm say against each mean (`mixture`).
    delta
        The chance with which the difference may ever lie outside, over all looks.

    Returns
    -------
    tuple of float
        The least and the largest difference.

    >>> from belman.families import Bernoulli
    >>> from belman.measures.martingales import mixture
    >>> better = mixture(Bernoulli(), (1.0, 1.0), (401.0, 601.0), 1000.0, 0.4)
    >>> control = mixture(Bernoulli(), (1.0, 1.0), (301.0, 701.0), 1000.0, 0.3)
    >>> [round(end, 4) for end in difference_sequence(better, control, 0.05)]
    [0.0069, 0.1921]
    """
    return _joint(arm, control, delta, lambda high, low: high - low)


def ratio_sequence(
    arm: Martingale, control: Martingale, delta: float
) -> tuple[float, float] | None:
    """Compute a confidence sequence of the difference as a share of control's mean.

    Parameters
    ----------
    arm
        The mixture of the arm.
    control
        The mixture of control.
    delta
        The probability of ever being wrong.

    Returns
    -------
    tuple of float or None
        The least and the largest share; None where control's mean may be 0 or less.

    >>> from belman.families import Bernoulli
    >>> from belman.measures.martingales import mixture
    >>> better = mixture(Bernoulli(), (1.0, 1.0), (401.0, 601.0), 1000.0, 0.4)
    >>> control = mixture(Bernoulli(), (1.0, 1.0), (301.0, 701.0), 1000.0, 0.3)
    >>> [round(end, 3) for end in ratio_sequence(better, control, 0.05)]
    [0.02, 0.757]
    """
    bar = -math.log(delta)
    least = _end(control, bar - min(arm.log(arm.centre), 0.0), -1)
    if least < 0.0 or (least == 0.0 and control.ends[0] < 0.0):
        return None

    def share(mine: float, other: float) -> float:
        if mine == 0.0 and other == 0.0:
            return 0.0
        return min(max(mine, -_FAR), _FAR) / other - 1.0 if other > 0.0 else math.inf

    return _joint(arm, control, delta, share)


def log_separation(martingales: Sequence[Martingale]) -> float:
    """Measure how much the rewards of some arms speak against one mean for all of them.

    Parameters
    ----------
    martingales
        What the rewards of each arm say against each mean (`mixture`).

    Returns
    -------
    float
        ln of the product of all martingales at the common mean that suits them best. At ln 1/δ the
        arms have not all the same mean, up to a chance δ of ever saying so wrongly.

    >>> from belman.families import Bernoulli
    >>> from belman.measures.martingales import mixture
    >>> one = mixture(Bernoulli(), (1.0, 1.0), (41.0, 61.0), 100.0, 0.4)
    >>> other = mixture(Bernoulli(), (1.0, 1.0), (21.0, 81.0), 100.0, 0.2)
    >>> round(log_separation([one, other]), 3)
    0.421
    """
    from scipy.optimize import minimize_scalar

    def total(mean: float) -> float:
        return sum(martingale.log(mean) for martingale in martingales)

    centres = [martingale.centre for martingale in martingales]
    low, high = min(centres), max(centres)
    least = min(total(centre) for centre in centres)
    if math.inf > high - low > 0.0 and least > -math.inf:
        options = {"xatol": 1e-9 * (high - low)}
        result = minimize_scalar(total, bounds=(low, high), method="bounded", options=options)
        least = min(least, float(result.fun))
    return least


def _end(martingale: Martingale, bar: float, side: int) -> float:
    """The last mean on a side of the centre at which the martingale is at most `bar`."""
    from scipy.optimize import brentq  # half a second, for those who look

    centre, end = martingale.centre, martingale.ends[side > 0]
    if not math.isfinite(end):
        end = math.copysign(_FAR, side)
    if martingale.log(centre) >= bar:
        return centre
    reach = max(1e-6 * (abs(centre) + min(abs(end - centre), 1.0)), _NEAR)  # or it never grows
    near, outside = centre, centre + side * reach
    while side * (end - outside) > 0.0 and martingale.log(outside) <= bar:
        near, reach = outside, 4.0 * reach
        outside = centre + side * reach
    if side * (end - outside) <= 0.0:
        outside = end
        if not _exceeds(martingale, end, bar):
            return martingale.ends[side > 0]

    def over(mean: float) -> float:
        return min(martingale.log(mean), _FAR) - bar

    if not over(near) <= 0.0 <= over(outside):  # it tells nothing: of a prior that says nothing
        return martingale.ends[side > 0]
    return float(brentq(over, near, outside, rtol=1e-12))


def _exceeds(martingale: Martingale, end: float, bar: float) -> bool:
    result = martingale.log(end)
    return bool(math.isnan(result) or result > bar)


def _joint(
    arm: Martingale, control: Martingale, delta: float, measure: Callable[[float, float], float]
) -> tuple[float, float]:
    """The least and the largest of a measure that grows with the arm's mean and falls with
    control's.
    """
    from scipy.optimize import minimize_scalar

    bar = -math.log(delta)
    first, last = arm.log(arm.centre), bar - control.log(control.centre)
    if not (math.isfinite(first) and math.isfinite(last)):
        return (-math.inf, math.inf)
    ends = []
    for side in (-1, 1):

        def result(share: float, side: int = side) -> float:
            mine, other = _end(arm, share, side), _end(control, bar - share, -side)
            return -side * measure(mine, other)

        best = min(result(first), result(last))
        if math.isfinite(best):
            options = {"xatol": 1e-4 * (last - first)}  # what is lost at the top is its square
            inner = minimize_scalar(result, bounds=(first, last), method="bounded", options=options)
            best = min(best, float(inner.fun))
        ends.append(-side * best)
    return ends[0], ends[1]


def policy_value_sequence(rewards: Floats, weights: Floats, delta: float) -> tuple[float, float]:
    """Compute a confidence sequence of a policy's value from a log of another policy.

    Parameters
    ----------
    rewards
        The logged rewards, from 0 to 1, in the order of time.
    weights
        The policy's chance of each logged choice over the logged chance.
    delta
        The chance with which the value may ever lie outside, over all looks.

    Returns
    -------
    tuple of float
        Ends of the average value so far.

    Raises
    ------
    SettingError
        If a reward lies outside of 0 and 1.

    >>> rng = np.random.default_rng(7)
    >>> chosen, rewards = rng.random(4_000) < 0.1, rng.random(4_000) < 0.4
    >>> low, high = policy_value_sequence(rewards * 1.0, chosen / 0.1, 0.05)
    >>> 0.25 < low < 0.4 < high < 0.6
    True
    """
    values = np.asarray(rewards, dtype=np.float64)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise SettingError("values of policies are for rewards from 0 to 1: scale them first")
    low = _least(weights * values, 0.5 * delta)
    return max(low, 0.0), min(1.0 - _least(weights * (1.0 - values), 0.5 * delta), 1.0)


def _least(terms: Floats, delta: float) -> float:
    """Below which the average of the terms' means is, ever, with a chance of at most δ."""
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    count = np.arange(terms.size)
    before = np.concatenate([[0.0], np.cumsum(terms)[:-1]])
    predicted = np.clip((before + 0.5) / (count + 1.0), 0.0, 1.0)
    spread = float(((terms - predicted) ** 2).sum())

    def log_odds(excess: float) -> float:
        return float(logsumexp(_RATES * excess - _COSTS * spread)) - math.log(_RATES.size)

    bar = -math.log(delta)
    most = float(((bar + math.log(_RATES.size) + _COSTS * spread) / _RATES).min())
    excess = brentq(lambda one: log_odds(one) - bar, 0.0, most, xtol=1e-12 * most)
    return (float(terms.sum()) - float(excess)) / terms.size

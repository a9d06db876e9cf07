"""Rewards in [0, 1] by a grid of atoms: a Dirichlet belief on their chances, and K_inf.

A reward between two atoms is shared by them so that its mean is kept. The distribution that has a
mean of μ or more and is least refuted by an arm's rewards is as far away as

    K_inf(F, μ) = max over c ≥ 1 of E ln(c − X) − ln(c − μ)        (Honda and Takemura, 2010).

The maximum is where 1/(c − μ) = h(c) = E[1/(c − X)]. So c makes a curve of it, μ = c − 1/h and
K = ln h + E ln(c − X), and with y = −ln(1 − μ) its slope is dK/dy = u = E[(1 − X)/(c − X)]: K is
convex in y, and straight with slope 1 where c = 1. Both averages at fixed c are sums over the
atoms, so an arm whose rewards have changed keeps `KNOTS` points of its curve, and its evidence
against any mean is a cubic between two of them, to 2e-4 of a nat.

Distribution: how many atoms, what the prior is worth, and how much of that is reward; the prior; c
− 1 at the knots; ln(c − x) and 1/(c − x) at the knots, a row an atom and then rows for the prior
between the ends, and for that from the other end.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from belman import chance
from belman.beliefs import dirichlet, moments
from belman.engine import kernel
from belman.families import atoms, bernoulli, two_moments
from belman.families.family import Floats
from belman.families.family_kernels import LONG_TERMS, FamilyKernels

KNOTS = 24
_FARTHEST, _NEAREST = 100.0, 1e-7  # c − 1 at the first knot and the last
_HEAD = 3  # numbers of the distribution before the prior, and of an arm before its curve
_VALUES, _SLOPES = _HEAD + KNOTS + 1, _HEAD + 2 * (KNOTS + 1)
assert LONG_TERMS == _HEAD + 3 * (KNOTS + 1)
_EDGE = 1e-16
_TINY = 1e-300
_ROUNDING = 1e-12
_NOTHING = 45.0  # nats below the largest weight: less than its last digit
#: Of the lesser end of a prior, how much lies at every atom between the ends: next to nothing.
GRAIN = 1.0 / 1024.0


@lru_cache(maxsize=64)
def _distribution(prior: tuple[float, ...]) -> Floats:
    size = len(prior)
    values = np.arange(size) / (size - 1)
    beyond = np.geomspace(_FARTHEST, _NEAREST, KNOTS)
    apart = beyond + (1.0 - values)[:, None]
    head = [float(size), sum(prior), float(np.dot(prior, values))]
    inner = np.array([0.0, *prior[1:-1], 0.0])
    rows = np.concatenate([np.eye(size), [inner, inner[::-1]]])
    tables = np.concatenate([rows @ np.log(apart), rows @ (1.0 / apart)], axis=1)
    return np.concatenate([head, prior, beyond, tables.ravel()])


def distribution_of(prior: tuple[float, ...]) -> Floats:
    """The numbers that kernels read, for beliefs that begin with this prior."""
    return _distribution(prior).copy()


def prior_of(size: int, alpha: float, beta: float) -> tuple[float, ...]:
    """The prior of `size` atoms that expects as Beta(α, β) does, with nearly all at the ends.

    >>> prior = prior_of(9, 1.0, 1.0)
    >>> sum(prior), prior[0] == prior[-1] > 0.99
    (2.0, True)
    """
    grain = GRAIN * min(alpha, beta)
    ends = 0.5 * grain * (size - 2)
    return (beta - ends, *[grain] * (size - 2), alpha - ends)


def with_sums(size: int, soft: float, alpha: float, beta: float) -> Floats:
    """Counts of which only sums are known: coins, and what they lack in softness at the mean.

    >>> counts = with_sums(9, 0.64, 1.2, 1.8)
    >>> round(float(counts.sum()), 12), round(float(counts @ np.linspace(0.0, 1.0, 9)), 12)
    (3.0, 1.2)
    """
    mean, counts = alpha / (alpha + beta), np.zeros(size)
    inner = soft / (mean * (1.0 - mean)) if 0.0 < mean < 1.0 else 0.0
    inner = min(inner, alpha + beta)
    position = min(int(mean * (size - 1)), size - 2)
    above = mean * (size - 1) - position
    counts[position] += inner * (1.0 - above)
    counts[position + 1] += inner * above
    counts[0] += (1.0 - mean) * (alpha + beta - inner)
    counts[-1] += mean * (alpha + beta - inner)
    return counts


@kernel
def update(constants, belief, reward):
    """Share a reward between the two atoms beside it."""
    last = belief.size - 1
    position = min(int(reward * last), last - 1)
    above = reward * last - position
    belief[position] += 1.0 - above
    belief[position + 1] += above


@kernel
def worth(constants, belief):
    return dirichlet.total(belief)


@kernel
def sums(belief):
    """Of x(1 − x), x and 1 − x; by four at a time, which need not wait for one another."""
    soft, soft_1, soft_2, soft_3 = 0.0, 0.0, 0.0, 0.0
    alpha, alpha_1, alpha_2, alpha_3 = 0.0, 0.0, 0.0, 0.0
    size = belief.size
    last = float(size - 1)
    whole = size - size % 4
    for i in range(0, whole, 4):
        one, two, three, four = belief[i], belief[i + 1], belief[i + 2], belief[i + 3]
        position = float(i)
        one, two = one * position, two * (position + 1.0)
        three, four = three * (position + 2.0), four * (position + 3.0)
        alpha += one
        alpha_1 += two
        alpha_2 += three
        alpha_3 += four
        soft += one * (last - position)
        soft_1 += two * (last - position - 1.0)
        soft_2 += three * (last - position - 2.0)
        soft_3 += four * (last - position - 3.0)
    for i in range(whole, size):
        alpha += belief[i] * i
        soft += belief[i] * (i * (last - i))
    won = ((alpha + alpha_1) + (alpha_2 + alpha_3)) / last
    softness = ((soft + soft_1) + (soft_2 + soft_3)) / (last * last)
    return softness, won, dirichlet.total(belief) - won


@kernel
def expected_reward(constants, belief):
    _, alpha, beyond = sums(belief)
    return alpha / (alpha + beyond)


@kernel
def spread(constants, belief):
    """The variance of the rewards, those of the prior included."""
    soft, alpha, beyond = sums(belief)
    mean = alpha / (alpha + beyond)
    return max(mean * (1.0 - mean) - soft / (alpha + beyond), 0.0)


@kernel
def imagine(constants, belief):
    """A reward of the distribution that the belief expects."""
    more = 1.0 + 1.0 / worth(constants, belief)
    for i in range(belief.size):
        belief[i] *= more


@kernel
def pooled(constants, beliefs, prior_mean, prior_worth, prior_spread, pool):
    """How much less rewards of all arms vary than coins of their means: from 0 for coins up to 1.

    As by two moments (`two_moments.py`).
    """
    soft, room = 0.0, 0.25 * prior_worth * pool
    heads, tails = prior_mean * prior_worth, (1.0 - prior_mean) * prior_worth
    start = prior_worth * (prior_mean * (1.0 - prior_mean) - prior_spread)
    for a in range(len(beliefs)):
        own, won, lost = sums(beliefs[a])
        own, won, lost = own - start, max(won - heads, 0.0), max(lost - tails, 0.0)
        if won + lost > _ROUNDING:
            soft += own if own > _ROUNDING * (won + lost) else 0.0
            room += won * lost / (won + lost)
    return two_moments.share_of_coins(soft, room)


# The mean of a Dirichlet distribution: by the Beta distribution that has its first two moments,
# exactly.


@kernel
def mean_cdf(constants, belief, x):
    soft, alpha, beyond = sums(belief)
    first, second = moments.of_sums(soft, alpha, beyond)
    return bernoulli.chance_below(first, second, x)


@kernel
def mean_quantile(constants, belief, level, upper):
    soft, alpha, beyond = sums(belief)
    first, second = moments.of_sums(soft, alpha, beyond)
    return bernoulli.chance_quantile(first, second, level, upper)


@kernel
def _log_weight(rng, count, least):
    """ln of a Gamma(count) draw; of a small count next to −∞ mostly, which is seen at once."""
    if count >= 1.0:
        return chance.log_gamma_draw(rng, count)
    far = math.log(chance.uniform(rng)) / count
    if far < least:
        return -np.inf
    return far + chance.log_gamma_draw(rng, count + 1.0)


@kernel
def sample_mean(constants, belief, rng):
    """The mean of the atoms under Dirichlet weights: with these Thompson sampling is NPTS.

    Weights are summed in units of the largest so far, so that small counts do not underflow.
    """
    step, top = 1.0 / (belief.size - 1), -np.inf
    whole, drawn = 0.0, 0.0
    for i in range(belief.size):
        position = _log_weight(rng, belief[i], top - _NOTHING)
        if position > top:
            shrink = math.exp(top - position)
            whole = whole * shrink + 1.0
            drawn = drawn * shrink + i * step
            top = position
        elif position > -np.inf:
            weight = math.exp(position - top)
            whole += weight
            drawn += weight * (i * step)
    return min(drawn / whole, 1.0)


@kernel
def sample(constants, belief, rng, theta):
    """A distribution on the atoms: a table of partial sums of its chances, and values."""
    size = belief.size
    ends, values = theta[2 : 2 + atoms.ATOMS], theta[2 + atoms.ATOMS :]
    top, step = -np.inf, 1.0 / (size - 1)
    for i in range(size):
        ends[i] = _log_weight(rng, belief[i], top - _NOTHING)
        top = max(top, ends[i])
    whole, drawn = 0.0, 0.0
    for i in range(size):
        weight = math.exp(ends[i] - top)
        whole += weight
        drawn += weight * (i * step)
        ends[i] = whole
        values[i] = i * step
    for i in range(size):
        ends[i] /= whole
    for i in range(size, atoms.ATOMS):
        ends[i], values[i] = 1.0, 1.0
    theta[0], theta[1] = min(drawn / whole, 1.0), 0.5


# K_inf: an arm's curve, and where a rival's mean lies on it.


@kernel
def terms(constants, mean, spread, out):
    """Of a mean and a variance alone: no curve, and d₂."""
    out[0] = mean
    out[1] = spread
    out[2] = 0.0


@kernel
def _add(constants, row, count, out):
    """So many rewards of a row, to both sums at every knot."""
    first = _HEAD + int(constants[0]) + KNOTS + row * 2 * KNOTS
    for j in range(KNOTS):
        out[_VALUES + 1 + j] += count * constants[first + j]
        out[_SLOPES + 1 + j] += count * constants[first + KNOTS + j]


@kernel
def terms_of(family, constants, belief, worth, mean, spread, mirrored, out):
    """The curve of a belief, where the prior's part is fitted to what it is taken for.

    A prior of which less is counted is taken away. One that is shifted has moved rewards from an
    end to the other, and one that is softer has less at the ends and the rest at its mean.
    """
    last = belief.size - 1
    soft, alpha, beyond = sums(belief)
    start = constants[1] - constants[2] if mirrored else constants[2]
    gone = min(max((alpha + beyond - worth) / constants[1], 0.0), 1.0)
    won = worth * mean - (beyond if mirrored else alpha) + gone * start
    kept = min(max((start + won) / constants[1], _ROUNDING), 1.0 - _ROUNDING)
    softer = worth * (mean * (1.0 - mean) - spread) - soft
    inner = 0.0
    if gone == 0.0 and softer > _ROUNDING * worth:
        inner = min(softer / (kept * (1.0 - kept)), constants[1])
    position = min(int(kept * last), last - 1)
    above = kept * last - position
    for j in range(KNOTS):
        out[_VALUES + 1 + j] = 0.0
        out[_SLOPES + 1 + j] = 0.0
    ends = constants[_HEAD] + constants[_HEAD + last]
    whole = (1.0 - gone) * (constants[1] - ends)
    if gone < 1.0:
        _add(constants, last + 2 if mirrored else last + 1, 1.0 - gone, out)
    for i in range(belief.size):
        k = last - i if mirrored else i
        count = belief[k] - constants[_HEAD + k]
        if i == 0 or i == last:
            more = won - inner * kept if i == last else -won - inner * (1.0 - kept)
            count = max(belief[k] - gone * constants[_HEAD + k] + more, 0.0)
        if i == position:
            count += inner * (1.0 - above)
        elif i == position + 1:
            count += inner * above
        if count != 0.0:
            whole += count
            _add(constants, i, count, out)
    whole = max(whole, _TINY)
    out[0], out[1], out[2] = mean, spread, 1.0
    out[_HEAD] = -math.log(max(1.0 - mean, _TINY))
    out[_VALUES] = out[_SLOPES] = 0.0
    knots = _HEAD + belief.size
    for j in range(KNOTS):
        inverse = max(out[_SLOPES + 1 + j] / whole, _TINY)
        left = max(1.0 - constants[knots + j] * inverse, _TINY)
        value = math.log(inverse)
        out[_HEAD + 1 + j] = value - math.log(left)
        out[_VALUES + 1 + j] = max(value + out[_VALUES + 1 + j] / whole, 0.0)
        out[_SLOPES + 1 + j] = left


@kernel
def weights(constants, mean, out):
    """μ and y = −ln(1 − μ)."""
    out[0] = mean
    out[1] = -math.log(max(1.0 - mean, _EDGE))


@kernel
def evidence(terms, arm, weights):
    """K_inf from the curve; d₂ where there is none, and towards smaller means."""
    if terms[2, arm] == 0.0 or weights[0] <= terms[0, arm]:
        return two_moments.d(weights, terms[0, arm], weights[0], terms[1, arm])
    y, low, high = weights[1], 0, KNOTS
    if y >= terms[_HEAD + high, arm]:
        beyond = y - terms[_HEAD + high, arm]
        return terms[_VALUES + high, arm] + terms[_SLOPES + high, arm] * beyond
    while high - low > 1:
        middle = (low + high) // 2
        if y < terms[_HEAD + middle, arm]:
            high = middle
        else:
            low = middle
    width = terms[_HEAD + high, arm] - terms[_HEAD + low, arm]
    part = min(max((y - terms[_HEAD + low, arm]) / max(width, _TINY), 0.0), 1.0)
    left = 1.0 - part
    value = left * left * (1.0 + 2.0 * part) * terms[_VALUES + low, arm]
    value += part * part * (3.0 - 2.0 * part) * terms[_VALUES + high, arm]
    bent = left * terms[_SLOPES + low, arm] - part * terms[_SLOPES + high, arm]
    return value + part * left * width * bent


# what does not look at atoms
_SHARED = ("common_mean", "d", "moved", "reflected", "reward", "sharpness")
_NAMED = {**globals(), **{name: getattr(two_moments, name) for name in _SHARED}}
KERNELS = FamilyKernels.of(dirichlet.KERNELS, _NAMED)

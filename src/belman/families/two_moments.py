"""Rewards in [0, 1] without a distribution: a belief by two moments, and d₂, the least K_inf that
has them.

The belief (s, α, β) adds up x(1 − x), x and 1 − x, from a prior of one reward 0 and one reward 1
(`beliefs/moments.py`). Among the distributions with mean m and E[X(1 − X)] = q the one that is
least refuted by a rival's mean μ has the atoms a = q/(1 − m) and 1, and d₂ = kl((m − a)/(1 − a), (μ
− a)/(1 − a)) lies between kl(m, μ) and K_inf. Coins have a = 0, and everything here is what it is
for Bernoulli rewards.
"""

from __future__ import annotations

import math

import numpy as np

from belman import chance
from belman.beliefs import moments
from belman.engine import kernel
from belman.families import atoms, bernoulli
from belman.families.family_kernels import FamilyKernels
from belman.families.searches import searched
from belman.special import log_beta

_ROUNDING = 1e-13  # of x(1 − x) on average: coins whose moments are rounded are coins
_EDGE = 1e-16
_SHARPEST = 10.0  # what a reward counts, in coins
_HARDEST, _STEPS = 1e-4, 8.0  # the least pooled share of a coin's variance; steps in an octave
#: What coins have more, at so many steps below their variance.
_LACKING = 1.0 - 2.0 ** (-np.arange(2 - int(_STEPS * math.log2(_HARDEST))) / _STEPS)


@kernel
def update(constants, belief, reward):
    """The distribution is 1 where two moments are kept, and 0 where rewards are taken for coins."""
    belief[0] += constants[0] * reward * (1.0 - reward)
    belief[1] += reward
    belief[2] += 1.0 - reward


@kernel
def expected_reward(constants, belief):
    return belief[1] / (belief[1] + belief[2])


@kernel
def worth(constants, belief):
    return belief[1] + belief[2]


@kernel
def imagine(constants, belief):
    """A reward of the mean, which leaves the variance as it is."""
    expected, soft = expected_reward(constants, belief), belief[0] / worth(constants, belief)
    belief[0] += soft
    belief[1] += expected
    belief[2] += 1.0 - expected


@kernel
def spread(constants, belief):
    """The variance of the rewards, those of the prior included."""
    mean = expected_reward(constants, belief)
    return max(mean * (1.0 - mean) - belief[0] / worth(constants, belief), 0.0)


@kernel
def moved(constants, spread, mean, to):
    """The variance if the mean were another and E[X(1 − X)] the same."""
    return spread + (to * (1.0 - to) - mean * (1.0 - mean))


@kernel
def pooled(constants, beliefs, prior_mean, prior_worth, prior_spread, pool):
    """How much less rewards of all arms vary than coins of their means: from 0 for coins up to 1.

    Σ s_a / (ν₀·pool/4 + Σ n_a m̂_a(1 − m̂_a)) of rewards alone, rounded to an eighth of an octave of
    what is left. The two coins of a prior would hide that distributions are narrow.
    """
    soft, room = 0.0, 0.25 * prior_worth * pool
    heads, tails = prior_mean * prior_worth, (1.0 - prior_mean) * prior_worth
    start = prior_worth * (prior_mean * (1.0 - prior_mean) - prior_spread)
    start = start if start > _ROUNDING * prior_worth else 0.0
    for a in range(len(beliefs)):
        won, lost = beliefs[a, 1] - heads, beliefs[a, 2] - tails
        if won + lost > 0.0:
            soft += max(beliefs[a, 0] - start, 0.0)
            room += max(won, 0.0) * max(lost, 0.0) / (won + lost)
    return share_of_coins(soft, room)


@kernel
def share_of_coins(soft, room):
    """How much of the variance of coins rewards lack, rounded."""
    if soft <= 0.0 or not room < np.inf:
        return 0.0
    left = max(1.0 - soft / room, _HARDEST)
    return _LACKING[int(np.rint(-_STEPS * math.log2(left)))]


@kernel
def sharpness(constants, mean, spread):
    """How many times the variance of rewards a coin's is: 1 for coins, and at most 10."""
    coin = mean * (1.0 - mean)
    return coin / max(spread, coin / _SHARPEST) if coin - spread > _ROUNDING else 1.0


@kernel
def coins(constants, prior, plays, total, squares):
    """The sharpness of an arm with `plays` rewards, of that sum and sum of squares."""
    soft = prior[0] + constants[0] * (total - squares)
    alpha, beyond = prior[1] + total, prior[2] + (plays - total)
    mean = alpha / (alpha + beyond)
    return sharpness(constants, mean, mean * (1.0 - mean) - soft / (alpha + beyond))


@kernel
def told(family, constants, belief, reward, coins):
    """A reward that tells as much of the mean as `coins` coins: a quasi-likelihood. The belief is
    from then on as of coins.
    """
    first, second = moments.of_mean(belief)
    belief[0] = 0.0
    belief[1] = first + coins * reward
    belief[2] = second + coins * (1.0 - reward)


@kernel
def foretells(family, constants, belief):
    """Of the mean alone, as of coins."""
    first, second = moments.of_mean(belief)
    return log_beta(first, second)


@kernel
def mean_cdf(constants, belief, x):
    first, second = moments.of_mean(belief)
    return bernoulli.chance_below(first, second, x)


@kernel
def mean_quantile(constants, belief, level, upper):
    first, second = moments.of_mean(belief)
    return bernoulli.chance_quantile(first, second, level, upper)


@kernel
def sample_mean(constants, belief, rng):
    first, second = moments.of_mean(belief)
    return chance.beta(rng, first, second)


@kernel
def sample(constants, belief, rng, theta):
    """A distribution of that mean and variance with the atoms 0, its mean and 1, and λ."""
    first, second = moments.of_mean(belief)
    total = worth(constants, belief)
    mean = chance.beta(rng, first, second)
    share = min((total + 1.0) / (first + second + 1.0), 1.0)
    theta[0] = mean
    theta[1] = math.exp(math.log(max(chance.uniform(rng), 1e-300)) / total)
    ends, values = theta[2 : 2 + atoms.ATOMS], theta[2 + atoms.ATOMS :]
    for i in range(atoms.ATOMS):
        ends[i] = 1.0
        values[i] = 1.0
    ends[0], values[0] = share * (1.0 - mean), 0.0
    ends[1], values[1] = 1.0 - share * mean, mean


@kernel
def reward(constants, theta, uniform):
    return atoms.value_at(theta, uniform)


@kernel
def _lower_atom(mean, spread):
    """a = q/(1 − m), q = E[X(1 − X)]: 0 for coins, and at most m."""
    soft = mean * (1.0 - mean) - spread
    return min(soft / (1.0 - mean), mean) if soft > _ROUNDING and mean < 1.0 else 0.0


@kernel
def d(constants, mean, other, spread):
    """d₂(m, μ); towards smaller means that of 1 − X."""
    if other < mean:
        mean, other = 1.0 - mean, 1.0 - other
    atom = _lower_atom(mean, spread)
    if atom == 0.0:
        return bernoulli.d(constants, mean, other, 1.0)
    left = 1.0 - atom
    return bernoulli.d(constants, (mean - atom) / left, (other - atom) / left, 1.0)


@kernel
def terms(constants, mean, spread, out):
    """p = (m − a)/(1 − a), p ln(m − a) + (1 − p) ln(1 − m), and a."""
    atom = _lower_atom(mean, spread)
    above = mean - atom
    share = above / (1.0 - atom) if atom < 1.0 else 1.0
    win = share * math.log(above) if above > 0.0 else 0.0
    lose = (1.0 - share) * math.log1p(-mean) if mean < 1.0 else 0.0
    out[0] = win + lose
    out[1] = share
    out[2] = atom


@kernel
def weights(constants, mean, out):
    inside = min(max(mean, _EDGE), 1.0 - _EDGE)
    lose = math.log1p(-inside)
    out[0] = lose - math.log(inside)
    out[1] = -lose
    out[2] = inside


@kernel
def evidence(terms, arm, weights):
    """One logarithm, and none for coins, whose evidence is that of Bernoulli arms."""
    slope, atom = weights[0], terms[2, arm]
    if atom > 0.0:
        slope = -weights[1] - math.log(max(weights[2] - atom, 1e-300))
    return terms[0, arm] + slope * terms[1, arm] + weights[1]


@kernel
def reflected(constants, mean):
    """Costs are rewards seen from the other end."""
    return 1.0 - mean


common_mean = searched(d)
KERNELS = FamilyKernels.of(moments.KERNELS, globals())

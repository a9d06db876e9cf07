"""The default: argmax_a φ(x_a) − ν_a d(μ_a, μ_L), two information projections for every arm.

ν_a is how many rewards the belief is worth, μ_a the expected reward with the prior moved by the
*shift*, L the leader, and x_a = ln(t/ν_a) the surprise at the arm's share of the plays.

*On rewards* ν_a d(μ_a, μ_L) is the distance of ν_a rewards of the arm to the leader's level, the
evidence against it: the nearest distribution as good as the leader is the arm's own tilted by
exp(λx), the focal distribution (`manifold.focal_tilt`). *On beliefs* the pooled belief at the arm's
mean is worth t, and 2 KL from it to the arm's is x_a − 1 + e^(−x_a) for Normal beliefs
(`manifold.distance_on_beliefs`): φ(x_a) is what that counts, little at first and x_a in the end,
where the rule is IMED.

If it is known when play ends, x_a = ln(1 + m/(ν_a + c)), with m the turns after this one, and φ is
x²/(x + b), the boundary of the Gittins index of that horizon: what there is no time left to use is
not worth learning. b falls, so that φ tends to x, where an arm has few of many plays and many turns
are left: then the prior is doubted, and an unlucky arm is tried again. Of N decisions that are made
together the next turn is that after the last of them, and c is larger by half of the others.

The shift is how far below their prior the arms were found: Σ_a (E_a − μ₀) / (pool + Σ_a (1 −
ν₀/ν_a)), since E_a − μ₀ is the average reward's distance from the prior mean times 1 − ν₀/ν_a; and
0 if they were found above it, where a good arm is in hand and a prior that speaks for the untried
ones would only cost. Where a family pools the spread of rewards of all arms, the prior's is less by
the share that none of them has. The shift is rounded to an eighth of an octave, and to 0 where it
is worth little evidence, so that it seldom changes: then alone all arms are judged anew.

Where a reward of one arm tells more than one of another, what is surprising is how little is known
rather than how little was played: with s_a the *sharpness* of an arm's rewards, φ is of x′_a =
ln((1 + Σ_b n_b s_b)/(ν_a s_a)), and counts at most x_a, as IMED would have it. So a noisy arm among
sharp ones is not left for an unlucky start.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from belman.engine import inlined_kernel, kernel
from belman.families.family import Family
from belman.manifold import distance_on_beliefs
from belman.policies.averages import keep_terms_of
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, part
from belman.policies.policy_kernels import leader
from belman.special import log_from_one

MEAN, WORTH, LOG_WORTH, SHARPER, LOG_SHARPNESS = 0, 1, 2, 3, 4  # rows of memory.judged
SHIFT, MOVED, LEARNED, SINCE, WAITED, UNSPREAD, TOGETHER = 0, 1, 2, 3, 4, 5, 6  # of memory.pool
POOL, REACH, HORIZON, PRIOR_MEAN, PRIOR_WORTH, PRIOR_SPREAD = 0, 1, 2, 3, 4, 5  # of params

_STEPS = 8.0  # of the shift, in an octave
_LITTLE = 1e-3  # nats
_FEW = 4096  # arms that may all be judged anew in one turn; more wait, so that a turn stays cheap
_TINY = 1e-300
#: Where it is known when play ends (docs/maths/exposure.md): what is lacking to the surprise at the
#: boundary (nats); the rewards that an arm counts beyond its worth, as they come one by one; of
#: `reach`, the surprise at which the prior is doubted, and how much later it is by greed.
_BOUNDARY, _BEYOND, _DOUBTED, _LATER = 6.0, 4.0, 0.25, 0.05


class Memory(NamedTuple):
    """What a turn needs of K arms."""

    expected: Floats = part("K")  # expected reward
    terms: Floats = part("T", "K")  # the arms' side of the evidence
    #: The mean as judged, what the belief is worth and its logarithm, by how much the sharpness of
    #: rewards is above 1, and its logarithm.
    judged: Floats = part(5, "K")
    #: The shift, its two sums, refreshes since sums and arms were renewed, the share of the prior's
    #: spread that no arm has, and how many decisions are dealt together with this one.
    pool: Floats = part(7)
    scratch: Floats = part("T")


def what_is_expected(family: Family, pool: float, reach: float, horizon: float) -> Floats:
    """How many arms the prior counts as, reach, last turn, its mean, worth (or 0) and spread."""
    mean, worth = family.expected_reward(family.prior), family.worth(family.prior)
    useful = math.isfinite(mean) and math.isfinite(pool)
    prior = (mean, worth) if useful else (0.0, 0.0)
    return np.array([pool, reach, horizon, *prior, family.spread(family.prior)])


# A reward has come: what the belief is worth now, and where the arm and the prior lie.


@kernel
def judged_spread(family, constants, params, memory, arm, spread, mean):
    """The spread of an arm with its mean as judged, less what no arm has of the prior's."""
    spread = family.moved(constants, spread, memory.expected[arm], mean)
    if memory.pool[UNSPREAD] > 0.0:
        before = params[PRIOR_MEAN]
        prior = family.moved(constants, params[PRIOR_SPREAD], before, before + memory.pool[SHIFT])
        share = params[PRIOR_WORTH] / memory.judged[WORTH, arm]
        spread = max(spread - memory.pool[UNSPREAD] * share * prior, 0.0)
    return spread


@inlined_kernel
def judge(family, constants, params, ledger, memory, arm):
    """The mean of an arm under the shifted prior, and its side of the evidence."""
    mean, worth = memory.expected[arm], memory.judged[WORTH, arm]
    if worth > 0.0 and math.isfinite(mean):
        spread = family.spread(constants, ledger.beliefs[arm])
        if worth >= params[PRIOR_WORTH]:
            mean += memory.pool[SHIFT] * params[PRIOR_WORTH] / worth
            spread = judged_spread(family, constants, params, memory, arm, spread, mean)
        belief, scratch = ledger.beliefs[arm], memory.scratch
        keep_terms_of(family, constants, belief, worth, mean, spread, scratch, memory.terms, arm)
        sharpness = family.sharpness(constants, mean, spread)
        memory.judged[MEAN, arm] = mean
        memory.judged[SHARPER, arm] = sharpness - 1.0
        memory.judged[LOG_SHARPNESS, arm] = math.log(sharpness)
    else:
        memory.judged[MEAN, arm] = -np.inf  # unknown


@kernel
def judge_all(family, constants, params, ledger, memory):
    """Judge every arm; those known by the prior alone, often most, are judged once."""
    twin = -1
    for a in range(memory.expected.size):
        worth, mean = memory.judged[WORTH, a], memory.expected[a]
        if worth == params[PRIOR_WORTH] and mean == params[PRIOR_MEAN]:
            if twin < 0:
                twin = a
                judge(family, constants, params, ledger, memory, a)
            for i in (MEAN, SHARPER, LOG_SHARPNESS):
                memory.judged[i, a] = memory.judged[i, twin]
            for i in range(memory.scratch.size):
                memory.terms[i, a] = memory.terms[i, twin]
        else:
            judge(family, constants, params, ledger, memory, a)


@kernel
def learned(params, memory, arm):
    """What an arm adds to the sums of the shift: E_a − μ₀, 1 − ν₀/ν_a; 0 if the prior says all."""
    worth = memory.judged[WORTH, arm]
    if worth > params[PRIOR_WORTH] and math.isfinite(memory.expected[arm]):
        return memory.expected[arm] - params[PRIOR_MEAN], 1.0 - params[PRIOR_WORTH] / worth
    return 0.0, 0.0


@kernel
def rounded(exact, moved, learned):
    """A shift in steps, to the next one; or to that nearer to 0 where the next one would lead to a
    mean that no reward has. Arms below the prior by m·(1 − ν₀/ν_a) at most have moved by Σ, and
    learned by Λ: the least mean is at Σ/Λ or beyond.
    """
    steps = _STEPS * math.log2(-exact)
    result = 2.0 ** (np.rint(steps) / _STEPS)
    return -result if result * learned < -moved else -(2.0 ** (np.floor(steps) / _STEPS))


@kernel
def shift(family, constants, pool, mean, worth, spread, moved, learned):
    """How far the arms lie below a prior of that mean, worth and spread, which counts as `pool` of
    them, weighed by what was learned and rounded; 0 if above.
    """
    exact = moved / (pool + learned)
    if exact >= 0.0:
        return 0.0
    then = family.moved(constants, spread, mean, mean + exact)
    if worth * family.d(constants, mean + exact, mean, then) < _LITTLE:
        return 0.0
    return rounded(exact, moved, learned)


@inlined_kernel
def refresh(family, constants, params, ledger, memory, arm):
    """Judge the arm whose belief has changed, and all arms when the shift changes."""
    pool = memory.pool
    moved, known = learned(params, memory, arm)
    worth = family.worth(constants, ledger.beliefs[arm])
    memory.expected[arm] = family.expected_reward(constants, ledger.beliefs[arm])
    memory.judged[WORTH, arm] = worth
    memory.judged[LOG_WORTH, arm] = math.log(worth) if worth > 0.0 else -np.inf
    judge(family, constants, params, ledger, memory, arm)
    if params[PRIOR_WORTH] > 0.0:
        more_moved, more_known = learned(params, memory, arm)
        pool[MOVED] += more_moved - moved
        pool[LEARNED] += more_known - known
        pool[SINCE] += 1.0
        if pool[SINCE] >= memory.expected.size:  # sum afresh once per K refreshes: no drift
            pool[SINCE] = pool[MOVED] = pool[LEARNED] = 0.0
            for a in range(memory.expected.size):
                moved, known = learned(params, memory, a)
                pool[MOVED] += moved
                pool[LEARNED] += known
        mean, worth, spread = params[PRIOR_MEAN], params[PRIOR_WORTH], params[PRIOR_SPREAD]
        moved, known = pool[MOVED], pool[LEARNED]
        result = shift(family, constants, params[POOL], mean, worth, spread, moved, known)
        unspread = family.pooled(constants, ledger.beliefs, mean, worth, spread, params[POOL])
        pool[WAITED] += 1.0
        new = result != pool[SHIFT] or unspread != pool[UNSPREAD]
        if new and _FEW * pool[WAITED] >= memory.expected.size:
            pool[WAITED] = 0.0
            pool[SHIFT] = result
            pool[UNSPREAD] = unspread
            judge_all(family, constants, params, ledger, memory)


# An arm is asked for: surprise against evidence.


@kernel
def phi(x, greed, reach):
    """What x nats of surprise count: x²/(x + greed/(1 + (x/reach)⁴)), x below 0; no branches."""
    above = max(x, 0.0)
    far = above * (1.0 / reach)
    lack = greed / (1.0 + far * far * (far * far))
    return above * above / (above + lack + _TINY) + min(x, 0.0)


@kernel
def counted(x, less, greed, reach):
    """What the surprise x counts at an arm whose rewards are less sharp than others by `less`."""
    return min(phi(x + less, greed, reach), x)


@kernel
def doubted_from(greed, reach):
    """At how many nats of surprise the prior is doubted by half where it is known when play ends:
    the sooner, the fewer arms.
    """
    return reach * (_DOUBTED + _LATER * greed)


@kernel
def beyond_worth(together):
    """How many rewards an arm counts beyond its worth where it is known when play ends: more where
    decisions are dealt together, half of which are out on average.
    """
    return _BEYOND + 0.5 * together


@kernel
def phi_until(x, share, doubted):
    """What x nats of surprise at the turns left count, with `share` nats at the share of the plays:
    the boundary of Gittins indices, and nearly x where both are far beyond `doubted`.
    """
    above = max(x, 0.0)
    far = max(min(x, share), 0.0) / (doubted + _TINY)
    lack = _BOUNDARY / (1.0 + far * far * (far * far))
    return above * above / (above + lack)


@kernel
def phi_until_slopes(x, share, doubted):
    """∂φ/∂x with the doubt as it is, and ∂φ by the smaller of both, for x > 0."""
    least = max(min(x, share), 0.0)
    far = least / (doubted + _TINY)
    power = far * far * (far * far)
    lack = _BOUNDARY / (1.0 + power)
    counts = x / (x + lack)
    if not 0.0 < power < np.inf:
        return counts * (2.0 - counts), 0.0
    return counts * (2.0 - counts), counts * counts * 4.0 * lack * power / ((1.0 + power) * least)


@kernel
def counted_until(x, share, less, doubted):
    """What the surprise x counts at an arm whose rewards are less sharp than others by `less`."""
    return min(phi_until(x + less, share + less, doubted), x)


@inlined_kernel
def shared_sharpness(ledger, judged, plays):
    """ln of the sharpness of all rewards so far, on average; 0 exactly where all have 1."""
    sharper = 0.0
    for a in range(ledger.plays.size):
        sharper += ledger.plays[a] * judged[SHARPER, a]
    return math.log1p(max(sharper / plays, 0.0))


@inlined_kernel
def indices(family, constants, params, ledger, memory, turn, greed, rng, index):
    """φ(x_a) − ν_a d(μ_a, μ_L) of every arm; the turn value is the greed κ = gain·ln K."""
    judged = memory.judged
    means, worths, log_worths = judged[MEAN], judged[WORTH], judged[LOG_WORTH]
    leading, plays, unknown = leader(means, index), 1.0, 0
    for a in range(index.size):
        plays += ledger.plays[a]
        unknown += means[a] == -np.inf
    if leading > -np.inf:
        weights, reach, horizon = memory.scratch, params[REACH], params[HORIZON]
        family.weights(constants, leading, weights)
        clock, together = math.log(plays), memory.pool[TOGETHER]
        left, beyond = max(horizon - turn - together, 0.0), beyond_worth(together)
        shared, doubted = shared_sharpness(ledger, judged, plays), doubted_from(greed, reach)
        for a in range(index.size):
            against = worths[a] * max(family.evidence(memory.terms, a, weights), 0.0)
            less = shared - judged[LOG_SHARPNESS, a]
            if horizon < np.inf:
                x = log_from_one(1.0 + left / (worths[a] + beyond))
                share = clock - log_worths[a]
                index[a] = counted_until(x, share, less, doubted) - against
            else:
                index[a] = counted(clock - log_worths[a], less, greed, reach) - against
    if unknown > 0:
        for a in range(index.size):
            if means[a] == -np.inf:  # nothing can speak against what is not known: it comes first
                index[a] = np.inf


def evidence_against(family: Family, memory: Any, arm: int, mean: float) -> float:
    """What a reward of an arm says against a mean, by the terms that are kept of it."""
    weights = np.zeros(len(memory.scratch))
    family.kernels.weights(family.constants, mean, weights)
    return max(float(family.kernels.evidence(memory.terms, arm, weights)), 0.0)


def columns(
    family: Family, params: Floats, ledger: Ledger, memory: Any, index: Floats
) -> dict[str, Floats]:
    """Per arm: how far its rewards are from the leader's level and its belief from the pooled one
    (nats), what the surprise at the latter counts, and τ.
    """
    judged = memory.judged
    means, worths = judged[MEAN], judged[WORTH]
    known = np.isfinite(means)
    leading = float(means[known].max()) if known.any() else math.inf
    against, pull = np.zeros(len(means)), np.zeros(len(means))
    for a in np.flatnonzero(known & (means < leading)):
        against[a] = worths[a] * evidence_against(family, memory, int(a), leading)
        pull[a] = against[a] / (leading - means[a])
    plays = 1.0 + float(ledger.plays.sum())
    sharper = shared_sharpness(ledger, judged, plays) - judged[LOG_SHARPNESS]
    with np.errstate(divide="ignore"):
        return {
            "distance on rewards": against,
            "distance on beliefs": distance_on_beliefs(
                math.log(plays) - judged[LOG_WORTH] + np.where(known, sharper, 0.0)
            ),
            "surprise": index + against,
            "exposure": 1.0 / pull,
            "index": index,
        }

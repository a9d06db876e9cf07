"""N decisions of the default at once: water-filling.

With nothing learnt meanwhile, asks move only what beliefs are worth. Each goes to the arm with the
largest g_a(ν) = φ(ln(t/ν)) − ν d_a, which falls with ν, so that N of them fill arms to a common
level λ: Σ_a (ν_a(λ) − ν_a)₊ = N, where g_a(ν_a(λ)) = λ and the clock stands at t + N; a known end
of play and the sharpness of rewards enter as in `evidence.py`. Both roots are found by Newton's
method inside brackets. The shift of the prior and the leader move slowly as beliefs narrow, so N is
dealt in *stages*, in each of which the clock goes up sixteenfold at most; a stage is solved with
the evidence at its start, and again with that at its end until it settles.
"""

from __future__ import annotations

import math

from belman.engine import kernel
from belman.policies.belman.evidence import (
    HORIZON,
    LOG_SHARPNESS,
    MEAN,
    REACH,
    TOGETHER,
    WORTH,
    beyond_worth,
    counted_until,
    doubted_from,
    phi,
    phi_until_slopes,
    shared_sharpness,
)
from belman.policies.dealing import SINGLY, deal_by_asks, deal_to
from belman.policies.policy_kernels import leader
from belman.special import log_from_one

_STAGE = 15.0  # plays so far that a stage deals
_PASSES = 8
_SETTLED = 1e-3  # of the decisions of a stage: what a pass may move and be the last
_CLOSE = 1e-6  # of the decisions
_LAST_STEP = 1e-4  # of Newton's method in ln ν: what is left is its square
_STEPS = 60
_FLAT = 1e-9  # the least slope of the leader's index, which in the last turn has none

FROM, AGAINST, FILLED, BEFORE, PART, DRY, LESS = 0, 1, 2, 3, 4, 5, 6  # rows of deal.start


@kernel
def phi_slope(x, greed, reach):
    """φ′(x) for x > 0."""
    far = x / reach
    power = far * far * (far * far)
    lack = greed / (1.0 + power)
    slope = -4.0 * lack * power / ((1.0 + power) * x)
    whole = x + lack
    return (2.0 * x * whole - x * x * (1.0 + slope)) / (whole * whole)


@kernel
def height(log_worth, clock, left, beyond, less, against, greed, reach):
    """g at ln ν, and its slope there; φ has the slope 1 under 0, and is at most ln(t/ν).

    `left` turns are left where it is known when play ends, and rewards count that are `beyond` ν;
    else infinitely many.
    """
    worth = math.exp(log_worth)
    evidence = against * worth
    if left < math.inf:
        known, share, doubted = worth + beyond, clock - log_worth, doubted_from(greed, reach)
        most = log_from_one(1.0 + left / known)
        falls, slope = worth / known * left / (left + known), 0.0
        value = counted_until(most, share, less, doubted)
        if value == most:
            slope = falls
        elif most + less > 0.0:
            by_turns, by_least = phi_until_slopes(most + less, share + less, doubted)
            slope = by_turns * falls + by_least * (falls if most < share else 1.0)
        return value - _FLAT * log_worth - evidence, -slope - _FLAT - evidence
    most = clock - log_worth
    x = most + less
    value, slope = x, 1.0
    if x > 0.0:
        value, slope = phi(x, greed, reach), phi_slope(x, greed, reach)
    if value > most:
        value, slope = most, 1.0
    return value - evidence, -slope - evidence


@kernel
def fill_arm(level, start, most, log_worth, clock, left, beyond, less, against, greed, reach):
    """ln ν at which an arm meets a level that lies between those of ν = start and start + most."""
    low, high = math.log(start), math.log(start + most)
    at = min(max(log_worth, low), high)
    for _ in range(_STEPS):
        value, slope = height(at, clock, left, beyond, less, against, greed, reach)
        if value > level:
            low = at
        else:
            high = at
        following = at - (value - level) / slope
        if not low < following < high:
            following = 0.5 * (low + high)
        moved = abs(following - at)
        at = following
        if moved < _LAST_STEP:
            break
    return at


@kernel
def fill_to(level, most, clock, left, beyond, greed, reach, start):
    """Fill all arms to a level: what that takes, and how fast it falls with the level."""
    total, slope = 0.0, 0.0
    for a in range(start.shape[1]):
        start[PART, a] = 0.0
        if start[DRY, a] > level:
            worth, against, less = start[FROM, a], start[AGAINST, a], start[LESS, a]
            at = fill_arm(
                level,
                worth,
                most,
                start[FILLED, a],
                clock,
                left,
                beyond,
                less,
                against,
                greed,
                reach,
            )
            start[FILLED, a] = at
            filled = math.exp(at)
            start[PART, a] = max(filled - worth, 0.0)
            total += start[PART, a]
            slope += filled / height(at, clock, left, beyond, less, against, greed, reach)[1]
    return total, slope


@kernel
def find_level(decisions, clock, left, beyond, greed, reach, start):
    """Fill arms to the level that takes these decisions; start[PART] is what each takes."""
    low, high = -math.inf, -math.inf
    arms = start.shape[1]
    for a in range(arms):
        worth, against, less = start[FROM, a], start[AGAINST, a], start[LESS, a]
        even, alone = math.log(worth + decisions / arms), math.log(worth + decisions)
        start[DRY, a] = height(math.log(worth), clock, left, beyond, less, against, greed, reach)[0]
        even = height(even, clock, left, beyond, less, against, greed, reach)[0]
        alone = height(alone, clock, left, beyond, less, against, greed, reach)[0]
        low, high = max(low, alone), max(high, even)
    level = high
    for _ in range(_STEPS):
        total, slope = fill_to(level, decisions, clock, left, beyond, greed, reach, start)
        if abs(total - decisions) <= _CLOSE * decisions:
            break
        if total > decisions:
            low = level
        else:
            high = level
        following = level - (total - decisions) / slope if slope < 0.0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == level:
            break
        level = following
    total = 0.0
    for a in range(arms):
        total += start[PART, a]
    for a in range(arms):
        start[PART, a] *= decisions / total if total > 0.0 else 0.0


@kernel
def deal_by_level(
    policy, family, constants, params, ledger, memory, turn, greed, decisions, rng, deal
):
    """Fill arms to a common level; few decisions, untried and closed arms are dealt ask by ask."""
    arms, means, worths = deal.dealt.size, memory.judged[MEAN], memory.judged[WORTH]
    plays, unknown = 1.0, 0
    for a in range(arms):
        plays += ledger.plays[a]
        unknown += not (means[a] > -math.inf and worths[a] > 0.0)
        unknown += deal.closed.size > 0 and deal.closed[a]
    together = max(decisions - 1.0, 0.0)
    if decisions <= SINGLY or unknown > 0:
        memory.pool[TOGETHER] = together
        deal_by_asks(
            policy, family, constants, params, ledger, memory, turn, greed, decisions, rng, deal
        )
        memory.pool[TOGETHER] = 0.0
        return
    waiting, left = decisions, max(params[HORIZON] - turn - together, 0.0)
    beyond = beyond_worth(together)
    while waiting > 0.0:
        now = min(waiting, _STAGE * plays)
        if waiting - now < 0.25 * now:
            now = waiting
        plays += now
        clock = math.log(plays)
        for a in range(arms):
            deal.start[FROM, a] = worths[a]
            deal.start[FILLED, a] = math.log(worths[a] + now / arms)
            deal.start[BEFORE, a] = 0.0
        for _ in range(_PASSES):
            deal.indices[:] = 0.0
            family.weights(constants, leader(means, deal.indices), memory.scratch)
            dealt = 1.0
            for a in range(arms):
                dealt += ledger.plays[a]
            shared = shared_sharpness(ledger, memory.judged, dealt)
            for a in range(arms):
                evidence = family.evidence(memory.terms, a, memory.scratch)
                deal.start[AGAINST, a] = max(evidence, 0.0)
                deal.start[LESS, a] = shared - memory.judged[LOG_SHARPNESS, a]
            find_level(now, clock, left, beyond, greed, params[REACH], deal.start)
            moved = 0.0
            for a in range(arms):
                more = deal.start[PART, a] - deal.start[BEFORE, a]
                if more != 0.0:
                    deal_to(policy, family, constants, params, ledger, memory, deal, a, more)
                    deal.start[BEFORE, a] = deal.start[PART, a]
                    moved += abs(more)
            if moved <= _SETTLED * now:
                break
        waiting -= now

"""Evidence that ages: the kernels of BelMan in a world that changes (`drift.py`).

Each member of the bank (`run_lengths.py`) is a BelMan of its own, with its own shift and leader: of
an arm, last told Δ turns ago, q = 1 − (1 − h)^Δ is the chance that it was reset since, and
μ_a = (1 − q) Σ w_r μ_r + q μ₀; ν_a likewise. The evidence against it is
e_a = −ln[(1 − q) Σ w_r exp(−ν_r d(μ_r, μ_L)) + q P₀(mean ≥ μ_L)], at most `most`: old refutations
expire by themselves. The surprise x_a = ln(min(t, 1/(2h))/ν_a) counts no more turns than knowledge
lives, and is at least 0. Played is argmax_a Σ_j W_j (φ(x_a) − e_a). With one member of hazard 0 it
is the default.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family_kernels import TERMS
from belman.policies.averages import keep_terms
from belman.policies.belman.evidence import phi, shift
from belman.policies.change import fading_bank, run_lengths
from belman.policies.change.fading_bank import Fading
from belman.policies.change.run_lengths import (
    BEGINNING,
    NOW,
    PLAYS,
    SINCE_TIME,
    TURN,
    WEIGHT,
    Bank,
    coins_of,
    elapsed_at,
    gone,
    least_said,
)
from belman.policies.memory import Floats, part, record
from belman.policies.policy_kernels import PolicyKernels

POOL, REACH, MOST, SURE, RENEWAL, PRIOR_MEAN, PRIOR_WORTH = 0, 1, 2, 3, 4, 5, 6
UNIT, MEMBERS, SIZE, SPANS = 7, 8, 9, 10  # seconds of a unit of time (0: turns), and sizes
HEAD = 11
MEAN, WORTH = 0, 1  # rows of judged, and of sides
SURPRISE, AGAINST = 2, 3  # further rows of sides; of an unknown arm the mean is infinite


class Memory(NamedTuple):
    """A bank, and what a turn needs of its members (J), arms (K) and runs (R)."""

    bank: Bank = record(Bank)
    fading: Fading = record(Fading)
    judged: Floats = part(2, "J", "K")  # mean and worth of the runs of an arm, weighed
    terms: Floats = part("J", "K", TERMS, "R")  # the runs' side of the evidence, with the shift
    worths: Floats = part("J", "K", "R")
    means: Floats = part("J", "K", "R")  # as judged, with the shift
    shifts: Floats = part("J")
    waiting: Floats = part("K")  # asks whose reward is not told yet
    seeded: Floats = part("K")  # whether the bank knows the arm
    fresh: Floats = part("K")  # whether what a turn needs of the arm is there
    scratch: Floats = part(TERMS)
    sides: Floats = part(4, "K")  # of a member: mean, worth, surprise and evidence of every arm


@kernel
def judge_run(family, constants, params, memory, j, arm, r):
    """The mean of a run with the prior moved by the member's shift, and its terms."""
    belief = memory.bank.beliefs[j, arm, r]
    worth, mean = family.worth(constants, belief), family.expected_reward(constants, belief)
    memory.worths[j, arm, r] = worth
    if worth > 0.0 and math.isfinite(mean):
        if worth >= params[PRIOR_WORTH]:
            mean += memory.shifts[j] * params[PRIOR_WORTH] / worth
        spread = family.spread(constants, belief)
        keep_terms(family, constants, mean, spread, memory.scratch, memory.terms[j, arm], r)
        memory.means[j, arm, r] = mean
    else:
        memory.means[j, arm, r] = np.inf


@kernel
def judge_arm(family, constants, params, memory, arm):
    """Renew what a turn needs of an arm whose bank has changed."""
    bank = memory.bank
    for j in range(bank.members.size):
        mean, worth = 0.0, 0.0
        for r in range(int(bank.counts[j, arm])):
            judge_run(family, constants, params, memory, j, arm, r)
            weight = bank.runs[WEIGHT, j, arm, r]
            mean += weight * family.expected_reward(constants, bank.beliefs[j, arm, r])
            worth += weight * memory.worths[j, arm, r]
        memory.judged[MEAN, j, arm] = mean
        memory.judged[WORTH, j, arm] = worth
    memory.fresh[arm] = 1.0


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    """A new arm is taken as the ledger believes; asks that are out make an arm less surprising."""
    if memory.seeded[arm] == 0.0:
        count = int(params[MEMBERS])
        first = params[HEAD + count : HEAD + 2 * count]
        run_lengths.seed_arm(family, constants, first, memory.bank, arm, ledger.beliefs[arm])
        fading_bank.seed_arm(memory.fading, arm, ledger.beliefs[arm])
        memory.seeded[arm] = 1.0 + ledger.plays[arm]
        memory.fresh[arm] = 0.0
    if memory.fresh[arm] == 0.0:
        judge_arm(family, constants, params, memory, arm)
    told = memory.bank.arms[PLAYS, arm] + memory.seeded[arm] - 1.0
    memory.waiting[arm] = max(ledger.plays[arm] - told, 0.0)


@kernel
def learn(family, constants, params, ledger, memory, arm, reward):
    count, size = int(params[MEMBERS]), int(params[SIZE])
    hazards, first = params[HEAD : HEAD + count], params[HEAD + count : HEAD + 2 * count]
    prior = params[HEAD + 2 * count : HEAD + 2 * count + size]
    spans = params[HEAD + 2 * count + size : HEAD + 2 * count + size + int(params[SPANS])]
    bank, times = memory.bank, memory.bank.times
    if params[UNIT] == 0.0:
        times[NOW] = bank.clock[TURN] + 1.0
    elif bank.arms[PLAYS, arm] == 0.0:  # by the clock, an arm is watched from its first reward on
        bank.arms[SINCE_TIME, arm] = times[NOW]
    if bank.clock[TURN] == 0.0:
        times[BEGINNING] = times[NOW]
    elapsed, coins = (
        elapsed_at(bank, arm, times[NOW]),
        coins_of(family, constants, prior, bank, arm),
    )
    least = least_said(family, constants, prior, bank, reward, coins)
    said = run_lengths.learn(
        family, constants, hazards, first, params[RENEWAL], prior, bank, arm, reward, coins, least
    )
    fading_bank.learn(
        family, constants, spans, prior, memory.fading, arm, elapsed, reward, coins, least, said
    )
    run_lengths.notice(hazards, first, bank, arm, params[SURE])
    judge_arm(family, constants, params, memory, arm)


@kernel
def shift_of(family, constants, params, prior, means, worths):
    """As in `evidence.py`, of the means and worths that a member gives the arms now."""
    if not params[PRIOR_WORTH] > 0.0:
        return 0.0
    moved, learned = 0.0, 0.0
    for a in range(means.size):
        if worths[a] > params[PRIOR_WORTH] and math.isfinite(means[a]):
            moved += means[a] - params[PRIOR_MEAN]
            learned += 1.0 - params[PRIOR_WORTH] / worths[a]
    mean, worth, spread = params[PRIOR_MEAN], params[PRIOR_WORTH], family.spread(constants, prior)
    return shift(family, constants, params[POOL], mean, worth, spread, moved, learned)


@kernel
def time_of_decision(params, bank):
    """That of the next reward, in turns, or as it is set."""
    return bank.clock[TURN] + 1.0 if params[UNIT] == 0.0 else bank.times[NOW]


@kernel
def lifetime(params, bank, hazard):
    """For how many rewards knowledge is good: half the time between changes."""
    if params[UNIT] == 0.0:
        return 0.5 / hazard
    passed = bank.times[NOW] - bank.times[BEGINNING]
    rewards = bank.clock[TURN]
    return max(0.5 / hazard * rewards / passed, 1.0) if passed > 0.0 else max(rewards, 1.0)


@kernel
def judge_member(family, constants, params, memory, j, index):
    """Find a member's surprise x_a and evidence e_a of every arm; False if none is known."""
    bank, count, size = memory.bank, int(params[MEMBERS]), int(params[SIZE])
    hazard, prior = params[HEAD + j], params[HEAD + 2 * count : HEAD + 2 * count + size]
    means, worths = memory.sides[MEAN], memory.sides[WORTH]
    now, told = time_of_decision(params, bank), 1.0
    for a in range(index.size):
        changed = gone(hazard, elapsed_at(bank, a, now))
        mean, worth = memory.judged[MEAN, j, a], memory.judged[WORTH, j, a]
        if changed > 0.0:
            mean = (1.0 - changed) * mean + changed * params[PRIOR_MEAN]
            worth = (1.0 - changed) * worth + changed * params[PRIOR_WORTH]
        means[a], worths[a] = mean, worth
        told += worth - params[PRIOR_WORTH]
    result = shift_of(family, constants, params, prior, means, worths)
    if result != memory.shifts[j]:
        memory.shifts[j] = result
        for a in range(index.size):
            for r in range(int(bank.counts[j, a])):
                judge_run(family, constants, params, memory, j, a, r)
    leading = -np.inf
    for a in range(index.size):
        if worths[a] > 0.0 and math.isfinite(means[a]):
            if worths[a] >= params[PRIOR_WORTH]:
                means[a] += result * params[PRIOR_WORTH] / worths[a]
            if index[a] == index[a]:
                leading = max(leading, means[a])
        else:
            means[a] = np.inf
    if leading == -np.inf:
        return False
    above = 1.0
    if hazard > 0.0 and params[PRIOR_WORTH] > 0.0:
        above = 1.0 - family.mean_cdf(constants, prior, leading)
    family.weights(constants, leading, memory.scratch)
    lived = min(told, lifetime(params, bank, hazard)) if hazard > 0.0 else told
    for a in range(index.size):
        if means[a] < np.inf:
            surprise = math.log(lived / (worths[a] + memory.waiting[a]))
            against = 0.0
            if means[a] < leading:
                changed = gone(hazard, elapsed_at(bank, a, now))
                against = evidence_of(family, memory, j, a, leading, changed, above)
            memory.sides[SURPRISE, a] = max(surprise, 0.0) if hazard > 0.0 else surprise
            memory.sides[AGAINST, a] = min(against, params[MOST])
    return True


@kernel
def evidence_of(family, memory, j, arm, leading, changed, above):
    """−ln of how likely the arm's runs, or a reset, are to be as good as the leader."""
    bank, weights = memory.bank, memory.scratch
    count = int(bank.counts[j, arm])
    if count == 1 and changed == 0.0:
        if memory.means[j, arm, 0] >= leading:
            return 0.0
        against = family.evidence(memory.terms[j, arm], 0, weights)
        return memory.worths[j, arm, 0] * max(against, 0.0)
    likely = changed * above
    for r in range(count):
        weight = (1.0 - changed) * bank.runs[WEIGHT, j, arm, r]
        if memory.means[j, arm, r] < leading:
            against = family.evidence(memory.terms[j, arm], r, weights)
            weight *= math.exp(-memory.worths[j, arm, r] * max(against, 0.0))
        likely += weight
    return -math.log(max(likely, 1e-300))


@kernel
def indices(family, constants, params, ledger, memory, turn, greed, rng, index):
    """Sum the members' W_j (φ(x_a) − e_a) of every arm."""
    for a in range(index.size):
        index[a] = 0.0 if index[a] == index[a] else np.nan
    for j in range(int(params[MEMBERS])):
        if judge_member(family, constants, params, memory, j, index):
            for a in range(index.size):
                if memory.sides[MEAN, a] < np.inf:
                    counts = phi(memory.sides[SURPRISE, a], greed, params[REACH])
                    index[a] += memory.bank.members[j] * (counts - memory.sides[AGAINST, a])
                else:
                    index[a] = np.inf


@kernel
def recommend(family, constants, params, ledger, memory, score):
    """What the bank expects of each arm."""
    for a in range(score.size):
        score[a] = 0.0
        for j in range(memory.bank.members.size):
            score[a] += memory.bank.members[j] * memory.judged[MEAN, j, a]


KERNELS = PolicyKernels(indices, refresh, learn=learn, recommend=recommend)

"""A bank of hazards, each with a mixture over how long ago every arm has changed.

A *member* of the bank holds that an arm is reset to its prior with chance h per turn. Of each arm
it keeps a few *runs*, oldest first: a weight, and the belief from all rewards since the run began.
A reward x that comes a time Δ (turns, unless time goes by a clock) after the last one multiplies a
run's weight by (1 − q) p(x), 1 − q = (1 − h)^Δ, and begins a run of weight q p₀(x); p(x) =
exp(A(η + T(x)) − A(η)). Members are weighed by how well they predict, and a little of their first
weights is mixed in at every reward. Beyond R runs the lightest but the newest is merged into the
run before it.

Rewards in a range that have no distribution count as many *coins* as their arm's, since its last
change, are less spread than coins, T(x) = coins·(x, 1 − x). What p(x) lacks of a density is then
the same in all runs and cancels. Since outliers may be likelier than a family has it, no run gives
a reward that is not a coin's less than a share of p₀(x).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies import memory as memories
from belman.policies.memory import Floats, Sizes, part

#: Rows of `runs`: weight, A(η), turn before which the run began, and what was told by then.
WEIGHT, PARTITION, BEGAN, TOLD, SUM, SQUARES = 0, 1, 2, 3, 4, 5
RUN_ROWS = 6
#: Rows of `arms`: turn of the last reward, rewards told, their sum, and the turn, the rewards and
#: the sum at which the world as it is now was acknowledged; the times of these two turns; and the
#: sums of squares.
LAST, PLAYS, TOTAL, SINCE, SINCE_PLAYS, SINCE_TOTAL, LAST_TIME, SINCE_TIME = 0, 1, 2, 3, 4, 5, 6, 7
ALL_SQUARES, SINCE_SQUARES = 8, 9
ARM_ROWS = 10
#: Parts of `clock`: rewards told, and changes noticed.
TURN, NOTICED = 0, 1
#: Parts of `times`: now (that of the last reward, in turns, unless it is set), and at first.
NOW, BEGINNING = 0, 1
#: Columns of `noticed`: turn, arm, turn of the change, from, to, how sure.
EVENT_COLUMNS, EVENTS = 6, 64
#: How much less than the prior a run says of a reward that is not a coin's, at most, in nats.
_OUTLYING = math.log(20.0)


class Bank(NamedTuple):
    """J members, K arms, R runs, beliefs of D numbers."""

    members: Floats = part("J")  # weights
    counts: Floats = part("J", "K", whole=(0, "R"))  # runs there are
    runs: Floats = part(RUN_ROWS, "J", "K", "R")
    beliefs: Floats = part("J", "K", "R", "D")
    arms: Floats = part(ARM_ROWS, "K")
    unchanged: Floats = part("K", "D")  # the belief if the arm is as it was when acknowledged
    logs: Floats = part("1+J", "K")  # of the chance of all rewards since, by that and by members
    clock: Floats = part(2, whole=(0, 10**15))
    times: Floats = part(2)
    noticed: Floats = part(EVENTS, EVENT_COLUMNS)  # the last ones in a ring
    scratch: Floats = part("D")


def blank(members: int, arms: int, runs: int, dimension: int) -> Bank:
    """The bank before its arms are seeded."""
    bank: Bank = memories.blank(Bank, bank_sizes(members, arms, runs, dimension))
    return bank


def bank_sizes(members: int, arms: int, runs: int, dimension: int, spans: int = 0) -> Sizes:
    """The sizes of a bank, and of beliefs that fade beside it."""
    more = {"J": members, "1+J": 1 + members, "R": runs, "F": spans, "1+F": 1 + spans}
    return Sizes(None, arms, dimension, **more)


@kernel
def seed_arm(family, constants, first, bank, arm, belief):
    """One run per member, from all that is believed now; members start with their first weights."""
    acknowledge(bank, arm, belief)
    for j in range(bank.members.size):
        if bank.members[j] == 0.0:
            bank.members[j] = first[j]
        bank.counts[j, arm] = 1.0
        for i in range(belief.size):
            bank.beliefs[j, arm, 0, i] = belief[i]
        for row in range(RUN_ROWS):
            bank.runs[row, j, arm, 0] = 0.0
        bank.runs[WEIGHT, j, arm, 0] = 1.0
        bank.runs[PARTITION, j, arm, 0] = family.foretells(family, constants, belief)


@kernel
def acknowledge(bank, arm, belief):
    """From here on, an arm of this belief is as it was, until it changes again."""
    bank.arms[SINCE, arm], bank.arms[SINCE_TIME, arm] = bank.clock[TURN], bank.times[NOW]
    for i in range(belief.size):
        bank.unchanged[arm, i] = belief[i]
    for i in range(len(bank.logs)):
        bank.logs[i, arm] = 0.0


@kernel
def gone(hazard, turns):
    """The chance of a change within a number of turns."""
    return -math.expm1(turns * math.log1p(-hazard)) if hazard > 0.0 else 0.0


@kernel
def drop_lightest(bank, j, arm, count):
    """Merge the lightest run but the newest into the one before it (the oldest into the next)."""
    runs = bank.runs[:, j, arm]
    lightest = 0
    for r in range(1, count - 1):
        if runs[WEIGHT, r] < runs[WEIGHT, lightest]:
            lightest = r
    heir = lightest - 1 if lightest > 0 else 1
    runs[WEIGHT, heir] += runs[WEIGHT, lightest]
    for r in range(lightest, count - 1):
        for row in range(RUN_ROWS):
            runs[row, r] = runs[row, r + 1]
        for i in range(bank.beliefs.shape[3]):
            bank.beliefs[j, arm, r, i] = bank.beliefs[j, arm, r + 1, i]


@kernel
def begin_run(bank, j, arm, count, weight, partition, prior):
    runs = bank.runs[:, j, arm]
    runs[WEIGHT, count] = weight
    runs[PARTITION, count] = partition
    runs[BEGAN, count] = bank.arms[LAST, arm]
    runs[TOLD, count] = bank.arms[PLAYS, arm]
    runs[SUM, count] = bank.arms[TOTAL, arm]
    runs[SQUARES, count] = bank.arms[ALL_SQUARES, arm]
    for i in range(prior.size):
        bank.beliefs[j, arm, count, i] = prior[i]


@kernel
def elapsed_at(bank, arm, time):
    """How long ago the last reward of an arm came; nothing changes before the first."""
    if not bank.arms[PLAYS, arm] > 0.0:
        return 0.0
    return max(time - bank.arms[LAST_TIME, arm], 0.0)


@kernel
def open_runs(family, constants, hazards, prior, bank, arm, elapsed):
    """So much time after its last reward, an arm may have changed: a new run in each member."""
    before = family.foretells(family, constants, prior)
    most = bank.runs.shape[3]
    for j in range(hazards.size):
        count = int(bank.counts[j, arm])
        changed = gone(hazards[j], elapsed)
        if changed > 0.0:
            if count == most:
                drop_lightest(bank, j, arm, count)
                count -= 1
            for r in range(count):
                bank.runs[WEIGHT, j, arm, r] *= 1.0 - changed
            begin_run(bank, j, arm, count, changed, before, prior)
            bank.counts[j, arm] = count + 1


@kernel
def least_said(family, constants, prior, bank, reward, coins):
    """The logarithm of the least chance that a belief gives a reward; none where it is a coin."""
    if coins == 1.0:
        return -np.inf
    for i in range(prior.size):
        bank.scratch[i] = prior[i]
    family.told(family, constants, bank.scratch, reward, coins)
    told, before = (
        family.foretells(family, constants, bank.scratch),
        family.foretells(family, constants, prior),
    )
    return told - before - _OUTLYING


@kernel
def said(family, constants, bank, j, arm, r, least):
    """Let a run, whose belief has learnt, count what it said before: the logarithm of its weight
    stands until all are known.
    """
    after = family.foretells(family, constants, bank.beliefs[j, arm, r])
    gain = max(after - bank.runs[PARTITION, j, arm, r], least)
    bank.runs[PARTITION, j, arm, r] = after
    weight = bank.runs[WEIGHT, j, arm, r]
    gain += math.log(weight) if weight > 0.0 else -np.inf
    bank.runs[WEIGHT, j, arm, r] = gain
    return gain


@kernel
def said_unchanged(family, constants, bank, arm, before, least):
    """The same of the belief that the arm is as it was, whose log-partition was this."""
    after = family.foretells(family, constants, bank.unchanged[arm])
    bank.logs[0, arm] += max(after - before, least)


@kernel
def reweigh(hazards, first, renewal, bank, arm, top, rewards, total_reward, squares):
    """From logarithms of weights, the largest of which is `top`, to weights of runs and members;
    the logarithm of the chance that the bank gave what came.
    """
    whole = 0.0
    for j in range(hazards.size):
        total = 0.0
        for r in range(int(bank.counts[j, arm])):
            weight = math.exp(bank.runs[WEIGHT, j, arm, r] - top)
            bank.runs[WEIGHT, j, arm, r] = weight
            total += weight
        for r in range(int(bank.counts[j, arm])):
            bank.runs[WEIGHT, j, arm, r] /= total if total > 0.0 else 1.0
        bank.members[j] *= total
        bank.logs[1 + j, arm] += top + math.log(total) if total > 0.0 else -np.inf
        whole += bank.members[j]
    for j in range(hazards.size):
        kept = bank.members[j] / whole if whole > 0.0 else first[j]
        bank.members[j] = (1.0 - renewal) * kept + renewal * first[j]
    bank.arms[LAST, arm] = bank.clock[TURN]
    bank.arms[LAST_TIME, arm] = bank.times[NOW]
    bank.arms[PLAYS, arm] += rewards
    bank.arms[TOTAL, arm] += total_reward
    bank.arms[ALL_SQUARES, arm] += squares
    return top + math.log(whole) if whole > 0.0 else -np.inf


@kernel
def coins_of(family, constants, prior, bank, arm):
    """How many coins a reward of an arm is worth, by those since its world was acknowledged."""
    arms = bank.arms[:, arm]
    plays, total = arms[PLAYS] - arms[SINCE_PLAYS], arms[TOTAL] - arms[SINCE_TOTAL]
    return family.coins(constants, prior, plays, total, arms[ALL_SQUARES] - arms[SINCE_SQUARES])


@kernel
def learn(family, constants, hazards, first, renewal, prior, bank, arm, reward, coins, least):
    """Enter a reward of an arm, worth `coins` coins and `least_said`, at the time that is set, in
    every member; the logarithm of the chance that they gave it.
    """
    bank.clock[TURN] += 1.0
    open_runs(family, constants, hazards, prior, bank, arm, elapsed_at(bank, arm, bank.times[NOW]))
    top = -np.inf
    for j in range(hazards.size):
        for r in range(int(bank.counts[j, arm])):
            family.told(family, constants, bank.beliefs[j, arm, r], reward, coins)
            top = max(top, said(family, constants, bank, j, arm, r, least))
    before = family.foretells(family, constants, bank.unchanged[arm])
    family.told(family, constants, bank.unchanged[arm], reward, coins)
    said_unchanged(family, constants, bank, arm, before, least)
    return reweigh(hazards, first, renewal, bank, arm, top, 1.0, reward, reward * reward)


@kernel
def chance_of_change(hazards, first, bank, arm):
    """That the arm has changed since its world was last acknowledged, by its own rewards alone.

    A member's chance of these rewards is that of no change, (1 − h)^Δ, times their chance if the
    arm is as it was, and the rest (none, where a member still holds to what was before that).
    Members count by their first weights: that another arm has changed is no evidence.
    """
    time = max(bank.times[NOW] - bank.arms[SINCE_TIME, arm], 0.0)
    top = bank.logs[0, arm]
    for j in range(hazards.size):
        top = max(top, bank.logs[1 + j, arm])
    same, all_ways = 0.0, 0.0
    for j in range(hazards.size):
        stayed = (1.0 - gone(hazards[j], time)) * math.exp(bank.logs[0, arm] - top)
        same += first[j] * stayed
        all_ways += first[j] * max(math.exp(bank.logs[1 + j, arm] - top), stayed)
    return 1.0 - same / all_ways if all_ways > 0.0 else 0.0


@kernel
def notice(hazards, first, bank, arm, sure):
    """Write down a change of which the bank is so sure, at its likeliest run; then the new world
    is acknowledged.
    """
    chance = chance_of_change(hazards, first, bank, arm)
    if not chance >= sure:
        return
    heaviest, at, run = -1.0, 0, 0
    for j in range(bank.members.size):
        for r in range(int(bank.counts[j, arm])):
            weight = bank.members[j] * bank.runs[WEIGHT, j, arm, r]
            if bank.runs[BEGAN, j, arm, r] > bank.arms[SINCE, arm] and weight > heaviest:
                heaviest, at, run = weight, j, r
    began, told = bank.runs[BEGAN, at, arm, run], bank.runs[TOLD, at, arm, run]
    total = bank.runs[SUM, at, arm, run]
    earlier = max(told - bank.arms[SINCE_PLAYS, arm], 1.0)
    event = bank.noticed[int(bank.clock[NOTICED]) % EVENTS]
    event[0] = bank.clock[TURN]
    event[1] = arm
    event[2] = began
    event[3] = (total - bank.arms[SINCE_TOTAL, arm]) / earlier
    event[4] = (bank.arms[TOTAL, arm] - total) / max(bank.arms[PLAYS, arm] - told, 1.0)
    event[5] = chance
    bank.clock[NOTICED] += 1.0
    acknowledge(bank, arm, bank.beliefs[at, arm, run])
    bank.arms[SINCE_PLAYS, arm] = told
    bank.arms[SINCE_TOTAL, arm] = total
    bank.arms[SINCE_SQUARES, arm] = bank.runs[SQUARES, at, arm, run]

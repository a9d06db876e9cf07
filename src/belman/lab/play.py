"""The compiled loop: one player, many runs.

Run r of a seed has three generators, whoever plays and whatever ran before: `nature` (one uniform a
turn, sent through the quantile function of the arm that is played), `mind` (what the policy draws)
and `world` (the arms of a random problem).
"""

from __future__ import annotations

import numpy as np

from belman import chance
from belman.engine import call_address, inlined_kernel, kernel
from belman.lab.hand import NO_ARM, reset
from belman.policies.policy import record

NATURE, MIND, WORLD = 0, 1, 2
_LOOKS = 4096  # turns between two looks at the stop flag


@kernel
def draw_world(family, law, world, generator, theta):
    """θ of every arm from the belief at the head of `world`; its last two numbers are where 0 and 1
    are scaled to.
    """
    prior = world[: world.size - 2]
    low, high = world[world.size - 2], world[world.size - 1]
    for a in range(len(theta)):
        family.sample(law, prior, generator, theta[a])
        if low != 0.0 or high != 1.0:
            theta[a, 0] = low + theta[a, 0] * (high - low)


@kernel
def prepare_run(family, law, world, seed, run, generators, theta, means):
    """Fork the generators of a run, draw its arms if they are random, and return the best mean."""
    for role in range(3):
        chance.fork(seed, run, role, generators[role])
    if world.size > 0:
        draw_world(family, law, world, generators[WORLD], theta)
    best = -np.inf
    for a in range(means.size):
        means[a] = family.mean(law, theta[a])
        best = max(best, means[a])
    return best


@inlined_kernel
def pull(family, law, theta, nature, ledger, arm):
    """The reward of an arm that is played now, entered in the ledger."""
    value = family.reward(law, theta[arm], chance.uniform(nature))
    record(family, law, ledger, arm, value)
    return value


@kernel
def count(ledger, plays):
    """The plays of every arm, as whole numbers."""
    for a in range(plays.size):
        plays[a] = int(ledger.plays[a])


@kernel
def play_runs(
    family, law, params, reveal, prior, ledger, block, blank, world, theta, means, generators, dials, checkpoints, seed, first,
    hand, regret, suboptimal_draws, reward, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … and fill a row of results for each; returns how many were
    finished before a stop.
    """
    horizon = dials.size
    for r in range(len(regret)):
        best = prepare_run(family, law, world, seed, first + r, generators, theta, means)
        nature = generators[NATURE]
        if reveal:
            for a in range(means.size):
                params[a] = means[a]
        reset(hand, prior, ledger, block, blank)
        lost, missed, earned, mark, arm = 0.0, 0, 0.0, 0, NO_ARM
        for t in range(horizon):
            arm = call_address(hand, arm, t + 1, dials[t])
            earned += pull(family, law, theta, nature, ledger, arm)
            if means[arm] < best:
                lost += best - means[arm]
                missed += 1
            if t + 1 == checkpoints[mark]:
                regret[r, mark], suboptimal_draws[r, mark], reward[r, mark] = lost, missed, earned
                mark += 1
            if t % _LOOKS == 0 and stop[0] != 0:
                return r
        count(ledger, plays[r])
    return len(regret)

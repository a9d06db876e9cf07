"""The compiled loop of arms, one for all of their worlds: what differs is their course.

Run r of a seed has three generators, whoever plays and whatever ran before: `nature` (one uniform a
turn, sent through the quantile function of the arm that is played), `rng` (what the policy draws)
and `world` (all that is random in the world: arms, changes, renewals).

Regret is to the arm best at the time, and an arm that is not there, whose θ is NaN, is closed. An
arm whose place is taken by a new one has to be forgotten, which each policy does in its own way, in
Python: the loop is left with its progress written down, and entered again.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import call_address, inlined_kernel, kernel
from belman.lab.design import Field
from belman.lab.policy_call import NO_ARM, reset
from belman.policies.ledger import record
from belman.policies.memory import Floats
from belman.problems.course import best_of, draw_world, fill_means

NATURE, MIND, WORLD = 0, 1, 2
#: Results of players at arms.
Regret = Annotated[Floats, Field(("turn",), "cumulative pseudo-regret")]
Draws = Annotated[NDArray[np.int32], Field(("turn",), "plays of arms that are not the best")]
Reward = Annotated[Floats, Field(("turn",), "cumulative reward")]
Plays = Annotated[NDArray[np.int32], Field(("arm",), "plays at the end")]
STOP_CHECK_TURNS = 4096  # between two looks at the stop flag


class Progress(NamedTuple):
    """Where a loop was left, so that it can go on there."""

    whole: NDArray[np.int64]  # (7): RUN, TURN, MISSED, MARK, ARM, UNTIL, LEFT
    real: Floats  # (3): LOST, EARNED, BEST

    @classmethod
    def blank(cls) -> Progress:
        """At the first turn of the first run."""
        return cls(np.zeros(7, dtype=np.int64), np.zeros(3))


RUN, TURN, MISSED, MARK, ARM, UNTIL, LEFT = range(7)
LOST, EARNED, BEST = range(3)


@kernel
def keep_position(progress, run, turn, missed, mark, arm, until, lost, earned, best):
    """Write down where a loop is left."""
    progress.whole[RUN], progress.whole[TURN] = run, turn
    progress.whole[MISSED], progress.whole[MARK] = missed, mark
    progress.whole[ARM], progress.whole[UNTIL] = arm, until
    progress.whole[LEFT] = 1
    progress.real[LOST], progress.real[EARNED], progress.real[BEST] = lost, earned, best


@kernel
def move_on(
    world, family, constants, numbers, table, rng, course, closed, reveal, params, turn
):  # fmt: skip
    """Make a world that of a turn: the next turn at which it changes, the best mean, and whether
    there is a new arm in the place of another.
    """
    until = world.move(family, constants, numbers, table, rng, course, turn)
    renewed = False
    for a in range(course.means.size):
        renewed = renewed or course.fresh[a]
        if closed.size > 0:
            closed[a] = course.means[a] != course.means[a]
        if reveal:
            params[a] = course.means[a]
    return until, best_of(course.means), renewed


@kernel
def prepare_run(family, constants, world, seed, run, generators, theta, means):
    """Fork the generators of a run, draw its arms if they are random, and fill their means; the
    best one is returned.
    """
    for role in range(3):
        chance.fork(seed, run, role, generators[role])
    if world.size > 0:
        draw_world(family, constants, world, generators[WORLD], theta)
    fill_means(family, constants, theta, means)
    return best_of(means)


@inlined_kernel
def play_arm(family, constants, theta, nature, ledger, arm):
    """The reward of an arm that is played now, entered in the ledger."""
    value = family.reward(constants, theta[arm], chance.uniform(nature))
    record(family, constants, ledger, arm, value)
    return value


@kernel
def count_plays(ledger, plays):
    """The plays of every arm, as whole numbers."""
    for a in range(plays.size):
        plays[a] = int(ledger.plays[a])


@kernel
def uniforms(nature, out):
    """Fill an array with what nature gives, turn by turn."""
    for i in range(out.size):
        out[i] = chance.uniform(nature)


@kernel
def play_runs(
    world, family, constants, params, reveal, prior, ledger, block, blank, numbers, table, course,
    closed, generators, turn_values, checkpoints, seed, first, policy_call, heard, progress, regret,
    suboptimal_draws, reward, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended."""
    for r in range(progress.whole[RUN], len(regret)):
        start = progress.whole[TURN]
        if progress.whole[LEFT] == 0:
            for role in range(3):
                chance.fork(seed, first + r, role, generators[role])
            world.begin(family, constants, numbers, table, generators[WORLD], course)
            until, best, renewed = move_on(
                world, family, constants, numbers, table, generators[WORLD], course, closed, reveal,
                params, 1,
            )  # fmt: skip
            heard[0] = np.nan
            reset(policy_call, prior, ledger, block, blank)
            lost, missed, earned, mark, arm = 0.0, 0, 0.0, 0, NO_ARM
        else:
            missed, mark = progress.whole[MISSED], progress.whole[MARK]
            arm, until = progress.whole[ARM], progress.whole[UNTIL]
            lost, earned = progress.real[LOST], progress.real[EARNED]
            best = progress.real[BEST]
            progress.whole[LEFT] = 0
        for t in range(start, turn_values.size):
            if t + 1 >= until:
                until, best, renewed = move_on(
                    world, family, constants, numbers, table, generators[WORLD], course, closed,
                    reveal, params, t + 1,
                )  # fmt: skip
                if renewed:
                    keep_position(progress, r, t, missed, mark, arm, until, lost, earned, best)
                    return r
            arm = call_address(policy_call, arm, t + 1, turn_values[t])
            luck = chance.uniform(generators[NATURE])
            told, given = world.earn(family, constants, numbers, table, course, arm, t + 1, luck)
            record(family, constants, ledger, arm, told)
            heard[0] = told
            earned += given
            plays[r, arm] += 1
            if course.means[arm] < best:
                lost += best - course.means[arm]
                missed += 1
            if t + 1 == checkpoints[mark]:
                regret[r, mark], suboptimal_draws[r, mark] = lost, missed
                reward[r, mark] = earned
                mark += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        progress.whole[TURN] = 0
    return len(regret)

"""The compiled loop of arms, one for all of their kinds: what differs is where rewards come from.

Run r of a seed has three generators, whoever plays and whatever ran before: `nature` (one uniform a
turn, sent through the quantile function of the arm that is played), `rng` (what the policy draws)
and `world` (the arms of a random problem).

Arms that change do so in stretches, of which others have one; regret is to the arm best at the
time, and an arm that is not there, whose θ is NaN, is closed. Rewards that are replayed from a
table, or told falsely, are told and earned by a *draw* of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import call_address, factory, inlined_kernel, kernel
from belman.lab.design import Field
from belman.lab.policy_call import NO_ARM, reset
from belman.policies.policy import Floats, record

NATURE, MIND, WORLD = 0, 1, 2
#: Results of players at arms.
Regret = Annotated[Floats, Field(("turn",), "cumulative pseudo-regret")]
Draws = Annotated[NDArray[np.int32], Field(("turn",), "plays of arms that are not the best")]
Reward = Annotated[Floats, Field(("turn",), "cumulative reward")]
Plays = Annotated[NDArray[np.int32], Field(("arm",), "plays at the end")]
STOP_CHECK_TURNS = 4096  # between two looks at the stop flag
_NEVER = 2**62


class Source(NamedTuple):
    """Where rewards come from: K arms in S stretches of time."""

    rows: Floats  # (S, K, …) parameters of distributions, or rewards
    means: Floats  # (S, K) true means …
    best: Floats  # (S) and the best of them …
    known: bool  # … which are given, or computed in every run
    starts: NDArray[np.int64]  # (S) the first turn of each stretch
    settings: Floats
    state: Floats  # (1) 0 at the start of every run


@kernel
def draw_world(family, constants, world, generator, theta):
    """θ of every arm from the belief that heads `world`, which ends with where 0 and 1 scale to."""
    prior = world[: world.size - 2]
    low, high = world[world.size - 2], world[world.size - 1]
    for a in range(len(theta)):
        family.sample(constants, prior, generator, theta[a])
        if low != 0.0 or high != 1.0:
            theta[a, 0] = low + theta[a, 0] * (high - low)


@kernel
def fill_means(family, constants, theta, means):
    """Fill the mean of every arm, and return the best; an arm that is not there has neither."""
    best = -np.inf
    for a in range(means.size):
        means[a] = family.mean(constants, theta[a])
        if means[a] > best:
            best = means[a]
    return best


@kernel
def begin_run(family, constants, world, seed, run, generators, theta):
    """Fork the generators of a run, and draw its arms if they are random."""
    for role in range(3):
        chance.fork(seed, run, role, generators[role])
    if world.size > 0:
        draw_world(family, constants, world, generators[WORLD], theta)


@kernel
def prepare_run(family, constants, world, seed, run, generators, theta, means):
    """The same, with the mean of every arm; the best is returned."""
    begin_run(family, constants, world, seed, run, generators, theta)
    return fill_means(family, constants, theta, means)


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


@inlined_kernel
def drawn(family, constants, source, stretch, ledger, arm, turn, uniform):
    """What is told and what is earned: a reward of the arm's distribution."""
    value = family.reward(constants, source.rows[stretch, arm], uniform)
    return value, value


@kernel
def falsified(family, constants, source, stretch, ledger, arm, turn, uniform):
    """The same, told falsely while the budget lasts. Settings: budget, low, high."""
    true = family.reward(constants, source.rows[stretch, arm], uniform)
    is_best = source.means[stretch, arm] == source.best[stretch]
    told = source.settings[1] if is_best else source.settings[2]
    spent = source.state[0] + abs(told - true)
    if spent > source.settings[0]:
        return true, true
    source.state[0] = spent
    return told, true


@kernel
def replayed(family, constants, source, stretch, ledger, arm, turn, uniform):
    """A reward drawn again, or the next one. Settings: whether drawn, whether by turn; counts."""
    count = source.settings[2 + arm]
    place = uniform * count
    if source.settings[0] == 0.0:
        place = (turn - 1.0) % count if source.settings[1] > 0.0 else ledger.plays[arm] % count
    value = source.rows[stretch, arm, int(place)]
    return value, value


@factory
def play_from(draw: Callable[..., tuple[float, float]]) -> Callable[..., int]:
    """The loop whose rewards, told and earned, are given by `draw`."""

    @kernel
    def play_runs(
        family, constants, params, reveal, prior, ledger, block, blank, world, source, closed,
        generators,
        turn_values, checkpoints, seed, first, policy_call, heard, regret, suboptimal_draws, reward,
        plays, stop,
    ):  # fmt: skip
        """Play runs first, first + 1, … into a row of results each; how many ended."""
        means, starts = source.means, source.starts
        for r in range(len(regret)):
            begin_run(family, constants, world, seed, first + r, generators, source.rows[0])
            for s in range(0 if source.known else starts.size):
                source.best[s] = fill_means(family, constants, source.rows[s], means[s])
            if reveal:
                for a in range(params.size):
                    params[a] = means[0, a]
            heard[0], source.state[0] = np.nan, 0.0
            reset(policy_call, prior, ledger, block, blank)
            lost, missed, earned, mark, arm = 0.0, 0, 0.0, 0, NO_ARM
            stretch, until, best = -1, 1, -np.inf
            for t in range(turn_values.size):
                while t + 1 >= until:
                    stretch += 1
                    best = source.best[stretch]
                    until = starts[stretch + 1] if stretch + 1 < starts.size else _NEVER
                for a in range(closed.size):
                    closed[a] = means[stretch, a] != means[stretch, a]
                arm = call_address(policy_call, arm, t + 1, turn_values[t])
                luck = chance.uniform(generators[NATURE])
                told, given = draw(family, constants, source, stretch, ledger, arm, t + 1, luck)
                record(family, constants, ledger, arm, told)
                heard[0] = told
                earned += given
                if means[stretch, arm] < best:
                    lost += best - means[stretch, arm]
                    missed += 1
                if t + 1 == checkpoints[mark]:
                    regret[r, mark], suboptimal_draws[r, mark] = lost, missed
                    reward[r, mark] = earned
                    mark += 1
                if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                    return r
            count_plays(ledger, plays[r])
        return len(regret)

    return play_runs

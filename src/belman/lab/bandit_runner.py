"""The compiled loop of bandits, and who runs it: one player, many runs.

Run r of a seed has three generators, whoever plays and whatever ran before: `nature` (one uniform a
turn, sent through the quantile function of the arm that is played), `mind` (what the policy draws)
and `world` (the arms of a random problem).
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import (
    Call,
    call_address,
    entry,
    inlined_kernel,
    kernel,
    leaves,
    with_leaves,
)
from belman.errors import ArmError
from belman.families.family import Family
from belman.lab.design import Field, Stop, blank, checkpoints
from belman.lab.policy_call import NO_ARM, bind_policy, call_choose, reset
from belman.policies.policy import Floats, Ledger, Policy, record
from belman.problems.problem import Problem

NATURE, MIND, WORLD = 0, 1, 2
STOP_CHECK_TURNS = 4096  # between two looks at the stop flag


@kernel
def draw_world(family, law, world, generator, theta):
    """θ of every arm from the belief that heads `world`, which ends with where 0 and 1 scale to."""
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
def play_arm(family, law, theta, nature, ledger, arm):
    """The reward of an arm that is played now, entered in the ledger."""
    value = family.reward(law, theta[arm], chance.uniform(nature))
    record(family, law, ledger, arm, value)
    return value


@kernel
def count_plays(ledger, plays):
    """The plays of every arm, as whole numbers."""
    for a in range(plays.size):
        plays[a] = int(ledger.plays[a])


@kernel
def play_runs(
    family, law, params, reveal, prior, ledger, block, blank, world, theta, means, generators,
    turn_values, checkpoints, seed, first, policy_call, heard, regret, suboptimal_draws, reward,
    plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    horizon = turn_values.size
    for r in range(len(regret)):
        best = prepare_run(family, law, world, seed, first + r, generators, theta, means)
        nature = generators[NATURE]
        if reveal:
            for a in range(means.size):
                params[a] = means[a]
        heard[0] = np.nan
        reset(policy_call, prior, ledger, block, blank)
        lost, missed, earned, mark, arm = 0.0, 0, 0.0, 0, NO_ARM
        for t in range(horizon):
            arm = call_address(policy_call, arm, t + 1, turn_values[t])
            heard[0] = play_arm(family, law, theta, nature, ledger, arm)
            earned += heard[0]
            if means[arm] < best:
                lost += best - means[arm]
                missed += 1
            if t + 1 == checkpoints[mark]:
                regret[r, mark], suboptimal_draws[r, mark], reward[r, mark] = lost, missed, earned
                mark += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        count_plays(ledger, plays[r])
    return len(regret)


class BanditResults(NamedTuple):
    """What happened in some runs: three curves at the checkpoints (runs × checkpoints).

    And plays per arm at the end (runs × arms).
    """

    regret: Floats
    suboptimal_draws: NDArray[np.int32]
    reward: Floats
    plays: NDArray[np.int32]


FIELDS = {
    "regret": Field(("turn",), np.float64, "cumulative pseudo-regret"),
    "suboptimal_draws": Field(("turn",), np.int32, "plays of arms that are not the best"),
    "reward": Field(("turn",), np.float64, "cumulative reward"),
    "plays": Field(("arm",), np.int32, "plays at the end"),
}


def in_one_block(record: Any) -> tuple[Floats, Any]:
    """A record whose arrays are laid out anew in one block, to be put away and back by one copy."""
    given = [np.asarray(array, dtype=np.float64) for array in leaves(record)]
    block = np.concatenate([array.ravel() for array in given])
    parts = np.split(block, np.cumsum([array.size for array in given])[:-1])
    shaped = (part.reshape(array.shape) for part, array in zip(parts, given, strict=True))
    return block, with_leaves(record, shaped)


#: What the calls of a policy are bound to (`bind_policy`).
Bound = tuple[Policy, Family, Floats, Ledger, Any, NDArray[Any], Floats]


def set_up(policy: Policy, family: Family, arms: int, memory: Any) -> tuple[dict[str, Any], Bound]:
    """What every loop at arms is given, by name, and what its calls of the policy are bound to."""
    block, memory = in_one_block(memory)
    ledger = Ledger.blank(np.zeros((arms, family.dimension)))
    generators = np.zeros((3, 4), dtype=np.uint64)
    params = np.zeros(arms) if policy.sees_truth else policy.params(family)
    given = {
        "law": family.law,
        "prior": np.array(family.prior),
        "ledger": ledger,
        "block": block,
        "blank": block.copy(),
        "generators": generators,
    }
    return given, (policy, family, params, ledger, memory, generators[MIND], np.zeros(arms))


class BanditRunner:
    """A compiled policy at a problem.

    Subclasses play another loop: `_loop` makes its entry, `_world` gives what it is told of the
    problem, and `_bind` binds the call of the policy.
    """

    def __init__(self, policy: Policy, problem: Problem, horizon: int) -> None:
        self._policy, self._problem = policy, problem
        self._memory = policy.memory(problem.arms, problem.family.dimension)
        turn_values = policy.turn_values(np.arange(1.0, horizon + 1.0), problem.arms)
        self._turn_values = np.ascontiguousarray(turn_values, dtype=np.float64)
        self._marks = np.append(checkpoints(horizon), -1)
        self._entry = entry(self._loop(), family=problem.family.kernels)

    def play(self, first: int, runs: int, seed: int, stop: Stop) -> BanditResults | None:
        """The results of these runs, or None if a stop came before they were finished."""
        family, arms = self._problem.family, self._problem.arms
        sizes = {"turn": len(self._marks) - 1, "arm": arms}
        results = blank(BanditResults, FIELDS, runs, sizes)
        given, bound = set_up(self._policy, family, arms, self._memory)
        heard, world = np.zeros(1), self._world(bound)
        call = self._bind(bound, heard, world)
        done = self._entry(
            **given,
            **world,
            turn_values=self._turn_values,
            checkpoints=self._marks,
            seed=chance.generator(seed),
            first=first,
            policy_call=call.address,
            heard=heard,
            **results._asdict(),
            stop=stop,
        )
        return results if done == runs else None

    def _loop(self) -> Any:
        return play_runs

    def _world(self, bound: Bound) -> dict[str, Any]:
        return {
            "params": bound[2],
            "reveal": self._policy.sees_truth,
            "world": self._problem.world,
            "theta": self._problem.parameters,
            "means": np.zeros(self._problem.arms),
        }

    def _bind(self, bound: Bound, heard: Floats, world: dict[str, Any]) -> Call:
        return bind_policy(call_choose, *bound, heard=heard)


class PythonRunner:
    """A player in plain Python: called with (arms, mind) once per run, it has `ask` and `tell`.

    Arms are 0, 1, …; `mind` is a NumPy Generator for the player's own draws. It meets the same
    nature as compiled players.
    """

    def __init__(self, player: Any, problem: Problem, horizon: int) -> None:
        self._player, self._problem, self._horizon = player, problem, horizon
        self._marks = checkpoints(horizon)
        self._prepare = entry(prepare_run, family=problem.family.kernels)

    def play(self, first: int, runs: int, seed: int, stop: Stop) -> BanditResults | None:
        """The results of these runs, or None if a stop came before they were finished."""
        problem, law = self._problem, self._problem.family.law
        sizes = {"turn": len(self._marks), "arm": problem.arms}
        results = blank(BanditResults, FIELDS, runs, sizes)
        words, generators = chance.generator(seed), np.zeros((3, 4), dtype=np.uint64)
        theta, means, luck = problem.parameters, np.zeros(problem.arms), np.empty(self._horizon)
        fixed = {"law": law, "world": problem.world, "theta": theta, "means": means}
        for r in range(runs):
            best = self._prepare(**fixed, seed=words, run=first + r, generators=generators)
            entry(_uniforms)(nature=generators[NATURE], out=luck)
            player = self._player(problem.arms, np.random.default_rng(generators[MIND]))
            lost, missed, earned, mark = 0.0, 0, 0.0, 0
            for t in range(self._horizon):
                if stop[0]:
                    return None
                arm = self._arm(player.ask())
                value = problem.family.kernels.reward(law, theta[arm], luck[t])
                player.tell(arm, value)
                results.plays[r, arm] += 1
                earned += value
                lost += best - means[arm]
                missed += means[arm] < best
                if t + 1 == self._marks[mark]:
                    results.regret[r, mark], results.suboptimal_draws[r, mark] = lost, missed
                    results.reward[r, mark] = earned
                    mark += 1
        return results

    def _arm(self, given: Any) -> int:
        arms = self._problem.arms
        try:
            arm = operator.index(given)
        except TypeError:
            arm = -1
        if not 0 <= arm < arms:
            allowed = f"give a whole number from 0 to {arms - 1}"
            raise ArmError(f"ask() gave {given!r}, which is not an arm: {allowed}")
        return arm


@kernel
def _uniforms(nature, out):
    for i in range(out.size):
        out[i] = chance.uniform(nature)


def bandit_runner(player: Any, problem: Problem, horizon: int) -> BanditRunner | PythonRunner:
    """The runner of a policy, or of a player in plain Python."""
    if isinstance(player, Policy):
        return BanditRunner(player, problem, horizon)
    return PythonRunner(player, problem, horizon)

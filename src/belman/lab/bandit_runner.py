"""Who runs the loop of arms: a compiled policy, or a player in plain Python, and many runs."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, leaves, with_leaves
from belman.errors import ArmError
from belman.families.family import Family
from belman.lab.bandit_loop import (
    MIND,
    NATURE,
    Draws,
    Plays,
    Regret,
    Reward,
    Source,
    drawn,
    falsified,
    play_from,
    prepare_run,
    replayed,
    uniforms,
)
from belman.lab.design import Stop, checkpoints
from belman.lab.policy_call import bind_policy, call_choose, call_choose_open, values_of_turns
from belman.policies.policy import Floats, Ledger, Policy
from belman.problems.corrupted import Corrupted
from belman.problems.drifting import Drifting
from belman.problems.problem import Problem
from belman.problems.replayed import Replayed

#: How rewards are drawn, by the kind of problem; others draw from distributions.
_DRAWS = {"corrupted": falsified, "replayed": replayed}


class BanditResults(NamedTuple):
    """What happened in some runs: curves at the checkpoints, and plays per arm."""

    regret: Regret
    suboptimal_draws: Draws
    reward: Reward
    plays: Plays


def in_one_block(record: Any) -> tuple[Floats, Any]:
    """A record whose arrays are laid out anew in one block, to be put away and back by one copy."""
    given = [np.asarray(array, dtype=np.float64) for array in leaves(record)]
    block = np.concatenate([array.ravel() for array in given])
    parts = np.split(block, np.cumsum([array.size for array in given])[:-1])
    shaped = (part.reshape(array.shape) for part, array in zip(parts, given, strict=True))
    return block, with_leaves(record, shaped)


#: What the calls of a policy are bound to (`bind_policy`).
Bound = tuple[Policy, Family, Floats, Ledger, Any, NDArray[Any], Floats]


def set_up(
    policy: Policy, family: Family, arms: int, memory: Any, roles: int = 3
) -> tuple[dict[str, Any], Bound]:
    """What every loop at arms is given, by name, and what its calls of the policy are bound to."""
    ledger = Ledger.blank(np.zeros((arms, family.dimension)))
    block, (ledger, memory) = in_one_block((ledger, memory))
    generators = np.zeros((roles, 4), dtype=np.uint64)
    params = np.zeros(arms) if policy.sees_truth else policy.params(family)
    given = {
        "constants": family.constants,
        "prior": np.array(family.prior),
        "ledger": ledger,
        "block": block,
        "blank": block.copy(),
        "generators": generators,
    }
    return given, (policy, family, params, ledger, memory, generators[MIND], np.zeros(arms))


def _source(problem: Problem) -> Source:
    """Where the rewards of a problem come from."""
    rows = problem.courses if isinstance(problem, Drifting) else problem.parameters[None]
    starts = problem.starts if isinstance(problem, Drifting) else (1,)
    means, settings, known = np.zeros(rows.shape[:2]), list[float](), False
    if isinstance(problem, (Corrupted, Replayed)):
        means, known = np.array([problem.true_means]), True
    if isinstance(problem, Corrupted):
        settings = [problem.budget, *problem.ends]
    elif isinstance(problem, Replayed):
        settings = [float(problem.order == "drawn"), float(problem.together)]
        settings += [float(len(rewards)) for rewards in problem.rewards]
    return Source(
        rows=np.ascontiguousarray(rows),
        means=means,
        best=means.max(axis=1),
        known=known,
        starts=np.array(starts, dtype=np.int64),
        settings=np.array(settings),
        state=np.zeros(1),
    )


class BanditRunner:
    """A compiled policy at arms, whatever they are."""

    def __init__(self, policy: Policy, problem: Problem, horizon: int) -> None:
        self._policy, self._problem = policy, problem
        self._memory = policy.memory(problem.arms, problem.family.dimension)
        self._turn_values = values_of_turns(policy, problem.arms, horizon)
        self._marks = np.append(checkpoints(horizon), -1)
        loop = play_from(_DRAWS.get(problem.played_as, drawn))
        self._entry = entry(loop, family=problem.family.kernels)

    def play(self, results: BanditResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        policy, problem, arms = self._policy, self._problem, self._problem.arms
        given, bound = set_up(policy, problem.family, arms, self._memory)
        heard, source, closed = np.zeros(1), _source(problem), np.zeros(0, dtype=np.bool_)
        if isinstance(problem, Drifting) and np.isnan(source.rows).any():
            closed = np.zeros(arms, dtype=np.bool_)
            call = bind_policy(call_choose_open, *bound, heard=heard, closed=closed)
        else:
            call = bind_policy(call_choose, *bound, heard=heard)
        done: int = self._entry(
            **given,
            params=bound[2],
            reveal=policy.sees_truth and problem.played_as == "bandit",
            world=problem.world,
            source=source,
            closed=closed,
            turn_values=self._turn_values,
            checkpoints=self._marks,
            seed=seed,
            first=first,
            policy_call=call.address,
            heard=heard,
            **results._asdict(),
            stop=stop,
        )
        return done


class PythonRunner:
    """A player in plain Python: called with (arms, rng) once per run, it has `ask` and `tell`.

    Arms are 0, 1, …; `rng` is a NumPy Generator for the player's own draws. It meets the same
    nature as compiled players.
    """

    def __init__(self, player: Any, problem: Problem, horizon: int) -> None:
        self._player, self._problem, self._horizon = player, problem, horizon
        self._marks = checkpoints(horizon)
        self._prepare = entry(prepare_run, family=problem.family.kernels)

    def play(self, results: BanditResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        problem, constants = self._problem, self._problem.family.constants
        generators = np.zeros((3, 4), dtype=np.uint64)
        theta, means, luck = problem.parameters, np.zeros(problem.arms), np.empty(self._horizon)
        fixed = {"constants": constants, "world": problem.world, "theta": theta, "means": means}
        for r in range(len(results.regret)):
            best = self._prepare(**fixed, seed=seed, run=first + r, generators=generators)
            entry(uniforms)(nature=generators[NATURE], out=luck)
            player = self._player(problem.arms, np.random.default_rng(generators[MIND]))
            lost, missed, earned, mark = 0.0, 0, 0.0, 0
            for t in range(self._horizon):
                if stop[0]:
                    return r
                arm = self._arm(player.ask())
                value = problem.family.kernels.reward(constants, theta[arm], luck[t])
                player.tell(arm, value)
                results.plays[r, arm] += 1
                earned += value
                lost += best - means[arm]
                missed += means[arm] < best
                if t + 1 == self._marks[mark]:
                    results.regret[r, mark], results.suboptimal_draws[r, mark] = lost, missed
                    results.reward[r, mark] = earned
                    mark += 1
        return len(results.regret)

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


def bandit_runner(player: Any, problem: Problem, horizon: int) -> BanditRunner | PythonRunner:
    """The runner of a policy, or of a player in plain Python."""
    if isinstance(player, Policy):
        return BanditRunner(player, problem, horizon)
    return PythonRunner(player, problem, horizon)

"""Who runs the loop of arms: a compiled policy, and many runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, leaves, with_leaves
from belman.families.family import Family
from belman.lab.bandit_loop import (
    ARM,
    LEFT,
    MIND,
    Draws,
    Plays,
    Progress,
    Regret,
    Reward,
    play_runs,
)
from belman.lab.design import Stop, checkpoints
from belman.lab.policy_call import (
    NO_ARM,
    bind_policy,
    call_choose,
    call_choose_among,
    forget_arms,
    look_at,
    values_of_turns,
)
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.problems.course import Course
from belman.problems.problem import Problem


class BanditResults(NamedTuple):
    """What happened in some runs: curves at the checkpoints, and plays per arm."""

    regret: Regret
    suboptimal_draws: Draws
    reward: Reward
    plays: Plays


def in_one_block(record: Any) -> tuple[Floats, Any]:
    """A record whose arrays are laid out anew in one block, to be put away and back by one copy;
    arrays of whole numbers are places, which stay as they are.
    """
    every = [np.asarray(array) for array in leaves(record)]
    given = [array.astype(np.float64) for array in every if array.dtype != np.int64]
    block = np.concatenate([array.ravel() for array in given])
    parts = np.split(block, np.cumsum([array.size for array in given])[:-1])
    shaped = (part.reshape(array.shape) for part, array in zip(parts, given, strict=True))
    result = (array if array.dtype == np.int64 else next(shaped) for array in every)
    return block, with_leaves(record, result)


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


def world_of(problem: Problem) -> dict[str, Any]:
    """What loops at arms are given of their world, by name."""
    parameters = problem.parameters
    return {
        "numbers": problem.numbers,
        "table": np.ascontiguousarray(problem.table),
        "course": Course.blank(problem.arms, parameters.shape[1], problem.state_size),
        "closed": np.zeros(problem.arms if problem.comes_and_goes else 0, dtype=np.bool_),
    }


class BanditRunner:
    """A compiled policy at arms, whatever they are."""

    def __init__(self, policy: Policy, problem: Problem, horizon: int) -> None:
        self._policy, self._problem = policy, problem
        self._memory = policy.memory(problem.arms, problem.family.dimension)
        self._turn_values = values_of_turns(policy, problem.arms, horizon)
        self._marks = np.append(checkpoints(horizon), -1)
        self._entry = entry(play_runs, world=problem.course, family=problem.family.kernels)

    def play(self, results: BanditResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        policy, problem, arms = self._policy, self._problem, self._problem.arms
        given, bound = set_up(policy, problem.family, arms, self._memory)
        heard, world, progress = np.zeros(1), world_of(problem), Progress.blank()
        if problem.comes_and_goes:
            limits = {"shut": world["closed"], "limited": np.ones(1, dtype=np.bool_)}
            call = bind_policy(call_choose_among, *bound, heard=heard, **limits)
        else:
            call = bind_policy(call_choose, *bound, heard=heard)
        play = self._entry.hold(
            **given,
            **world,
            params=bound[2],
            reveal=policy.sees_truth,
            turn_values=self._turn_values,
            checkpoints=self._marks,
            seed=seed,
            first=first,
            policy_call=call.address,
            heard=heard,
            progress=progress,
            **results._asdict(),
            stop=stop,
        )
        look = entry(look_at).hold(policy_call=call.address)
        done: int = play()
        while progress.whole[LEFT]:
            if progress.whole[ARM] != NO_ARM:
                look(int(progress.whole[ARM]))  # what it was told last is of an old arm
            fresh, heard[0] = np.flatnonzero(world["course"].fresh), np.nan
            forget_arms(policy, given["prior"], bound[3], bound[4], fresh)
            for arm in fresh.tolist():
                look(arm)
            world["course"].fresh[:], progress.whole[ARM] = False, NO_ARM
            done = play()
        return done

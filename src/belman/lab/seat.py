"""A player at the table: a policy with all the arrays its compiled loop needs, ready to play any
runs of a design.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import Address, entry, kernel
from belman.environments.environment import Problem
from belman.errors import ArmError
from belman.lab.design import checkpoints
from belman.lab.hand import choosing, deal
from belman.lab.play import MIND, NATURE, play_runs, prepare_run
from belman.lab.results import Field, blank
from belman.policies.policy import Floats, Ledger, Policy


class Results(NamedTuple):
    """What happened in some runs: three curves at the checkpoints (runs × checkpoints).

    And plays per arm at the end (runs × arms).
    """

    regret: Floats
    suboptimal_draws: NDArray[np.int32]
    reward: Floats
    plays: NDArray[np.int32]

    @classmethod
    def blank(cls, runs: int, marks: int, arms: int) -> Results:
        """Room for some runs."""
        return cls(*blank(FIELDS, (runs,), {"turn": marks, "arm": arms}))


FIELDS = {
    "regret": Field(("turn",), np.float64, "cumulative pseudo-regret"),
    "suboptimal_draws": Field(("turn",), np.int32, "plays of arms that are not the best"),
    "reward": Field(("turn",), np.float64, "cumulative reward"),
    "plays": Field(("arm",), np.int32, "plays at the end"),
}


def laid_out(arrays: Iterable[Floats]) -> tuple[Floats, list[Floats]]:
    """Arrays laid out anew in one block, so that all of them can be put away and brought back by
    one copy.
    """
    given = [np.asarray(array, dtype=np.float64) for array in arrays]
    block = np.concatenate([array.ravel() for array in given])
    parts = np.split(block, np.cumsum([array.size for array in given])[:-1])
    return block, [part.reshape(array.shape) for part, array in zip(parts, given, strict=True)]


def in_one_block(memory: Any) -> tuple[Floats, Any]:
    """A memory laid out anew in one block, so that a run can start from a copy of the blank one."""
    block, parts = laid_out(memory)
    return block, type(memory)(*parts)


class Seat:
    """A compiled policy at a problem."""

    def __init__(self, policy: Policy, problem: Problem, horizon: int) -> None:
        family = problem.family
        self._policy, self._problem = policy, problem
        self._blank = policy.memory(problem.arms, family.dimension)
        self._dials = np.ascontiguousarray(
            policy.dial(np.arange(1.0, horizon + 1.0), problem.arms), dtype=np.float64
        )
        self._marks = np.append(checkpoints(horizon), -1)
        bundles = {"family": (family.kernels, type(family).__module__)}
        self._call = entry(play_runs, bundles, {"ledger": Ledger, "hand": Address})

    def play(self, first: int, runs: int, seed: int, stop: NDArray[np.int64]) -> Results | None:
        """The results of these runs, or None if a stop came before they were finished."""
        problem, family, arms = self._problem, self._problem.family, self._problem.arms
        results = Results.blank(runs, len(self._marks) - 1, arms)
        block, memory = in_one_block(self._blank)
        ledger = Ledger(np.zeros((arms, family.dimension)), *(np.zeros(arms) for _ in range(3)))
        params = np.zeros(arms) if self._policy.sees_truth else self._policy.params(family)
        generators = np.zeros((3, 4), dtype=np.uint64)
        hand = deal(
            choosing, self._policy, family, params, ledger, memory, generators[MIND], np.zeros(arms)
        )
        done = self._call(
            *(
                family.law,
                params,
                self._policy.sees_truth,
                np.array(family.prior),
                *ledger,
                block,
                block.copy(),
            ),
            *(problem.world, problem.parameters, np.zeros(arms), generators),
            *(self._dials, self._marks, chance.generator(seed), first, *hand, *results, stop),
        )
        return results if done == runs else None


class PythonSeat:
    """A player in plain Python: a class called with (arms, mind) once per run, whose objects have
    `ask()` and `tell(arm, reward)`.

    Arms are 0, 1, …; `mind` is a NumPy Generator for the player's own draws. It meets the same
    nature as compiled players.
    """

    def __init__(self, player: Any, problem: Problem, horizon: int) -> None:
        self._player, self._problem, self._horizon = player, problem, horizon
        self._marks = checkpoints(horizon)
        bundles = {"family": (problem.family.kernels, type(problem.family).__module__)}
        self._prepare = entry(prepare_run, bundles, {})
        self._reward = entry(_reward_of, bundles, {})
        self._uniforms = entry(_uniforms, {}, {})

    def play(self, first: int, runs: int, seed: int, stop: NDArray[np.int64]) -> Results | None:
        """The results of these runs, or None if a stop came before they were finished."""
        problem, law = self._problem, self._problem.family.law
        results = Results.blank(runs, len(self._marks), problem.arms)
        words, generators = chance.generator(seed), np.zeros((3, 4), dtype=np.uint64)
        theta, means, luck = problem.parameters, np.zeros(problem.arms), np.empty(self._horizon)
        for r in range(runs):
            best = self._prepare(law, problem.world, words, first + r, generators, theta, means)
            self._uniforms(generators[NATURE], luck)
            player = self._player(problem.arms, np.random.default_rng(generators[MIND]))
            lost, missed, earned, mark = 0.0, 0, 0.0, 0
            for t in range(self._horizon):
                if stop[0]:
                    return None
                arm = self._arm(player.ask())
                value = self._reward(law, theta[arm], luck[t])
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
            raise ArmError(
                f"ask() gave {given!r}, which is no arm: give a whole number from 0 to {arms - 1}"
            )
        return arm


@kernel
def _reward_of(family, law, theta, uniform):
    return family.reward(law, theta, uniform)


@kernel
def _uniforms(nature, out):
    for i in range(out.size):
        out[i] = chance.uniform(nature)


def bandit_seat(player: Any, problem: Problem, horizon: int) -> Seat | PythonSeat:
    """The seat of a policy, or of a player in plain Python."""
    if isinstance(player, Policy):
        return Seat(player, problem, horizon)
    return PythonSeat(player, problem, horizon)

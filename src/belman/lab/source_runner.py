"""The compiled loop of arms whose rewards are not drawn from a law alone, and who runs it.

Rewards that are replayed from a table, and rewards that are told falsely: what is told and what is
earned come from a *source*, which may remember what it did in a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from belman import chance
from belman.engine import call_address, factory, kernel
from belman.lab.bandit_runner import (
    NATURE,
    STOP_CHECK_TURNS,
    BanditRunner,
    Bound,
    count_plays,
)
from belman.lab.policy_call import NO_ARM, reset
from belman.policies.policy import Floats, record
from belman.problems.corrupted import Corrupted
from belman.problems.replayed import Replayed


class Source(NamedTuple):
    """Where rewards come from."""

    rows: Floats  # (K, …) parameters of laws, or rewards
    means: Floats  # (K) true means
    settings: Floats
    state: Floats  # (1) 0 at the start of every run


@kernel
def falsified(family, law, source, ledger, arm, turn, uniform, best):
    """What is told and what is earned, while the budget lasts. Settings: budget, low, high."""
    true = family.reward(law, source.rows[arm], uniform)
    told = source.settings[1] if source.means[arm] == best else source.settings[2]
    spent = source.state[0] + abs(told - true)
    if spent > source.settings[0]:
        return true, true
    source.state[0] = spent
    return told, true


@kernel
def replayed(family, law, source, ledger, arm, turn, uniform, best):
    """A reward drawn again, or the next one. Settings: whether drawn, whether by turn; counts."""
    count = source.settings[2 + arm]
    place = uniform * count
    if source.settings[0] == 0.0:
        place = (turn - 1.0) % count if source.settings[1] > 0.0 else ledger.plays[arm] % count
    value = source.rows[arm, int(place)]
    return value, value


@factory
def play_from(draw: Callable[..., tuple[float, float]]) -> Callable[..., int]:
    """The loop whose rewards, told and earned, are given by `draw`."""

    @kernel
    def play_source(
        family, law, prior, ledger, block, blank, source, generators, turn_values, checkpoints,
        seed, first, policy_call, heard, regret, suboptimal_draws, reward, plays, stop,
    ):  # fmt: skip
        """Play runs first, first + 1, … into a row of results each; how many ended."""
        best = -np.inf
        for a in range(source.means.size):
            best = max(best, source.means[a])
        for r in range(len(regret)):
            for role in range(3):
                chance.fork(seed, first + r, role, generators[role])
            heard[0], source.state[0] = np.nan, 0.0
            reset(policy_call, prior, ledger, block, blank)
            lost, missed, earned, mark, arm = 0.0, 0, 0.0, 0, NO_ARM
            for t in range(turn_values.size):
                arm = call_address(policy_call, arm, t + 1, turn_values[t])
                luck = chance.uniform(generators[NATURE])
                told, given = draw(family, law, source, ledger, arm, t + 1, luck, best)
                record(family, law, ledger, arm, told)
                heard[0] = told
                earned += given
                if source.means[arm] < best:
                    lost += best - source.means[arm]
                    missed += 1
                if t + 1 == checkpoints[mark]:
                    regret[r, mark] = lost
                    suboptimal_draws[r, mark] = missed
                    reward[r, mark] = earned
                    mark += 1
                if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                    return r
            count_plays(ledger, plays[r])
        return len(regret)

    return play_source


class SourceRunner(BanditRunner):
    """A compiled policy at arms whose rewards come from a source."""

    _problem: Corrupted | Replayed

    def _loop(self) -> Any:
        return play_from(falsified if isinstance(self._problem, Corrupted) else replayed)

    def _world(self, bound: Bound) -> dict[str, Any]:
        problem = self._problem
        if isinstance(problem, Corrupted):
            settings = [problem.budget, *problem.ends]
        else:
            drawn, counts = problem.order == "drawn", map(len, problem.rewards)
            settings = [float(drawn), float(problem.together), *map(float, counts)]
        source = Source(
            rows=np.ascontiguousarray(problem.parameters),
            means=np.array(problem.true_means),
            settings=np.array(settings),
            state=np.zeros(1),
        )
        return {"source": source}

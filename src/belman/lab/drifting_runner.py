"""The compiled loop of arms that change, and who runs it: regret is to the arm best at the time.

An arm that is not there has no θ (NaN): it is closed, and no policy chooses it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from belman import chance
from belman.engine import Call, call_address, kernel
from belman.lab.bandit_runner import (
    NATURE,
    STOP_CHECK_TURNS,
    BanditRunner,
    Bound,
    count_plays,
    play_arm,
)
from belman.lab.policy_call import NO_ARM, bind_policy, call_choose_open, reset
from belman.policies.policy import Floats
from belman.problems.drifting import Drifting


@kernel
def play_changing(
    family, law, prior, ledger, block, blank, courses, starts, means, best, generators, turn_values,
    checkpoints, seed, first, policy_call, heard, closed, regret, suboptimal_draws, reward, plays,
    stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    for s in range(len(courses)):
        best[s] = -np.inf
        for a in range(means.shape[1]):
            means[s, a] = family.mean(law, courses[s, a])
            if means[s, a] > best[s]:
                best[s] = means[s, a]
    for r in range(len(regret)):
        for role in range(3):
            chance.fork(seed, first + r, role, generators[role])
        nature = generators[NATURE]
        heard[0] = np.nan
        reset(policy_call, prior, ledger, block, blank)
        lost, missed, earned, mark, arm, stretch = 0.0, 0, 0.0, 0, NO_ARM, 0
        for t in range(turn_values.size):
            while stretch + 1 < starts.size and t + 1 >= starts[stretch + 1]:
                stretch += 1
            for a in range(closed.size):
                closed[a] = means[stretch, a] != means[stretch, a]
            arm = call_address(policy_call, arm, t + 1, turn_values[t])
            heard[0] = play_arm(family, law, courses[stretch], nature, ledger, arm)
            earned += heard[0]
            if means[stretch, arm] < best[stretch]:
                lost += best[stretch] - means[stretch, arm]
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


class DriftingRunner(BanditRunner):
    """A compiled policy at arms that change."""

    _problem: Drifting

    def _loop(self) -> Any:
        return play_changing

    def _world(self, bound: Bound) -> dict[str, Any]:
        courses = self._problem.courses
        come_and_go = bool(np.isnan(courses).any())
        return {
            "courses": courses,
            "starts": np.array(self._problem.starts, dtype=np.int64),
            "means": np.zeros(courses.shape[:2]),
            "best": np.zeros(len(courses)),
            "closed": np.zeros(self._problem.arms if come_and_go else 0, dtype=np.bool_),
        }

    def _bind(self, bound: Bound, heard: Floats, world: dict[str, Any]) -> Call:
        if world["closed"].size == 0:
            return super()._bind(bound, heard, world)
        return bind_policy(call_choose_open, *bound, heard=heard, closed=world["closed"])

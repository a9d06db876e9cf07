"""The compiled loop of arms that change, and who runs it: regret is to the arm best at the time.

An arm that is not there has no θ (NaN): it is closed, and no policy chooses it.
"""

from __future__ import annotations

import numpy as np

from belman import chance
from belman.engine import call_address, entry, kernel
from belman.lab.bandit_runner import (
    FIELDS,
    NATURE,
    STOP_CHECK_TURNS,
    BanditResults,
    BanditRunner,
    count_plays,
    play_arm,
    set_up,
)
from belman.lab.design import Stop, blank
from belman.lab.policy_call import (
    NO_ARM,
    bind_policy,
    call_choose,
    call_choose_open,
    reset,
)
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

    def play(self, first: int, runs: int, seed: int, stop: Stop) -> BanditResults | None:
        """The results of these runs, or None if a stop came before they were finished."""
        problem = self._problem
        assert isinstance(problem, Drifting)
        family, arms, courses = problem.family, problem.arms, problem.courses
        results = blank(BanditResults, FIELDS, runs, {"turn": len(self._marks) - 1, "arm": arms})
        given, bound = set_up(self._policy, family, arms, self._memory)
        heard, closed = np.zeros(1), np.zeros(0, dtype=np.bool_)
        if np.isnan(courses).any():
            closed = np.zeros(arms, dtype=np.bool_)
            call = bind_policy(call_choose_open, *bound, heard=heard, closed=closed)
        else:
            call = bind_policy(call_choose, *bound, heard=heard)
        done = entry(play_changing, family=family.kernels)(
            **given,
            courses=courses,
            starts=np.array(problem.starts, dtype=np.int64),
            means=np.zeros(courses.shape[:2]),
            best=np.zeros(len(courses)),
            turn_values=self._turn_values,
            checkpoints=self._marks,
            seed=chance.generator(seed),
            first=first,
            policy_call=call.address,
            heard=heard,
            closed=closed,
            **results._asdict(),
            stop=stop,
        )
        return results if done == runs else None

"""A player whose rewards come late or in batches: a policy with all that its loop needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.delays.counts import CELLS, PRIOR, Counts
from belman.engine import entry
from belman.lab.bandit_runner import set_up
from belman.lab.delayed_loop import Clock, DelayedResults, Delays, Knowledge, Tickets, play_delayed
from belman.lab.design import Stop, checkpoints
from belman.lab.policy_call import bind_policy, call_choose, call_deal, values_of_turns
from belman.policies.dealing import Deal
from belman.policies.policy import Floats, Ledger, Policy, share_of_ties
from belman.problems.delayed import TELLINGS, Delayed


def look_turns(times: Floats, looks: int) -> NDArray[np.int64]:
    """The last turn before each of so many moments, equally spaced until the end."""
    ends = times[-1] * np.arange(1, looks + 1) / looks
    return np.maximum(np.searchsorted(times, ends * (1.0 + 1e-12), side="right"), 1)


class DelayedRunner:
    """A compiled policy at a problem whose rewards come late."""

    def __init__(self, policy: Policy, problem: Delayed, horizon: int) -> None:
        self._policy, self._problem, self._horizon = policy, problem, horizon
        self._turn_values = values_of_turns(policy, problem.arms, horizon)
        times = problem.times(horizon)
        self._clock = Clock(
            times=times,
            checkpoints=np.append(checkpoints(horizon), -1),
            looks=np.append(look_turns(times, problem.looks), -1),
            window=problem.window,
            width=problem.window / CELLS,
            prior=PRIOR,
        )
        self._entry = entry(play_delayed, family=problem.family.kernels)

    def play(self, results: DelayedResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        problem, family, arms = self._problem, self._problem.family, self._problem.arms
        memory = self._policy.memory(arms, family.dimension)
        given, bound = set_up(self._policy, family, arms, memory, roles=4)
        call, deal = bind_policy(call_choose, *bound), Deal.blank(arms, family.dimension)
        weighs = problem.batch > 1 and self._policy.kernels.propensity is share_of_ties
        dealing, block = call, given["block"]
        if weighs:
            held = {"kept": block.copy(), "block": block, "deal": deal}
            dealing = bind_policy(call_deal, *bound, **held)
        done: int = self._entry(
            **given,
            params=bound[2],
            reveal=self._policy.sees_truth,
            knowledge=_knowledge(arms, family.dimension),
            world=problem.world,
            theta=problem.parameters,
            means=np.zeros(arms),
            turn_values=self._turn_values,
            telling=TELLINGS[problem.told],
            clock=self._clock,
            quantiles=np.array(problem.quantiles),
            delays=_no_delays(arms),
            tickets=_tickets(self._horizon),
            seed=seed,
            first=first,
            policy_call=call.address,
            batch=problem.batch,
            deal_call=dealing.address,
            dealt=deal.dealt if weighs else np.zeros(0),
            results=results,
            stop=stop,
        )
        return done


def _knowledge(arms: int, dimension: int) -> Knowledge:
    truth, shown = (Ledger.blank(np.zeros((arms, dimension))) for _ in range(2))
    return Knowledge(
        truth=truth,
        provisional=np.zeros((arms, 2)),
        pending=np.zeros(arms, dtype=np.int64),
        shown=shown,
        stale=np.zeros(arms, dtype=np.bool_),
        scratch=np.zeros((2, dimension)),
    )


def _no_delays(arms: int) -> Delays:
    cdf, doubt = np.zeros((2, CELLS + 1))
    return Delays(Counts.blank(arms), cdf, doubt, np.zeros(1, dtype=np.int64))


def _tickets(horizon: int) -> Tickets:
    arm, delay, due, following = np.full((4, horizon), -1, dtype=np.int64)
    return Tickets(arm, np.zeros(horizon), delay, due, following)

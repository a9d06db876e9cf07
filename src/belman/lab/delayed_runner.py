"""A player whose rewards come late or in batches: a policy with all that its loop needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.delays.counts import CELLS, PRIOR, Counts
from belman.engine import entry
from belman.lab.bandit_loop import LEFT, TURN, Progress
from belman.lab.bandit_runner import Bound, set_up, world_of
from belman.lab.delayed_loop import DelayedResults, Limits, Own, play_delayed
from belman.lab.design import Stop, checkpoints
from belman.lab.policy_call import (
    bind_policy,
    call_choose_among,
    call_deal,
    call_hear,
    forget_arms,
    look_at,
    values_of_turns,
)
from belman.lab.telling import Clock, Delays, Knowledge, Tickets, lose_sight
from belman.policies.dealing import Deal
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import share_of_ties
from belman.policies.wrappers.wrapper import own_memory
from belman.problems.delayed import TELLINGS, Delayed, batched
from belman.problems.problem import Problem


def look_turns(times: Floats, looks: int) -> NDArray[np.int64]:
    """The last turn before each of `looks` moments, equally spaced until the end."""
    ends = times[-1] * np.arange(1, looks + 1) / looks
    return np.maximum(np.searchsorted(times, ends * (1.0 + 1e-12), side="right"), 1)


def late_part(problem: Problem, horizon: int) -> dict[str, Any]:
    """What a loop is given of late rewards and batches, by name."""
    late = problem if isinstance(problem, Delayed) else batched(problem, 1)
    telling, quantiles = TELLINGS[late.told], np.array(late.quantiles)
    if late.told == "at once" and late.batch > 1:
        telling, quantiles = TELLINGS["late"], np.zeros((1, 2))
    times = late.times(horizon)
    return {
        "telling": telling,
        "batch": late.batch,
        "weighs": late.weighs and late.batch > 1,
        "clock": Clock(
            times=times,
            checkpoints=np.append(checkpoints(horizon), -1),
            looks=np.append(look_turns(times, late.looks), -1),
            window=late.window,
            width=late.window / CELLS,
            prior=PRIOR,
        ),
        "quantiles": quantiles,
    }


class DelayedRunner:
    """A compiled policy at a problem whose rewards come late."""

    def __init__(self, policy: Policy, problem: Delayed, horizon: int) -> None:
        self._policy, self._problem, self._horizon = policy, problem, horizon
        self._turn_values = values_of_turns(policy, problem.arms, horizon)
        self._late = late_part(problem, horizon)
        self._entry = entry(play_delayed, world=problem.course, family=problem.family.kernels)

    def play(self, results: DelayedResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        policy, problem = self._policy, self._problem
        family, arms = problem.family, problem.arms
        memory = policy.memory(arms, family.dimension)
        given, bound = set_up(policy, family, arms, memory, roles=4)
        world, progress = world_of(problem), Progress.blank()
        knowledge = _knowledge(arms, family.dimension)
        closed, heard = world["closed"], np.full(int(policy.learns), np.nan)
        told = heard if policy.learns else None
        limits = Limits(np.zeros(arms, dtype=np.bool_), np.zeros(1, dtype=np.bool_))
        call = bind_policy(
            call_choose_among, *bound, told, shut=limits.shut, limited=limits.limited
        )
        hear = call
        if policy.learns:
            truly: Bound = (*bound[:3], knowledge.truth, *bound[4:])
            hear = bind_policy(call_hear, *truly, heard)
        deal = Deal.blank(arms, family.dimension, closed)
        late = {**self._late, "frozen": self._late["weighs"]}
        weighs = late.pop("weighs") and policy.kernels.propensity is share_of_ties
        dealing, block = call, given["block"]
        if weighs:
            held: dict[str, Any] = {"kept": block.copy(), "block": block, "deal": deal}
            dealing = bind_policy(call_deal, *bound, told, **held)
        tickets, delays = _tickets(self._horizon), _no_delays(arms)
        play = self._entry.hold(
            **given,
            **world,
            **late,
            params=bound[2],
            reveal=policy.sees_truth,
            knowledge=knowledge,
            turn_values=self._turn_values,
            delays=delays,
            tickets=tickets,
            seed=seed,
            first=first,
            policy_call=call.address,
            hear_call=hear.address,
            heard=heard,
            own=_own(policy, bound[4], family.dimension),
            limits=limits,
            deal_call=dealing.address,
            dealt=deal.dealt if weighs else np.zeros(0),
            progress=progress,
            results=results,
            stop=stop,
        )
        look = entry(look_at).hold(policy_call=call.address)
        lose = entry(lose_sight).hold(
            knowledge=knowledge,
            delays=delays,
            tickets=tickets,
            prior=given["prior"],
            clock=late["clock"],
        )
        done: int = play()
        while progress.whole[LEFT]:
            fresh = np.flatnonzero(world["course"].fresh)
            for arm in fresh.tolist():
                lose(arm, int(progress.whole[TURN]))
            forget_arms(policy, given["prior"], bound[3], bound[4], fresh)
            for arm in fresh.tolist():
                look(arm)
            world["course"].fresh[:] = False
            done = play()
        return done


def _knowledge(arms: int, dimension: int) -> Knowledge:
    truth, shown = (Ledger.blank(np.zeros((arms, dimension))) for _ in range(2))
    return Knowledge(
        truth=truth,
        provisional=np.zeros((arms, 2)),
        pending=np.zeros(arms, dtype=np.int64),
        position=np.zeros(4, dtype=np.int64),
        shown=shown,
        stale=np.zeros(arms, dtype=np.bool_),
        scratch=np.zeros((2, dimension)),
    )


def _own(policy: Policy, memory: Any, dimension: int) -> Own:
    result = own_memory(policy, memory)
    blank = Ledger.blank(np.zeros((0, dimension)))
    if result is None:
        return Own(blank, blank, np.zeros(0))
    return Own(result.own, Ledger.blank(np.zeros_like(result.own.beliefs)), result.fresh)


def _no_delays(arms: int) -> Delays:
    cdf, doubt = np.zeros((2, CELLS + 1))
    return Delays(Counts.blank(arms), cdf, doubt, np.zeros(1, dtype=np.int64))


def _tickets(horizon: int) -> Tickets:
    arm, delay, due, following = np.full((4, horizon), -1, dtype=np.int64)
    return Tickets(arm, np.zeros(horizon), delay, due, following)

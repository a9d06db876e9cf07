"""A player at the queues: a policy with all the arrays that the loop of `queue_loop.py` needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from belman import chance
from belman.engine import entry
from belman.lab.bandit_loop import MIND
from belman.lab.bandit_runner import in_one_block
from belman.lab.design import Stop, checkpoints
from belman.lab.matching import Workspace
from belman.lab.policy_call import bind_policy, call_choose, call_indices, values_of_turns
from belman.lab.queue_loop import (
    ROLES,
    Diary,
    Groups,
    QueueResults,
    Scratch,
    Site,
    System,
    serve_runs,
)
from belman.policies.ledger import Ledger
from belman.policies.policy import Policy
from belman.problems.queueing import BATCHES, Queue


class QueueRunner:
    """A compiled policy at some queues."""

    def __init__(self, policy: Policy, problem: Queue, horizon: int) -> None:
        self._policy, self._problem, self._horizon = policy, problem, horizon
        self._turn_values = values_of_turns(policy, problem.servers, horizon)
        self._marks = np.append(checkpoints(horizon), -1)
        self._entry = entry(serve_runs, family=problem.family.kernels)

    def play(self, results: QueueResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        problem, family = self._problem, self._problem.family
        queues = problem.queues
        burn_in, ratios = problem.start
        site = Site(
            single=problem.single,
            fixed=problem.fixed,
            holds=problem.holds,
            serves_empty=problem.serves_empty,
            by_length=problem.weighting == "length",
            favourites=problem.matching == "favourites",
            shared=problem.shared,
            poisson=problem.arrival_distribution == "poisson",
            burn_in=burn_in,
            theta=problem.parameters,
            throughput=problem.throughput,
            rates=np.array(problem.arrivals),
            ratios=ratios,
            plan=problem.plan,
        )
        groups, ledger, memory = _groups(self._policy, problem)
        generators = np.zeros((ROLES, 4), dtype=np.uint64)
        asked = call_indices if problem.matched else call_choose
        rng, given = generators[MIND], (self._policy, family, groups.params, ledger, memory)
        call = bind_policy(asked, *given, rng, groups.indices)
        done: int = self._entry(
            constants=family.constants,
            site=site,
            prior=np.array(family.prior),
            ledger=ledger,
            groups=groups,
            generators=generators,
            turn_values=self._turn_values,
            checkpoints=self._marks,
            player=_system(queues),
            genie=_system(queues),
            scratch=_scratch(problem),
            diary=_diary(queues, self._horizon),
            seed=seed,
            first=first,
            policy_call=call.address,
            results=results,
            stop=stop,
        )
        late = self._horizon - self._horizon // 2
        turns = np.bincount(np.arange(late) * BATCHES // late, minlength=BATCHES)
        with np.errstate(invalid="ignore"):
            np.divide(results.late_backlog, turns[:, None], out=results.late_backlog)
        return done


def _groups(policy: Policy, problem: Queue) -> tuple[Groups, Ledger, Any]:
    """The groups of a player's arms, and the ledger and memory at hand, parts of its block."""
    count, arms, dimension = problem.groups, problem.arms, problem.family.dimension
    parts = (Ledger.blank(np.zeros((arms, dimension))), policy.memory(arms, dimension))
    block, (ledger, memory) = in_one_block(parts)
    own = np.tile(policy.params(problem.family), (count, 1))
    truth = problem.throughput.reshape(count, arms)
    settings = np.ascontiguousarray(truth if policy.sees_truth else own)
    groups = Groups(
        params=settings[0].copy(),
        indices=np.zeros(arms),
        block=block,
        blank=block.copy(),
        stores=np.zeros((count, block.size)),
        settings=settings,
        rounds=np.zeros(count, np.int64),
        at=np.zeros(1, np.int64),
    )
    return groups, ledger, memory


def _system(queues: int) -> System:
    jobs, server, left = np.zeros((3, queues), np.int64)
    return System(jobs, server, left, np.zeros(queues))


def _scratch(problem: Queue) -> Scratch:
    queues, servers = problem.queues, problem.servers
    return Scratch(
        arrivals=np.zeros(queues, np.int64),
        luck=np.zeros(queues),
        weights=np.zeros((queues, servers)),
        open_rows=np.zeros(queues, np.bool_),
        open_columns=np.zeros(servers, np.bool_),
        matched=np.zeros(queues, np.int64),
        workspace=Workspace.blank(queues, servers),
    )


def _diary(queues: int, horizon: int) -> Diary:
    came, waits = np.zeros((2, queues, horizon + 1), np.int64)
    head, gone = np.zeros((2, queues), np.int64)
    return Diary(came, head, gone, waits)

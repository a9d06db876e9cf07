"""The compiled loop of queues: a player beside the genie, on the same arrivals and the same luck.

Nature gives every queue two uniforms a turn: its arrivals, and the luck of whichever server turns
to it. The luck goes through the quantile function of that server's distribution, so a better server
never does worse in the same turn.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import call_address, inlined_kernel, kernel
from belman.lab.bandit_loop import MIND, NATURE, STOP_CHECK_TURNS, WORLD
from belman.lab.design import Field
from belman.lab.matching import NOBODY, Workspace, match, match_favourites
from belman.lab.policy_call import NO_ARM, NO_TURN, reset
from belman.policies.ledger import record
from belman.policies.memory import Floats
from belman.problems.queueing import BATCHES

GENIE = 3  # the generator that breaks the genie's ties
ROLES = 4
Int32 = NDArray[np.int32]
_LATE = f"mean number of jobs in each of {BATCHES} parts of the last half"
_WAITING = "mean turns from arrival to end; jobs still there count with their age"
_MOST = 10_000  # arrivals in a turn; a Poisson distribution of rate 1 exceeds 25 with chance 1e-26


class Site(NamedTuple):
    """How this system works, and how fast; see `problems.queueing.Queue`."""

    single: bool
    fixed: bool
    holds: bool
    serves_empty: bool
    by_length: bool
    favourites: bool
    shared: bool
    poisson: bool
    burn_in: int
    theta: Floats  # (U·K, 1)
    throughput: Floats  # (U, K)
    rates: Floats  # (U) of arrivals
    ratios: Floats  # (U) of the geometric distribution in which a queue starts; 0 for a burn-in
    plan: NDArray[np.int64]  # (U) the matching of largest total rate


class System(NamedTuple):
    """The state of one scheduler's queues (U)."""

    jobs: NDArray[np.int64]  # present, in service included
    server: NDArray[np.int64]  # who serves this queue now, or −1
    left: NDArray[np.int64]  # turns until that service ends
    worth: Floats  # the reward that its end will bring


class Groups(NamedTuple):
    """The player's groups of arms (G groups of K arms, B numbers each), one of them in play."""

    params: Floats  # (P) of the group at hand
    indices: Floats  # (K) of its arms, the weights of a matching
    block: Floats  # (B) its beliefs and memory
    blank: Floats  # (B) as they were made
    stores: Floats  # (G, B) those of the other groups
    settings: Floats  # (G, P) the params of all groups
    rounds: NDArray[np.int64]  # (G) decisions that each has taken
    at: NDArray[np.int64]  # (1) the group at hand


class Scratch(NamedTuple):
    """Room for one turn."""

    arrivals: NDArray[np.int64]  # (U)
    luck: Floats  # (U)
    weights: Floats  # (U, K)
    open_rows: NDArray[np.bool_]  # (U)
    open_columns: NDArray[np.bool_]  # (K)
    matched: NDArray[np.int64]  # (U)
    workspace: Workspace


class Diary(NamedTuple):
    """What is remembered of a run to know how long jobs waited."""

    came: NDArray[np.int64]  # (U, T + 1) jobs that came up to each turn
    head: NDArray[np.int64]  # (U) the turn in which the next job to leave came
    gone: NDArray[np.int64]  # (U) jobs that left
    waits: NDArray[np.int64]  # (U, T + 1) how many waited so many turns


def _of_queues(words: str, *dims: str) -> Field:
    return Field((*dims, "queue"), words)


class QueueResults(NamedTuple):
    """What happened in some runs."""

    queue: Annotated[Int32, _of_queues("jobs in the queue", "turn")]
    queue_regret: Annotated[Int32, _of_queues("jobs more than the genie has in the queue", "turn")]
    mean_backlog: Annotated[Floats, _of_queues("mean number of jobs in the queue")]
    largest_backlog: Annotated[Int32, _of_queues("largest number of jobs in the queue")]
    late_backlog: Annotated[Floats, _of_queues(_LATE, "batch")]
    waiting_mean: Annotated[Floats, _of_queues(_WAITING)]
    waiting_p95: Annotated[Floats, _of_queues("turns that 95 % of the jobs did not exceed")]
    waiting_p99: Annotated[Floats, _of_queues("turns that 99 % of the jobs did not exceed")]
    jobs_in: Annotated[Int32, _of_queues("jobs that came, those at the start included")]
    jobs_out: Annotated[Int32, _of_queues("jobs that left")]
    plays: Annotated[Int32, Field(("queue", "server"), "services at the end")]


@kernel
def arrivals_at(rate, poisson, uniform):
    """The number of arrivals at that quantile of a Poisson or Bernoulli distribution."""
    if not poisson:
        return 1 if uniform >= 1.0 - rate else 0
    term = math.exp(-rate)
    below, count = term, 0
    while uniform > below and count < _MOST:
        count += 1
        term *= rate / count
        below += term
    return count


@inlined_kernel
def draw_turn(site, nature, scratch):
    """The arrivals and the luck of every queue."""
    for u in range(site.rates.size):
        scratch.arrivals[u] = arrivals_at(site.rates[u], site.poisson, chance.uniform(nature))
        scratch.luck[u] = chance.uniform(nature)


@inlined_kernel
def receive(site, system, scratch):
    """Take in arrivals, see who is free: queues not served, servers without a queue. Any queue?"""
    for k in range(scratch.open_columns.size):
        scratch.open_columns[k] = True
    waiting = False
    for u in range(system.jobs.size):
        system.jobs[u] += scratch.arrivals[u]
        busy = system.server[u] != NOBODY
        if busy:
            scratch.open_columns[system.server[u]] = False
        scratch.open_rows[u] = not busy and (site.serves_empty or system.jobs[u] > 0)
        scratch.matched[u] = NOBODY
        waiting = waiting or scratch.open_rows[u]
    return waiting


@kernel
def weigh_by_length(jobs, weights):
    """Multiply each row by the length of its queue, finite weights counted from the least."""
    low = np.inf
    for u in range(jobs.size):
        for k in range(weights.shape[1]):
            if weights[u, k] > -np.inf:
                low = min(low, weights[u, k])
    for u in range(jobs.size):
        for k in range(weights.shape[1]):
            if weights[u, k] > -np.inf and weights[u, k] < np.inf:
                weights[u, k] = jobs[u] * (weights[u, k] - low)


@inlined_kernel
def begin(family, constants, site, system, scratch):
    """Start the services that were matched: each with the outcome and duration of its luck."""
    servers = scratch.open_columns.size
    for u in range(system.jobs.size):
        k = scratch.matched[u]
        if k != NOBODY:
            system.server[u] = k
            system.worth[u] = family.reward(constants, site.theta[u * servers + k], scratch.luck[u])
            system.left[u] = max(1, math.ceil(-system.worth[u])) if site.holds else 1


@inlined_kernel
def work(site, system, u):
    """One turn of service at a queue: (whether it ended, whether a job left)."""
    if system.server[u] == NOBODY:
        return False, False
    system.left[u] -= 1
    if system.left[u] > 0:
        return False, False
    left = system.jobs[u] > 0 and (site.holds or system.worth[u] > 0.5)
    if left:
        system.jobs[u] -= 1
    return True, left


@kernel
def match_by_weights(site, system, scratch, rng):
    """The matching of what is open by weights, times lengths if so."""
    if site.by_length:
        weigh_by_length(system.jobs, scratch.weights)
    open_rows, open_columns = scratch.open_rows, scratch.open_columns
    if site.favourites:
        match_favourites(scratch.weights, open_rows, open_columns, rng, scratch.matched)
        return
    match(scratch.weights, open_rows, open_columns, rng, scratch.workspace, scratch.matched)


@kernel
def match_by_rates(site, system, scratch, rng):
    """The genie's matching of what is open by true rates: as planned, where it never changes."""
    if site.single or site.fixed:
        for u in range(scratch.matched.size):
            scratch.matched[u] = site.plan[u] if scratch.open_rows[u] else NOBODY
        return
    for u in range(site.throughput.shape[0]):
        for k in range(site.throughput.shape[1]):
            scratch.weights[u, k] = site.throughput[u, k]
    match_by_weights(site, system, scratch, rng)


@inlined_kernel
def genie_turn(family, constants, site, system, scratch, rng):
    """A turn of the genie, who knows the rates."""
    if receive(site, system, scratch):
        match_by_rates(site, system, scratch, rng)
        begin(family, constants, site, system, scratch)
    for u in range(system.jobs.size):
        if work(site, system, u)[0]:
            system.server[u] = NOBODY


@kernel
def start(family, constants, site, generators, system, scratch):
    """The queues in their stationary distribution under the genie: geometric draws, or after a
    burn-in.
    """
    for u in range(site.rates.size):
        uniform, ratio = chance.uniform(generators[WORLD]), site.ratios[u]
        system.jobs[u] = int(math.log(uniform) / math.log(ratio)) if ratio > 0.0 else 0
        system.server[u] = NOBODY
    for _ in range(site.burn_in):
        draw_turn(site, generators[WORLD], scratch)
        genie_turn(family, constants, site, system, scratch, generators[GENIE])
    for u in range(site.rates.size):
        system.server[u] = NOBODY


@inlined_kernel
def turn_to(group, groups):
    """Bring one group's beliefs, memory and params to policy_call, and put away another's."""
    if groups.at[0] != group:
        for i in range(groups.block.size):
            groups.stores[groups.at[0], i] = groups.block[i]
            groups.block[i] = groups.stores[group, i]
        for i in range(groups.params.size):
            groups.params[i] = groups.settings[group, i]
        groups.at[0] = group


@inlined_kernel
def decide(site, policy_call, groups, turn_values, rng, system, scratch):
    """A turn of the player: a choice at one queue, weights of a matching at several."""
    if site.single:
        turn = groups.rounds[0] + 1
        groups.rounds[0] = turn
        scratch.matched[0] = call_address(policy_call, NO_ARM, turn, turn_values[turn - 1])
        return
    queues, arms = system.jobs.size if site.shared else 1, groups.indices.size
    for group in range(groups.rounds.size):
        waiting = False
        for u in range(group * queues, (group + 1) * queues):
            waiting = waiting or scratch.open_rows[u]
        if waiting:
            turn_to(group, groups)
            turn = groups.rounds[group] + 1
            groups.rounds[group] = turn
            groups.indices[:] = 0.0
            call_address(policy_call, NO_ARM, turn, turn_values[turn - 1])
            weights = scratch.weights.reshape(-1)
            for a in range(arms):
                weights[group * arms + a] = groups.indices[a]
    match_by_weights(site, system, scratch, rng)


@kernel
def leave(diary, waits, u, turn):
    """The oldest job of a queue leaves (or is counted with its age): note how long ago it came."""
    diary.gone[u] += 1
    while diary.came[u, diary.head[u]] < diary.gone[u]:
        diary.head[u] += 1
    waits[turn - diary.head[u]] += 1


@kernel
def quantile(waits, total, share):
    """The least time that this share of the jobs did not exceed."""
    seen = 0
    for wait in range(waits.size):
        seen += waits[wait]
        if seen >= share * total:
            return float(wait)
    return np.nan


@kernel
def close_books(diary, horizon, r, results):
    """Waiting times of a run; jobs that are still there count with their age."""
    for u in range(diary.gone.size):
        results.jobs_out[r, u] = diary.gone[u]
        results.jobs_in[r, u] = diary.came[u, horizon]
        while diary.gone[u] < diary.came[u, horizon]:
            leave(diary, diary.waits[u], u, horizon)
        total, jobs = 0.0, diary.came[u, horizon]
        for wait in range(horizon + 1):
            total += wait * diary.waits[u, wait]
        results.waiting_mean[r, u] = total / jobs if jobs > 0 else np.nan
        results.waiting_p95[r, u] = quantile(diary.waits[u], jobs, 0.95) if jobs > 0 else np.nan
        results.waiting_p99[r, u] = quantile(diary.waits[u], jobs, 0.99) if jobs > 0 else np.nan


@kernel
def open_books(diary, system):
    for u in range(diary.gone.size):
        diary.came[u, 0] = system.jobs[u]
        diary.head[u] = 0
        diary.gone[u] = 0
        for wait in range(diary.waits.shape[1]):
            diary.waits[u, wait] = 0


@kernel
def begin_run(family, constants, site, generators, genie, player, scratch, diary, seed, run):
    """Fork the generators of a run and let both schedulers find the same queues."""
    for role in range(ROLES):
        chance.fork(seed, run, role, generators[role])
    start(family, constants, site, generators, genie, scratch)
    for u in range(player.jobs.size):
        player.jobs[u] = genie.jobs[u]
        player.server[u] = NOBODY
    open_books(diary, player)


@inlined_kernel
def note(results, r, u, turn, horizon, jobs):
    """Enter how many jobs a queue has after a turn."""
    half, batches = horizon // 2, results.late_backlog.shape[1]
    results.mean_backlog[r, u] += jobs / horizon
    results.largest_backlog[r, u] = max(results.largest_backlog[r, u], jobs)
    if turn > half:
        results.late_backlog[r, (turn - half - 1) * batches // (horizon - half), u] += jobs


@kernel
def serve_runs(
    family, constants, site, prior, ledger, groups, generators, turn_values, checkpoints, player,
    genie,
    scratch, diary, seed, first, policy_call, results, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    horizon, queues, servers = turn_values.size, player.jobs.size, scratch.open_columns.size
    rng, luck = generators[MIND], generators[GENIE]
    for r in range(len(results.queue)):
        begin_run(
            family, constants, site, generators, genie, player, scratch, diary, seed, first + r
        )
        for group in range(groups.rounds.size):
            turn_to(group, groups)
            reset(policy_call, prior, ledger, groups.block, groups.blank)
            groups.rounds[group] = 0
        mark = 0
        for t in range(1, horizon + 1):
            draw_turn(site, generators[NATURE], scratch)
            genie_turn(family, constants, site, genie, scratch, luck)
            if receive(site, player, scratch):
                decide(site, policy_call, groups, turn_values, rng, player, scratch)
                begin(family, constants, site, player, scratch)
            for u in range(queues):
                diary.came[u, t] = diary.came[u, t - 1] + scratch.arrivals[u]
                k = player.server[u]
                ended, left = work(site, player, u)
                if left:
                    leave(diary, diary.waits[u], u, t)
                if ended:
                    player.server[u] = NOBODY
                    arm = u * servers + k if site.shared else k
                    turn_to(0 if site.shared else u, groups)
                    record(family, constants, ledger, arm, player.worth[u])
                    call_address(policy_call, arm, NO_TURN, 0.0)
                    results.plays[r, u, k] += 1
                note(results, r, u, t, horizon, player.jobs[u])
                if t == checkpoints[mark]:
                    results.queue[r, mark, u] = player.jobs[u]
                    results.queue_regret[r, mark, u] = player.jobs[u] - genie.jobs[u]
            if t == checkpoints[mark]:
                mark += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        close_books(diary, horizon, r, results)
    return len(results.queue)

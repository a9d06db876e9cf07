"""The compiled loop of late rewards and of batches: visitors come, and rewards are told later.

The loop is that of bandits with a clock. A turn first lets happen what is due: rewards that are
told, windows that close, and, where players learn early, the estimate of the delays when the clock
has moved on by a cell. What was told reaches the policy at the next batch, before which it gives
weights for all of its turns. Told at once and in batches of one, the loop makes the choices of that
of bandits to the last bit.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.delays.counts import (
    Counts,
    advance,
    between,
    count_asked,
    count_closed,
    count_told,
    delay_cell,
    estimate,
)
from belman.delays.log_rank import difference_found
from belman.delays.silence import count_silence, relative_doubt
from belman.engine import call_address, kernel
from belman.lab.bandit_loop import (
    MIND,
    NATURE,
    STOP_CHECK_TURNS,
    Draws,
    Plays,
    Regret,
    Reward,
    prepare_run,
)
from belman.lab.design import Field
from belman.lab.policy_call import NO_ARM, NO_TURN, reset
from belman.policies.dealing import count_provisional, renew_row
from belman.policies.policy import Floats, Ledger, record

AT_ONCE, WINDOW, EARLY, LATE, NAIVE = 0, 1, 2, 3, 4  # as in problems.delayed.TELLINGS
DELAYS = 3  # the generator of delays, after those of the bandit
NONE = -1
OFF = 1  # `Delays.alarm` once delays were found to differ
_DOUBT = "variance of ln p that is doubt about the delays, early only"
_ALARM = "whether delays were found to differ between arms"


class DelayedResults(NamedTuple):
    """What happened in some runs, and what players believed at the looks."""

    regret: Regret
    suboptimal_draws: Draws
    reward: Reward
    plays: Plays
    belief: Annotated[Floats, Field(("look", "arm", "coordinate"), "the belief about each arm")]
    doubt: Annotated[Floats, Field(("look", "arm"), _DOUBT)]
    alarm: Annotated[NDArray[np.bool_], Field((), _ALARM)]


class Tickets(NamedTuple):
    """One ticket a turn: its arm, reward and delay; those due at a turn are a chained list."""

    arm: NDArray[np.int64]  # (T)
    reward: Floats  # (T)
    delay: NDArray[np.int64]  # (T) the cell of its delay, once told
    due: NDArray[np.int64]  # (T) the first ticket that is told at each turn
    following: NDArray[np.int64]  # (T) the next one of the same turn


class Delays(NamedTuple):
    """What a player who learns early knows of the delays."""

    counts: Counts
    cdf: Floats  # (C + 1)
    doubt: Floats  # (C + 1)
    alarm: NDArray[np.int64]  # (1)


class Knowledge(NamedTuple):
    """What a player works with: the truth and what counts provisionally, beside the policy's view;
    and room for a look at what it believes, of which a policy in the midst of a batch sees nothing.
    """

    truth: Ledger
    provisional: Floats  # (K, 2)
    pending: NDArray[np.int64]  # (K)
    shown: Ledger
    stale: NDArray[np.bool_]  # (K)
    scratch: Floats  # (2, D)


class Clock(NamedTuple):
    """When things happen: visitors, checkpoints and looks (ended by -1), the window, its cells."""

    times: Floats  # (T)
    checkpoints: NDArray[np.int64]
    looks: NDArray[np.int64]
    window: float
    width: float
    prior: float


@kernel
def clear(knowledge, delays, tickets, prior):
    """As it is before the first turn."""
    for a in range(knowledge.pending.size):
        for i in range(prior.size):
            knowledge.truth.beliefs[a, i] = prior[i]
        knowledge.truth.plays[a] = 0.0
        knowledge.truth.sums[a] = 0.0
        knowledge.truth.squares[a] = 0.0
        knowledge.provisional[a, 0] = 0.0
        knowledge.provisional[a, 1] = 0.0
        knowledge.pending[a] = 0
        knowledge.stale[a] = False
        delays.counts.successes[a] = 0
        delays.counts.silent[a, :] = 0
        delays.counts.complete[a, :] = 0
    delays.counts.told[:] = 0
    delays.counts.delays[:] = 0
    delays.counts.watch[:] = 0
    delays.counts.head[0] = 0
    delays.alarm[0] = 0
    tickets.due[:] = NONE


@kernel
def learn(family, constants, knowledge, arm, reward):
    """A reward becomes part of the truth."""
    record(family, constants, knowledge.truth, arm, reward)
    knowledge.pending[arm] -= 1
    knowledge.stale[arm] = True


@kernel
def tell(family, constants, telling, knowledge, delays, tickets, clock, turn):
    """Rewards that come now; how many were learnt."""
    learnt, ticket = 0, tickets.due[turn]
    while ticket != NONE:
        arm = tickets.arm[ticket]
        if telling != EARLY:
            learn(family, constants, knowledge, arm, tickets.reward[ticket])
            learnt += 1
        else:
            asked = clock.times[ticket]
            late = delay_cell(delays.counts, clock.times[turn] - asked, clock.width)
            tickets.delay[ticket] = late
            count_told(delays.counts, arm, int(asked / clock.width), late, 1)
            if delays.alarm[0] != OFF:
                knowledge.provisional[arm, 0] += 1.0
                knowledge.stale[arm] = True
        ticket = tickets.following[ticket]
    return learnt


@kernel
def close(family, constants, telling, knowledge, delays, tickets, clock, ticket):
    """The window of a ticket is over; whether it was learnt now."""
    arm, reward = tickets.arm[ticket], tickets.reward[ticket]
    if telling == LATE or (telling == NAIVE and reward != 0.0):
        return 0
    learn(family, constants, knowledge, arm, reward)
    if telling == EARLY:
        cell = int(clock.times[ticket] / clock.width)
        count_closed(delays.counts, arm, cell, tickets.delay[ticket])
        if delays.alarm[0] != OFF:
            # its part of what counts provisionally, all but exactly, until the next estimate
            side = 0 if reward != 0.0 else 1
            knowledge.provisional[arm, side] = max(knowledge.provisional[arm, side] - 1.0, 0.0)
            if difference_found(delays.counts) < 1.0:
                delays.alarm[0] = OFF
                knowledge.provisional[:] = 0.0
                knowledge.stale[:] = True
    return 1


@kernel
def count_open(knowledge, delays, clock, now):
    """Estimate the distribution of the delays, and count the open tickets of every arm by it."""
    advance(delays.counts, int(now / clock.width))
    estimate(delays.counts, clock.prior, delays.cdf, delays.doubt)
    part = now / clock.width - delays.counts.head[0]
    for a in range(knowledge.pending.size):
        belief = knowledge.truth.beliefs[a]
        count_silence(
            delays.counts, delays.cdf, part, a, belief[0], belief[1], knowledge.provisional[a]
        )
        knowledge.stale[a] = True
    return part


@kernel
def untried_arm(knowledge, rng):
    """One of the arms that were never tried, drawn uniformly, while rewards are out; or none."""
    untried, out = 0, 0
    for a in range(knowledge.pending.size):
        untried += knowledge.truth.plays[a] + knowledge.pending[a] == 0.0
        out += knowledge.pending[a]
    if untried == 0 or out == 0:
        return NO_ARM
    rank = chance.below(rng, untried)
    for a in range(knowledge.pending.size):
        if knowledge.truth.plays[a] + knowledge.pending[a] == 0.0:
            if rank == 0:
                return a
            rank -= 1
    return NO_ARM


@kernel
def draw(dealt, rng):
    """An arm, by what was dealt to each."""
    total = 0.0
    for a in range(dealt.size):
        total += dealt[a]
    left, arm = total * chance.uniform(rng), 0
    for a in range(dealt.size):
        if dealt[a] > 0.0:
            arm = a
            left -= dealt[a]
            if left < 0.0:
                break
    return arm


@kernel
def due_turn(times, turn, moment):
    """The first turn after this one at which it is so late."""
    low, high = turn + 1, times.size
    while low < high:
        middle = (low + high) // 2
        if times[middle] >= moment:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def send_out(telling, knowledge, delays, tickets, clock, quantiles, turn, arm, reward, luck):
    """A ticket goes out, and its reward, if there is one, will be told in time."""
    tickets.arm[turn], tickets.reward[turn], tickets.delay[turn] = arm, reward, NONE
    knowledge.pending[arm] += 1
    knowledge.stale[arm] = True
    if telling == EARLY:
        count_asked(delays.counts, arm, int(clock.times[turn] / clock.width))
    if telling == LATE or (telling != WINDOW and reward != 0.0):
        row = quantiles[arm if len(quantiles) > 1 else 0]
        delay = between(row, luck * (row.size - 1))
        when = due_turn(clock.times, turn, clock.times[turn] + delay)
        if when < clock.times.size:
            tickets.following[turn] = tickets.due[when]
            tickets.due[when] = turn


@kernel
def show(family, telling, knowledge, delays, clock, now, belief, doubt):
    """What a player believes now, and what of it is doubt about the delays."""
    part = 0.0
    early = telling == EARLY and delays.alarm[0] != OFF
    if early:
        part = count_open(knowledge, delays, clock, now)
    for a in range(knowledge.pending.size):
        count_provisional(knowledge.truth, knowledge.provisional, knowledge.shown, a)
        for i in range(belief.shape[1]):
            belief[a, i] = knowledge.shown.beliefs[a, i]
        if early:
            worth = belief[a, 0] + belief[a, 1]
            doubt[a] = relative_doubt(delays.counts, delays.cdf, delays.doubt, part, a, worth)


@kernel
def play_delayed(
    family, constants, params, reveal, prior, ledger, knowledge, block, blank, world, theta, means,
    generators, turn_values, telling, clock, quantiles, delays, tickets, seed, first, policy_call,
    batch, deal_call, dealt, results, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    horizon = turn_values.size
    for r in range(len(results.regret)):
        best = prepare_run(family, constants, world, seed, first + r, generators, theta, means)
        chance.fork(seed, first + r, DELAYS, generators[DELAYS])
        if reveal:
            for a in range(means.size):
                params[a] = means[a]
        clear(knowledge, delays, tickets, prior)
        reset(policy_call, prior, ledger, block, blank)
        lost, missed, earned, mark, look = 0.0, 0, 0.0, 0, 0
        known, closing, cell = 0, 0, 0
        for t in range(horizon):
            now = clock.times[t]
            if telling >= EARLY:
                known += tell(family, constants, telling, knowledge, delays, tickets, clock, t)
            while telling != AT_ONCE and closing < t and clock.times[closing] + clock.window <= now:
                known += close(
                    family, constants, telling, knowledge, delays, tickets, clock, closing
                )
                closing += 1
            if telling == EARLY and int(now / clock.width) > cell and delays.alarm[0] != OFF:
                cell = int(now / clock.width)
                count_open(knowledge, delays, clock, now)
            for a in range(means.size):
                if knowledge.stale[a] and t % batch == 0:
                    renew_row(
                        family, constants, knowledge.truth, knowledge.provisional,
                        knowledge.pending, ledger, knowledge.scratch, a,
                    )  # fmt: skip
                    call_address(policy_call, a, NO_TURN, 0.0)
                    knowledge.stale[a] = False
            if dealt.size > 0:
                if t % batch == 0:
                    call_address(deal_call, batch, known + 1, turn_values[known])
                arm = draw(dealt, generators[MIND])
            else:
                arm = untried_arm(knowledge, generators[MIND])
                if arm == NO_ARM:
                    arm = call_address(policy_call, NO_ARM, known + 1, turn_values[known])
            reward = family.reward(constants, theta[arm], chance.uniform(generators[NATURE]))
            luck = chance.uniform(generators[DELAYS])
            if telling == AT_ONCE:
                record(family, constants, knowledge.truth, arm, reward)
                knowledge.stale[arm] = True
                known += 1
            else:
                send_out(
                    telling, knowledge, delays, tickets, clock, quantiles, t, arm, reward, luck
                )
            earned += reward
            results.plays[r, arm] += 1
            if means[arm] < best:
                lost += best - means[arm]
                missed += 1
            if t + 1 == clock.checkpoints[mark]:
                results.regret[r, mark], results.suboptimal_draws[r, mark] = lost, missed
                results.reward[r, mark] = earned
                mark += 1
            if t + 1 == clock.looks[look]:
                show(
                    family, telling, knowledge, delays, clock, now, results.belief[r, look],
                    results.doubt[r, look],
                )  # fmt: skip
                look += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        results.alarm[r] = delays.alarm[0] == OFF
    return len(results.regret)

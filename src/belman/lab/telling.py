"""What players are told of late rewards, and when: tickets, windows that close, delays.

A turn first lets happen what is due: rewards that are told, windows that close, and, where players
learn early, the estimate of the delays when the clock has moved on by a cell. What is out of an arm
whose place was taken is void: neither is it learnt, nor does it count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.delays.counts import (
    Counts,
    advance,
    between,
    count_asked,
    count_closed,
    count_told,
    delay_cell,
    estimate,
    slot,
)
from belman.delays.log_rank import difference_found
from belman.delays.silence import count_silence, relative_doubt
from belman.engine import call_address, kernel
from belman.lab.policy_call import NO_TURN
from belman.policies.dealing import count_provisional, set_to_prior
from belman.policies.ledger import Ledger, record
from belman.policies.memory import Floats

AT_ONCE, WINDOW, EARLY, LATE, NAIVE = 0, 1, 2, 3, 4  # as in problems.delayed.TELLINGS
DELAYS = 3  # the generator of delays, after those of the bandit
NONE, VOID = -1, -2
KNOWN, CLOSING, LOOK, CELL = 0, 1, 2, 3  # of `Knowledge.position`
OFF = 1  # `Delays.alarm` once delays were found to differ


class Tickets(NamedTuple):
    """One ticket a turn: its arm, reward and delay; those due at a turn are a chained list."""

    arm: NDArray[np.int64]  # (T)
    reward: Floats  # (T)
    delay: NDArray[np.int64]  # (T) the cell of its delay, once told; VOID if its arm is gone
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
    position: NDArray[
        np.int64
    ]  # (4): rewards learnt, next window to close, next look, cell of time
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
        set_to_prior(knowledge.truth, prior, a)
        knowledge.provisional[a, 0] = 0.0
        knowledge.provisional[a, 1] = 0.0
        knowledge.pending[a] = 0
        knowledge.stale[a] = False
        delays.counts.successes[a] = 0
        delays.counts.silent[a, :] = 0
        delays.counts.complete[a, :] = 0
    knowledge.position[:] = 0
    delays.counts.told[:] = 0
    delays.counts.delays[:] = 0
    delays.counts.watch[:] = 0
    delays.counts.head[0] = 0
    delays.alarm[0] = 0
    tickets.due[:] = NONE


@kernel
def learn(family, constants, knowledge, hear_call, heard, arm, reward):
    """A reward becomes part of the truth, and is told to policies that keep more than beliefs."""
    record(family, constants, knowledge.truth, arm, reward)
    knowledge.stale[arm] = True
    knowledge.position[KNOWN] += 1
    if heard.size > 0:
        heard[0] = reward
        call_address(hear_call, arm, NO_TURN, 0.0)
        heard[0] = np.nan


@kernel
def tell(family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard, turn):
    """Rewards that come at a turn."""
    ticket = tickets.due[turn]
    while ticket != NONE:
        arm = tickets.arm[ticket]
        if tickets.delay[ticket] == VOID:
            pass
        elif telling != EARLY:
            knowledge.pending[arm] -= 1
            learn(family, constants, knowledge, hear_call, heard, arm, tickets.reward[ticket])
        else:
            asked = clock.times[ticket]
            late = delay_cell(delays.counts, clock.times[turn] - asked, clock.width)
            tickets.delay[ticket] = late
            count_told(delays.counts, arm, int(asked / clock.width), late, 1)
            if delays.alarm[0] != OFF:
                knowledge.provisional[arm, 0] += 1.0
                knowledge.stale[arm] = True
        ticket = tickets.following[ticket]


@kernel
def close(family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard, ticket):
    """The window of a ticket is over."""
    arm, reward = tickets.arm[ticket], tickets.reward[ticket]
    void = tickets.delay[ticket] == VOID
    if void or telling == LATE or (telling == NAIVE and reward != 0.0):
        return
    knowledge.pending[arm] -= 1
    learn(family, constants, knowledge, hear_call, heard, arm, reward)
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


@kernel
def let_happen(
    family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard, since, turn
):  # fmt: skip
    """What is due from one turn to another: rewards that are told, windows that close."""
    now = clock.times[turn]
    if telling >= EARLY:
        for t in range(since, turn + 1):
            tell(family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard, t)
    while telling != AT_ONCE and knowledge.position[CLOSING] < turn:
        ticket = knowledge.position[CLOSING]
        if clock.times[ticket] + clock.window > now:
            break
        close(
            family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard, ticket
        )
        knowledge.position[CLOSING] += 1
    cell = int(now / clock.width)
    if telling == EARLY and cell > knowledge.position[CELL] and delays.alarm[0] != OFF:
        knowledge.position[CELL] = cell
        count_open(knowledge, delays, clock, now)


@kernel
def lose_sight(knowledge, delays, tickets, prior, clock, arm: int, turn: int):
    """The place of an arm is taken: what is known of it, and what is out, is gone."""
    for ticket in range(knowledge.position[CLOSING], turn):
        if tickets.arm[ticket] == arm and tickets.delay[ticket] != VOID:
            if tickets.delay[ticket] >= 0:
                where = slot(delays.counts, int(clock.times[ticket] / clock.width))
                delays.counts.told[where] -= 1
            tickets.delay[ticket] = VOID
    set_to_prior(knowledge.truth, prior, arm)
    knowledge.provisional[arm, :] = 0.0
    knowledge.pending[arm] = 0
    knowledge.stale[arm] = True
    delays.counts.successes[arm] = 0
    delays.counts.silent[arm, :] = 0
    delays.counts.complete[arm, :] = 0


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
def show(family, telling, knowledge, delays, clock, now, batch, belief, doubt):
    """What a player believes now, and what of it is doubt about the delays; within a batch, what
    it believed at its beginning.
    """
    part = 0.0
    early = telling == EARLY and delays.alarm[0] != OFF
    if early and batch == 1:
        part = count_open(knowledge, delays, clock, now)
    elif early:
        part = now / clock.width - delays.counts.head[0]
    for a in range(knowledge.pending.size):
        count_provisional(knowledge.truth, knowledge.provisional, knowledge.shown, a)
        for i in range(belief.shape[1]):
            belief[a, i] = knowledge.shown.beliefs[a, i]
        if early:
            worth = belief[a, 0] + belief[a, 1]
            doubt[a] = relative_doubt(delays.counts, delays.cdf, delays.doubt, part, a, worth)

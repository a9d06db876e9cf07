"""The compiled loop of late rewards and of batches, a layer around any world of arms.

The loop is that of bandits with a clock (`telling.py`). In batches what is due happens at the first
turn of each alone. Then a policy gives weights for all turns of the batch, or goes on deciding turn
by turn, beside asks that are out. Told at once and in batches of one, the loop makes the choices of
that of bandits to the last bit.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import call_address, kernel
from belman.lab.bandit_loop import (
    BEST,
    EARNED,
    LEFT,
    LOST,
    MARK,
    MIND,
    MISSED,
    NATURE,
    RUN,
    STOP_CHECK_TURNS,
    TURN,
    UNTIL,
    WORLD,
    Draws,
    Plays,
    Regret,
    Reward,
    keep_position,
    move_on,
)
from belman.lab.design import Field
from belman.lab.policy_call import NO_ARM, NO_TURN, reset
from belman.lab.telling import (
    AT_ONCE,
    DELAYS,
    KNOWN,
    LOOK,
    OFF,
    clear,
    learn,
    let_happen,
    send_out,
    show,
)
from belman.policies.dealing import copy_row, imagine_asks, renew_row
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy_kernels import any_open

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


class Own(NamedTuple):
    """The ledger that a policy keeps for itself, and room to restore it; of no arms, if none."""

    ledger: Ledger
    kept: Ledger
    fresh: Floats  # (K) whether it has looked at an arm since that changed


class Limits(NamedTuple):
    """The arms that a policy may not choose now."""

    shut: NDArray[np.bool_]  # (K)
    limited: NDArray[np.bool_]  # (1) whether there are any, or might be


@kernel
def shut_out(knowledge, closed, limits, frozen):
    """Shut arms that are not there; and, while rewards are out, those that were tried, if others
    were never. In a batch by weights all that are there have their chances of its beginning.
    """
    out, left = 0, 0
    for a in range(knowledge.pending.size):
        there = closed.size == 0 or not closed[a]
        limits.shut[a] = not there
        out += knowledge.pending[a]
        left += there and knowledge.truth.plays[a] + knowledge.pending[a] == 0.0
    limits.limited[0] = closed.size > 0
    if out > 0 and left > 0 and not frozen:
        limits.limited[0] = True
        for a in range(knowledge.pending.size):
            if knowledge.truth.plays[a] + knowledge.pending[a] > 0.0:
                limits.shut[a] = True


@kernel
def imagine_own(family, constants, knowledge, own):
    """Let a policy that keeps a ledger of its own see there what is out."""
    for a in range(own.fresh.size):
        if knowledge.pending[a] > 0:
            copy_row(own.ledger, own.kept, a)
            left = knowledge.pending[a] - knowledge.provisional[a, 0] - knowledge.provisional[a, 1]
            imagine_asks(family, constants, own.ledger, a, 0.0, left, knowledge.scratch)
            own.fresh[a] = 0.0
            knowledge.stale[a] = True


@kernel
def restore_own(knowledge, own):
    """Let it see no more of that."""
    for a in range(own.fresh.size):
        if knowledge.pending[a] > 0:
            copy_row(own.kept, own.ledger, a)
            own.fresh[a] = 0.0
            knowledge.stale[a] = True


@kernel
def draw(dealt, closed, rng):
    """An arm that is there, by what was dealt to each; any of them where all of it went away."""
    total = 0.0
    for a in range(dealt.size):
        total += dealt[a] if closed.size == 0 or not closed[a] else 0.0
    if total <= 0.0:
        result, _ = any_open(dealt.size, closed, rng)
        return result
    left, arm = total * chance.uniform(rng), 0
    for a in range(dealt.size):
        if dealt[a] > 0.0 and (closed.size == 0 or not closed[a]):
            arm = a
            left -= dealt[a]
            if left < 0.0:
                break
    return arm


@kernel
def renew_rows(family, constants, knowledge, ledger, policy_call):
    """Show a policy what is new."""
    for a in range(knowledge.pending.size):
        if knowledge.stale[a]:
            renew_row(
                family, constants, knowledge.truth, knowledge.provisional, knowledge.pending,
                ledger, knowledge.scratch, a,
            )  # fmt: skip
            call_address(policy_call, a, NO_TURN, 0.0)
            knowledge.stale[a] = False


@kernel
def play_delayed(
    world, family, constants, params, reveal, prior, ledger, knowledge, block, blank, numbers,
    table, course, closed, generators, turn_values, telling, clock, quantiles, delays, tickets,
    seed, first, policy_call, hear_call, heard, own, limits, batch, frozen, deal_call, dealt,
    progress, results, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    horizon, position = turn_values.size, knowledge.position
    for r in range(progress.whole[RUN], len(results.regret)):
        start = progress.whole[TURN]
        if progress.whole[LEFT] == 0:
            for role in range(4):
                chance.fork(seed, first + r, role, generators[role])
            world.begin(family, constants, numbers, table, generators[WORLD], course)
            until, best, renewed = move_on(
                world, family, constants, numbers, table, generators[WORLD], course, closed, reveal,
                params, 1,
            )  # fmt: skip
            clear(knowledge, delays, tickets, prior)
            reset(policy_call, prior, ledger, block, blank)
            lost, missed, earned, mark = 0.0, 0, 0.0, 0
        else:
            missed, mark = progress.whole[MISSED], progress.whole[MARK]
            until = progress.whole[UNTIL]
            lost, earned = progress.real[LOST], progress.real[EARNED]
            best = progress.real[BEST]
            progress.whole[LEFT] = 0
        for t in range(start, horizon):
            now = clock.times[t]
            if t + 1 >= until:
                until, best, renewed = move_on(
                    world, family, constants, numbers, table, generators[WORLD], course, closed,
                    reveal, params, t + 1,
                )  # fmt: skip
                if renewed:
                    keep_position(progress, r, t, missed, mark, NO_ARM, until, lost, earned, best)
                    return r
            if t % batch == 0:
                let_happen(
                    family, constants, telling, knowledge, delays, tickets, clock, hear_call, heard,
                    max(t - batch + 1, 0), t,
                )  # fmt: skip
            if dealt.size > 0:
                if t % batch == 0:
                    renew_rows(family, constants, knowledge, ledger, policy_call)
                    call_address(
                        deal_call, batch, position[KNOWN] + 1, turn_values[position[KNOWN]]
                    )
                arm = draw(dealt, closed, generators[MIND])
            else:
                if not frozen:
                    imagine_own(family, constants, knowledge, own)
                if not frozen or t % batch == 0:
                    renew_rows(family, constants, knowledge, ledger, policy_call)
                shut_out(knowledge, closed, limits, frozen)
                arm = call_address(
                    policy_call, NO_ARM, position[KNOWN] + 1, turn_values[position[KNOWN]]
                )
                if not frozen:
                    restore_own(knowledge, own)
            luck, late = chance.uniform(generators[NATURE]), chance.uniform(generators[DELAYS])
            told, given = world.earn(family, constants, numbers, table, course, arm, t + 1, luck)
            if telling == AT_ONCE:
                learn(family, constants, knowledge, hear_call, heard, arm, told)
            else:
                send_out(telling, knowledge, delays, tickets, clock, quantiles, t, arm, told, late)
            earned += given
            results.plays[r, arm] += 1
            if course.means[arm] < best:
                lost += best - course.means[arm]
                missed += 1
            if t + 1 == clock.checkpoints[mark]:
                results.regret[r, mark], results.suboptimal_draws[r, mark] = lost, missed
                results.reward[r, mark] = earned
                mark += 1
            if t + 1 == clock.looks[position[LOOK]]:
                show(
                    family, telling, knowledge, delays, clock, now, batch,
                    results.belief[r, position[LOOK]], results.doubt[r, position[LOOK]],
                )  # fmt: skip
                position[LOOK] += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        results.alarm[r] = delays.alarm[0] == OFF
        progress.whole[TURN] = 0
    return len(results.regret)

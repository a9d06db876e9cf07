"""What a policy sees while rewards are late: the truth, what counts provisionally, and asks out.

The *truth* is the ledger of what was told. The *working* ledger is what the policy sees: the truth,
the successes and failures that count provisionally, and each outstanding ask as observed at its
expected statistic. A belief expects of an ask what it expected before it imagined one, in families
that learn from the sum of rewards, so that n asks add n times its statistic. The first ones are
imagined one by one, as families that are not so need it while they know little; what they
expect after these hardly changes, and all others are counted at once.

Many decisions at once: the shares in which a policy would play arms if nothing were learnt.

N decisions are *dealt* as N asks in which each counts as observed at its expected statistic, so
that beliefs narrow and means stay. Arms that were never tried come first, one decision each, if
there is more than one decision; arms that tie get equal parts. A decision at a time would take N
turns, so from `SINGLY` decisions on an arm is dealt several at a time, never more than a sixteenth
of what was dealt so far nor than a part in `PARTS` of all: the time does not grow with N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel

#: Outstanding asks of an arm that are imagined one by one.
ONE_BY_ONE = 16


@kernel
def set_to_prior(ledger, prior, arm):
    """Take an arm as if none of its rewards had been told."""
    for i in range(prior.size):
        ledger.beliefs[arm, i] = prior[i]
    ledger.plays[arm] = 0.0
    ledger.sums[arm] = 0.0
    ledger.squares[arm] = 0.0


@kernel
def copy_row(source, target, arm):
    """Copy the row of an arm to another ledger."""
    for i in range(source.beliefs.shape[1]):
        target.beliefs[arm, i] = source.beliefs[arm, i]
    target.plays[arm] = source.plays[arm]
    target.sums[arm] = source.sums[arm]
    target.squares[arm] = source.squares[arm]


@kernel
def _imagined_rewards(family, constants, ledger, arm, before):
    """The reward, and its square, of an outstanding ask: the averages so far, or what the belief
    expected `before`; where that was infinite, what it expects since it imagined one.
    """
    plays = ledger.plays[arm]
    if plays > 0.0:
        return ledger.sums[arm] / plays, ledger.squares[arm] / plays
    average = before
    if not np.isfinite(average):
        average = family.expected_reward(constants, ledger.beliefs[arm])
    average = average if np.isfinite(average) else 0.0
    return average, average * average


@kernel
def imagine_at_once(family, constants, ledger, arm, count, scratch):
    """So many outstanding asks at once, at the statistic that the belief expects of one now; a
    negative number takes asks back.
    """
    belief = ledger.beliefs[arm]
    before = np.inf if ledger.plays[arm] > 0.0 else family.expected_reward(constants, belief)
    if count == 1.0:
        family.imagine(constants, belief)
    else:
        start, once = scratch[0], scratch[1]
        family.belief.natural(constants, belief, start)
        family.imagine(constants, belief)
        family.belief.natural(constants, belief, once)
        for i in range(start.size):
            start[i] += count * (once[i] - start[i])
        family.belief.from_natural(constants, start, belief)
    average, square = _imagined_rewards(family, constants, ledger, arm, before)
    ledger.plays[arm] += count
    ledger.sums[arm] += count * average
    ledger.squares[arm] += count * square


@kernel
def _count(ledger, arm, successes, failures):
    """Successes and failures that count provisionally, of a family of coins."""
    ledger.beliefs[arm, 0] += successes
    ledger.beliefs[arm, 1] += failures
    lost = ledger.plays[arm] - ledger.sums[arm] + failures
    ledger.sums[arm] = max(ledger.sums[arm] + successes, 0.0)
    ledger.squares[arm] = max(ledger.squares[arm] + successes, 0.0)
    ledger.plays[arm] = ledger.sums[arm] + lost


@kernel
def count_provisional(truth, provisional, working, arm):
    """The row of an arm: what was told, and what counts provisionally (K × 2)."""
    copy_row(truth, working, arm)
    successes, failures = provisional[arm, 0], provisional[arm, 1]
    if successes != 0.0 or failures != 0.0:
        _count(working, arm, successes, failures)
    return successes + failures


@kernel
def imagine_asks(family, constants, ledger, arm, before, count, scratch):
    """Imagine asks of an arm beside those imagined `before`: the first ones one by one."""
    left = count
    while left >= 1.0 and before < ONE_BY_ONE:
        imagine_at_once(family, constants, ledger, arm, 1.0, scratch)
        left -= 1.0
        before += 1.0
    if left > 0.0:
        imagine_at_once(family, constants, ledger, arm, left, scratch)


@kernel
def renew_row(family, constants, truth, provisional, pending, working, scratch, arm):
    """The working row of an arm; what counts of an outstanding ask already is not imagined."""
    left = pending[arm] - count_provisional(truth, provisional, working, arm)
    imagine_asks(family, constants, working, arm, 0.0, left, scratch)


Floats = NDArray[np.float64]

#: Decisions up to which each is dealt on its own.
SINGLY = 64
#: Parts in which more are dealt, at least.
PARTS = 256
_GROWTH = 1.0 / 16.0  # of what was dealt so far that an arm is dealt at a time


class Deal(NamedTuple):
    """What dealing needs of K arms: what is dealt to each, and room to work in."""

    dealt: Floats  # (K)
    indices: Floats  # (K)
    start: Floats  # (7, K)
    scratch: Floats  # (2, D)
    closed: NDArray[np.bool_]  # (K) arms that are dealt nothing; or none

    @classmethod
    def blank(cls, arms: int, dimension: int, closed: NDArray[np.bool_] | None = None) -> Deal:
        """Nothing dealt."""
        room = np.zeros(arms), np.zeros(arms), np.zeros((7, arms))
        shut = np.zeros(0, dtype=np.bool_) if closed is None else closed
        return cls(*room, np.zeros((2, dimension)), shut)


@kernel
def open_indices(deal):
    """Indices of 0, and none of arms that are closed; whether there are any."""
    some = False
    for a in range(deal.indices.size):
        shut = deal.closed.size > 0 and deal.closed[a]
        deal.indices[a] = np.nan if shut else 0.0
        some = some or shut
    return some


@kernel
def deal_to(policy, family, constants, params, ledger, memory, deal, arm, count):
    """Count decisions for an arm as observed at their expectation; fewer, if negative."""
    if count > 0.0:
        imagine_asks(family, constants, ledger, arm, deal.dealt[arm], count, deal.scratch)
    else:
        imagine_at_once(family, constants, ledger, arm, count, deal.scratch)
    policy.refresh(family, constants, params, ledger, memory, arm)
    deal.dealt[arm] += count


@kernel
def deal_untried(policy, family, constants, params, ledger, memory, decisions, deal):
    """A decision for every arm that was never tried, or equal parts of what there is; the rest."""
    untried = 0
    for a in range(deal.dealt.size):
        shut = deal.closed.size > 0 and deal.closed[a]
        deal.indices[a] = 0.0 if shut or ledger.plays[a] > 0.0 else 1.0
        untried += int(deal.indices[a])
    if untried == 0:
        return decisions
    part = min(1.0, decisions / untried)
    for a in range(deal.dealt.size):
        if deal.indices[a] > 0.0:
            deal_to(policy, family, constants, params, ledger, memory, deal, a, part)
    return max(decisions - part * untried, 0.0)


@kernel
def deal_and_forget(
    policy, family, constants, params, ledger, memory, turn, value, decisions, rng, deal, kept,
    block,
):  # fmt: skip
    """Deal a number of decisions, arms never tried first; the block of ledger and memory stays."""
    for i in range(block.size):
        kept[i] = block[i]
    for a in range(deal.dealt.size):
        deal.dealt[a] = 0.0
    left = deal_untried(policy, family, constants, params, ledger, memory, 1.0 * decisions, deal)
    if left > 0.0:
        policy.deal(policy, family, constants, params, ledger, memory, turn, value, left, rng, deal)
    for i in range(block.size):
        block[i] = kept[i]


@kernel
def leading(index):
    """The largest index and how many arms have it; 0 if none is a number."""
    best, ties = -np.inf, 0
    for a in range(index.size):
        if index[a] > best:
            best, ties = index[a], 1
        elif index[a] == best:
            ties += 1
    return best, ties


@kernel
def largest(index):
    """The largest index and how many arms have it: all, if none is a number."""
    best, ties = leading(index)
    if ties == 0:
        index[:] = best
        ties = index.size
    return best, ties


@kernel
def deal_by_asks(
    policy, family, constants, params, ledger, memory, turn, turn_value, decisions, rng, deal
):
    """Deal to the arms with the largest index, again and again."""
    left = decisions
    while left > 1e-9 * decisions:
        if open_indices(deal):
            policy.indices(
                family, constants, params, ledger, memory, turn, turn_value, rng, deal.indices
            )
            for a in range(deal.indices.size):
                if deal.closed[a]:
                    deal.indices[a] = np.nan
        else:
            policy.choose(
                policy, family, constants, params, ledger, memory, turn, turn_value, rng,
                deal.indices,
            )  # fmt: skip
        best, ties = leading(deal.indices)
        if ties == 0:  # no index is a number: all that are open tie
            open_indices(deal)
            best, ties = leading(deal.indices)
        several = 1.0
        if decisions > SINGLY:
            several = max(min(_GROWTH * (decisions - left), decisions / PARTS), 1.0)
        part = min(several, left / ties)
        for a in range(deal.indices.size):
            if deal.indices[a] == best:
                deal_to(policy, family, constants, params, ledger, memory, deal, a, part)
        left -= part * ties

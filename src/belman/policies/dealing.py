"""Many decisions at once: the shares in which a policy would play arms if nothing were learnt.

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
from belman.policies.outstanding import imagine_asks, imagine_at_once

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

    @classmethod
    def blank(cls, arms: int, dimension: int) -> Deal:
        """Nothing dealt."""
        room = np.zeros(arms), np.zeros(arms), np.zeros((7, arms))
        return cls(*room, np.zeros((2, dimension)))


@kernel
def deal_to(policy, family, law, params, ledger, memory, deal, arm, count):
    """Count so many decisions for an arm as observed at their expectation; fewer, if negative."""
    if count > 0.0:
        imagine_asks(family, law, ledger, arm, deal.dealt[arm], count, deal.scratch)
    else:
        imagine_at_once(family, law, ledger, arm, count, deal.scratch)
    policy.refresh(family, law, params, ledger, memory, arm)
    deal.dealt[arm] += count


@kernel
def deal_untried(policy, family, law, params, ledger, memory, decisions, deal):
    """A decision for every arm that was never tried, or equal parts of what there is; the rest."""
    untried = 0
    for a in range(deal.dealt.size):
        deal.indices[a] = ledger.plays[a] == 0.0
        untried += ledger.plays[a] == 0.0
    if untried == 0:
        return decisions
    part = min(1.0, decisions / untried)
    for a in range(deal.dealt.size):
        if deal.indices[a] > 0.0:
            deal_to(policy, family, law, params, ledger, memory, deal, a, part)
    return max(decisions - part * untried, 0.0)


@kernel
def largest(index):
    """The largest index and how many arms have it: all, if none is a number."""
    best, ties = -np.inf, 0
    for a in range(index.size):
        if index[a] > best:
            best, ties = index[a], 1
        elif index[a] == best:
            ties += 1
    if ties == 0:
        index[:] = best
        ties = index.size
    return best, ties


@kernel
def deal_by_asks(
    policy, family, law, params, ledger, memory, turn, turn_value, decisions, mind, deal
):
    """Deal to the arms with the largest index, again and again."""
    left = decisions
    while left > 1e-9 * decisions:
        deal.indices[:] = 0.0
        policy.choose(
            policy, family, law, params, ledger, memory, turn, turn_value, mind, deal.indices
        )
        best, ties = largest(deal.indices)
        several = 1.0
        if decisions > SINGLY:
            several = max(min(_GROWTH * (decisions - left), decisions / PARTS), 1.0)
        part = min(several, left / ties)
        for a in range(deal.indices.size):
            if deal.indices[a] == best:
                deal_to(policy, family, law, params, ledger, memory, deal, a, part)
        left -= part * ties

"""How much a segment borrows from the others, learnt from how well that foretells its rewards.

A *strength* k says how alike segments are, in rewards: the mean of an arm in a segment is as far
from that of all segments as an average of k rewards is from its mean. Then n rewards of a segment
tell as much about all of them as nk/(n + k) would, so that a large one does not drown the others;
and N such rewards, of all other segments, tell as much about this one as Nk/(N + k) of its own.
k = 0 borrows nothing, k = ∞ makes one segment of all. Rewards that count in part move a belief by
that part, in natural parameters.

Strengths are weighed by the likelihood of each reward before it was learnt, and what a segment
believes is the average over them, in natural parameters again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.codec import Array
from belman.deciders.checks import fill
from belman.deciders.learnt import Learnt
from belman.engine import LATER, Call, entry, kernel
from belman.errors import StateError
from belman.families import Family

Floats = NDArray[np.float64]

STRENGTHS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, math.inf)
_SIZE = len(STRENGTHS)
PLAYS, SUM, SQUARES = 0, 1, 2  # of counts


class Pooled(NamedTuple):
    """What all segments learnt of K arms, as each of S strengths counts it."""

    beliefs: Annotated[Floats, Array((None, _SIZE, None))]  # (K, S, D)
    #: (K, S, 3) plays, their sum and that of their squares
    counts: Annotated[Floats, Array((None, _SIZE, 3))]
    #: (S) ln of how far each strength is believed, the most at 0
    evidence: Annotated[Floats, Array((_SIZE,))]


class Seat(NamedTuple):
    """One segment at hand: what it knows of each arm, and what it borrows."""

    first: Floats  # (K, D) before any reward
    own: Floats  # (K, D) by its own rewards
    mine: Floats  # (K, 3) the counts of its own rewards
    believed: Floats  # (K, D) with what is borrowed
    lent: Floats  # (K, 3) the counts of what is borrowed
    new: Floats  # (D) the belief about an arm that has just learnt more
    grown: Floats  # (3) its counts
    scratch: Floats  # (D)


@kernel
def counted(strength, n):
    """What each of n rewards counts: k/(n + k)."""
    if strength == 0.0:
        return 0.0
    return strength / (max(n, 0.0) + strength) if strength < np.inf else 1.0


@kernel
def borrow(family, constants, strength, pooled, seat, a, i, out):
    """The belief about arm a under strength i into `out`; what a reward of others counts."""
    within = counted(strength, seat.mine[a, PLAYS])
    share = counted(strength, pooled.counts[a, i, PLAYS] - within * seat.mine[a, PLAYS])
    whole = 1.0 + share * (1.0 - within)
    for j in range(out.size):
        out[j] = pooled.beliefs[a, i, j]
    family.belief.blend(constants, out, seat.own[a], share / whole)
    family.belief.blend(constants, out, seat.first[a], whole)
    return share


@kernel
def is_alone(pooled, seat, a):
    """Whether no other segment has a reward of this arm."""
    return pooled.counts[a, -1, PLAYS] <= seat.mine[a, PLAYS]


@kernel
def believe(family, constants, strengths, pooled, seat):
    """What the segment believes of every arm, and what it borrows for that."""
    for a in range(len(seat.own)):
        for j in range(seat.scratch.size):
            seat.believed[a, j] = seat.own[a, j]
        for j in range(3):
            seat.lent[a, j] = 0.0
        if is_alone(pooled, seat, a):
            continue
        total = 0.0
        for i in range(strengths.size):
            weight = math.exp(pooled.evidence[i])
            if weight == 0.0:
                continue
            total += weight
            share = borrow(family, constants, strengths[i], pooled, seat, a, i, seat.scratch)
            family.belief.blend(constants, seat.believed[a], seat.scratch, 1.0 - weight / total)
            within = counted(strengths[i], seat.mine[a, PLAYS])
            for j in range(3):
                lent = share * (pooled.counts[a, i, j] - within * seat.mine[a, j])
                seat.lent[a, j] += weight / total * (lent - seat.lent[a, j])


@kernel
def foretold(family, constants, belief, reward, variance):
    """The log-likelihood of a reward, which the belief then has learnt: A after it less A before.
    Where beliefs are not conjugate they have a variance, and it is that of a normal distribution.
    """
    if variance > 0.0:
        spread = variance * (1.0 + 1.0 / max(family.worth(constants, belief), 1e-9))
        off = reward - family.expected_reward(constants, belief)
        return -0.5 * (off * off / spread + math.log(spread))
    before = family.belief.log_partition(constants, belief)
    family.update(constants, belief, reward)
    return family.belief.log_partition(constants, belief) - before


@kernel
def weigh(family, constants, strengths, pooled, seat, arm: int, reward: float, variance: float):
    """Weigh the strengths by a reward that the segment has not learnt yet."""
    best = -np.inf
    for i in range(strengths.size):
        borrow(family, constants, strengths[i], pooled, seat, arm, i, seat.scratch)
        gain = foretold(family, constants, seat.scratch, reward, variance)
        if np.isfinite(gain):
            pooled.evidence[i] += gain
        best = max(best, pooled.evidence[i])
    for i in range(strengths.size):
        pooled.evidence[i] -= best


@kernel
def recount(family, constants, strengths, pooled, seat, arm: int):
    """Count what the segment knows now of an arm, and no more what it knew."""
    for i in range(strengths.size):
        before = counted(strengths[i], seat.mine[arm, PLAYS])
        after = counted(strengths[i], seat.grown[PLAYS])
        whole = 1.0 + after - before
        belief = pooled.beliefs[arm, i]
        family.belief.blend(constants, belief, seat.new, 1.0 / (1.0 + after))
        family.belief.blend(constants, belief, seat.own[arm], (1.0 + after) / whole)
        family.belief.blend(constants, belief, seat.first[arm], whole)
        for j in range(3):
            pooled.counts[arm, i, j] += after * seat.grown[j] - before * seat.mine[arm, j]


class Borrowed(NamedTuple):
    """What a segment believes of its arms, and the rewards of others that count for it."""

    beliefs: list[list[float]]
    counts: list[list[float]]  # of each arm: plays, their sum and that of their squares
    shares: list[float]  # of what others were told of each arm


class Pools:
    """What all segments learnt of the arms, under every strength, and how far each is believed.

    >>> from belman.families import Bernoulli
    >>> start = Learnt.nothing((1.0, 1.0))
    >>> pools = Pools(Bernoulli(), [start])
    >>> pools.recount([start], 0, start._replace(belief=(41.0, 1.0), plays=40.0, sum=40.0))
    >>> pools.pooled.beliefs[0, 3].round(2)  # under k = 10 they count as 8
    array([9., 1.])
    >>> 0.0 < pools.borrowed([start]).shares[0] < 1.0
    True
    """

    def __init__(self, family: Family, first: Sequence[Learnt]) -> None:
        self.family, self._first = family, list(first)
        arms, size = len(self._first), _SIZE
        beliefs = np.array([learnt.belief for learnt in self._first], dtype=np.float64)
        self.pooled = Pooled(
            np.repeat(beliefs[:, None], size, axis=1), np.zeros((arms, size, 3)), np.zeros(size)
        )
        self._seat = Seat(
            first=beliefs,
            own=beliefs.copy(),
            mine=np.zeros((arms, 3)),
            believed=beliefs.copy(),
            lent=np.zeros((arms, 3)),
            new=np.zeros(family.dimension),
            grown=np.zeros(3),
            scratch=np.zeros(family.dimension),
        )

    def with_arm(self, first: Learnt) -> Pools:
        """Return pools with one more arm, without rewards in any segment."""
        more = Pools(self.family, [*self._first, first])
        for new, old in zip(more.pooled[:2], self.pooled[:2], strict=True):
            new[:-1] = old
        more.pooled.evidence[:] = self.pooled.evidence
        return more

    @property
    def weights(self) -> Floats:
        """How far each strength is believed."""
        weights = np.exp(self.pooled.evidence - self.pooled.evidence.max())
        result: Floats = weights / weights.sum()
        return result

    def borrowed(self, own: Sequence[Learnt]) -> Borrowed:
        """What a segment believes that learnt this of every arm, with what it borrows."""
        self._sit_down(own)
        self._calls["believe"]()
        others = self.pooled.counts[:, -1, PLAYS] - self._seat.mine[:, PLAYS]
        shares = self._seat.lent[:, PLAYS] / np.where(others > 0.0, others, 1.0)
        return Borrowed(self._seat.believed.tolist(), self._seat.lent.tolist(), shares.tolist())

    def weigh(self, own: Sequence[Learnt], arm: int, reward: float) -> None:
        """Weigh the strengths by a reward that a segment has not learnt yet; it says nothing where
        no other has a reward of this arm.
        """
        self._sit_down(own)
        if is_alone(self.pooled, self._seat, arm):
            return
        plays, total, squares = self.pooled.counts[arm, -1].tolist()
        variance = 0.0 if self.family.conjugate else squares / plays - (total / plays) ** 2
        if self.family.conjugate or variance > 0.0:
            self._calls["weigh"](arm, reward, variance)

    def recount(self, own: Sequence[Learnt], arm: int, new: Learnt) -> None:
        """A segment knows more of an arm than it did."""
        self._sit_down(own)
        self._seat.new[:], self._seat.grown[:] = new.belief, self._counts(arm, new)
        self._calls["recount"](arm)

    def _sit_down(self, own: Sequence[Learnt]) -> None:
        self._seat.own[:] = [learnt.belief for learnt in own]
        self._seat.mine[:] = [self._counts(arm, learnt) for arm, learnt in enumerate(own)]

    def _counts(self, arm: int, learnt: Learnt) -> tuple[float, float, float]:
        first = self._first[arm]
        return (
            learnt.plays - first.plays,
            learnt.sum - first.sum,
            learnt.squares - first.squares,
        )

    @cached_property
    def _calls(self) -> dict[str, Call]:
        held: dict[str, Any] = {
            "constants": self.family.constants,
            "strengths": np.array(STRENGTHS),
            "pooled": self.pooled,
            "seat": self._seat,
        }
        templates = {"believe": believe, "weigh": weigh, "recount": recount}
        return {
            name: entry(template, family=self.family.kernels).hold(LATER, **held)
            for name, template in templates.items()
        }

    # Keeping

    def __getstate__(self) -> dict[str, Any]:
        """Without its calls, which hold addresses: a copy makes its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_calls"}

    def take(self, parts: Pooled) -> None:
        """Have what was kept; raises StateError where no segments can have learnt it."""
        for name, new, old in zip(Pooled._fields, parts, self.pooled, strict=True):
            fill(old, new, f"what was pooled of {name}")
        rows = parts.beliefs.reshape(-1, self.family.dimension)
        if not all(map(self.family.proper, rows.tolist())) or parts.evidence.max() != 0.0:
            raise StateError("what was pooled is damaged")

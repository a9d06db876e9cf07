"""Which coefficient belongs to what: the columns of features, which only ever grow.

Those of all arms come first, then those of each arm, as roots of beliefs have them (`arrow.py`).

A column is of all arms (a slot of the context, a slot of the arms' features, or a pair of both), or
an arm's own (a slot of the context for that arm, or the product of two). Where a number is measured
on another scale, coefficients are written anew: what the number counts is multiplied, and what it
counted between its old centre and the new one goes to the column without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.assignment.contexts import LEVEL, OTHERS
from belman.deciders.featured.slots import FREE, LOG, NUMBER, SQUARE, WAVE, Pooled, Rescaled, Slots
from belman.engine import kernel
from belman.models import arrow
from belman.models.correcting import correct
from belman.models.model import KEEP
from belman.models.rescaling import Step
from belman.models.shared import learn, marginal
from belman.models.sight import look_at_all
from belman.policies.dependent.policy import pick_rounded

Places = NDArray[np.int64]
SHARED, FEATURE, PAIR = "shared", "feature", "pair"
OWN, CROSS, WAVED = "own", "cross", "waved"
#: The kinds of columns that are an arm's own: they have the arm, and then slots of the context.
OF_ARMS = (OWN, CROSS, WAVED)
POOLINGS = ("shared", "disjoint", "hybrid")
#: The numbers of a context as they are, their logarithms, or with their squares too; and the last
#: or the logarithms with the products of two values; and as they are with waves.
PLAIN, LOGS, SQUARES, CROSSES = "plain", "logs", "squares", "crosses"
LOG_CROSSES, WAVES = "log crosses", "waves"
_LEFT_OUT = {
    PLAIN: (FREE, WAVE, SQUARE, LOG),
    LOGS: (FREE, WAVE, NUMBER, SQUARE),
    SQUARES: (FREE, WAVE, LOG),
    WAVES: (FREE, SQUARE, LOG),
}
_LEFT_OUT |= {CROSSES: _LEFT_OUT[SQUARES], LOG_CROSSES: _LEFT_OUT[LOGS]}
#: The slots whose products count.
_CROSSED = {CROSSES: (NUMBER, LEVEL, OTHERS), LOG_CROSSES: (LOG, LEVEL, OTHERS)}
_FURTHEST = 3.0  # deviations that a number counts at most in a product
Column = tuple[Any, ...]
#: Which parts of a column are slots of the context, and which are slots of the features.
_PARTS: dict[bool, dict[str, tuple[int, ...]]] = {
    True: {SHARED: (1,), PAIR: (1,), OWN: (2,), CROSS: (2, 3), WAVED: (2,)},
    False: {FEATURE: (1,), PAIR: (2,)},
}


class Layout(NamedTuple):
    """Where in a row of features slots go; −1 for nowhere."""

    shared: Places  # (p)
    feature: Places  # (q)
    pairs: Places  # (n, 3) slot of the context, slot of the features, column
    own: Places  # (K, p)
    crosses: Places  # (m, 2) two slots of the context
    products: Places  # (K, m)


@kernel
def near(value):
    """A number as it counts in a product."""
    return min(max(value, -_FURTHEST), _FURTHEST)


@kernel
def lay_out(x, u, layout, arm, row):
    """The features of an arm: its own slots `u` (q), in a context with the slots `x` (p)."""
    for i in range(row.size):
        row[i] = 0.0
    for i in range(x.size):
        if x[i] != 0.0:
            if layout.shared[i] >= 0:
                row[layout.shared[i]] = x[i]
            if arm >= 0 and layout.own[arm, i] >= 0:
                row[layout.own[arm, i]] = x[i]
    for j in range(u.size):
        if layout.feature[j] >= 0:
            row[layout.feature[j]] = u[j]
    for n in range(len(layout.pairs)):
        row[layout.pairs[n, 2]] = x[layout.pairs[n, 0]] * u[layout.pairs[n, 1]]
    for n in range(len(layout.crosses) if arm >= 0 else 0):
        first, second = x[layout.crosses[n, 0]], x[layout.crosses[n, 1]]
        if first != 0.0 and second != 0.0 and layout.products[arm, n] >= 0:
            row[layout.products[arm, n]] = near(first) * near(second)


@kernel
def lay_out_all(x, u, layout, positions, features):
    """The features of all arms at hand; `positions` says which has columns of its own (or −1)."""
    for a in range(len(features)):
        lay_out(x, u[a], layout, positions[a], features[a])


@kernel
def choose(
    policy, model, constants, params, belief, x, u, layout, positions, features, sight, memory, rng,
    index,
    turn: int,
):  # fmt: skip
    """The place of the arm to play, and how many share its index."""
    lay_out_all(x, u, layout, positions, features)
    look_at_all(model, constants, belief, features, sight)
    policy.indices(model, constants, params, belief, features, sight, memory, turn, rng, index)
    return pick_rounded(index, rng)


@kernel
def grow_older(x, layout, arm, age):
    """Let the own columns of other arms count in this context too, so that they fade unplayed."""
    for a in range(len(layout.own)):
        for i in range(x.size if a != arm else 0):
            if x[i] != 0.0 and layout.own[a, i] >= 0:
                age[layout.own[a, i]] += 1.0
        for n in range(len(layout.crosses) if a != arm else 0):
            if x[layout.crosses[n, 0]] * x[layout.crosses[n, 1]] != 0.0:
                age[layout.products[a, n]] += 1.0 if layout.products[a, n] >= 0 else 0.0


@kernel
def take_in(model, constants, belief, x, own, layout, row, fit, arm: int, reward: float):
    """Learn the reward of an arm that has the slots `own`; `fit` (1) is ln of the chance it had."""
    lay_out(x, own, layout, arm, row)
    if constants[KEEP] < 1.0:
        grow_older(x, layout, arm, belief.age)
    fit[0] = learn(model, constants, belief, row, reward)


@kernel
def replace(
    model, constants, belief, x, own, layout, row, arm: int, old: float, new: float, kept: float
):
    """Let a reward that an arm with the slots `own` brought be `new` where it was `old` (NaN for
    none), as far as it is `kept`.
    """
    lay_out(x, own, layout, arm, row)
    correct(model, constants, belief, row, old, new, kept)
    return 0


@kernel
def foresee(model, constants, belief, x, own, layout, row, arm: int):
    """The expected reward of an arm that has the slots `own`."""
    lay_out(x, own, layout, arm, row)
    eta, variance = marginal(model, constants, belief, row)
    return model.expected(constants, eta, variance)


class Columns:
    """The columns there are, in the order in which they came."""

    def __init__(
        self, pooling: str, interactions: Sequence[tuple[str, str]], apart: bool = True
    ) -> None:
        self.pooling, self.interactions = pooling, [tuple(pair) for pair in interactions]
        self.apart = apart  # whether arms are independent, given what is of all arms
        self.shape = PLAIN  # what has columns of the numbers of the context
        self.columns: list[Column] = []
        self._positions: dict[Column, int] = {}
        self._with: dict[tuple[bool, int], list[Column]] = {}  # by slot of the context or not

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def of_all(self) -> bool:
        """Whether slots of the context have columns of all arms."""
        return self.pooling != "disjoint"

    @property
    def of_each(self) -> bool:
        """Whether slots of the context have columns of each arm."""
        return self.pooling != "shared"

    def wanted(self, context: Slots, features: Slots, arms: int) -> Iterator[Column]:
        """All columns for the slots and arms there are."""
        for i, slot in enumerate(context.slots if self.of_all else context.slots[:1]):
            if slot.kind != FREE:
                yield (SHARED, i)
        for j, slot in enumerate(features.slots):
            if slot.kind != FREE:
                yield (FEATURE, j)
        for i, slot in enumerate(context.slots):
            for j, other in enumerate(features.slots):
                if i > 0 and (slot.name, other.name) in self.interactions:
                    yield (PAIR, i, j)
        if self.of_each:
            left_out = _LEFT_OUT[self.shape]
            own = [i for i, one in enumerate(context.slots) if not i or one.kind not in left_out]
            for a in range(arms):
                for i in own:
                    yield (WAVED if context.slots[i].kind == WAVE else OWN, a, i)
            for i, j in self._crossed(context):
                for a in range(arms):
                    yield (CROSS, a, i, j)

    def _crossed(self, context: Slots) -> Iterator[tuple[int, int]]:
        """Pairs of slots of two names whose product counts."""
        kinds = _CROSSED.get(self.shape, ())
        some = [] if not kinds else list(enumerate(context.slots))[1:]
        for i, one in some:
            for j, other in some[i:]:
                if one.name != other.name and one.kind in kinds and other.kind in kinds:
                    yield i, j

    def group(self, column: Column) -> int:
        """The arm that a column belongs to, −1 if it is of all arms."""
        return column[1] if self.apart and column[0] in OF_ARMS else -1

    @property
    def begin(self) -> Places:
        """Where the block of each column begins."""
        return arrow.begins([self.group(column) for column in self.columns])

    def grow(self, context: Slots, features: Slots, arms: int) -> Places | None:
        """Take in what is new; return the places of the columns that were there, if more came."""
        fresh = [one for one in self.wanted(context, features, arms) if one not in self._positions]
        if not fresh:
            return None
        before = self.columns
        self.take(sorted([*before, *fresh], key=self.group))
        return np.array([self._positions[column] for column in before], dtype=np.int64)

    def take(self, columns: Sequence[Column]) -> None:
        """Have these columns, in this order."""
        self.columns, self._positions, self._with = [*columns], {}, {}
        for position, column in enumerate(columns):
            self._positions[column] = position
            for of_context in (True, False):
                for part in _PARTS[of_context].get(column[0], ()):
                    self._with.setdefault((of_context, column[part]), []).append(column)

    def pool(self, of_context: bool, pooled: Pooled) -> list[tuple[int, int]]:
        """Return the places of coefficients that become one, and which one is blank then: columns
        of a level that joins the others. Its columns are the blank ones.
        """
        pairs = []
        for column in self._with.get((of_context, pooled.slot), ()):
            others = _with(column, of_context, pooled.slot, pooled.others)
            first, second = sorted((self._positions[column], self._positions[others]))
            self.columns[first], self.columns[second] = others, column
            self._positions[others], self._positions[column] = first, second
            pairs.append((first, second))
        return pairs

    def drop(self, of_context: bool, slot: int) -> list[int]:
        """Have no columns of a slot any more; the places that they had."""
        gone = [self._positions[column] for column in self._with.get((of_context, slot), ())]
        self.take([one for position, one in enumerate(self.columns) if position not in {*gone}])
        return gone

    def layout(self, context: Slots, features: Slots, arms: int) -> Layout:
        """Where slots go."""
        at = self._positions.get
        p, q = len(context), len(features)
        pairs = [
            (*one[1:], position) for one, position in self._positions.items() if one[0] == PAIR
        ]
        own = [
            [at((OWN, a, i), at((WAVED, a, i), -1)) for i in range(p)] for a in range(max(arms, 1))
        ]
        crosses = sorted({one[2:] for one in self._positions if one[0] == CROSS})
        products = [[at((CROSS, a, *one), -1) for one in crosses] for a in range(max(arms, 1))]
        return Layout(
            np.array([at((SHARED, i), -1) for i in range(p)], dtype=np.int64),
            np.array([at((FEATURE, j), -1) for j in range(q)], dtype=np.int64),
            np.array(pairs, dtype=np.int64).reshape(-1, 3),
            np.array(own, dtype=np.int64).reshape(-1, p),
            np.array(crosses, dtype=np.int64).reshape(-1, 2),
            np.array(products, dtype=np.int64).reshape(max(arms, 1), len(crosses)),
        )

    def change(self, of_context: bool, changed: Rescaled) -> Iterator[Step]:
        """Yield the steps by which θ is written for a number on its new scale.

        With z = f z′ + h, (z² − 1)/√2 is f² (z′² − 1)/√2 + √2 f h z′ + (f² + h² − 1)/√2. Before the
        first scale it is 0, not −1/√2: rewards say nothing of squares then, to the last bit. Of a
        product, what the shift counts goes to the other value; where the number was missing, that
        is off by the shift.
        """
        factor, shift = changed.factor, changed.shift
        of_arms: dict[Column, list[Any]] = {}  # a column of all arms that have it, under arm −1
        for column in self._with.get((of_context, slot := changed.slot), ()):
            arm = self.group(column)
            of_arms.setdefault(column if arm < 0 else _of(column, -1), []).append(arm)
        for column, arms in of_arms.items():
            positions = self._all(column, arms)
            without = self._all(_without(column, of_context, slot), arms)
            missing = self._all(_with(column, of_context, slot, changed.missing), arms)
            square = self._all(_with(column, of_context, slot, changed.square), arms)
            moved = [(positions, shift)]
            if square.size:
                excess = factor * factor + shift * shift - (0.0 if changed.first else 1.0)
                moved.append((square, excess * math.sqrt(0.5)))
            for one, amount in moved:
                yield Step(one, without, 1.0, amount)
                if missing.size:
                    yield Step(one, missing, 1.0, -amount)
            if square.size:
                yield Step(square, positions, factor * factor, math.sqrt(2.0) * shift)
            yield Step(positions, without, factor, 0.0)

    def _all(self, column: Column, arms: Sequence[int]) -> Places:
        """Return the places of a column of these arms, which all have, or none: then none."""
        each = [column if arm < 0 else _of(column, arm) for arm in arms]
        result = [self._positions[one] for one in each if one in self._positions]
        assert len(result) in (0, len(arms))
        return np.array(result, dtype=np.int64)

    def unit(self, column: Column, context: Slots, features: Slots) -> float:
        """How much of its number, or of the product of two, a column counts as 1."""
        kind, *parts = column
        sides = {SHARED: [context], FEATURE: [features], OWN: [context], PAIR: [context, features]}
        sides |= {CROSS: [context, context], WAVED: [context]}
        positions = parts[1:] if kind in OF_ARMS else parts
        each = zip(sides[kind], positions, strict=True)
        return math.prod(slots.spread(position) for slots, position in each)

    def label(
        self, column: Column, context: Slots, features: Slots, name: Callable[[int], Any]
    ) -> tuple[Any, str]:
        """Whose a column is, and what it is about."""
        kind, *parts = column
        if kind in OF_ARMS:
            return name(parts[0]), " × ".join(context.slots[one].label for one in parts[1:])
        if kind == PAIR:
            words = f"{context.slots[parts[0]].label} × {features.slots[parts[1]].label}"
            return "all", words
        slots = context if kind == SHARED else features
        return "all", slots.slots[parts[0]].label


def _of(column: Column, arm: int) -> Column:
    """Return the column of another arm that is about the same."""
    return (column[0], arm, *column[2:])


def _with(column: Column, of_context: bool, slot: int, other: int) -> Column:
    """Return a column with another slot in place of one of its own."""
    parts = _PARTS[of_context][column[0]]
    slots = sorted(other if column[part] == slot else column[part] for part in parts)
    return (*column[: parts[0]], *slots, *column[parts[-1] + 1 :])


def _without(column: Column, of_context: bool, slot: int) -> Column:
    """Return the column that is left where a slot is taken out of one."""
    if column[0] == CROSS:
        return (OWN, column[1], column[2] + column[3] - slot)
    if column[0] == PAIR:
        return (FEATURE, column[2]) if of_context else (SHARED, column[1])
    return _with(column, True, slot, 0) if of_context else (SHARED, 0)

"""What a contextual agent knows of wide contexts: a factorised belief beside a dense one.

The level of rewards and numbers have a dense belief, with covariances. Words and levels, and their
pairs, have a mean and a variance each. How large their coefficients are is found out: beliefs with
several scales of the prior learn every reward, and count by how well they foretold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from belman.deciders.featured import budget
from belman.deciders.featured.columns import Column, Columns
from belman.deciders.featured.forms import FADING, Form
from belman.deciders.featured.knowledge import Knowledge
from belman.deciders.featured.slots import Floats, Rescaled
from belman.deciders.featured.wide_columns import parts_of
from belman.deciders.featured.words import NUMBERS, WideSlots
from belman.engine import LATER, entry
from belman.models import Model, arrow
from belman.models.diagonal import (
    MEAN,
    MOST_ROWS,
    VARIANCE,
    Table,
    drop_last,
    fill_buckets,
    widened,
)
from belman.models.model import BANK
from belman.models.rescaling import rescale

#: What the scale of words is, as a factor of the prior's scale, in each belief of the bank.
SCALES = (1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0)


#: The nats by which a belief has to have foretold rewards worse than the best to be left for good.
FAR = 30.0


class Kept(NamedTuple):
    """What a form goes back to: dense parts, its score, and what was moved since in the table."""

    parts: list[Any]
    score: float
    size: int
    moved: list[tuple[Any, Floats]]


class WideForm(Form):
    """A model, what is believed by it of dense columns and of words, and how well it foretold."""

    def __init__(self, model: Model, scale: float, columns: Columns) -> None:
        self.scales = np.array(SCALES)
        super().__init__(model, scale, columns)
        deviations = self.scales * scale / model.unit
        self.table = Table.of(deviations * deviations)
        self.moved: list[tuple[Any, Floats]] | None = None

    def prior(self, columns: Sequence[Column]) -> Floats:
        """The prior's deviations of dense columns: the same in every belief of the bank."""
        result = super().prior(columns)
        usual = result[BANK.index(1.0) if len(result) > 1 else 0]
        return np.tile(usual, (len(self.scales), 1))

    @property
    def words(self) -> str:
        """What sets the form apart, after a title."""
        return f"{super().words}; every word is believed by itself"

    def make_room(self, rows: int) -> bool:
        """Make room for more rows, up to the most; return whether the table was replaced."""
        size, wanted = len(self.table.keys), min(self.table.used + rows, MOST_ROWS)
        if wanted <= size:
            return False
        while size < wanted:
            size *= 2
        self.table = widened(self.table, size)
        find_keys(self.table)
        return True

    def narrow(self) -> bool:
        """Leave the beliefs of the bank that foretold rewards far worse than the best; whether
        there were any.
        """
        if len(self.scales) == 1 or self.belief.fit.min() > -FAR or self.moved is not None:
            return False
        self.leave(np.flatnonzero(self.belief.fit > -FAR).tolist())
        return True

    def leave(self, positions: Sequence[int]) -> None:
        """Have these beliefs of the bank alone."""
        kept, belief = list(positions), self.belief
        if len(kept) == len(self.scales):
            return
        parts = ("mean", "root", "noise", "fit", "share", "prior")
        self.scales = self.scales[kept]
        self.belief = belief._replace(**{name: getattr(belief, name)[kept] for name in parts})
        rows = np.ascontiguousarray(self.table.rows[:, :, kept])
        self.table = self.table._replace(rows=rows, prior=self.table.prior[kept])

    def keep(self) -> Kept:
        """Return what to go back to; what is moved from here on is noted."""
        self.moved = []
        parts = [part.copy() for part in self.belief]
        return Kept(parts, self.score, self.table.used, self.moved)

    def note(self, rows: Any) -> None:
        """Note coefficients before a reward moves them, if somebody will go back."""
        if self.moved is not None:
            known = rows[rows >= 0]
            self.moved.append((known, self.table.rows[known].copy()))

    def go_back(self, kept: Kept) -> None:
        """Believe again what was kept, in the same arrays."""
        self.score, self.moved = kept.score, None
        for part, before in zip(self.belief, kept.parts, strict=True):
            part[...] = before
        for rows, before in reversed(kept.moved):
            self.table.rows[rows] = before
        entry(drop_last).hold(LATER, table=self.table)(kept.size)


def find_keys(table: Table) -> int:
    """Let the rows of a table be found by their keys; return how many keys are there twice."""
    return int(entry(fill_buckets).hold(LATER, table=table)())


class WideKnowledge(Knowledge):
    """A belief about what wide contexts and features of arms count."""

    context: WideSlots
    features: WideSlots
    forms: list[WideForm]  # type: ignore[assignment]

    def __init__(
        self, model: Model, scale: float, context: WideSlots, features: WideSlots, columns: Columns
    ) -> None:
        self.model = model
        self.context, self.features = context, features
        self.models = [model] + [replace(one, keep=FADING) for one in [model] if model.drift]
        self._interactions = list(columns.interactions)
        plain = [
            (one, other)
            for one, other in columns.interactions
            if one in context.names and other in features.names
        ]
        self.forms = [WideForm(one, scale, Columns(columns.pooling, plain)) for one in self.models]
        self.shapes: list[str] = []
        self.arms = 0

    @property
    def form(self) -> WideForm:
        """The form that speaks."""
        return self.forms[self.leading]

    @property
    def interactions(self) -> list[tuple[str, ...]]:
        """Pairs of names that count together."""
        return self._interactions

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return len(self.columns) + self.form.table.used

    @property
    def width(self) -> int:
        """How many coefficients a decision takes about as long as."""
        return len(self.columns) + 50

    def grow(self, arms: int) -> None:
        """Give columns to new numbers, for this number of arms."""
        budget.most(self.forms[0].columns, self.context, self.features, arms)  # or it is refused
        self.arms = arms
        for form in self.forms:
            form.grow(self.context, self.features, arms)

    def meet(
        self,
        context: Mapping[str, Any],
        candidates: Sequence[Mapping[str, Any]],
        count: bool = True,
    ) -> bool:
        """Take in values, and `count` numbers; whether dense columns are others than before."""
        size = len(self.context), len(self.features)
        room = partial(self.room, True)
        met = [(True, one) for one in self.context.meet(context, room, count)]
        for candidate in candidates:
            met += [(False, one) for one in self.features.meet(candidate, room, count)]
        changes = [(side, one) for side, one in met if isinstance(one, Rescaled)]
        for form in self.forms if changes else []:
            steps = [step for one in changes for step in form.columns.change(*one)]
            rescale(form.model, form.belief, steps)
        if size == (len(self.context), len(self.features)):
            return False
        self.grow(self.arms)
        return True

    def kept(self) -> Any:
        """Return what to go back to."""
        words = len(self.context.words), len(self.features.words)
        return [words, *(form.keep() for form in self.forms)]

    def go_back(self, kept: Any) -> None:
        """Believe again what was kept."""
        words, *forms = kept
        self.context.forget(words[0])
        self.features.forget(words[1])
        for form, one in zip(self.forms, forms, strict=True):
            form.go_back(one)

    @property
    def crossed(self) -> Any:
        """Which names of the context count together with which names of features."""
        context, features = self.context.wide_names, self.features.wide_names
        result = np.zeros((len(context) + 1, len(features) + 1), dtype=np.int64)
        for one, other in self._interactions:
            result[self.context.position(one), self.features.position(other)] = 1
        return result

    def knows(self, key: int) -> bool:
        """Return whether a coefficient is of arms, words and numbers that there are."""
        owner, *slots = parts_of(key)
        fits = owner <= self.arms and any(slots) and not (owner and slots[1])
        return fits and all(
            slot == 0 or side.knows(slot)
            for side, slot in zip((self.context, self.features), slots, strict=True)
        )

    def in_table(self, decider: Any, gone: Any, most: int | None) -> Iterator[Any]:
        """Yield whose a coefficient of a word is, and what it is about; its mean; and what is
        believed of it: no retired arms, whose places are `gone`.
        """
        table, belief = self.form.table, self.belief
        shown = 0
        for row, key in enumerate(table.keys[: table.used].tolist()):
            if parts_of(key)[0] - 1 in gone:
                continue
            if most is not None and shown >= most:
                return
            shown += 1
            mean, variance = table.rows[row, MEAN], table.rows[row, VARIANCE]
            root, begin = np.sqrt(variance)[:, None, None], arrow.whole(1)
            one = belief._replace(mean=mean[:, None], root=root, begin=begin)
            yield self.label(key, decider._arms.__getitem__), float(belief.share @ mean), one

    def label(self, key: int, name: Any, passing: Any = MappingProxyType({})) -> tuple[Any, str]:
        """Whose a coefficient of the table is, and what it is about; words without a slot are those
        of `passing`.
        """
        owner, first, second = parts_of(key)
        words = [
            slots.slots[slot - NUMBERS].label
            if slot >= NUMBERS
            else slots.word_label(slot, passing if slots is self.context else {})
            for slots, slot in ((self.context, first), (self.features, second))
            if slot
        ]
        return (name(owner - 1) if owner else "all"), " × ".join(words)

"""What a contextual agent knows: the slots of contexts and arms, and the forms of the belief.

New levels get columns that hold their prior alone, as long as there is room (`budget.py`). The
prior is in the units of the numbers: where one is measured on another scale, it is stated anew for
the rewards learnt so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from belman.deciders.featured import budget
from belman.deciders.featured.columns import (
    CROSSES,
    LOG_CROSSES,
    LOGS,
    PLAIN,
    SQUARES,
    WAVES,
    Columns,
)
from belman.deciders.featured.forms import LINES, MOST_NUMBERS, Form, models_for
from belman.deciders.featured.slots import FREE, Pooled, Rescaled, Room, Slots
from belman.models import Belief, Model
from belman.models.rescaling import rescale

#: Shapes of numbers beside plain ones, in the order of their forms.
SHAPES = (LOGS, SQUARES, CROSSES, LOG_CROSSES, WAVES)


class Knowledge:
    """A belief about what contexts and features of arms count, in one form or several."""

    def __init__(
        self, model: Model, scale: float, context: Slots, features: Slots, columns: Columns
    ) -> None:
        self.model = model
        self.context, self.features = context, features
        #: Forms with numbers as they are, one a model, then those of other shapes.
        self.models = models_for(model, columns.pooling)
        self.forms = [Form(one, scale, deepcopy(columns)) for one in self.models]
        #: The shapes that are there, or may come with the first number, the second name or waves.
        self.shapes = list(SHAPES) if columns.pooling == "disjoint" else []
        self.arms = 0

    @property
    def leading(self) -> int:
        """The place of the form that speaks."""
        standing = [form.standing for form in self.forms]
        return standing.index(max(standing))

    @property
    def form(self) -> Form:
        """The form that speaks."""
        return self.forms[self.leading]

    @property
    def belief(self) -> Belief:
        """What the form that speaks believes."""
        return self.form.belief

    @property
    def columns(self) -> Columns:
        """The columns of the form that speaks."""
        return self.form.columns

    @property
    def interactions(self) -> list[tuple[str, ...]]:
        """Pairs of names that count together."""
        return self.columns.interactions

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return len(self.columns)

    @property
    def width(self) -> int:
        """How many coefficients a decision takes about as long as."""
        return len(self.columns)

    def labels(self, name: Any) -> list[tuple[Any, str]]:
        """Return whose each column is, and what it is about; arms by their `name`."""
        columns = self.columns
        return [columns.label(one, self.context, self.features, name) for one in columns.columns]

    def in_table(self, decider: Any, gone: Any, most: int | None) -> Iterator[Any]:
        """Yield coefficients that are no columns: none, of a full belief."""
        yield from ()

    def grow(self, arms: int) -> None:
        """Add columns for what is new, with this number of arms; levels make room for arms."""
        parts = (self.forms[0].columns, self.context, self.features, arms)
        allowed = budget.most(*parts)  # before anything is changed
        pooled = []
        while budget.needed(*parts) > allowed:
            pooled.append((True, self.context.pool()))
        self.pool(pooled)
        self.arms = arms
        self.bend()
        for form in self.forms:
            form.grow(self.context, self.features, arms)

    def bend(self) -> None:
        """Have forms of other shapes beside those of plain numbers, as far as there is room."""
        by_shape: dict[str, list[Form]] = {}
        for form in self.forms:
            by_shape.setdefault(form.columns.shape, []).append(form)
        for shape in self.shapes:
            numbers, several = self.context.squares, len(self.context.kinds) > 1
            due = {CROSSES: several, LOG_CROSSES: several and numbers}
            due[WAVES] = self.context.waves is not None
            if due.get(shape, numbers) and shape not in by_shape:
                base = by_shape[LOGS if shape == LOG_CROSSES else PLAIN]
                by_shape[shape] = [
                    form.shaped(shape) for form in base if not isinstance(form.model, LINES)
                ]
        self.forms = [form for shape in (PLAIN, *SHAPES) for form in by_shape.get(shape, [])]
        wide = {shape for shape in self.shapes if self._is_large(shape)}
        if SQUARES in wide:
            wide = set(SHAPES)
        self.shapes = [shape for shape in self.shapes if shape not in wide]
        self.forms = [one for one in self.forms if one.columns.shape in (PLAIN, *self.shapes)]

    def _is_large(self, shape: str) -> bool:
        """Whether beliefs of a shape would hold too many numbers."""
        for form in self.forms:
            if form.columns.shape == shape:
                sizes, longest = {-1: 0}, 0  # of what is common, and of each arm
                wanted = form.columns.wanted(self.context, self.features, self.arms)
                for count, column in enumerate(wanted, 1):
                    group = form.columns.group(column)
                    sizes[group] = sizes.get(group, 0) + 1
                    longest = max(longest, sizes[group] if group >= 0 else 0)
                    if count * (sizes[-1] + longest) > MOST_NUMBERS:
                        return True
        return False

    def meet(
        self,
        context: Mapping[str, Any],
        candidates: Sequence[Mapping[str, Any]],
        count: bool = True,
    ) -> bool:
        """Take in values, and `count` them; whether columns are others than before."""
        size = len(self.context), len(self.features)
        met = [(True, one) for one in self.context.meet(context, partial(self.room, True), count)]
        for candidate in candidates:
            result = self.features.meet(candidate, partial(self.room, False), count)
            met += [(False, one) for one in result]
        pooled = self._restate(met) if met else []
        if not pooled and size == (len(self.context), len(self.features)):
            return False
        self.pool(pooled)
        self.grow(self.arms)
        return True

    def _restate(self, met: Sequence[tuple[bool, Any]]) -> list[tuple[bool, Pooled]]:
        """State the prior anew for numbers on other scales; return levels that joined others."""
        changes = [(side, one) for side, one in met if isinstance(one, Rescaled)]
        for form in self.forms if changes else ():
            steps = [step for one in changes for step in form.columns.change(*one)]
            rescale(form.model, form.belief, steps)
        return [(side, one) for side, one in met if isinstance(one, Pooled)]

    def room(self, of_context: bool) -> Room:
        """Return the room for levels of the context, or of features."""
        columns = self.forms[0].columns
        return budget.room(of_context, columns, self.context, self.features, self.arms)

    def pool(self, pooled: Sequence[tuple[bool, Pooled]]) -> None:
        """Let levels join the others, which may be new, and have no columns for free slots."""
        for of_context, one in pooled:
            for form in self.forms:
                form.grow(self.context, self.features, self.arms)
                form.pool(of_context, one)
        for of_context, one in pooled:
            slots = self.context if of_context else self.features
            if slots.slots[one.slot].kind == FREE:
                for form in self.forms:
                    form.drop(of_context, one.slot)

    def news(self, context: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]]) -> bool:
        """Whether some of these values have no slot yet."""
        return self.context.news(context) or any(map(self.features.news, candidates))

    def kept(self) -> list[tuple[list[Any], float]]:
        """Return a copy of what is believed, to go back to."""
        return [([part.copy() for part in form.belief], form.score) for form in self.forms]

    def go_back(self, kept: Sequence[tuple[list[Any], float]]) -> None:
        """Believe again what was kept, in the same arrays."""
        for form, (parts, score) in zip(self.forms, kept, strict=True):
            form.score = score
            for part, before in zip(form.belief, parts, strict=True):
                part[...] = before

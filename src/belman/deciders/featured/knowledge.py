"""What a contextual agent knows: the slots of contexts and arms, and the forms of the belief.

New levels get columns that hold their prior alone. The prior is in the units of the
numbers: where one is measured on another scale, it is stated anew for the rewards learnt so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

from belman.deciders.featured.columns import Columns
from belman.deciders.featured.forms import MOST_BENT, Form, models_for
from belman.deciders.featured.slots import Floats, Slots
from belman.errors import SettingError
from belman.models import Belief, Model
from belman.models.model import MOST_FEATURES
from belman.models.rescaling import rescale


class Knowledge:
    """A belief about what contexts and features of arms count, in one form or several."""

    def __init__(
        self, model: Model, scale: float, context: Slots, features: Slots, columns: Columns
    ) -> None:
        self.model = model
        self.context, self.features = context, features
        #: Forms with numbers as they are, one a model, and then those with squares, if any.
        self.models = models_for(model, columns.pooling)
        self.forms = [Form(one, scale, deepcopy(columns)) for one in self.models]
        #: Whether forms with squares are there, or may come with the first number.
        self.bends = columns.pooling == "disjoint"
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

    def grow(self, arms: int) -> None:
        """Give columns to what is new, of so many arms."""
        self.check_size(self.context, self.features, arms)
        self.arms = arms
        if self.bends and self.context.squares:
            self.bend()
            wanted = self.forms[-1].columns.wanted(self.context, self.features, arms)
            if next(islice(wanted, MOST_BENT, None), None) is not None:
                del self.forms[len(self.models) :]
                self.bends = False
        for form in self.forms:
            form.grow(self.context, self.features, arms)

    def bend(self) -> None:
        """Have forms with squares beside those without."""
        if len(self.forms) == len(self.models):
            self.forms += [form.bent() for form in self.forms]

    def meet(
        self,
        context: Mapping[str, Any],
        candidates: Sequence[Mapping[str, Any]],
        count: bool = True,
    ) -> bool:
        """Take in values, and `count` numbers; whether there are more columns than before."""
        new = self.check_room(context, candidates)  # before anything is changed
        changes = [(True, changed) for changed in self.context.meet(context, count)]
        for candidate in candidates:
            changes += [(False, changed) for changed in self.features.meet(candidate, count)]
        if changes:
            for form in self.forms:
                steps = [step for one in changes for step in form.columns.change(*one)]
                rescale(form.model, form.belief, steps)
        if new:
            self.grow(self.arms)
        return new

    def kept(self) -> list[tuple[list[Floats], float]]:
        """Return a copy of what is believed, to go back to."""
        return [([part.copy() for part in form.belief], form.score) for form in self.forms]

    def go_back(self, kept: Sequence[tuple[list[Floats], float]]) -> None:
        """Believe again what was kept, in the same arrays."""
        for form, (parts, score) in zip(self.forms, kept, strict=True):
            form.score = score
            for part, before in zip(form.belief, parts, strict=True):
                part[...] = before

    def check_room(
        self, context: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Whether values bring something new; SettingError where that is too much."""
        if not self.context.news(context) and not any(map(self.features.news, candidates)):
            return False
        trial_context, trial_features = deepcopy((self.context, self.features))
        trial_context.meet(context)
        for candidate in candidates:
            trial_features.meet(candidate)
        self.check_size(trial_context, trial_features, self.arms)
        return True

    def check_size(self, context: Slots, features: Slots, arms: int) -> None:
        """Refuse more columns than a belief can have."""
        wanted = self.forms[0].columns.wanted(context, features, arms)
        if next(islice(wanted, MOST_FEATURES, None), None) is not None:
            raise SettingError(f"these features are too many: at most {MOST_FEATURES:,}")

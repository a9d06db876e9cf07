"""What a contextual agent knows: the slots of contexts and arms, their columns, and the belief.

New levels get columns of which nothing is known but their prior; a number that is measured on
another scale changes how the belief is written, and not what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

import numpy as np

from belman.deciders.featured.columns import OWN, PAIR, SHARED, Column, Columns, Layout
from belman.deciders.featured.slots import Floats, Slots
from belman.errors import SettingError
from belman.models import Linear, Model
from belman.models.model import BANK, MOST_FEATURES, blank, grown, reexpressed

#: How many times the scale of a coefficient the level of rewards has: linear ones may be anywhere.
_LEVEL = {True: 10.0, False: 3.0}


class Knowledge:
    """A belief about what contexts and features of arms count."""

    def __init__(
        self, model: Model, scale: float, context: Slots, features: Slots, columns: Columns
    ) -> None:
        self.model, self.scale = model, scale
        self.context, self.features, self.columns = context, features, columns
        self.arms = 0
        self.belief = blank(self.prior([]), model.first_noise)

    def prior(self, columns: Sequence[Column]) -> Floats:
        """The prior's deviations of columns (B, n), in the units of the model."""
        pooled = self.columns.pooling == "hybrid"
        level = _LEVEL[isinstance(self.model, Linear)]
        rows = [
            [
                self.scale
                * (level if column == (SHARED, 0) else 1.0)
                * (factor if pooled and column[0] in (OWN, PAIR) else 1.0)
                / self.model.unit
                for column in columns
            ]
            for factor in (BANK if pooled else (1.0,))
        ]
        return np.array(rows).reshape(len(rows), len(columns))

    def grow(self, arms: int) -> None:
        """Give columns to what is new, of so many arms."""
        self.check_size(self.context, self.features, arms)
        self.arms = arms
        fresh = self.columns.grow(self.context, self.features, arms)
        if fresh:
            self.belief = grown(self.belief, self.prior(fresh), self.model.first_noise)

    def meet(
        self,
        context: Mapping[str, Any],
        candidates: Sequence[Mapping[str, Any]],
        count: bool = True,
    ) -> bool:
        """Take in values, and `count` numbers; whether there are more columns than before."""
        new = self.check_room(context, candidates)  # before anything is changed
        steps = [
            step
            for changed in self.context.meet(context, count)
            for step in self.columns.change(changed, True)
        ]
        for candidate in candidates:
            for changed in self.features.meet(candidate, count):
                steps += self.columns.change(changed, False)
        if steps:
            reexpressed(self.belief, steps)
        if new:
            self.grow(self.arms)
        return new

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
        wanted = self.columns.wanted(context, features, arms)
        if next(islice(wanted, MOST_FEATURES, None), None) is not None:
            raise SettingError(f"these features are too many: at most {MOST_FEATURES:,}")

    @property
    def layout(self) -> Layout:
        """Where in a row of features slots go."""
        return self.columns.layout(self.context, self.features, self.arms)

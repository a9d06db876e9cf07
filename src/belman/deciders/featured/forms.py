"""The forms that a belief can have: numbers as they are, their logarithms, with their squares too,
squares or logarithms with products of two values, and waves of all numbers; for rewards from 0 to 1
and for counts also linear ones with numbers as they are.

Each form has columns and a belief of its own, learns every reward, and is scored by how well it
foretold them. The form with the best score speaks: it alone decides and is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property

import numpy as np

from belman.deciders.featured import waves
from belman.deciders.featured.columns import (
    CROSS,
    CROSSES,
    LOG_CROSSES,
    LOGS,
    OWN,
    PAIR,
    PLAIN,
    SHARED,
    SQUARES,
    WAVED,
    WAVES,
    Column,
    Columns,
    Layout,
)
from belman.deciders.featured.slots import Floats, Pooled, Slots
from belman.models import (
    Belief,
    Linear,
    LinearCounts,
    LinearRates,
    Logistic,
    Model,
    PoissonLog,
)
from belman.models.merging import merge_all, without
from belman.models.model import BANK, blank, placed

#: The linear model of the same rewards that is tried beside one of another form.
STRAIGHT: dict[type[Model], type[Linear]] = {Logistic: LinearRates, PoissonLog: LinearCounts}
LINES = tuple(STRAIGHT.values())
#: How many times the scale of a coefficient the level of rewards has: linear ones may be anywhere.
_LEVEL = {True: 10.0, False: 3.0}
_WORDS = {PLAIN: "", LOGS: "; logarithms of numbers count", SQUARES: "; squares of numbers count"}
_WORDS[CROSSES] = "; products of two values count"
_WORDS[WAVES] = "; waves of all numbers together count"
_WORDS[LOG_CROSSES] = "; logarithms of numbers and products of two values count"
#: How many times the scale of a coefficient that of a product has.
_OF_PRODUCTS = 0.3
#: And that of all waves together: their coefficients' deviations, squared and summed.
_OF_WAVES = 2.0
_FACTORS = {CROSS: _OF_PRODUCTS, WAVED: _OF_WAVES / math.sqrt(waves.COUNT)}
#: The numbers that the root of a form with logarithms, squares or products has at most: columns
#: times those that depend on each other, an arm's own and what is common.
MOST_NUMBERS = 125_000
#: The share of a score that is kept at every reward, and by how much other shapes have to lead.
_KEPT, _LEAD = 0.999, 1.0
_LEADS = {PLAIN: 0.0, **dict.fromkeys((CROSSES, LOG_CROSSES, WAVES), 2.0 * _LEAD)}
#: What a belief that fades keeps at every reward, and by how much it has to lead.
FADING, _LEAD_FADING = 0.98, 2.0


def models_for(model: Model, pooling: str) -> list[Model]:
    """Return the models that are tried, that of the rewards first; where the world may drift, each
    of them fades too.
    """
    result = [model]
    for kind, straight in STRAIGHT.items():
        if pooling == "disjoint" and isinstance(model, kind):
            result.append(straight(model.keep, drift=model.drift, unknown=True))
    return result + [replace(one, keep=FADING) for one in result if model.drift]


class Form:
    """A model, columns, what is believed of coefficients, and how well that foretold rewards."""

    def __init__(self, model: Model, scale: float, columns: Columns) -> None:
        self.model, self.scale, self.columns = model, scale, columns
        self.columns.apart = model.keep == 1.0  # what fades leaves arms dependent
        self.belief: Belief = blank(self.prior([]), model.first_noise)
        self.score = 0.0

    def prior(self, columns: Sequence[Column]) -> Floats:
        """The prior's deviations of columns (B, n), in the units of the model."""
        pooled = self.columns.pooling == "hybrid"
        level = _LEVEL[isinstance(self.model, Linear)]
        rows = [
            [
                self.scale
                * (level if column == (SHARED, 0) else 1.0)
                * (factor if pooled and column[0] in (OWN, PAIR) else 1.0)
                * _FACTORS.get(column[0], 1.0)
                / self.model.unit
                for column in columns
            ]
            for factor in (BANK if pooled else (1.0,))
        ]
        return np.array(rows).reshape(len(rows), len(columns))

    def grow(self, context: Slots, features: Slots, arms: int) -> None:
        """Give columns to what is new."""
        kept = self.columns.grow(context, features, arms)
        if kept is not None:
            prior, noise = self.prior(self.columns.columns), self.model.first_noise
            fresh = blank(prior, noise, self.columns.begin)
            self.belief = placed(self.belief, np.arange(kept.size), kept, fresh)

    def pool(self, of_context: bool, pooled: Pooled) -> None:
        """Let what is believed of a level be believed of the others."""
        merge_all(self.model, self.belief, self.columns.pool(of_context, pooled))

    def drop(self, of_context: bool, slot: int) -> None:
        """Have no columns for a slot that is free."""
        gone = self.columns.drop(of_context, slot)
        if gone:
            self.belief = without(self.belief, gone, self.columns.begin)

    def shaped(self, shape: str) -> Form:
        """Return a form with the same rewards, whose columns have another shape once it grows."""
        form = Form(self.model, self.scale, deepcopy(self.columns))
        form.columns.shape = shape
        form.belief, form.score = deepcopy(self.belief), self.score
        return form

    def heard(self, fit: float) -> None:
        """Count how well a reward was foretold, ln of its chance."""
        self.score = _KEPT * self.score + fit

    @property
    def fades(self) -> bool:
        """Whether this is a form of a drifting world."""
        return self.model.drift and self.model.keep < 1.0

    @cached_property
    def lead(self) -> float:
        """By how much the form has to have foretold better than the plain one: a nat, those with
        products two, and a belief that fades two more.
        """
        return _LEADS.get(self.columns.shape, _LEAD) + _LEAD_FADING * self.fades

    @property
    def standing(self) -> float:
        """How well the form foretold rewards of late, less the lead that it needs."""
        return self.score - self.lead

    @property
    def words(self) -> str:
        """What sets the form apart, after a title."""
        straight = "; rewards are linear" if isinstance(self.model, LINES) else ""
        faded = "; the world changed of late" if self.fades else ""
        return straight + _WORDS[self.columns.shape] + faded

    def layout(self, context: Slots, features: Slots, arms: int) -> Layout:
        """Where in a row of features slots go."""
        return self.columns.layout(context, features, arms)

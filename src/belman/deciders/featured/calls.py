"""The arrays of a contextual agent, and the calls of kernels that hold them by their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.deciders.featured import columns
from belman.deciders.featured.knowledge import Knowledge
from belman.deciders.featured.slots import Floats
from belman.engine import LATER, Call, entry
from belman.models import Sight
from belman.policies.dependent import DependentPolicy

Rows = Sequence[Mapping[str, Any]]


class Calls:
    """Deciding and learning with the columns that there are now; others are made when there are
    more.
    """

    def __init__(
        self, learnt: Knowledge, policy: DependentPolicy, rows: Rows, rng: chance.Words
    ) -> None:
        self._learnt, self._policy, self._rng = learnt, policy, rng
        self._layout = learnt.layout
        self._filled: Mapping[str, Any] | None = None  # the context whose slots are in x
        self._x = np.zeros(len(learnt.context))
        self._own = np.zeros(len(learnt.features))
        self.held = self._held_for(rows, range(learnt.arms))
        self._decide = self._deciding(self.held)
        one = {name: self.held[name] for name in ("law", "belief", "x", "layout")}
        one |= {"own": self._own, "row": np.zeros(len(learnt.columns))}
        bundle = learnt.model.kernels
        self._take_in: Call = entry(columns.take_in, model=bundle).hold(LATER, **one)
        self._foresee: Call = entry(columns.foresee, model=bundle).hold(LATER, **one)

    def _held_for(self, rows: Rows, places: Sequence[int]) -> dict[str, Any]:
        """What a decision among these arms holds."""
        learnt, arms, size = self._learnt, len(places), len(self._learnt.columns)
        u = np.zeros((arms, len(learnt.features)))
        for row, out in zip(rows, u, strict=False):
            learnt.features.fill(row, out)
        return {
            "law": learnt.model.law,
            "params": self._policy.params,
            "belief": learnt.belief,
            "x": self._x,
            "u": u,
            "layout": self._layout,
            "places": np.array(places, dtype=np.int64),
            "features": np.zeros((arms, size)),
            "sight": Sight.of(arms),
            "memory": self._policy.memory(arms, size),
            "mind": self._rng,
            "index": np.zeros(arms),
        }

    def _deciding(self, held: dict[str, Any]) -> Call:
        bundles = {"policy": self._policy.kernels, "model": self._learnt.model.kernels}
        return entry(columns.choose, **bundles).hold(LATER, **held)

    def changed(self) -> None:
        """Numbers may be measured on other scales than when a context was last filled in."""
        self._filled = None

    def fill(self, context: Mapping[str, Any]) -> None:
        """Have the slots of a context, unless they are there."""
        if self._filled is not context:
            self._learnt.context.fill(context, self._x)
            self._filled = context

    def choose(
        self, context: Mapping[str, Any], rows: Rows, places: Sequence[int], turn: int
    ) -> tuple[int, int, Floats]:
        """Which of these arms to play in a context, how many tie with it, and all indices."""
        self.fill(context)
        if places and places[0] >= 0 and list(places) == list(range(self._learnt.arms)):
            return *self._decide(turn), self.held["index"]
        held = self._held_for(rows, places)
        return *self._deciding(held)(turn), held["index"]

    def survey(
        self, context: Mapping[str, Any], rows: Rows, places: Sequence[int], turn: int
    ) -> dict[str, Any]:
        """Return all that a decision among these arms in a context sees."""
        self.fill(context)
        held = self._held_for(rows, places)
        self._deciding(held)(turn)
        return held

    def learn(self, context: Mapping[str, Any], place: int, candidate: Any, reward: float) -> None:
        """Learn the reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, place, candidate)
        self._take_in(place, reward)

    def foresee(self, context: Mapping[str, Any], place: int, candidate: Any) -> float:
        """The expected reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, place, candidate)
        return float(self._foresee(place))

    def _fill_both(self, context: Mapping[str, Any], place: int, candidate: Any) -> None:
        self.fill(context)
        if candidate is None:
            self._own[:] = self.held["u"][place]
        else:
            self._learnt.features.fill(candidate, self._own)

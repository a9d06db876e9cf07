"""The arrays of a contextual agent, and the calls of kernels that hold them by their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.deciders.featured import columns
from belman.deciders.featured.forms import Form
from belman.deciders.featured.knowledge import Knowledge
from belman.deciders.featured.slots import Floats
from belman.engine import LATER, Call, entry
from belman.models import Sight
from belman.policies.dependent import DependentPolicy

Rows = Sequence[Mapping[str, Any]]


class FormCalls:
    """Deciding and learning in one form of the belief."""

    def __init__(self, calls: Calls, form: Form, fit: Floats) -> None:
        self.learnt, self.policy, self.form = calls.learnt, calls.policy, form
        self._x, self._rng = calls.x, calls.rng
        self._layout = form.layout(calls.learnt.context, calls.learnt.features, calls.learnt.arms)
        self.held = self.held_for(calls.u, calls.everyone)
        self.decide = self.deciding(self.held)
        one = {name: self.held[name] for name in ("constants", "belief", "x", "layout")}
        one |= {"own": calls.own, "row": np.zeros(len(form.columns))}
        bundle = form.model.kernels
        self.taking_in = one | {"fit": fit}
        self.replace: Call = entry(columns.replace, model=bundle).hold(LATER, **one)
        self.foresee: Call = entry(columns.foresee, model=bundle).hold(LATER, **one)

    def held_for(self, u: Floats, positions: Sequence[int]) -> dict[str, Any]:
        """What a decision among arms with these features holds."""
        form, arms, size = self.form, len(positions), len(self.form.columns)
        return {
            "constants": form.model.constants,
            "params": self.policy.params,
            "belief": form.belief,
            "x": self._x,
            "u": u,
            "layout": self._layout,
            "positions": np.array(positions, dtype=np.int64),
            "features": np.zeros((arms, size)),
            "sight": Sight.of(arms),
            "memory": self.policy.memory(arms, size),
            "rng": self._rng,
            "index": np.zeros(arms),
        }

    def deciding(self, held: dict[str, Any]) -> Call:
        """The call of a decision that holds this."""
        bundles = {"policy": self.policy.kernels, "model": self.form.model.kernels}
        return entry(columns.choose, **bundles).hold(LATER, **held)


class Calls:
    """Deciding and learning with the columns that there are now; others are made when there are
    more.
    """

    def __init__(
        self, learnt: Knowledge, policy: DependentPolicy, rows: Rows, rng: chance.Words
    ) -> None:
        self.learnt, self.policy, self.rng = learnt, policy, rng
        self._filled: Mapping[str, Any] | None = None  # the context whose slots are in x
        self.x = np.zeros(len(learnt.context))
        self.own = np.zeros(len(learnt.features))
        self.everyone = list(range(learnt.arms))
        self.u = self._features(rows, learnt.arms)
        self._fits = np.zeros((len(learnt.forms), 1))
        pairs = zip(learnt.forms, self._fits, strict=True)
        self._forms = [FormCalls(self, form, fit) for form, fit in pairs]
        by_kernels: dict[Any, list[dict[str, Any]]] = {}
        for form in self._forms:
            by_kernels.setdefault(form.form.model.kernels, []).append(form.taking_in)
        self._learning = [
            entry(columns.take_in, model=bundle).hold_each(LATER, sets)
            for bundle, sets in by_kernels.items()
        ]

    @property
    def _form(self) -> FormCalls:
        return self._forms[self.learnt.leading]

    def _features(self, rows: Rows, arms: int) -> Floats:
        """Return the slots of the features of arms."""
        u = np.zeros((arms, len(self.learnt.features)))
        for row, out in zip(rows, u, strict=False):
            self.learnt.features.fill(row, out)
        return u

    def changed(self) -> None:
        """Numbers may be measured on other scales than when a context was last filled in."""
        self._filled = None

    def fill(self, context: Mapping[str, Any]) -> None:
        """Have the slots of a context, unless they are there."""
        if self._filled is not context:
            self.learnt.context.fill(context, self.x)
            self._filled = context

    def choose(
        self, context: Mapping[str, Any], rows: Rows, positions: Sequence[int], turn: int
    ) -> tuple[int, int, dict[str, Any]]:
        """Which of these arms to play in a context, how many tie with it, and what was seen."""
        self.fill(context)
        form = self._form
        if positions == self.everyone:
            return *form.decide(turn), form.held
        held = form.held_for(self._features(rows, len(positions)), positions)
        return *form.deciding(held)(turn), held

    def survey(
        self, context: Mapping[str, Any], rows: Rows, positions: Sequence[int], turn: int
    ) -> dict[str, Any]:
        """Return all that a decision among these arms in a context sees."""
        self.fill(context)
        held = self._form.held_for(self._features(rows, len(positions)), positions)
        self._form.deciding(held)(turn)
        return held

    def spelled(self, held: dict[str, Any], name: Any) -> tuple[Floats, Floats, Any]:
        """Return what is set of the arms of a decision, what coefficients are expected to be, and
        whose they are and what they are about.
        """
        belief = self.learnt.belief
        return held["features"], belief.share @ belief.mean, self.learnt.labels(name)

    def learn(
        self, context: Mapping[str, Any], position: int, candidate: Any, reward: float
    ) -> None:
        """Learn the reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, position, candidate)
        for take_in in self._learning:
            take_in(position, reward)
        for form, fit in zip(self.learnt.forms, self._fits[:, 0].tolist(), strict=True):
            form.heard(fit)

    def replace(
        self, context: Mapping[str, Any], position: int, candidate: Any, *told: float
    ) -> None:
        """Let a reward be another one, as far as it is kept after so many since; forms stand as
        they foretold it. What fades less, since its contexts are rare, is corrected less.
        """
        old, new, since = told
        self._fill_both(context, position, candidate)
        for form in self._forms:
            form.replace(position, old, new, form.form.model.keep**since)

    def foresee(self, context: Mapping[str, Any], position: int, candidate: Any) -> float:
        """The expected reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, position, candidate)
        return float(self._form.foresee(position))

    def _fill_both(self, context: Mapping[str, Any], position: int, candidate: Any) -> None:
        self.fill(context)
        if candidate is None:
            self.own[:] = self.u[position]
        else:
            self.learnt.features.fill(candidate, self.own)

"""What a contextual agent is without its open asks: it meets contexts, chooses, and learns.

Whoever keeps asks elsewhere (a study keeps them in its log) works with it directly: what is asked
is checked first, which changes nothing; it is met, which makes room for what is new and counts its
numbers; and its reward is learnt, whenever that comes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belman import chance, spec
from belman.agent import doors
from belman.agent.contextual import settings
from belman.agent.contextual.calls import Calls
from belman.agent.contextual.columns import Columns
from belman.agent.contextual.knowledge import Knowledge
from belman.agent.contextual.slots import CATEGORY, Slots
from belman.errors import ArmError, SettingError
from belman.models import Logistic, Model
from belman.policies.dependent import DependentPolicy


class Asking(NamedTuple):
    """A context, and the candidates where these are the arms; both as they are kept."""

    context: dict[str, Any]
    candidates: list[dict[str, Any]] | None = None


class Chosen(NamedTuple):
    """The place of an arm or candidate, and how many had the same index."""

    place: int
    tied: int


class ContextualMind:
    """Arms or candidates, what is known of them, one belief, and a policy; see `ContextualAgent`.

    >>> mind = ContextualMind(["blue", "red"], context=["age"], seed=7)
    >>> asking = mind.check({"age": 31})
    >>> mind.meet(asking)
    >>> mind.learn(asking, 0, 1.0)
    >>> mind.expected(asking, 0) > mind.expected(asking, 1)
    True
    """

    def __init__(
        self,
        arms: Iterable[Hashable] = (),
        *,
        features: Any = None,
        context: Iterable[str] = (),
        model: str | Model = "logistic",
        pooling: str | None = None,
        interactions: str | Iterable[Sequence[str]] | None = None,
        policy: DependentPolicy | None = None,
        scale: float = 1.0,
        minimise: bool = False,
        seed: int | None = None,
    ) -> None:
        self._arms: list[Hashable] = []
        for arm in doors.check_names(arms, "arms"):
            doors.check_new(arm, self._arms)
            self._arms.append(arm)
        self._places = {arm: place for place, arm in enumerate(self._arms)}
        if self._arms:
            given = settings.check_features(features, self._arms)
            names = list(dict.fromkeys(name for row in given.values() for name in row))
            known = settings.check_names(names, "features")
        else:
            given, known = {}, settings.check_names(features or (), "features")
            if not known:
                raise ArmError("an agent needs arms, or names of features for candidates")
            pooling = "shared" if pooling is None else pooling
        self._model = settings.check_model(model)
        self._policy = settings.check_policy(policy)
        self._pooling = settings.check_pooling(pooling, bool(known))
        self._scale = settings.check_scale(scale)
        self._minimise = settings.check_minimise(minimise, self._model)
        told = settings.check_names(context, "context")
        pairs = settings.check_interactions(interactions, told, known)
        self._learnt = Knowledge(
            self._model,
            self._scale,
            Slots(told, True, "context"),
            Slots(known, False, "features"),
            Columns(self._pooling, pairs),
        )
        self._mind = chance.generator(doors.check_seed(seed))
        features_of = self._learnt.features
        self._rows = [features_of.check(given[arm]) for arm in self._arms if known]
        for row in self._rows:
            features_of.meet(row)
        self._told = 0
        self._tells = [0] * len(self._arms)
        self._grow()

    def _grow(self) -> None:
        self._learnt.grow(len(self._arms))
        self._prepare()

    # What it is

    @property
    def arms(self) -> list[Hashable]:
        """The arms there are."""
        return list(self._arms)

    @property
    def model(self) -> Model:
        """What rewards are."""
        return self._model

    @property
    def policy(self) -> DependentPolicy:
        """Who chooses."""
        return self._policy

    @property
    def context_names(self) -> list[str]:
        """What is told with an ask."""
        return list(self._learnt.context.names)

    @property
    def categories(self) -> list[str]:
        """The names of the context whose values were words so far."""
        kinds = self._learnt.context.kinds
        return [name for name in self.context_names if kinds.get(name) == CATEGORY]

    @property
    def feature_names(self) -> list[str]:
        """What is known of arms, or comes with candidates."""
        return list(self._learnt.features.names)

    def definition(self) -> dict[str, Any]:
        """All that was chosen at its making but the arms, as plain data; `rows` is what is known
        of each of them, and None where there are none.
        """
        return {
            "features": self.feature_names,
            "rows": self._rows if self._arms else None,
            "context": self.context_names,
            "model": spec.describe(self._model),
            "policy": spec.describe(self._policy),
            "pooling": self._pooling,
            "interactions": [list(pair) for pair in self._learnt.columns.interactions],
            "scale": self._scale,
        }

    @property
    def columns(self) -> int:
        """How many coefficients there are."""
        return len(self._learnt.columns)

    @property
    def turn(self) -> int:
        """The turn being decided: the rewards told so far, plus one."""
        return self._told + 1

    @property
    def quantity(self) -> str:
        """What a person counts."""
        return "expected cost" if self._minimise else "expected reward"

    @property
    def mind(self) -> chance.Words:
        """The words of the generator that chooses."""
        return self._mind

    # Asking

    def check(
        self,
        context: Mapping[str, Any] | None,
        candidates: Sequence[Mapping[str, Any]] | None = None,
    ) -> Asking:
        """A context, and candidates for a mind without arms, as they are kept."""
        values = self._learnt.context.check(context)
        if (candidates is None) == (not self._arms):
            remedy = "ask(candidates=[…]) is for agents that were made without arms, and only them"
            raise SettingError(f"this agent has {len(self._arms)} arms: {remedy}")
        if candidates is None:
            return Asking(values)
        if isinstance(candidates, (str, Mapping)) or not len(candidates):
            raise SettingError(f"candidates={candidates!r} are not valid: give a list of {{…}}")
        return Asking(values, [self._learnt.features.check(one) for one in candidates])

    def check_room(self, asking: Asking) -> None:
        """Refuse what is new in it where that is too much."""
        self._learnt.check_room(asking.context, asking.candidates or [])

    def meet(self, asking: Asking, count: bool = True) -> None:
        """Make room for what is new in it, and `count` its numbers."""
        self._calls.changed()
        if self._learnt.meet(asking.context, asking.candidates or [], count):
            self._prepare()

    def choose(
        self, asking: Asking, count: int = 1, among: Sequence[int] | None = None
    ) -> list[Chosen]:
        """The places of so many arms, of those at some places or all, to play in a context that was
        met. Those of a batch are chosen one after another as if each that is out had brought what
        is expected of it.
        """
        kept = self._learnt.belief if count > 1 else None
        copies = [] if kept is None else [part.copy() for part in kept]
        found = []
        for i in range(count):
            chosen, _ = self._choose(asking, among)
            found.append(chosen)
            if i < count - 1:
                self._take_in(asking, chosen.place, self._foreseen(asking, chosen.place))
        if kept is not None:
            for part, copy in zip(kept, copies, strict=True):
                part[...] = copy
        return found

    def rank(self, asking: Asking, among: Sequence[int] | None = None) -> list[int]:
        """The places of all arms at hand, the largest index first, in a context that was met."""
        chosen, order = self._choose(asking, among)
        return [chosen.place, *(place for place in order if place != chosen.place)]

    def _choose(self, asking: Asking, among: Sequence[int] | None) -> tuple[Chosen, list[int]]:
        if asking.candidates is not None:
            rows, places = asking.candidates, [-1] * len(asking.candidates)
            names: Sequence[int] = range(len(rows))
        else:
            names = places = list(range(len(self._arms))) if among is None else list(among)
            rows = [self._rows[place] for place in places if self._rows]
        chosen, tied, index = self._calls.choose(asking.context, rows, places, self.turn)
        order = np.argsort(-index, kind="stable").tolist()
        return Chosen(names[chosen], tied), [names[place] for place in order]

    # Learning

    def inward(self, reward: Any) -> float:
        """A reward, or cost, as the model sees it."""
        return self.outward(self._model.check_reward(reward))

    def outward(self, value: float) -> float:
        """A mean of the model as a person counts it: a cost of 0 or 1 is one less its reward."""
        if not self._minimise:
            return value
        return 1.0 - value if isinstance(self._model, Logistic) else -value

    def learn(self, asking: Asking, place: int, value: float) -> None:
        """Learn a reward, as the model sees it, of the arm or candidate at a place."""
        self._take_in(asking, place, value)
        self._told += 1
        if asking.candidates is None:
            self._tells[place] += 1

    def expected(self, asking: Asking, place: int) -> float:
        """The expected reward (or cost) of an arm in a context that was met."""
        return self.outward(self._foreseen(asking, place))

    def _take_in(self, asking: Asking, place: int, value: float) -> None:
        self._calls.learn(asking.context, *_side(asking, place), value)

    def _foreseen(self, asking: Asking, place: int) -> float:
        return self._calls.foresee(asking.context, *_side(asking, place))

    # Calls of kernels

    def _take_for_arms(self, candidates: list[dict[str, Any]]) -> None:
        """Have these candidates, which were met, as arms that are named by their places."""
        self._arms, self._rows = list(range(len(candidates))), candidates
        self._places = {place: place for place in range(len(candidates))}
        self._learnt.arms = len(candidates)
        self._prepare()

    def _prepare(self) -> None:
        self._calls = Calls(self._learnt, self._policy, self._rows, self._mind)

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        return {name: part for name, part in vars(self).items() if name != "_calls"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def _place(self, arm: Hashable) -> int:
        try:
            return self._places[arm]
        except (KeyError, TypeError):
            raise doors.unknown_arm(arm, self._arms) from None


def _side(asking: Asking, place: int) -> tuple[int, dict[str, Any] | None]:
    """The place of an arm with columns of its own, or the features of a candidate."""
    return (place, None) if asking.candidates is None else (-1, asking.candidates[place])

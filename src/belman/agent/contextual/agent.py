"""ask / tell for arms with features, and in contexts: one belief for all of them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from belman import chance
from belman.agent import doors, state_file
from belman.agent.contextual import looking, saving, settings
from belman.agent.contextual.calls import Calls
from belman.agent.contextual.columns import Columns
from belman.agent.contextual.knowledge import Knowledge
from belman.agent.contextual.open_asks import Asked, OpenAsks
from belman.agent.contextual.slots import Slots
from belman.errors import ArmError, SettingError, TicketError, UnknownTicketError
from belman.models import Model
from belman.policies.dependent import DependentPolicy
from belman.table import Table


class ContextualAgent:
    """Decides which arm to try in a context, from what all arms and contexts have in common.

    `arms` are names; `features` what is known of them, {arm: {name: value}} or a data frame; or
    `features` are names alone, and arms are candidates that come with every ask. `context` names
    what is told with an ask. Values are numbers, which are standardised as they come, or
    categories, whose levels need not be known; what is missing is told by None. `model` says what
    rewards are ("linear", "logistic", "poisson", or one of `belman.models`), and `pooling` what
    arms share: "disjoint" (every arm answers contexts in its own way), "shared" (features say
    all), or "hybrid" (both, and how much is an arm's own is learnt). `interactions` lists pairs of
    a name of the context and a feature that count together; all do, unless they are given. `scale`
    is the prior's standard deviation of coefficients.

    >>> agent = ContextualAgent(["blue", "red"], context=["country", "age"], seed=7)
    >>> arm = agent.ask(context={"country": "FR", "age": 31})
    >>> agent.tell(arm, 1)
    >>> agent
    ContextualAgent(2 arms, model='logistic', pooling='disjoint', ... 1 reward told)
    """

    def __init__(
        self,
        arms: Iterable[Hashable] = (),
        *,
        features: Any = None,
        context: Iterable[str] = (),
        model: str | Model = "logistic",
        pooling: str | None = None,
        interactions: Iterable[Sequence[str]] | None = None,
        policy: DependentPolicy | None = None,
        scale: float = 1.0,
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
        self._asks = OpenAsks()
        self._grow()

    def _grow(self) -> None:
        self._learnt.grow(len(self._arms))
        self._prepare()

    def _meet(self, context: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]]) -> None:
        self._calls.changed()
        if self._learnt.meet(context, candidates):
            self._prepare()

    # Asking

    def ask(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        candidates: Sequence[Mapping[str, Any]] | None = None,
        among: Iterable[Hashable] | None = None,
        top: int | None = None,
    ) -> Any:
        """The arm to try in this context; the place of one of the `candidates`, for an agent
        without arms; or with `top` a list of so many, those with the largest indices, best first.

        `among` names the arms that are available. The reward is told by the arm, or by
        `agent.ticket` of this ask.

        >>> agent = ContextualAgent(features=["price", "colour"], model="linear", seed=7)
        >>> agent.ask(candidates=[{"price": 5, "colour": "red"}, {"price": 7, "colour": "blue"}])
        0
        """
        values = self._learnt.context.check(context)
        rows, places = self._at_hand(candidates, among)
        count = 1 if top is None else doors.check_count(top, f"ask(top={top!r})")
        self._meet(values, rows if candidates is not None else [])
        chosen, index = self._calls.choose(values, rows, places, self.turn)
        order = [chosen]
        if count > 1:
            ranked = np.argsort(-index, kind="stable").tolist()
            order += [place for place in ranked if place != chosen][: count - 1]
        found = []
        for place in order:
            arm = place if candidates is not None else self._arms[places[place]]
            candidate = rows[place] if candidates is not None else None
            self._asks.add(Asked(arm, candidate, values))
            found.append(arm)
        return found[0] if top is None else found

    @property
    def ticket(self) -> int:
        """The ticket of the last ask (of the last of a list: those before are one less each)."""
        if not self._asks.given:
            raise TicketError("nothing was asked yet: there is no ticket")
        return self._asks.given - 1

    def _at_hand(
        self, candidates: Sequence[Mapping[str, Any]] | None, among: Iterable[Hashable] | None
    ) -> tuple[list[dict[str, Any]], list[int]]:
        """What is known of each arm at hand, and its place (−1 for candidates)."""
        if (candidates is None) == (not self._arms):
            remedy = "ask(candidates=[…]) is for agents that were made without arms, and only them"
            raise SettingError(f"this agent has {len(self._arms)} arms: {remedy}")
        if candidates is not None:
            if isinstance(candidates, (str, Mapping)) or not len(candidates):
                raise SettingError(f"candidates={candidates!r} are none: give a list of {{…}}")
            rows = [self._learnt.features.check(candidate) for candidate in candidates]
            return rows, [-1] * len(rows)
        if among is None:
            return self._rows, list(range(len(self._arms)))
        places = sorted({self._place(arm) for arm in doors.check_names(among, "among")})
        if not places:
            raise ArmError("among is empty: name at least one arm that is available")
        return [self._rows[place] for place in places if self._rows], places

    # Telling

    def tell(
        self,
        arm: Any = None,
        reward: float | None = None,
        context: Mapping[str, Any] | None = None,
        *,
        ticket: int | None = None,
    ) -> None:
        """Learn the reward of an ask: that of the `ticket`, or the oldest open one of the arm.

        With a `context` (or, for candidates, with features in place of the arm) it is a reward that
        nobody asked for: it is learnt as well.
        """
        if reward is None:
            raise SettingError("tell(…) needs a reward: tell(arm, reward)")
        value = self._model.check_reward(reward)
        used = ticket
        if ticket is None and context is None and not isinstance(arm, Mapping):
            used = self._asks.oldest(arm)
        asked = self._unasked(arm, context) if used is None else self._asks.find(used, arm)
        place = -1 if asked.candidate is not None else self._place(asked.arm)
        self._calls.learn(asked.context, place, asked.candidate, value)
        self._told += 1
        if place >= 0:
            self._tells[place] += 1
        if used is not None:
            del self._asks.open[used]

    def _unasked(self, arm: Any, context: Mapping[str, Any] | None) -> Asked:
        if isinstance(arm, Mapping) and not self._arms:
            asked = Asked(
                None, self._learnt.features.check(arm), self._learnt.context.check(context)
            )
        elif not self._arms:
            remedy = "give ticket=…, or the features of the candidate in place of the arm"
            raise UnknownTicketError(f"candidate {arm!r} has no open ask: {remedy}")
        else:
            self._place(arm)
            if context is None and self._learnt.context.names:
                remedy = "give the context=… that the reward came in"
                raise UnknownTicketError(f"arm {arm!r} has no open ask: {remedy}")
            asked = Asked(arm, None, self._learnt.context.check(context))
        self._meet(asked.context, [asked.candidate] if asked.candidate is not None else [])
        return asked

    def cancel(self, ticket: int) -> None:
        """Forget an ask whose reward will never come."""
        self._asks.find(ticket)
        del self._asks.open[ticket]

    @property
    def open_tickets(self) -> dict[int, Asked]:
        """Asks whose reward is not told yet."""
        return dict(self._asks.open)

    # Looking

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
        """The policy that chooses."""
        return self._policy

    @property
    def turn(self) -> int:
        """The turn being decided: the rewards told so far, plus one."""
        return self._told + 1

    def beliefs(self, context: Mapping[str, Any] | None = None, level: float = 0.95) -> Table:
        """Per arm, in a context: rewards told, expected reward, the credible interval of its mean
        reward, and the probability of being best. Nothing is changed by looking.

        >>> agent = ContextualAgent(["blue", "red"], context=["country"], seed=7)
        >>> agent.tell("blue", 1, {"country": "FR"})
        >>> agent.beliefs({"country": "FR"})["plays"]
        [1, 0]
        """
        return looking.beliefs(self._copy_in(context), doors.check_level(level))

    def explain(self, context: Mapping[str, Any] | None = None) -> Table:
        """Why this arm in this context: mean and deviation on the scale of φᵀθ, what the belief is
        worth in rewards, and the index, the largest first. Nothing is changed by looking.
        """
        return looking.explanation(self._copy_in(context))

    def reasons(self, arm: Hashable, context: Mapping[str, Any] | None = None) -> Table:
        """Which features speak for an arm in this context, and which against: what each adds to
        φᵀθ beyond the average over all arms, the largest first.
        """
        copy = self._copy_in(context)
        return looking.reasons(copy, copy._place(arm))

    def coefficients(self, level: float = 0.95) -> Table:
        """Every coefficient with its credible interval; those of numbers are per standard deviation
        (`per`) of them.
        """
        return looking.coefficients(self, doors.check_level(level))

    def _copy_in(self, context: Mapping[str, Any] | None) -> ContextualAgent:
        """A copy that has met a context, whose numbers do not count."""
        if not self._arms:
            raise SettingError("this agent has no arms of its own to look at: they are candidates")
        values = self._learnt.context.check(context)
        copy = deepcopy(self)
        copy._learnt.context.meet(values, count=False)
        if len(copy._learnt.context) > len(self._learnt.context):
            copy._grow()
        copy._calls.fill(values)
        return copy

    def __repr__(self) -> str:
        told = f"{self._told} reward{'s' * (self._told != 1)} told"
        arms = f"{len(self._arms)} arm{'s' * (len(self._arms) != 1)}"
        what = f"model={self._model.name!r}, pooling={self._pooling!r}, policy={self._policy!r}"
        return f"ContextualAgent({arms if self._arms else 'candidates'}, {what}, {told})"

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file: a crash leaves the old file or the new one."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        return saving.to_text(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContextualAgent:
        """The agent of a state file, which goes on as if it had never stopped."""
        return cls.from_json(state_file.fetch(path), source=os.fspath(path))

    @classmethod
    def from_json(cls, text: str, *, source: str = "the state") -> ContextualAgent:
        """The agent of a text that `to_json` gave."""
        return saving.from_text(cls, text, source)

    # Calls of kernels

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

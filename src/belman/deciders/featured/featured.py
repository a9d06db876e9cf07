"""The decider along features: one belief for all arms in contexts, or for candidates.

A request is met when it is chosen for or expected: that makes room for new levels, and counts its
numbers. Its reward is learnt whenever that comes.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from belman import chance, codec
from belman.assignment.contexts import Contexts
from belman.assignment.leaves import Leaves
from belman.deciders import validate
from belman.deciders.choosing import Dice, choose_with_shares
from belman.deciders.decider import Among, Asking, Choice, Draw, Plain
from belman.deciders.featured import at_edge, leaves, saving, settings, views
from belman.deciders.featured.arrays import declared_by
from belman.deciders.featured.calls import Calls
from belman.deciders.featured.columns import Columns
from belman.deciders.featured.knowledge import Knowledge
from belman.deciders.featured.slots import CATEGORY
from belman.deciders.featured.wide import WideKnowledge
from belman.deciders.featured.wide_calls import WideCalls
from belman.deciders.independent.independent import IndependentDecider
from belman.deciders.independent.saving import patch as patch_of
from belman.deciders.learnt import Anew, Learnt, Sums, swapped
from belman.deciders.shares import NO_SHARES, Shares
from belman.deciders.totals import InContexts
from belman.errors import ArmError, RewardError, SettingError
from belman.families import Family
from belman.measures.report import Known
from belman.models import Logistic, Model
from belman.policies.dependent import DependentPolicy
from belman.policies.dependent.being_best import MOST_ARMS
from belman.table import Table

#: Asks × coefficients × arms, or coefficients once more, of one batch, which are decided one after
#: another.
MOST_CELLS = 4_000_000
#: Candidates of one request.
MOST_CANDIDATES = 1_000
#: Arms or candidates of which a policy that plays by chance says all chances: an integral each.
MOST_CHANCES = MOST_ARMS
#: The name under which what all candidates brought is counted.
CANDIDATE = "candidate"


class FeaturedDecider(InContexts):
    """Arms or candidates, one belief about their features and contexts, and a policy.

    Parameters
    ----------
    arms
        The names of the arms; none where candidates come with every request.
    features
        Features of every arm, {arm: {name: value}}; or their names alone, for candidates.
    context
        The names of the values that come with a request.
    model
        What rewards are, given features: "linear", "logistic" (the default), "poisson", or one of
        `belman.models`.
    pooling
        What arms share: "shared", "disjoint" or "hybrid"; by default as their features allow.
    interactions
        Pairs of a name of the context and a feature that count together; all by default.
    policy
        One of `belman.policies.dependent`; by default the one that suits the belief.
    scale
        The prior's standard deviation of coefficients; 1 by default.
    minimise
        Whether rewards are costs.
    family
        The family by which averages over contexts are believed; by default that of the model.
    discount
        Below 1, old rewards count less: by this factor at every reward.
    drift
        "auto", to follow changes of any pace.

    >>> decider = FeaturedDecider(["blue", "red"], context=["age"])
    >>> blue = decider.recall("blue", {"age": 31})
    >>> decider.record(blue, 1.0)
    >>> decider.expected(blue) > decider.expected(decider.recall("red", {"age": 31}))
    True
    """

    kind = "featured"

    def __init__(
        self,
        arms: Iterable[Hashable] | None = None,
        *,
        features: Any = None,
        context: Iterable[str] | None = None,
        model: str | Model | None = None,
        pooling: str | None = None,
        interactions: str | Iterable[Sequence[str]] | None = None,
        policy: DependentPolicy | None = None,
        scale: float | None = None,
        minimise: bool = False,
        family: str | Family | None = None,
        discount: float | None = None,
        drift: Any = None,
    ) -> None:
        self._arms: list[Hashable] = []
        for arm in validate.check_names(() if arms is None else arms, "arms"):
            validate.check_new(arm, self._arms)
            self._arms.append(arm)
        self._positions = {arm: position for position, arm in enumerate(self._arms)}
        if self._arms:
            given = settings.check_features(features, self._arms)
            known = settings.check_names(declared_by(given), "features")
        else:
            given, known = {}, settings.check_names(features or (), "features")
            if not known:
                raise ArmError("an agent needs arms, or names of features for candidates")
            pooling = "shared" if pooling is None else pooling
        self.model = settings.check_fading(settings.check_model(model), discount, drift)
        self.pooling = settings.check_pooling(pooling, bool(known))
        self._policy = settings.check_policy(policy, self.pooling, self.model.is_wide)
        self.spread = settings.check_scale(scale)
        self.minimise = settings.check_minimise(minimise, self.model)
        names = settings.check_names(context or (), "context")
        told, slots = settings.slots_for(self.model, self.pooling, names, known)
        pairs = settings.check_interactions(interactions, told.arrays, slots.arrays)
        columns = Columns(self.pooling, pairs)
        kind: Any = WideKnowledge if self.model.is_wide else Knowledge
        self.knowledge: Knowledge = kind(self.model, self.spread, told, slots, columns)
        self._rng = chance.generator(0)
        self._dice = Dice(self._rng)
        self._rows = [slots.check(given[arm]) for arm in self._arms if known]
        settings.check_kinds(self._rows)
        self.knowledge.arms = len(self._arms)
        for row in self._rows:
            slots.meet(row, partial(self.knowledge.room, False))
        slots.renew()
        totals, counted = self._arms or [CANDIDATE], settings.family_of(self.model, family)
        self.totals = IndependentDecider(totals, counted, minimise=self.minimise)
        self.knowledge.grow(len(self._arms))
        self._prepare()

    # What it is

    @property
    def arms(self) -> tuple[Hashable, ...]:
        gone = self.totals.retired
        return tuple(arm for arm in self._arms if arm not in gone) if gone else tuple(self._arms)

    @property
    def rng(self) -> chance.Words:
        return self._rng

    @property
    def policy(self) -> DependentPolicy:
        return self._policy

    def set_policy(self, policy: Any) -> None:
        self._policy = settings.check_policy(policy, self.pooling, self.model.is_wide)
        self._prepare()

    @property
    def context_names(self) -> list[str]:
        """What is told with an ask."""
        return list(self.knowledge.context.arrays.declared)

    @property
    def feature_names(self) -> list[str]:
        """What is known of arms, or comes with candidates."""
        return list(self.knowledge.features.arrays.declared)

    @property
    def features(self) -> dict[Any, dict[str, Any]]:
        """What is known of every arm, as a person gives it."""
        rows = [self.knowledge.features.whole(row) for row in self._rows]
        return dict(zip(self._arms, rows, strict=False))

    @property
    def categories(self) -> list[str]:
        """The names of the context whose values were words so far."""
        kinds = self.knowledge.context.kinds
        return [name for name in self.context_names if kinds.get(name) == CATEGORY]

    @property
    def columns(self) -> int:
        """How many coefficients there are."""
        return self.knowledge.size

    @property
    def quantity(self) -> str:
        """What a person counts."""
        return "expected cost" if self.minimise else "expected reward"

    def inward(self, reward: Any) -> float:
        return self.outward(self.model.check_reward(reward))

    def outward(self, value: float) -> float:
        """Return a mean of the model as a person counts it: a cost of 0 or 1 is one less its
        reward.
        """
        if not self.minimise:
            return value
        return 1.0 - value if isinstance(self.model, Logistic) else -value

    # Asking

    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        values = self.knowledge.context.check(context)
        if (candidates is None) == (not self._arms):
            remedy = "ask(candidates=[…]) is for agents that were made without arms, and only them"
            raise SettingError(f"this agent has {len(self._arms)} arms: {remedy}")
        if candidates is None:
            return Asking(values)
        is_list = isinstance(candidates, Sequence) and not isinstance(candidates, (str, bytes))
        if not is_list or not len(candidates):
            shown = str(candidates)[:80]
            raise SettingError(f"candidates={shown!r} are not valid: give a list of {{…}}")
        if len(candidates) > MOST_CANDIDATES:
            allowed = f"from 1 to {MOST_CANDIDATES:,} in one ask"
            raise SettingError(f"{len(candidates):,} candidates are not allowed: give {allowed}")
        rows = [self.knowledge.features.check(one) for one in candidates]
        settings.check_kinds(rows)
        return Asking(values, rows)

    def check_room(self, asking: Asking, n: int = 1) -> None:
        if n == 1:
            return
        arms = len(self._arms if asking.candidates is None else asking.candidates)
        width = self.knowledge.width
        most = max(MOST_CELLS // (width * max(arms, width)), 1)
        if n > most:
            what = f"{arms:,} arms with {width:,} coefficients"
            words = f"one ask gives at most {most:,} in a context, of {what}: ask for fewer"
            raise SettingError(f"{n:,} were asked for, and {words}")

    def meet(self, asking: Asking, count: bool = True) -> None:
        """Make room for what is new in a request, and `count` its numbers."""
        self._calls.changed()
        if self.knowledge.meet(asking.context or {}, asking.candidates or [], count):
            self._prepare()

    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        for _ in range(n):
            self.meet(asking)
        if n == 1 and (shares is NO_SHARES or not (shares.floored or shares.uniform)):
            result = [self._wish(asking, among)]
        else:
            result = self._choose_beside(asking, n, among, shares)
        for choice in result:
            self.expect(choice)
        return result

    def _choose_beside(self, asking: Asking, n: int, among: Among, shares: Shares) -> list[Choice]:
        """Choose a batch, or beside shares of traffic; the belief is as it was then."""
        names: Sequence[Any] = self.arms
        if asking.candidates is not None:
            names = range(len(asking.candidates))
        kept = self.knowledge.kept() if n > 1 else []

        def imagine(choice: Choice) -> None:
            if kept:
                self._take_in(choice, self._foreseen(choice))

        result = choose_with_shares(
            names,
            n,
            lambda among: self._wish(asking, among),
            imagine,
            lambda arm: self._choice(asking, arm),
            among=among,
            shares=shares,
            candidates=asking.candidates is not None,
            dice=self._dice,
        )
        if kept:
            self.knowledge.go_back(kept)
        return result

    def integrated(self, last: list[Choice]) -> list[Choice]:
        return last

    def chances_of_next(self, asking: Asking, n: int, shares: Shares) -> dict[Any, float]:
        names, _, _ = self.at_hand(asking)
        free, result = shares.free(names), dict.fromkeys(names, 0.0)
        kept = self.knowledge.kept() if n > 1 else []
        for _ in range(n):
            wished = self._wish(asking, free)
            result[wished.arm] += 1.0 / n
            if kept:
                self._take_in(wished, self._foreseen(wished))
        if kept:
            self.knowledge.go_back(kept)
        return shares.beside(result, asking.candidates is not None)

    def at_edge(self, shares: Shares) -> Contexts:
        """Make what a client needs to decide by context itself. Draws are from `rng`.

        Parameters
        ----------
        shares
            Floors, a uniform share and control's share.

        Returns
        -------
        Contexts
            Draws of coefficients, for a weights document.

        Raises
        ------
        StudyError
            If a client could not decide by it: with candidates, arrays or a wide belief.
        """
        return at_edge.contexts(self, shares)

    def in_leaves(self, shares: Shares, floors: Sequence[float], points: int) -> Leaves:
        """Make what a client that knows conditions alone needs: decisions by context in a few
        leaves.

        Parameters
        ----------
        shares
            Floors, a uniform share and control's share.
        floors
            The least chance of every arm, in their order.
        points
            How many points each leaf shares out among the arms.

        Returns
        -------
        Leaves
            The leaves of a tree, for a weights document.
        """
        return leaves.leaves(self, at_edge.contexts(self, shares), floors, points)

    def _choice(self, asking: Asking, arm: Any) -> Choice:
        candidate = None if asking.candidates is None else asking.candidates[arm]
        return Choice(arm, self.turn, context=asking.context, candidate=candidate)

    def _wish(self, asking: Asking, among: Among) -> Choice:
        names, rows, positions = self.at_hand(asking, among)
        turn = self.totals.turn
        chosen, tied, held = self._calls.choose(asking.context or {}, rows, positions, turn)
        known, draw = 1.0 / tied, Draw.POLICY
        if self._by_chance:
            seen = (held["belief"], held["features"], held["sight"])
            known = self._policy.chance(self.knowledge.form.model, *seen, chosen)
            if self._policy.leaves_all_a_chance and known == known:
                draw = Draw.RANDOM
        candidate = None if asking.candidates is None else rows[chosen]
        return Choice(names[chosen], turn, known, draw, asking.context, candidate)

    def at_hand(
        self, asking: Asking, among: Among = None
    ) -> tuple[Sequence[Any], list[dict[str, Any]], list[int]]:
        """Return what can be chosen in a request.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        among
            The arms, or positions of candidates, that are available; None for all.

        Returns
        -------
        tuple of three lists
            Arms or positions of candidates; their features; and the position of each arm among
            those whose coefficients are its own (−1 for a candidate).
        """
        if asking.candidates is not None:
            names: Sequence[Any] = range(len(asking.candidates)) if among is None else among
            return names, [asking.candidates[position] for position in names], [-1] * len(names)
        if among is None and not self.totals.retired:
            return self._everyone
        names = self.arms if among is None else among
        positions = [self._position(arm) for arm in names]
        return names, [self._rows[position] for position in positions if self._rows], positions

    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        decider = self
        if self.knowledge.news(asking.context or {}, asking.candidates or []):
            decider = self.copy()  # a log knows of no look before the choice
            decider.meet(asking, count=False)
        names, rows, positions = decider.at_hand(asking, among)
        chosen, _, held = decider._calls.choose(asking.context or {}, rows, positions, self.turn)
        order = np.argsort(-held["index"], kind="stable").tolist()
        return [names[chosen], *(names[position] for position in order if position != chosen)]

    def chances(self, asking: Asking, shares: Shares) -> dict[Any, float] | None:
        names, rows, positions = self.at_hand(asking)
        names, wished = list(names), dict.fromkeys(names, 0.0)
        _, tied, held = self._calls.choose(asking.context or {}, rows, positions, self.turn)
        if self._by_chance:
            if len(names) > MOST_CHANCES:
                return None
            seen = (held["belief"], held["features"], held["sight"])
            model = self.knowledge.form.model
            for position, name in enumerate(names):
                wished[name] = self._policy.chance(model, *seen, position)
        else:
            best = held["index"] == held["index"].max()
            for position in np.flatnonzero(best).tolist():
                wished[names[position]] = 1.0 / tied
        if not math.fsum(wished.values()) > 0.0:  # or a number that is none
            return None
        return shares.beside(wished, asking.candidates is not None)

    def expect(self, choice: Choice, n: int = 1) -> None:
        self.totals.expect(self._counted(choice), n)

    def _counted(self, choice: Choice) -> Choice:
        """Return a choice as totals count it: all candidates are one."""
        return choice if choice.candidate is None else Choice(CANDIDATE)

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        self.inward(reward)
        self.totals.check_reward(self._counted(choice), reward, self.value(reward))

    def value(self, reward: Any) -> float:
        return -float(reward) if self.minimise else float(reward)

    def settle(self, choice: Choice, reward: float | None) -> None:
        name = self._counted(choice).arm
        if reward is None:
            self.totals.cancel(name)
            return
        value = self.inward(reward)
        self.totals.tell(name, reward, self.value(reward))
        self._take_in(choice, value)

    def expected(self, choice: Choice) -> float:
        """Return the expected reward, or cost, of a choice in a context that was met.

        Parameters
        ----------
        choice
            The choice, from `choose` or `recall`.

        Returns
        -------
        float
            The mean, in the user's units.
        """
        return self.outward(self._foreseen(choice))

    def _take_in(self, choice: Choice, value: float) -> None:
        self._calls.learn(choice.context or {}, *self._side(choice), value)

    def _foreseen(self, choice: Choice) -> float:
        return self._calls.foresee(choice.context or {}, *self._side(choice))

    def _side(self, choice: Choice) -> tuple[int, dict[str, Any] | None]:
        """Return the place of an arm with columns of its own, or the features of a candidate."""
        if choice.candidate is None:
            return self._position(choice.arm), None
        return -1, choice.candidate

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        raise RewardError("rewards along features are learnt one by one, each in its context")

    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        fades = any(form.model.keep < 1.0 for form in self.knowledge.forms)
        if anew is not None:
            whole: Learnt | None = anew.whole
        else:
            taken, put = (None if one is None else self.value(one) for one in (old, new))
            whole = swapped(self.family, self.learnt(self._counted(choice).arm), taken, put)
        if whole is None or (fades and anew is None):
            return None
        since = anew.since if fades and anew is not None else 0
        arm = None if choice.candidate is not None else codec.encode_arm(choice.arm)
        said = [None if one is None else self.inward(one) for one in (old, new)]
        told = [arm, choice.context, choice.candidate, *said, since]
        return {"rewards": [told], "totals": patch_of(self._counted(choice).arm, whole)}

    def take(self, patch: Mapping[str, Any]) -> None:
        for arm, context, candidate, old, new, since in patch["rewards"]:
            name = None if arm is None else codec.decode_arm(arm)
            side = self._side(Choice(name, candidate=candidate))
            rewards = (np.nan if one is None else one for one in (old, new))
            self._calls.replace(context or {}, *side, *rewards, since)
        self.totals.take(patch["totals"])

    # Arms

    def add(self, arm: Hashable, prior: Any = None) -> None:
        if prior is not None:
            raise SettingError(f"arm {arm!r} takes no prior: scale=… is the prior of coefficients")
        if not validate.is_among(arm, self.totals.retired):
            validate.check_new(arm, self._arms)
            if not self._arms or self.feature_names:
                remedy = "features=[names] without arms makes a decider of candidates"
                raise ArmError(f"arm {arm!r} has no features here: {remedy} that come and go")
            self.knowledge.grow(len(self._arms) + 1)
            self._positions[arm] = len(self._arms)
            self._arms.append(arm)
            self._prepare()
        self.totals.add(arm)

    def retire(self, arm: Hashable) -> None:
        self.totals.retire(arm)

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        if asking is not None:
            remedy = "it is over all of them, and beliefs(context=…) says what is known in one"
            raise SettingError(f"a report along features is of no context: {remedy}")
        return self.totals.known()

    def beliefs(self, asking: Asking | None, level: float) -> Table:
        if asking is None:
            return self.totals.beliefs(level=level)
        return views.beliefs(self.copy(), asking, level)

    def explain(self, asking: Asking) -> Table:
        return views.explanation(self.copy(), asking)

    def reasons(self, arm: Any, asking: Asking) -> Table:
        """Tabulate which features speak for an arm in a context, and which against.

        Parameters
        ----------
        arm
            The name of the arm, or the position of a candidate.
        asking
            The request, as `check` returns it.

        Returns
        -------
        Table
            A row for each feature.
        """
        return views.reasons(self.copy(), arm, asking)

    def coefficients(self, level: float, most: int | None = None) -> Table:
        """Tabulate the coefficients.

        Parameters
        ----------
        level
            The probability of credible intervals.
        most
            How many coefficients at most, the first ones; None for all.

        Returns
        -------
        Table
            A row for each coefficient, with its credible interval.
        """
        return views.coefficients(self, level, most)

    # Keeping

    def copy(self) -> FeaturedDecider:
        return copy.deepcopy(self)

    def lay_out(self) -> None:
        """Do nothing: policies along features keep nothing between decisions."""

    def state(self, working: bool = False) -> Plain:
        return saving.to_plain(self)

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> FeaturedDecider:
        return saving.from_plain(cls, state, source, replaced.get("policy"))

    # Calls of kernels

    def _prepare(self) -> None:
        make: Any = WideCalls if isinstance(self.knowledge, WideKnowledge) else Calls
        self._calls: Any = make(self.knowledge, self._policy, self._rows, self._rng)
        self._by_chance = self._policy.by_chance
        self._everyone = (tuple(self._arms), self._rows, list(range(len(self._arms))))

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        apart = ("_calls", "_dice")
        return {name: part for name, part in vars(self).items() if name not in apart}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._dice = Dice(self._rng)
        self._prepare()

    def _position(self, arm: Hashable) -> int:
        try:
            return self._positions[arm]
        except (KeyError, TypeError):
            raise validate.unknown_arm(arm, self._arms) from None

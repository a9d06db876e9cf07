"""ask / tell for arms with features, and in contexts: one belief for all of them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from belman.agent import doors, state_file
from belman.agent.contextual import looking, saving
from belman.agent.contextual.mind import Asking, ContextualMind
from belman.agent.contextual.open_asks import Asked, OpenAsks
from belman.errors import ArmError, SettingError, TicketError, UnknownTicketError
from belman.table import Table


class ContextualAgent(ContextualMind):
    """Decides which arm to try in a context, from what all arms and contexts have in common.

    `arms` are names; `features` what is known of them, {arm: {name: value}} or a data frame; or
    `features` are names alone, and arms are candidates that come with every ask. `context` names
    what is told with an ask. Values are numbers, which are standardised as they come, or
    categories, whose levels need not be known; what is missing is told by None. `model` says what
    rewards are ("linear", "logistic", "poisson", or one of `belman.models`), and `pooling` what
    arms share: "disjoint" (every arm answers contexts in its own way), "shared" (features say
    all), or "hybrid" (both, and how much is an arm's own is learnt). `interactions` lists pairs of
    a name of the context and a feature that count together, or says them as "country:price +
    hour:price"; all do, unless they are given. `scale` is the prior's standard deviation of
    coefficients. With `minimise` rewards are costs, linear ones or of 0 to 1.

    >>> agent = ContextualAgent(["blue", "red"], context=["country", "age"], seed=7)
    >>> arm = agent.ask(context={"country": "FR", "age": 31})
    >>> agent.tell(arm, 1)
    >>> agent
    ContextualAgent(2 arms, model='logistic', pooling='disjoint', ... 1 reward told)
    """

    @cached_property
    def _asks(self) -> OpenAsks:
        return OpenAsks()

    # Asking

    def ask(
        self,
        context: Mapping[str, Any] | None = None,
        n: int | None = None,
        *,
        candidates: Sequence[Mapping[str, Any]] | None = None,
        among: Iterable[Hashable] | None = None,
        top: int | None = None,
    ) -> Any:
        """The arm to try in this context; the place of one of the `candidates`, for an agent
        without arms; or with `n` a batch of so many; or with `top` a list of so many different
        ones, those with the largest indices, best first.

        Those of a batch are chosen as if each that is out had brought what is expected of it, so
        that it spreads. `among` names the arms that are available. The reward is told by the arm,
        or by `agent.ticket` of this ask.

        >>> agent = ContextualAgent(features=["price", "colour"], model="linear", seed=7)
        >>> agent.ask(candidates=[{"price": 5, "colour": "red"}, {"price": 7, "colour": "blue"}])
        1
        """
        if n is not None and top is not None:
            raise SettingError(f"n={n!r} and top={top!r}: a batch, or a ranked list, and not both")
        asking, places = self.check(context, candidates), self._available(among)
        batch = None if n is None else doors.check_count(n)
        most = None if top is None else doors.check_count(top, f"ask(top={top!r})")
        self.meet(asking)
        if most is not None:
            order = self.rank(asking, places)[:most]
        else:
            order = [chosen.place for chosen in self.choose(asking, batch or 1, places)]
        found = []
        for place in order:
            candidate = None if asking.candidates is None else asking.candidates[place]
            arm = self._arms[place] if candidate is None else place
            self._asks.add(Asked(arm, candidate, asking.context))
            found.append(arm)
        return found[0] if batch is None and most is None else found

    @property
    def ticket(self) -> int:
        """The ticket of the last ask (of the last of a list: those before are one less each)."""
        if not self._asks.given:
            raise TicketError("nothing was asked yet: there is no ticket")
        return self._asks.given - 1

    def _available(self, among: Iterable[Hashable] | None) -> list[int] | None:
        """The places of the arms that are named."""
        if among is None:
            return None
        places = sorted({self._place(arm) for arm in doors.check_names(among, "among")})
        if not places:
            raise ArmError("among is empty: name at least one arm that is available")
        return places

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
        value = self.inward(reward)
        used = ticket
        if ticket is None and context is None and not isinstance(arm, Mapping):
            used = self._asks.oldest(arm)
        if used is None:
            asking, place = self._unasked(arm, context)
            self.meet(asking)
        else:
            asked = self._asks.find(used, arm)
            one = None if asked.candidate is None else [asked.candidate]
            asking, place = Asking(asked.context, one), 0 if one else self._place(asked.arm)
        self.learn(asking, place, value)
        if used is not None:
            del self._asks.open[used]

    def _unasked(self, arm: Any, context: Mapping[str, Any] | None) -> tuple[Asking, int]:
        if isinstance(arm, Mapping) and not self._arms:
            return self.check(context, [arm]), 0
        if not self._arms:
            remedy = "give ticket=…, or the features of the candidate in place of the arm"
            raise UnknownTicketError(f"candidate {arm!r} has no open ask: {remedy}")
        place = self._place(arm)
        if context is None and self._learnt.context.names:
            remedy = "give the context=… that the reward came in"
            raise UnknownTicketError(f"arm {arm!r} has no open ask: {remedy}")
        return self.check(context), place

    def cancel(self, ticket: int) -> None:
        """Forget an ask whose reward will never come."""
        self._asks.find(ticket)
        del self._asks.open[ticket]

    @property
    def open_tickets(self) -> dict[int, Asked]:
        """Asks whose reward is not told yet."""
        return dict(self._asks.open)

    # Looking

    def beliefs(
        self,
        context: Mapping[str, Any] | None = None,
        level: float = 0.95,
        *,
        candidates: Sequence[Mapping[str, Any]] | None = None,
    ) -> Table:
        """Per arm, in a context: rewards told, expected reward, the credible interval of its mean
        reward, and the probability of being best; or per candidate, by its place. Nothing is
        changed by looking.

        >>> agent = ContextualAgent(["blue", "red"], context=["country"], seed=7)
        >>> agent.tell("blue", 1, {"country": "FR"})
        >>> agent.beliefs({"country": "FR"})["plays"]
        [1, 0]
        """
        return looking.beliefs(self._copy_in(context, candidates), doors.check_level(level))

    def explain(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        candidates: Sequence[Mapping[str, Any]] | None = None,
    ) -> Table:
        """Why this arm in this context: mean and deviation on the scale of φᵀθ, what the belief is
        worth in rewards, the index, the largest first, and the feature that speaks most `for` the
        arm and that which speaks most `against` it (`reasons` has all). Nothing is changed by
        looking.
        """
        return looking.explanation(self._copy_in(context, candidates))

    def reasons(
        self,
        arm: Hashable,
        context: Mapping[str, Any] | None = None,
        *,
        candidates: Sequence[Mapping[str, Any]] | None = None,
    ) -> Table:
        """Which features speak for an arm in this context, and which against: what each adds to
        φᵀθ beyond the average over all arms, the largest first. A candidate is named by its place.

        >>> agent = ContextualAgent(features=["price"], model="linear", seed=7)
        >>> for price in (3.0, 5.0, 9.0, 4.0):
        ...     agent.tell(agent.ask(candidates=[{"price": price}]), 10.0 - price)
        >>> why = agent.reasons(1, candidates=[{"price": 8.0}, {"price": 4.0}])
        >>> why["feature"], why["speaks for it"][0] > 0
        (['price', 'constant'], True)
        """
        copy = self._copy_in(context, candidates)
        return looking.reasons(copy, copy._place(arm))

    def coefficients(self, level: float = 0.95, most: int | None = None) -> Table:
        """Every coefficient with its credible interval, or the first so many; those of numbers are
        per standard deviation (`per`) of them.
        """
        return looking.coefficients(self, doors.check_level(level), most)

    def _copy_in(
        self, context: Mapping[str, Any] | None, candidates: Sequence[Mapping[str, Any]] | None
    ) -> ContextualAgent:
        """A copy that has met a context, whose numbers do not count, and has candidates as arms."""
        if not self._arms and candidates is None:
            raise SettingError("this agent has no arms of its own to look at: give candidates=[…]")
        asking, copy = self.check(context, candidates), deepcopy(self)
        copy.meet(asking, count=False)
        if asking.candidates is not None:
            copy._take_for_arms(asking.candidates)
        copy._calls.fill(asking.context)
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

"""ask / tell for a person: names, checks, beliefs one can look at, and state one can trust."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.agent import saving
from belman.agent.agent_views import AgentViews
from belman.agent.features import Functions
from belman.agent.making import decider_of, functions_of
from belman.agent.saving import OpenAsks
from belman.deciders import (
    Asking,
    Choice,
    Decider,
    IndependentDecider,
    SegmentedDecider,
    state_file,
    validate,
)
from belman.errors import ArmError, SettingError, TicketError, UnknownTicketError
from belman.exposure import Exposure
from belman.families import Family
from belman.measures.stop_rules import StopRule, check_rule
from belman.models import Model
from belman.policies import Drift, Policy
from belman.policies.dependent import DependentPolicy

if TYPE_CHECKING:  # it takes a while to import
    from belman.deciders.box.box import Box

Kind = TypeVar("Kind", bound=Decider)
Given = Any  # values by name, or what the functions of a `Features` take


class Agent(AgentViews):
    """Decides, turn by turn, which arm to try.

    Parameters
    ----------
    arms
        Names of any hashable kind. Not given, arms are `candidates` that come with every ask (give
        `features` their names), or points of a `space`.
    family
        What a reward is, a name or a Family: Bernoulli by default, or bounded where a `range` is
        given.
    policy
        The algorithm that chooses, a name or one of `belman.policies`: BelMan by default.
    prior, priors
        The belief about every arm at first, and that about single ones by name.
    range, clip
        The two ends of rewards, by default of no distribution in particular. Rewards beyond are
        refused, or with `clip=True` taken for the end they lie beyond and counted (`clipped`).
    minimise
        Whether rewards are costs.
    discount, last, drift
        For a world that changes: a discount below 1 lets beliefs fade towards their priors at every
        reward, with `last` only that many of the newest rewards count, and `drift="auto"` (or a
        `belman.policies.Drift`) follows changes of any pace and says what it noticed (`changes`).
    start
        What is known before the first turn: another agent, the file of a saved one, or
        {arm: (plays, sum of rewards)}; arms and turns that it knows count as this agent's own.
    segments
        Names of what a context tells, such as ("country", "device"): every arm is believed per
        segment, and a segment borrows from the others as much as that foretells its rewards.
    context, features, model, pooling, interactions, scale
        One belief for all arms along features. `context` lists the names of an ask's values;
        `features` describes arms, {arm: {name: value}} or a data frame, or lists names alone where
        arms are candidates. Values are numbers, which are standardised as they come, or categories,
        whose levels need not be known; None is for what is missing. "text[384]" names an array of
        384 numbers, and "words[]" a list of words, or {word: number}, for models with
        `covariance="diagonal"`, which have a variance for each of any number of coefficients. A
        `belman.agent.Features` in place of names is a function, or a model of scikit-learn, that
        contexts or candidates go through; `features` may be a function of the arm. `model` says
        what rewards are
        ("linear", "logistic", "poisson", or one of `belman.models`), and `pooling` what arms
        share: "disjoint" (every arm answers contexts in its own way), "shared" (features say all),
        or "hybrid" (both, and how much is an arm's own is learnt). `interactions` lists pairs of a
        name of the context and a feature that count together, or says them as "country:price +
        hour:price"; all do by default. `scale` is the prior's standard deviation of coefficients.
    space
        A `belman.Box` with one to ten sides: arms are its points, and the best of them may depend
        on a `context`.
    control, stop_when
        The arm that others are held against in `report`, and the rule by which `verdict` says
        whether one may stop.
    seed
        A whole number; the same seed gives the same choices.

    >>> agent = Agent(["blue", "green", "red"], seed=7)
    >>> for reward in (0, 1, 1):
    ...     arm = agent.ask()
    ...     agent.tell(arm, reward)
    >>> agent
    Agent(3 arms, family='bernoulli', policy=BelMan(exposure=Evidence(...), ...), 3 rewards told)
    >>> agent = Agent(["blue", "red"], context=["country", "age"], seed=7)
    >>> arm = agent.ask(context={"country": "FR", "age": 31})
    >>> agent.tell(arm, 1)
    >>> agent
    Agent(2 arms, model='logistic', pooling='disjoint', policy=..., 1 reward told)
    """

    def __init__(
        self,
        arms: Iterable[Hashable] | None = None,
        family: str | Family | None = None,
        policy: str | Policy | DependentPolicy | None = None,
        *,
        prior: ArrayLike | None = None,
        priors: Mapping[Any, ArrayLike] | None = None,
        range: tuple[float, float] | None = None,
        clip: bool | None = None,
        minimise: bool | None = None,
        discount: float | None = None,
        drift: str | Drift | None = None,
        last: int | None = None,
        start: Agent | str | os.PathLike[str] | Mapping[Any, Sequence[float]] | None = None,
        segments: Sequence[str] | None = None,
        context: Any = None,
        features: Any = None,
        model: str | Model | None = None,
        pooling: str | None = None,
        interactions: str | Iterable[Sequence[str]] | None = None,
        scale: float | None = None,
        space: Box | None = None,
        control: Hashable | None = None,
        stop_when: StopRule | None = None,
        seed: int | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        for name in ("control", "stop_when", "seed"):
            del given[name]
        words = chance.generator(validate.check_seed(seed))
        functions = functions_of(given)
        given["policy"] = validate.policy_named(policy)
        self._begin(decider_of(given, words), words, functions)
        self.control = control
        self.stop_when = stop_when

    def _begin(
        self, decider: Decider, words: chance.Words, functions: Functions | None = None
    ) -> None:
        self._decider = decider
        self._functions = functions or Functions()
        decider.rng[:] = words
        self._asks = None if isinstance(decider, IndependentDecider) else OpenAsks()
        # what the last ask chose: the first parts of one choice, or a list
        self._one: tuple[Any, ...] | None = None
        self._many: list[Choice] = []
        self._control: Hashable | None = None
        self._stop_when: StopRule | None = None

    # Asking

    def ask(
        self,
        n: int | None = None,
        *,
        context: Given | None = None,
        candidates: Sequence[Given] | None = None,
        among: Iterable[Hashable] | None = None,
        top: int | None = None,
    ) -> Any:
        """Choose the arm to try now.

        Asks whose reward is not told yet count as observed at their expected statistic, so that a
        batch spreads over the arms. While there are any, or in a batch, arms that were never tried
        come first.

        Parameters
        ----------
        n
            The size of a batch; by default one arm that is no list.
        context
            Values by name, where the agent has contexts or segments.
        candidates
            Features of each candidate, where arms are candidates. Their places are returned.
        among
            The names of the arms that are available; by default all.
        top
            How many different arms to rank by their indices, best first, in place of a batch.

        Returns
        -------
        arm, or a list of arms
            A name, a point of a box or the place of a candidate; a list where `n` or `top` is
            given.

        Raises
        ------
        ArmError
            If `among` names an arm that is not in play, or none.
        SettingError
            If a context or candidates are missing, or not those of this agent.

        >>> agent = Agent(features=["price", "colour"], model="linear", seed=7)
        >>> agent.ask(candidates=[{"price": 5, "colour": "red"}, {"price": 7, "colour": "blue"}])
        0
        """
        decider = self._decider
        plain = n is None and context is None and candidates is None and among is None
        if plain and top is None and isinstance(decider, IndependentDecider):
            self._one = decider.choose_one()
            return self._one[0]
        self._one = None
        if n is not None and isinstance(n, Mapping):
            raise SettingError(f"ask({n!r}) is not valid: a context has its name, ask(context=…)")
        if n is not None and top is not None:
            raise SettingError(f"n={n!r} and top={top!r}: a batch, or a ranked list, and not both")
        asking = self._checked(context, candidates)
        count = 1 if n is None else validate.check_count(n)
        most = None if top is None else validate.check_count(top, f"ask(top={top!r})")
        some = None if among is None else self._available(among)
        if count > 1:
            decider.check_room(asking, count)
        if most is None:
            chosen = decider.choose(asking, count, some)
        else:
            chosen = self._ranked(asking, some, most)
        self._many = chosen
        if self._asks is not None:
            for choice in chosen:
                if (lost := self._asks.add(choice)) is not None:
                    decider.settle(lost, None)
        # a point is the caller's, who may change it
        arms = [copy(arm) if isinstance(arm := one.arm, dict) else arm for one in chosen]
        return arms[0] if n is None and most is None else arms

    def _ranked(self, asking: Asking, among: list[Hashable] | None, most: int) -> list[Choice]:
        """Choose the arms with the largest indices, outstanding from now on."""
        decider, result = self._decider, []
        decider.meet(asking)
        for arm in decider.rank(asking, among)[:most]:
            candidate = None if asking.candidates is None else asking.candidates[arm]
            result.append(Choice(arm, decider.turn, context=asking.context, candidate=candidate))
            decider.expect(result[-1])
        return result

    def _available(self, among: Iterable[Hashable]) -> list[Hashable]:
        """Return the arms in play that are named, in their order."""
        named = set()
        for arm in validate.check_names(among, "among"):
            if not validate.is_among(arm, self._decider.arms):
                raise validate.unknown_arm(arm, self._decider.arms)
            named.add(arm)
        if not named:
            raise ArmError("among is empty: name at least one arm that is available")
        return [arm for arm in self._decider.arms if arm in named]

    @property
    def last(self) -> list[Choice]:
        """Return what the last `ask` chose, with the probability of each choice, which replays of a
        log need.

        >>> agent = Agent(["blue", "red"], seed=1)
        >>> arm = agent.ask()
        >>> agent.last[0].probability
        0.5
        """
        chosen = self._many if self._one is None else [Choice(*self._one)]
        return self._decider.integrated(chosen)

    @property
    def probabilities(self) -> list[float]:
        """The probabilities alone with which the policy made the choices of the last `ask`."""
        return [choice.probability for choice in self.last]

    @property
    def ticket(self) -> int:
        """Return the ticket of the last ask, where the agent has segments, contexts or a box. The
        tickets of a list are consecutive numbers that end in this one.
        """
        asks = self._tickets()
        if not asks.given:
            raise TicketError("nothing was asked yet: there is no ticket")
        return asks.given - 1

    @property
    def open_tickets(self) -> dict[int, Choice]:
        """Asks whose reward is not told yet, where the agent has segments, contexts or a box."""
        return dict(self._tickets().open)

    def _tickets(self) -> OpenAsks:
        if self._asks is None:
            raise SettingError("this agent has no tickets: rewards are told by the arm")
        return self._asks

    # Telling

    def tell(
        self,
        arm: Any = None,
        reward: float | None = None,
        context: Given | None = None,
        *,
        ticket: int | None = None,
    ) -> None:
        """Learn the reward of an arm. Rewards may come late, out of order, and from arms that were
        not asked for.

        Parameters
        ----------
        arm
            The name of the arm, a point of a box, or the place of a candidate. With its features in
            place of a candidate, a reward that nobody asked for.
        reward
            The reward.
        context
            The context of a reward that nobody asked for.
        ticket
            The ticket of the ask, where the agent has segments, contexts or a box; by default the
            oldest open ask of the arm.

        Raises
        ------
        ArmError
            If the arm is unknown.
        RewardError
            If the family does not allow the reward.
        UnknownTicketError
            If no ask of this ticket or arm is open and no context is given.
        """
        decider = self._decider
        if self._asks is not None or not isinstance(decider, IndependentDecider):
            told = self._functions.context(context)
            self._tell_in_context(self._functions.candidate(arm), reward, told, ticket)
            return
        if ticket is not None:
            self._tickets()
        if context is not None:
            decider.check(context)
        decider.tell(arm, reward)

    def _tell_in_context(
        self, arm: Any, reward: float | None, context: Given | None, ticket: int | None
    ) -> None:
        if reward is None:
            raise SettingError("tell(…) needs a reward: tell(arm, reward)")
        decider, asks = self._decider, self._tickets()
        used, of_candidates = ticket, self._is_of_candidates
        if ticket is None and not (of_candidates and isinstance(arm, Mapping)):
            some: Any = [{}] if of_candidates else None
            where = None if context is None else decider.check(context, some).context
            used = next(asks.of(arm, where), None)
        if used is None:
            choice = self._unasked(arm, context)
            one = None if choice.candidate is None else [choice.candidate]
            decider.inward(reward)
            decider.check_room(Asking(choice.context, one))
            decider.record(choice, reward)
        else:
            choice = asks.find(used, arm)
            decider.settle(choice, reward)
            del asks.open[used]

    def _unasked(self, arm: Any, context: Given | None) -> Choice:
        decider = self._decider
        if self._is_of_candidates:
            if isinstance(arm, Mapping):
                return decider.recall(0, context, arm)
            remedy = "give ticket=…, or the features of the candidate in place of the arm"
            raise UnknownTicketError(f"candidate {arm!r} has no open ask: {remedy}")
        if decider.kind == "box":
            self._box().space.position(arm)
        elif not validate.is_among(arm, decider.arms):
            raise validate.unknown_arm(arm, decider.arms)
        names = getattr(decider, "context_names", True)
        if context is None and names:
            remedy = "give the context=… that the reward came in"
            what = "point" if decider.kind == "box" else "arm"
            raise UnknownTicketError(f"{what} {arm!r} has no open ask: {remedy}")
        return decider.recall(arm, context)

    def cancel(self, arm: Any = None, asks: int = 1, *, ticket: int | None = None) -> None:
        """Forget asks whose rewards will never come.

        Parameters
        ----------
        arm
            The name of an arm.
        asks
            How many of its outstanding asks, the oldest first.
        ticket
            The ticket of one ask, in place of an arm.

        Raises
        ------
        ArmError
            If the arm has not that many outstanding asks.
        """
        count = validate.check_count(asks, f"cancel(asks={asks!r})")
        if isinstance(self._decider, IndependentDecider) and ticket is None:
            self._decider.cancel(arm, count)
            return
        open_asks = self._tickets()
        result = list(islice(open_asks.of(arm), count)) if ticket is None else [ticket]
        if ticket is None and len(result) < count:
            raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
        for one in result:
            self._decider.settle(open_asks.find(one, arm), None)
            del open_asks.open[one]

    @property
    def provisional(self) -> dict[Hashable, tuple[float, ...]]:
        """Return successes and failures per arm that count and are not learnt: they may be replaced
        at any time, and are not saved.

        They stand for outstanding asks of which something is known before their reward is:
        decisions, beliefs and advice count them, and imagine only the rest of these asks. For
        rewards of 0 and 1; set {arm: (successes, failures)}, and all other arms have none. A third
        number is the relative variance of these counts, an uncertainty that all arms share:
        intervals include it, and comparisons do not.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.provisional = {"red": (0.0, 2.5)}
        >>> agent.belief("red")
        (1.0, 3.5)
        """
        decider = self._as(IndependentDecider, "provisional counts")
        rows = zip(decider.arms, decider.provisional.tolist(), strict=True)
        return {arm: tuple(row) for arm, row in rows if any(row)}

    @provisional.setter
    def provisional(self, counts: Mapping[Any, ArrayLike]) -> None:
        decider = self._as(IndependentDecider, "provisional counts")
        given = validate.check_provisional(counts, decider.family)
        result = np.zeros((len(decider.arms), 3))
        for arm, pair in given.items():
            belief = decider.learnt(arm).belief
            result[decider.arms.index(arm)] = validate.check_counts(arm, pair, belief)
        decider.count_provisionally(result)

    # Arms

    def add_arm(self, arm: Hashable, prior: ArrayLike | None = None) -> None:
        """Add a new arm, or bring back a retired one with what was learnt of it.

        Parameters
        ----------
        arm
            The name of the arm.
        prior
            The belief about it at first; by default that of the agent. A retired arm that is given
            one begins anew.

        Raises
        ------
        ArmError
            If the arm is in play already.
        """
        self._decider.add(arm, prior)

    def retire_arm(self, arm: Hashable, *, forget: bool = False) -> None:
        """Stop playing an arm; rewards of its outstanding asks still count, and `add_arm` brings it
        back.

        Parameters
        ----------
        arm
            The name of the arm.
        forget
            Whether to forget what was learnt of it.

        Raises
        ------
        ArmError
            If the arm is unknown, the last one, or the control.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> agent.retire_arm("red")
        >>> agent.add_arm("red")
        >>> agent.belief("red")
        (2.0, 1.0)
        """
        if self._control is not None and validate.is_among(arm, [self._control]):
            remedy = "set agent.control to another arm, or to None, first"
            raise ArmError(f"arm {arm!r} is the control: {remedy}")
        decider = self._as(IndependentDecider, "arms to forget") if forget else self._decider
        decider.retire(arm)
        if forget:
            del decider.retired[arm]  # type: ignore[attr-defined]

    # Time

    @property
    def time(self) -> float:
        """Return the seconds since some fixed moment, for a policy that goes by the clock
        (`belman.policies.Drift(half_life=…)`); set it before every `ask` and `tell`. It never goes
        back.

        >>> from datetime import timedelta
        >>> agent = Agent(["blue", "red"], drift=Drift(half_life=timedelta(days=7)), seed=7)
        >>> agent.time = 1_700_000_000.0
        """
        return getattr(self._decider, "time", 0.0)

    @time.setter
    def time(self, seconds: float) -> None:
        checked = validate.check_time(seconds)
        if isinstance(self._decider, (IndependentDecider, SegmentedDecider)):
            self._decider.time = checked

    # The policy

    @property
    def policy(self) -> Any:
        """The policy; another may take over at any turn, with all that was learnt."""
        return self._decider.policy

    @policy.setter
    def policy(self, policy: str | Policy | DependentPolicy) -> None:
        self._decider.set_policy(validate.policy_named(policy))

    @property
    def exposure(self) -> Exposure:
        """How greedy BelMan is, when; another may be set at any turn, with all that was learnt.

        >>> from belman import BelMan
        >>> from belman.exposure import Infinite, Paper
        >>> agent = Agent(["blue", "red"], policy=BelMan(Infinite()), seed=7)
        >>> agent.tell("blue", 1)
        >>> agent.exposure = Paper()
        >>> agent
        Agent(2 arms, family='bernoulli', policy=BelMan(exposure=Paper(C=15.0, ...), 1 reward told)
        """
        return validate.check_exposed(self.policy).schedule

    @exposure.setter
    def exposure(self, exposure: Exposure | Callable[[int], float]) -> None:
        self.policy = replace(validate.check_exposed(self.policy), exposure=exposure)

    # The verdict

    @property
    def control(self) -> Hashable | None:
        """Return the arm that the others are compared with, if any; another one may be set at any
        turn.
        """
        return self._control

    @control.setter
    def control(self, arm: Hashable | None) -> None:
        if arm is not None and not validate.is_among(arm, self._decider.arms):
            raise validate.unknown_arm(arm, self._decider.arms)
        self._control = arm

    @property
    def stop_when(self) -> StopRule | None:
        """Return the rule by which `verdict` says whether to stop; another one may be set."""
        return self._stop_when

    @stop_when.setter
    def stop_when(self, rule: StopRule | None) -> None:
        self._stop_when = check_rule(rule)

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file: a crash leaves the old file or the new one.

        Parameters
        ----------
        path
            The file.
        """
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """Return the whole state as text.

        Returns
        -------
        str
            JSON, for `from_json`.
        """
        return saving.to_text(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **replaced: Any) -> Agent:
        """Read the agent of a state file; it makes the same choices as the agent that was saved.

        Parameters
        ----------
        path
            The file.
        replaced
            Arguments of `from_json`, in place of what the file holds.

        Returns
        -------
        Agent
            The agent.

        Raises
        ------
        StateError
            If the file is damaged, or no state file.
        """
        return cls.from_json(state_file.fetch(path), source=os.fspath(path), **replaced)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        source: str = "the state",
        arms: Sequence[Hashable] | None = None,
        family: Family | None = None,
        policy: Policy | None = None,
        context: Any = None,
        features: Any = None,
    ) -> Agent:
        """Return the agent of a text that `to_json` gave.

        Parameters
        ----------
        text
            The text.
        source
            What messages call the text.
        arms
            Names in place of those of the text; needed where JSON has no such names.
        family
            A family in place of that of the text; needed where it is one of your own.
        policy
            A policy in place of that of the text; needed where it is one of your own, or has an
            exposure that is a function.
        context
            The function, or model, that contexts go through; needed where there was one.
        features
            The function, or model, that candidates go through; needed where there was one.

        Returns
        -------
        Agent
            The agent.

        Raises
        ------
        StateError
            If the text is damaged, or no state.
        """
        replaced = {"arms": arms, "family": family, "policy": policy}
        replaced |= {"context": context, "features": features}
        given = {name: part for name, part in replaced.items() if part is not None}
        return saving.from_text(cls, text, source, given)


def agent_of(decider: Decider) -> Agent:
    """Return an agent that decides by an existing decider."""
    agent = Agent.__new__(Agent)
    agent._begin(decider, chance.generator(0))
    return agent

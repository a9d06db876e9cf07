"""ask / tell for a person: names, checks, beliefs one can look at, and state one can trust."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.agent import saving
from belman.agent.features import Functions
from belman.agent.making import decider_of, functions_of
from belman.agent.saving import OpenAsks
from belman.deciders import (
    Asking,
    Choice,
    Decider,
    FeaturedDecider,
    IndependentDecider,
    SegmentedDecider,
    state_file,
    validate,
)
from belman.deciders.independent import views
from belman.deciders.shares import Shares, check_floor
from belman.errors import ArmError, SettingError, TicketError, UnknownTicketError, shown
from belman.exposure import Exposure
from belman.families import Family
from belman.measures.report import Report, report
from belman.measures.stop_rules import StopRule, Verdict, check_rule
from belman.models import Model
from belman.policies import Drift, Policy
from belman.policies.best_arm.stopping import check_rule as check_threshold
from belman.policies.best_arm.stopping import confidence_of
from belman.policies.dependent import DependentPolicy
from belman.table import Table

if TYPE_CHECKING:  # it takes a while to import
    from belman.deciders.box.box import Box
    from belman.deciders.box.box_decider import BoxDecider

Kind = TypeVar("Kind", bound=Decider)
Given = Any  # values by name, or what the functions of a `Features` take


class Agent:
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
        if isinstance(n, Mapping):
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
        decider, found = self._decider, []
        decider.meet(asking)
        for arm in decider.rank(asking, among)[:most]:
            candidate = None if asking.candidates is None else asking.candidates[arm]
            found.append(Choice(arm, decider.turn, context=asking.context, candidate=candidate))
            decider.expect(found[-1])
        return found

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
    def outstanding(self) -> dict[Hashable, int]:
        """Asks whose reward is not told yet, per arm; in a box by the numbers of the point."""
        return getattr(self._decider, "outstanding", {})

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

    def weights(
        self,
        n: int,
        *,
        context: Given | None = None,
        floor: float | Mapping[Any, float] | None = None,
    ) -> dict[Any, float]:
        """Compute the weights of the arms for the next `n` decisions: the shares in which the
        policy would play them if nothing were learnt meanwhile. The agent is not changed.

        They are those of `ask(n)`, found without asking n times; with n = 1 they are the
        probabilities with which the policy plays each arm now. Policies that draw, such as Thompson
        sampling, keep the probabilities that they have now. A warning says where weights are far
        surer than what was observed.

        Parameters
        ----------
        n
            For how many decisions.
        context
            The segment, where the agent has segments.
        floor
            The least weight of every arm, or {arm: least weight}: w = floor + (1 − Σ floor)·share.

        Returns
        -------
        dict
            Weights by arm, which add up to 1.

        >>> agent = Agent(["blue", "red"], start={"blue": (90, 30), "red": (60, 18)}, seed=7)
        >>> {arm: round(weight, 3) for arm, weight in agent.weights(1_000, floor=0.05).items()}
        {'blue': 0.749, 'red': 0.251}
        """
        count = validate.check_count(n, f"weights({shown(n)})")
        inner = self._believed_apart("weights", context)
        shares = Shares(check_floor(floor or None, inner.arms))
        shares.check(inner.arms)
        found = inner.weights(Asking(), count, shares)
        if caution := inner.caution(Asking(), found, count):
            warnings.warn(caution, UserWarning, stacklevel=2)
        return found

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
        if not isinstance(decider, IndependentDecider):
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
        used = ticket
        if ticket is None and not (self._is_of_candidates and isinstance(arm, Mapping)):
            some: Any = [{}] if self._is_of_candidates else None
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
            self._box().space.place(arm)
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
        found = list(islice(open_asks.of(arm), count)) if ticket is None else [ticket]
        if ticket is None and len(found) < count:
            raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
        for one in found:
            self._decider.settle(open_asks.find(one, arm), None)
            del open_asks.open[one]

    @property
    def clipped(self) -> int:
        """How many rewards lay beyond the range and were taken for its end (`clip=True`).

        >>> agent = Agent(["blue", "red"], range=(0, 100), clip=True, seed=7)
        >>> agent.tell("blue", 250)
        >>> agent.clipped
        1
        """
        return getattr(self._decider, "clipped", 0)

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
        found = np.zeros((len(decider.arms), 3))
        for arm, pair in given.items():
            belief = decider.learnt(arm).belief
            found[decider.arms.index(arm)] = validate.check_counts(arm, pair, belief)
        decider.count_provisionally(found)

    # Arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The names of the arms in play, in order."""
        return self._decider.arms

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

    # Looking

    @property
    def family(self) -> Family:
        """What a reward is (mirrored, if this agent minimises)."""
        if self._decider.kind == "box":
            raise SettingError("the rewards of a box are any numbers: they are of no family")
        return self._decider.family  # type: ignore[attr-defined]

    @property
    def model(self) -> Model:
        """What rewards are along features."""
        return self._as(FeaturedDecider, "a model").model

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

    @property
    def turn(self) -> int:
        """The turn being decided: the rewards told so far, plus one."""
        return self._decider.turn

    def belief(self, arm: Hashable) -> tuple[float, ...]:
        """Return the belief about an arm, from the rewards told and what counts provisionally.

        Parameters
        ----------
        arm
            The name of the arm.

        Returns
        -------
        tuple
            The coordinates of the belief, as the family names them.
        """
        decider = self._as(IndependentDecider, "a belief for each arm")
        return tuple(map(float, decider.seen().beliefs[decider._row(arm)]))

    def beliefs(
        self,
        level: float = 0.95,
        *,
        context: Given | None = None,
        candidates: Sequence[Given] | None = None,
        points: Sequence[Mapping[str, float]] | None = None,
    ) -> Table:
        """Return plays, expected reward, credible interval and probability of being best for each
        arm. The agent is not changed.

        Parameters
        ----------
        level
            The probability of intervals.
        context
            Values by name; without them, averages over all contexts.
        candidates
            Features of each candidate, where arms are candidates. Rows are named by their places.
        points
            Points of a box: their expected rewards.

        Returns
        -------
        Table
            A row for each arm, candidate or point.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("blue", 1)
        >>> print(agent.beliefs())
        arm   plays  expected reward     low    high  P(best)
        blue      1           0.6667  0.1581  0.9874   0.6667
        red       0              0.5   0.025   0.975   0.3333
        """
        wide = validate.check_level(level)
        if points is not None:
            return self._box().beliefs_at(points, wide, self._checked(context, candidates))
        return self._decider.beliefs(self._looked_at(context, candidates), wide)

    def _looked_at(self, context: Given | None, candidates: Any) -> Asking | None:
        """Return what is to be looked at: a context, candidates, or all contexts together."""
        together = context is None and candidates is None
        if isinstance(self._decider, FeaturedDecider):  # some have one context alone
            together = together and bool(self._decider.arms and self._decider.context_names)
        return None if together else self._asking(context, candidates)

    @property
    def _is_of_candidates(self) -> bool:
        return isinstance(self._decider, FeaturedDecider) and not self._decider.arms

    def _asking(self, context: Given | None, candidates: Any) -> Asking:
        if self._is_of_candidates and candidates is None:
            raise SettingError("this agent has no arms of its own to look at: give candidates=[…]")
        return self._checked(context, candidates)

    def _checked(self, context: Any, candidates: Any) -> Asking:
        """Return a request, whose contexts and candidates go through functions where there are."""
        functions = self._functions
        return self._decider.check(functions.context(context), functions.candidates(candidates))

    def explain(
        self, *, context: Given | None = None, candidates: Sequence[Given] | None = None
    ) -> Table:
        """Return why the next arm is chosen: what the policy sees of each arm, the largest index
        first. The agent is not changed.

        Along features, the table also has the feature that speaks most `for` the arm and the one
        that speaks most `against` it; `reasons` has all of them.

        Parameters
        ----------
        context
            Values by name, where the agent has contexts or segments.
        candidates
            Features of each candidate, where arms are candidates.

        Returns
        -------
        Table
            A row for each arm or candidate.

        >>> from belman import BelMan
        >>> agent = Agent(["blue", "red"], policy=BelMan.paper(), seed=7)
        >>> agent.tell("blue", 1); agent.tell("red", 0)
        >>> print(agent.explain())
        turn 3: the arm with the largest index is played
        arm   expected reward  KL to pseudobelief  exposure   index
        blue           0.6667              0.1931    0.3985    1.48
        red            0.3333              0.1931    0.3985  0.6433
        """
        return self._decider.explain(self._asking(context, candidates))

    def changes(self) -> Table:
        """Return the changes of the world that `drift` noticed: at which turn, which arm, after
        which turn, from and to which average reward, and how sure.

        Returns
        -------
        Table
            The last 64 changes.

        >>> agent = Agent(["blue", "red"], drift="auto", seed=7)
        >>> for reward in [1] * 40 + [0] * 20:
        ...     agent.tell("blue", reward)
        >>> print(agent.changes())
        turn  arm   after turn  from  to    sure
          45  blue          40     1   0  0.9894
        """
        return views.changes_table(self._as(IndependentDecider, "changes").changes())

    @property
    def pseudobelief(self) -> tuple[float, ...]:
        """Return the coordinates of the belief that all arms are compared with: by default the
        pooled belief, which is that of one arm with every reward; under the paper's rule the
        barycentre.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> for arm, reward in [("blue", 1), ("blue", 1), ("red", 0), ("red", 1), ("red", 0)]:
        ...     agent.tell(arm, reward)
        >>> [round(x, 3) for x in agent.pseudobelief]  # worth six turns
        [3.333, 2.667]
        """
        return self._as(IndependentDecider, "a pseudobelief").pseudobelief()

    # Along features

    def reasons(
        self,
        arm: Hashable,
        *,
        context: Given | None = None,
        candidates: Sequence[Given] | None = None,
    ) -> Table:
        """Return which features speak for an arm, and which against it: what each adds to φᵀθ
        beyond the average over all arms.

        Parameters
        ----------
        arm
            The name of an arm, or the place of a candidate.
        context
            Values by name, where the agent has contexts or segments.
        candidates
            Features of each candidate, where arms are candidates.

        Returns
        -------
        Table
            A row for each feature, the largest first.

        >>> agent = Agent(features=["price"], model="linear", seed=7)
        >>> for price in (3.0, 5.0, 9.0, 4.0):
        ...     agent.tell(agent.ask(candidates=[{"price": price}]), 10.0 - price)
        >>> why = agent.reasons(1, candidates=[{"price": 8.0}, {"price": 4.0}])
        >>> why["feature"], why["speaks for it"][0] > 0
        (['price', 'constant'], True)
        """
        decider = self._as(FeaturedDecider, "reasons")
        return decider.reasons(arm, self._asking(context, candidates))

    def coefficients(self, level: float = 0.95, most: int | None = None) -> Table:
        """Return every coefficient with its credible interval; those of numbers are per standard
        deviation (`per`) of them.

        Parameters
        ----------
        level
            The probability of intervals.
        most
            How many to return, the first ones; by default all.

        Returns
        -------
        Table
            A row for each coefficient.
        """
        decider = self._as(FeaturedDecider, "coefficients")
        return decider.coefficients(validate.check_level(level), most)

    # By segment

    @property
    def segments(self) -> list[dict[str, Hashable]]:
        """Return the segments that were seen, in the order of their first ask."""
        decider = self._as(SegmentedDecider, "segments")
        return [decider.segments.named(key) for key in decider.segments.own]

    def strengths(self) -> Table:
        """Return how many rewards of other segments count at most, and how probable each such
        number is.

        Returns
        -------
        Table
            A row for each strength.

        >>> agent = Agent(["blue", "green"], segments=("country",))
        >>> agent.strengths()["weight"][0]
        0.1
        """
        return self._as(SegmentedDecider, "segments").strengths()

    def borrowed(self, context: Given) -> dict[Any, float]:
        """Return the share of other segments' rewards that counts in this one.

        Parameters
        ----------
        context
            Values by name that name a segment.

        Returns
        -------
        dict
            Shares by arm.
        """
        decider = self._as(SegmentedDecider, "segments")
        return decider.segments.shares(decider.segments.key(context))

    # Of a box

    @property
    def space(self) -> Box:
        """The box of points."""
        return self._box().space

    @property
    def told(self) -> Table:
        """Every point of a box that was told, its average reward, and how many it had."""
        return self._box().told

    def best(self, level: float = 0.95, *, context: Given | None = None) -> dict[str, float]:
        """Return the point of a box with the highest expected reward.

        Parameters
        ----------
        level
            The probability of intervals.
        context
            Values by name, where the box has contexts.

        Returns
        -------
        dict
            The numbers of the point, the expected reward there, and its credible interval.

        >>> import belman
        >>> agent = Agent(space=belman.Box(price=(5, 20)), seed=7)
        >>> for _ in range(30):
        ...     point = agent.ask()
        ...     agent.tell(point, 10 - (point["price"] - 12) ** 2 / 10)
        >>> 11.5 < agent.best()["price"] < 12.5
        True
        """
        return self._box().best(validate.check_level(level), self._checked(context, None))

    # Advising

    def recommend(self, m: int = 1, *, context: Given | None = None) -> Any:
        """Recommend the arm to settle for now: the one with the largest expected reward, or what
        the policy has kept in play (Successive Rejects and its kin). The agent is not changed.

        Parameters
        ----------
        m
            How many arms to recommend, best first.
        context
            Values by name that name a segment, where the agent has segments.

        Returns
        -------
        arm, or a list of arms
            A list where `m` is above 1.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> agent.recommend()
        'red'
        """
        rows, arms = self._advice(m, context).places, self._decider.arms
        return arms[rows[0]] if m == 1 else [arms[row] for row in rows]

    def confidence(
        self, m: int = 1, *, threshold: str = "customary", context: Given | None = None
    ) -> float:
        """Return the largest 1 − δ at which the recommended arms can be said to be the best, by
        Chernoff's rule; 0 where it cannot.

        The rule holds the generalised likelihood ratio of the family against a threshold. It bounds
        the probability of ever being wrong when one stops by it; the probability of being best
        given the prior is in `beliefs`.

        Parameters
        ----------
        m
            How many arms are recommended.
        threshold
            "customary" for ln((1 + ln t)/δ), "proven" for a threshold with a proof
            (`policies/best_arm/stopping.py`).
        context
            Values by name that name a segment, where the agent has segments.

        Returns
        -------
        float
            From 0 to 1.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> for reward in [1] * 20:
        ...     agent.tell("blue", reward); agent.tell("red", 1 - reward)
        >>> agent.confidence() > 0.99
        True
        """
        rule = check_threshold(threshold, self.family)
        found, told = self._advice(m, context), max(self.turn - 1, 1)
        return confidence_of(found.evidence, told, len(self.arms), m, rule)

    def should_stop(
        self,
        delta: float = 0.05,
        m: int = 1,
        *,
        threshold: str = "customary",
        context: Given | None = None,
    ) -> bool:
        """Say whether the recommended arms are known to be the best, up to a risk δ of being wrong.

        Parameters
        ----------
        delta
            The risk.
        m
            How many arms are recommended.
        threshold
            As in `confidence`.
        context
            Values by name that name a segment, where the agent has segments.

        Returns
        -------
        bool
            Whether `confidence` has reached 1 − δ.
        """
        least = 1.0 - validate.check_level(delta, "delta")
        return self.confidence(m, threshold=threshold, context=context) >= least

    def _advice(self, m: int, context: Given | None) -> views.Advice:
        inner = self._believed_apart("advice", context)
        validate.check_wanted(m, len(inner.arms))
        seen, luck = inner.seen(), inner.rng.copy()
        return views.advise(inner.policy, inner.family, seen, inner._memory, int(m), luck)

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

    def report(self, level: float = 0.95, *, context: Given | None = None) -> Report:
        """Report for each arm the lift over control, the probability of beating it, and the
        expected loss of choosing the arm now, with the verdict.

        Parameters
        ----------
        level
            The probability of intervals.
        context
            Values by name that name a segment; by default all segments together.

        Returns
        -------
        Report
            The report as a table, as data and in one sentence.

        >>> start = {"blue": (10_000, 300), "green": (10_000, 381)}
        >>> agent = Agent(["blue", "green"], control="blue", start=start, seed=7)
        >>> print(agent.report().sentence)
        green converts 27 % better than blue, between 9 % and 47 % better; the chance that anything
        else is better is below 0.1 %; given the prior, you may stop.
        """
        wide = validate.check_level(level)
        asking = None if context is None else self._decider.check(context)
        return report(self._decider.known(asking), self._control, wide, self._stop_when)

    def verdict(self) -> Verdict:
        """Return what the rule `stop_when` says now; by default `belman.measures.Sure(0.95)`.

        Returns
        -------
        Verdict
            Whether the question is decided, and a sentence.

        >>> from belman.measures import Separated
        >>> start = {"blue": (10_000, 300), "green": (10_000, 381)}
        >>> agent = Agent(["blue", "green"], start=start, stop_when=Separated(0.05), seed=7)
        >>> agent.verdict().decided
        False
        """
        known = self._decider.known(None)
        return report(known, self._control, stop_when=self._stop_when, most=0).verdict

    def __repr__(self) -> str:
        decider = self._decider
        count = f"{len(decider.arms)} arm{'s' * (len(decider.arms) != 1)}"
        told = f"{decider.turn - 1} reward{'s' * (decider.turn != 2)} told"
        waiting = sum(self.outstanding.values())
        told += f", {waiting} outstanding" if waiting else ""
        if decider.kind == "box":
            names = self._box().context_names
            what = f", context={names!r}" if names else ""
            return f"Agent({self.space!r}{what}, {told})"
        if isinstance(decider, FeaturedDecider):
            what = f"model={decider.model.name!r}, pooling={decider.pooling!r}"
            count = count if decider.arms else "candidates"
        elif isinstance(decider, SegmentedDecider):
            what = f"segments={decider.names!r}, {len(decider.segments.own)} seen"
        else:
            assert isinstance(decider, IndependentDecider)
            what = f"family={decider.scale.base.name!r}"
        return f"Agent({count}, {what}, policy={decider.policy!r}, {told})"

    # What does not make sense for every agent

    def _as(self, kind: type[Kind], what: str) -> Kind:
        """Return the decider, if it is of this kind."""
        if not isinstance(self._decider, kind):
            raise SettingError(f"this agent has no {what.removeprefix('a ')}: {_HOW[kind]}")
        return self._decider

    def _box(self) -> BoxDecider:
        if self._decider.kind != "box":
            raise SettingError("this agent has no box: space=belman.Box(…) makes one that has")
        return self._decider  # type: ignore[return-value]

    def _believed_apart(self, what: str, context: Given | None) -> IndependentDecider:
        """Return the decider of arms that are believed one by one, perhaps in a segment."""
        decider = self._decider
        if isinstance(decider, SegmentedDecider):
            return decider.within(decider.check(context))
        if context is not None:
            decider.check(context)
        return self._as(IndependentDecider, what)

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


#: What makes an agent of each kind.
_HOW: dict[type[Decider], str] = {
    IndependentDecider: "one without context, segments or space has, whose arms are believed apart",
    SegmentedDecider: "segments=('country',) makes one that has",
    FeaturedDecider: "context=[…] or features=… make one that has",
}


def agent_of(decider: Decider) -> Agent:
    """Return an agent that decides by an existing decider."""
    agent = Agent.__new__(Agent)
    agent._begin(decider, chance.generator(0))
    return agent

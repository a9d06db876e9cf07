"""What can be seen of an agent: beliefs, why an arm is played, advice and the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from belman.agent.features import Functions
from belman.deciders import (
    Asking,
    Decider,
    FeaturedDecider,
    IndependentDecider,
    SegmentedDecider,
    validate,
)
from belman.deciders.independent import views
from belman.deciders.shares import Shares, check_floor
from belman.errors import SettingError, shown
from belman.families import Family
from belman.measures.report import Report, report
from belman.measures.stop_rules import StopRule, Verdict
from belman.models import Model
from belman.policies.best_arm.stopping import check_rule as check_threshold
from belman.policies.best_arm.stopping import confidence_of
from belman.table import Table

if TYPE_CHECKING:  # it takes a while to import
    from belman.deciders.box.box import Box
    from belman.deciders.box.box_decider import BoxDecider

Kind = TypeVar("Kind", bound=Decider)
Given = Any  # values by name, or what the functions of a `Features` take


class AgentViews:
    """The half of an agent that changes nothing."""

    _decider: Decider
    _functions: Functions
    _control: Hashable | None
    _stop_when: StopRule | None

    @property
    def arms(self) -> tuple[Any, ...]:
        """The names of the arms in play, in order."""
        return self._decider.arms

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
    def turn(self) -> int:
        """The turn being decided: the rewards told so far, plus one."""
        return self._decider.turn

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """Asks whose reward is not told yet, per arm; in a box by the numbers of the point."""
        return getattr(self._decider, "outstanding", {})

    @property
    def clipped(self) -> int:
        """How many rewards lay beyond the range and were taken for its end (`clip=True`).

        >>> from belman import Agent
        >>> agent = Agent(["blue", "red"], range=(0, 100), clip=True, seed=7)
        >>> agent.tell("blue", 250)
        >>> agent.clipped
        1
        """
        return getattr(self._decider, "clipped", 0)

    # Beliefs

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

        >>> from belman import Agent
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

        >>> from belman import Agent
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

        >>> from belman import Agent
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

        >>> from belman import Agent
        >>> agent = Agent(["blue", "red"], seed=7)
        >>> for arm, reward in [("blue", 1), ("blue", 1), ("red", 0), ("red", 1), ("red", 0)]:
        ...     agent.tell(arm, reward)
        >>> [round(x, 3) for x in agent.pseudobelief]  # worth six turns
        [3.333, 2.667]
        """
        return self._as(IndependentDecider, "a pseudobelief").pseudobelief()

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

        >>> from belman import Agent
        >>> agent = Agent(["blue", "red"], start={"blue": (90, 30), "red": (60, 18)}, seed=7)
        >>> {arm: round(weight, 3) for arm, weight in agent.weights(1_000, floor=0.05).items()}
        {'blue': 0.749, 'red': 0.251}
        """
        count = validate.check_count(n, f"weights({shown(n)})")
        inner = self._believed_apart("weights", context)
        shares = Shares(check_floor(floor or None, inner.arms))
        shares.check(inner.arms)
        result = inner.weights(Asking(), count, shares)
        if caution := inner.caution(Asking(), result, count):
            warnings.warn(caution, UserWarning, stacklevel=2)
        return result

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

        >>> from belman import Agent
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

        >>> from belman import Agent
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
        >>> from belman import Agent
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

        >>> from belman import Agent
        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> agent.recommend()
        'red'
        """
        rows, arms = self._advice(m, context).positions, self._decider.arms
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

        >>> from belman import Agent
        >>> agent = Agent(["blue", "red"], seed=7)
        >>> for reward in [1] * 20:
        ...     agent.tell("blue", reward); agent.tell("red", 1 - reward)
        >>> agent.confidence() > 0.99
        True
        """
        rule = check_threshold(threshold, self.family)
        result, told = self._advice(m, context), max(self.turn - 1, 1)
        return confidence_of(result.evidence, told, len(self.arms), m, rule)

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

        >>> from belman import Agent
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

        >>> from belman import Agent
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

    def _looked_at(self, context: Given | None, candidates: Any) -> Asking | None:
        """Return what is to be looked at: a context, candidates, or all contexts together."""
        together = context is None and candidates is None
        if isinstance(self._decider, FeaturedDecider):  # some have one context alone
            together = together and bool(self._decider.arms and self._decider.context_names)
        return None if together else self._asking(context, candidates)


#: What makes an agent of each kind.
_HOW: dict[type[Decider], str] = {
    IndependentDecider: "one without context, segments or space has, whose arms are believed apart",
    SegmentedDecider: "segments=('country',) makes one that has",
    FeaturedDecider: "context=[…] or features=… make one that has",
}

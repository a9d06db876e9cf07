"""What another policy would have earned, from a log of choices whose chances are known.

Usable is an ask at which every arm had a chance p > 0: one that was drawn uniformly, or by a policy
that leaves no arm out; or a unit of outcomes in bulk, by published weights without a zero. At each
of them the other policy, with its own past, chooses too. The value of its choices is estimated by
inverse propensities, V = Σ w r / Σ w with w = [it chose the same arm]/p (self-normalised;
Horvitz–Thompson's is Σ w r / n). Its own past grows by the choices that it
shares with the log, each kept with chance c/p where c is the least p, so that whatever it chooses
is kept with the same chance c: its past is then one that it could have lived (Dudík, Erhan,
Langford and Li, 2012).

Intervals of one look are Student's, of the larger of two errors. The first is seen where both chose
the same: asks between two of the policy's own turns share one past, so that their deviations are
summed, and as few degrees of freedom are left as the fourth powers of these sums say. The second
knows the spread of every arm from all its rewards: where conversions are rare, the few asks on
which both agree may hold none, and then show no spread at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from belman import chance
from belman.deciders import Asking, Choice, Draw, FeaturedDecider, validate
from belman.deciders.segmented.segmented import check_segmented_policy
from belman.engine import LATER, entry
from belman.errors import ReplayError
from belman.measures.sequences import policy_value_sequence
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.folding import fold
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import CONTEXT
from belman.studies.outcomes.candidates import CANDIDATES, CHOSEN, Catalogue, Row
from belman.studies.outcomes.walk import standing
from belman.studies.settings import StudySettings
from belman.studies.state import State
from belman.studies.views.rows_as_asks import BulkRows

#: The least effective sample size on which an estimate is given.
LEAST_SIZE = 50.0
#: The largest share of usable asks that may lack a reward.
MOST_MISSING = 0.1
_NO_ESTIMATE = "this log allows no honest estimate"


class Estimate(NamedTuple):
    """What a policy would have earned per turn, in the first `turns` of its life, estimated from
    the log of a study.

    Intervals are at 95 %; all but the anytime one hold at one look. Where `reward` and
    `doubly_robust` differ by much, the log is thin.

    Attributes
    ----------
    policy
        The name of the policy.
    reward
        The self-normalised estimate, Σ w r / Σ w; its bias vanishes as the log grows.
    low
        The lower end of its interval.
    high
        The upper end of its interval.
    unnormalised
        The plain estimate by inverse propensities, Σ w r / n.
    effective_sample_size
        How many draws of the policy itself the usable asks are worth.
    turns
        How many turns of its own life the policy got to.
    used
        How many asks the estimates rest on.
    earned
        What the study itself earned per reward.
    doubly_robust
        The doubly robust estimate, unbiased for logs of any length: what the arm that is chosen has
        earned so far in the log, plus what weights say of the rest. In contexts, what the log so
        far lets expect of the arm there is used in place of its average.
    doubly_robust_low
        The lower end of its interval.
    doubly_robust_high
        The upper end of its interval.
    anytime_low
        The lower end of an interval that holds at every look at once, and for logs of any length;
        None where rewards have no range.
    anytime_high
        Its upper end; None where rewards have no range.
    """

    policy: str
    reward: float
    low: float
    high: float
    unnormalised: float
    effective_sample_size: float
    turns: int
    used: int
    earned: float
    doubly_robust: float
    doubly_robust_low: float
    doubly_robust_high: float
    anytime_low: float | None
    anytime_high: float | None


def replay(
    settings: StudySettings,
    log: Iterable[Event],
    policy: Policy | DependentPolicy,
    seed: int = 0,
    now: float = math.inf,
) -> Estimate:
    """Estimate a policy on a log; raises ReplayError where no estimate would be honest.

    Rewards are what tickets, and rows in bulk, counted as. Asks whose window is still open at `now`
    are left out, told or not, so that what is told early is not preferred.
    """
    validate.check_seed(seed)
    events = list(log)
    candidates = _candidates(events) if settings.has_contexts else {}
    bulk = BulkRows(settings, events, now)
    asks = bulk.asks(seed)
    _, rewards, out, returned = standing(settings, events, now)
    unused = returned if settings.window is None else out | returned
    events = [event for event in events if event.number not in unused]
    earned = bulk.average_with(rewards.values())
    rewards |= {ask.number: reward for rows in asks.values() for ask, reward in rows}
    events = [one for event in events for one in (event, *_asks_of(event, asks))]
    draws, least = _usable(events)
    if not draws:
        raise ReplayError(
            f"{_NO_ESTIMATE}: at every ask the policy left some arms no chance, so that what they "
            "would have earned was never tried. Keep a share of traffic uniform "
            "(uniform_share=0.05), give every arm a floor, or play a policy that leaves none out "
            f"(Thompson, ε-greedy){_untold(bulk)}"
        )
    missing = sum(event.number not in rewards for event in events if event.draw in draws)
    total = sum(event.draw in draws for event in events)
    if missing > MOST_MISSING * total:
        raise ReplayError(
            f"{_NO_ESTIMATE}: {missing} of its {total} usable asks have no reward (out, or "
            "forgotten), and those that are missing may be unlike the others; "
            f"at most {MOST_MISSING:.0%} may be"
        )
    walk = _walk(settings, events, candidates, rewards, policy, draws, least, seed)
    weights, gains = walk.weights, walk.gains
    size = float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0
    if size < LEAST_SIZE:
        raise ReplayError(
            f"{_NO_ESTIMATE} of {policy!r}: {len(weights)} usable asks, on "
            f"{np.count_nonzero(weights)} of which it chooses the same arm, are worth {size:.1f} "
            f"draws of its own, and {LEAST_SIZE:g} are the least"
        )
    value = float(weights @ gains / weights.sum())
    plain = float(weights @ gains / len(weights))
    terms = walk.expected + weights * (gains - walk.expected)
    robust = float(terms.mean())
    wide = walk.half_width((gains - value) * weights, gains - value, float(weights.sum()))
    ends = (value - wide, value + wide)
    wide = walk.half_width(terms - robust, walk.surprises, float(len(terms)))
    own = (robust, robust - wide, robust + wide, *_at_any_look(settings, weights, gains))
    return Estimate(policy.name, value, *ends, plain, size, walk.turns, len(weights), earned, *own)


def _at_any_look(
    settings: StudySettings, weights: np.ndarray, gains: np.ndarray
) -> tuple[float, float] | tuple[None, None]:
    """The ends of a confidence sequence of what the policy earns, in the units of the rewards."""
    if settings.range is None and not settings.family.coin:
        return None, None
    low, high = settings.range or (0.0, 1.0)
    ends = policy_value_sequence((gains - low) / (high - low), weights, 0.05)
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def _asks_of(event: Event, asks: dict[int, list[tuple[Event, float]]]) -> Iterator[Event]:
    """The units that were assigned by a version, as asks that follow its event."""
    return (ask for ask, _ in asks.get(event.number, ()))


def _untold(bulk: BulkRows) -> str:
    if not bulk.untold:
        return ""
    return f". Of {bulk.untold:,} outcomes in bulk the log has sums, which tell no reward by itself"


def _usable(events: list[Event]) -> tuple[set[int], float]:
    """The kinds of draws to use, uniform or all that left every arm a chance: the more."""
    best: tuple[float, set[int], float] = (0.0, set(), 1.0)
    everywhere = {int(Draw.UNIFORM), int(Draw.RANDOM), int(Draw.FLOOR), int(Draw.FLOORED)}
    for draws in ({int(Draw.UNIFORM)}, everywhere):
        used = [event.probability for event in events if event.draw in draws]
        chances = [probability for probability in used if probability is not None]
        least = min(chances, default=0.0)
        best = max(best, (least * len(chances), draws, least), key=lambda choice: choice[0])
    return best[1], best[2]


class _Walk(NamedTuple):
    """Usable asks, one by one: the weight, the reward, what was expected of the policy's choice,
    how the reward differs from what was expected of the log's, the log's arm, and the policy's own
    turn at that moment.
    """

    weights: np.ndarray
    gains: np.ndarray
    expected: np.ndarray
    surprises: np.ndarray
    arms: np.ndarray
    lived: np.ndarray
    turns: int

    def half_width(self, deviations: np.ndarray, residuals: np.ndarray, total: float) -> float:
        """Half of a 95 % interval of Σ deviations / total, where each is about a weighted residual
        of its ask's reward.
        """
        from scipy.special import ndtri, stdtrit  # a fifth of a second, for those who replay

        most = max(float(np.abs(deviations).max()), float(np.abs(residuals).max()))
        scale = 2.0 ** math.frexp(most)[1]  # a model may expect e¹⁰⁰: no fourth power overflows
        deviations, residuals = deviations / scale, residuals / scale
        turns = np.unique(self.lived, return_inverse=True)[1]
        sums = np.bincount(turns, weights=deviations) / total
        number = len(sums)
        variance = float((sums**2).sum()) * number / max(number - 1, 1)
        doubt = float((sums**4).sum()) - variance**2 / number
        freedom = 2.0 * variance**2 / doubt if doubt > 0.0 else math.inf
        seen = float(stdtrit(max(freedom, 1.0), 0.975)) * math.sqrt(variance)
        _, arms, plays = np.unique(self.arms, return_inverse=True, return_counts=True)
        spreads = np.bincount(arms, weights=residuals**2) / np.maximum(plays - 1, 1)
        shares = np.bincount(arms, weights=self.weights**2) / total**2
        return scale * max(seen, float(ndtri(0.975)) * math.sqrt(float(shares @ spreads)))


def _walk(
    settings: StudySettings,
    events: list[Event],
    candidates: Mapping[int, list[Row]],
    rewards: dict[int, float],
    policy: Policy | DependentPolicy,
    draws: set[int],
    least: float,
    seed: int,
) -> _Walk:
    """Live along the log."""
    state = State.begin(_under(settings, policy))
    own, coin = chance.generator(0), chance.generator(seed, 1)
    fork = entry(chance.fork).hold(LATER, words=chance.generator(seed), out=own)
    toss = entry(chance.uniform).hold(LATER, rng=coin)
    rows: list[tuple[float, float, float, float, int, int]] = []
    turns = 0
    averages = _Learnt(settings) if settings.has_contexts else _Averages()
    for event in events:
        if event.kind in (Kind.RECORDED, Kind.ARM_ADDED, Kind.ARM_RETIRED):
            known = len(state.register)
            fold(state, event)
            for arm in state.register[known:]:
                averages.meet(arm, state.learnt(state.positions[arm]).prior)
        if event.draw not in draws or event.number not in rewards:
            continue
        assert event.probability is not None
        asking, logged = _asked(state, event, candidates.get(event.number))
        fork(event.number, 0)
        state.decider.rng[:] = own
        choice = state.decider.choose(asking)[0]
        same = choice.arm == logged
        weight, reward = 1.0 / event.probability if same else 0.0, rewards[event.number]
        of_chosen, of_logged = averages.of(asking, choice.arm, logged)
        position = logged if asking.candidates is not None else state.positions[logged]
        rows.append((weight, reward, of_chosen, reward - of_logged, position, turns))
        averages.add(asking, logged, reward)
        kept = same and toss() < least / event.probability
        turns += kept
        state.decider.settle(choice, rewards[event.number] if kept else None)
    weights, gains, expected, surprises, arms, lived = np.array(rows).reshape(-1, 6).T
    return _Walk(weights, gains, expected, surprises, arms, lived, turns)


def _under(settings: StudySettings, policy: Policy | DependentPolicy) -> StudySettings:
    """The settings of a study that another policy decides."""
    if isinstance(policy, DependentPolicy) != settings.has_features:
        words = "it is for arms that share a belief, and this study has none"
        if settings.has_features:
            words = "it knows no contexts: give one of belman.policies.dependent"
        raise ReplayError(f"policy {policy.name!r} cannot be replayed: {words}")
    if settings.segments is not None and isinstance(policy, Policy):
        check_segmented_policy(policy)
    return settings.under(policy)


def _candidates(events: Iterable[Event]) -> dict[int, list[Row]]:
    """Return the candidates of every ask: of all, since one may refer to another that was given
    back.
    """
    catalogue, result = Catalogue(), {}
    for event in events:
        kept = event.content.get(CANDIDATES) if event.kind == Kind.ASKED else None
        if kept is not None:
            result[event.number] = catalogue.take(event.number, kept)
    return result


def _asked(state: State, event: Event, candidates: list[Row] | None) -> tuple[Asking, Any]:
    """Return what an ask was decided with, all of its candidates included, and what was chosen."""
    assert event.arm is not None
    if not state.settings.has_contexts:
        return Asking(), state.register[event.arm]
    body = event.content
    asking = state.decider.check(body.get(CONTEXT), candidates)
    return asking, state.register[event.arm] if asking.candidates is None else body[CHOSEN]


class _Averages:
    """What every arm has earned on average so far, and all of them where one was not tried yet."""

    def __init__(self) -> None:
        self._sums: dict[Any, tuple[int, float]] = {}

    def add(self, asking: Asking, arm: Any, reward: float) -> None:
        for which in (("arm", arm), None):
            n, total = self._sums.get(which, (0, 0.0))
            self._sums[which] = (n + 1, total + reward)

    def meet(self, arm: Any, prior: Any) -> None:
        """A new arm has come."""

    def of(self, asking: Asking, *arms: Any) -> list[float]:
        every = self._sums.get(None) or (1, 0.0)
        result = [self._sums.get(("arm", arm)) or every for arm in arms]
        return [total / n for n, total in result]


class _Learnt(_Averages):
    """What the rewards of the log so far let expect of an arm, or candidate, in a context."""

    def __init__(self, settings: StudySettings) -> None:
        self._decider: Any = settings.decider()

    def meet(self, arm: Any, prior: Any) -> None:
        self._decider.add(arm, None if isinstance(self._decider, FeaturedDecider) else prior)

    def add(self, asking: Asking, arm: Any, reward: float) -> None:
        choice = self._choice(asking, arm)
        self._decider.expect(choice)
        self._decider.settle(choice, reward)

    def of(self, asking: Asking, *arms: Any) -> list[float]:
        self._decider.meet(asking)
        if isinstance(self._decider, FeaturedDecider):
            return [self._decider.expected(self._choice(asking, arm)) for arm in arms]
        segments = self._decider.segments
        believed = segments.believed(segments.key(asking.context))
        family, outward = self._decider.family, self._decider.outward
        return [outward(family.expected_reward(believed[arm].belief)) for arm in arms]

    @staticmethod
    def _choice(asking: Asking, arm: Any) -> Choice:
        candidate = None if asking.candidates is None else asking.candidates[arm]
        return Choice(arm, context=asking.context, candidate=candidate)

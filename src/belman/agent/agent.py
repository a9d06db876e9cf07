"""ask / tell for a person: names, checks, beliefs one can look at, and state one can trust."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import chance
from belman.agent import (
    advice,
    changing,
    decide,
    doors,
    looking,
    reporting,
    saving,
    state_file,
    warm_start,
)
from belman.agent.calls import Calls
from belman.agent.kinds import kind_for, writer_of
from belman.agent.learnt import Learnt
from belman.agent.scale import Scale, scale
from belman.agent.weights import weights_of
from belman.engine import LATER, entry
from belman.errors import ArmError, RewardError, SettingError
from belman.exposure import Exposure
from belman.families import Family, family_named
from belman.families.mirror import Mirror
from belman.manifold import least_kl_from_arms
from belman.measures.best import best_probabilities
from belman.measures.report import Report
from belman.measures.stop_rules import StopRule, Verdict
from belman.policies import BelMan, Drift, Ledger, Policy
from belman.policies.best_arm.stopping import check_rule, confidence_of
from belman.policies.policy import Change
from belman.table import Table

Floats = NDArray[np.float64]

_TABULATED = 256  # turns whose values are tabulated at a time
_NONE_CLOSED = np.zeros(0, dtype=np.bool_)


class Choice(NamedTuple):
    """One decision: the arm, the turn for which it was made, and the chance with which the policy
    would have made it.
    """

    arm: Hashable
    turn: int
    probability: float


class Agent:
    """Decides, turn by turn, which arm to try.

    `arms` are names of any hashable kind. `family` says what a reward is (a name or a Family;
    Bernoulli by default, or bounded where a `range` is given), `policy` which algorithm chooses
    (BelMan by default). `prior` is the belief about every arm at first, `priors` that about single
    ones. `range=(low, high)` takes rewards between two ends, by default of no distribution in
    particular; those beyond are refused, or with `clip=True` taken for the end they lie beyond and
    counted (`clipped`). `minimise=True` takes costs, `discount` below 1 lets beliefs fade towards
    their priors at every reward, for a world that drifts, and with `last` only so many rewards
    count, the newest. `drift="auto"`, or a `belman.Drift` with settings of yours, lets BelMan
    follow changes of any pace and say what it noticed (`changes`). `start` is what is known before
    the first turn: another agent, the file of a saved one, or {arm: (plays, sum of rewards)}; arms
    and turns that it knows count as this agent's own. `control` is the arm that others are held
    against in `report`, and `stop_when` the rule by which `verdict` says whether one may stop.

    >>> agent = Agent(["blue", "green", "red"], seed=7)
    >>> for reward in (0, 1, 1):
    ...     arm = agent.ask()
    ...     agent.tell(arm, reward)
    >>> agent
    Agent(3 arms, family='bernoulli', policy=BelMan(exposure=Evidence(...), ...), 3 rewards told)
    """

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """An agent; with `features` or `context` a `belman.ContextualAgent`, with `segments` a
        `belman.SegmentedAgent`, with a `space` a `belman.BoxAgent`.
        """
        kind = kind_for(options) if cls is Agent else None
        return super().__new__(cls) if kind is None else kind(*arguments, **options)

    def __init__(
        self,
        arms: Iterable[Hashable],
        family: str | Family | None = None,
        policy: Policy | None = None,
        *,
        prior: ArrayLike | None = None,
        priors: Mapping[Hashable, ArrayLike] | None = None,
        range: tuple[float, float] | None = None,
        clip: bool = False,
        minimise: bool = False,
        discount: float = 1.0,
        drift: str | Drift | None = None,
        last: int | None = None,
        start: Agent | str | os.PathLike[str] | Mapping[Hashable, Sequence[float]] | None = None,
        control: Hashable | None = None,
        stop_when: StopRule | None = None,
        seed: int | None = None,
    ) -> None:
        self._arms: list[Hashable] = []
        self._places: dict[Hashable, int] = {}
        for arm in doors.check_names(arms, "arms"):
            doors.check_new(arm, self._places)
            self._places[arm] = len(self._arms)
            self._arms.append(arm)
        if not self._arms:
            raise ArmError("an agent needs at least one arm: the list of arms is empty")
        if family is None:
            family = "bernoulli" if range is None else "bounded"
        base = family_named(family)
        if prior is not None:
            base = replace(base, prior=base.check_prior(prior))
        self._scale = scale(base, range, minimise, clip)
        self._clipped, self._time = 0, 0.0
        self._family: Family = Mirror(base) if self._scale.minimise else base
        self._discount = doors.check_discount(discount)
        policy = changing.check_drift(drift, policy, self._discount)
        policy = changing.check_last(last, policy, self._discount)
        self._mind = chance.generator(doors.check_seed(seed))
        self.control = control
        self.stop_when = stop_when
        own = doors.check_priors(priors)
        for arm in own:
            self._place(arm)
        self._priors = np.array([base.check_prior(own.get(arm, base.prior)) for arm in self._arms])
        self._told, self._all_tried = 0, False
        self._tells = np.zeros(len(self._arms), dtype=np.int64)
        self._pending = np.zeros(len(self._arms), dtype=np.int64)
        self._provisional = np.zeros((len(self._arms), 3))
        self._turn_values: dict[int, float] = {}
        # what the last ask chose, column by column, since a batch may have a hundred thousand
        self._asked_at, self._chosen, self._chances = 0, list[Hashable](), list[float]()
        self._drawn: dict[int, tuple[int, Ledger, Policy, NDArray[np.bool_]]] = {}
        self._truth = Ledger.blank(self._priors.copy())
        if start is not None:
            self._start(start)
        self._take_policy(BelMan() if policy is None else policy)

    def _start(self, start: Any) -> None:
        if isinstance(start, (str, os.PathLike)):
            start = type(self).load(start, policy=BelMan())
        if isinstance(start, Agent):
            given = warm_start.Known(start.arms, start._tells, start._priors, start._truth)
            known = warm_start.of_agent(given, self._family, start._family, self._places)
        elif isinstance(start, Mapping):
            known = warm_start.of_counts(start, self._scale, self._priors, self._place)
        else:
            raise SettingError(
                f"start={start!r} is not a start: give an agent, the path of a saved one, or "
                "{arm: (plays, sum)}"
            )
        places = [self._places[arm] for arm in known.arms]
        self._told += int(known.tells.sum())
        self._tells[places], self._priors[places] = known.tells, known.priors
        for column, rows in zip(self._truth, known.ledger, strict=True):
            column[places] = rows

    # Asking

    @overload
    def ask(self, n: None = None, *, among: Iterable[Hashable] | None = None) -> Any: ...
    @overload
    def ask(self, n: int, *, among: Iterable[Hashable] | None = None) -> list[Any]: ...
    def ask(self, n: int | None = None, *, among: Iterable[Hashable] | None = None) -> Any:
        """The arm to try now, or a list of `n` for a batch; `among` names the arms that are
        available.

        Asks whose reward is not told yet count as observed at their expected statistic, so that a
        batch spreads, and while there are any (or in a batch) arms that were never tried come
        first.
        """
        closed = _NONE_CLOSED if among is None else self._closed(among)
        count = 1 if n is None else doors.check_count(n)
        self._asked_at = self._told + 1
        self._chosen.clear()
        self._chances.clear()
        if self._drawn:
            self._drawn.clear()
        if n is None:
            return self._choose(closed)
        return [self._choose(closed, count > 1) for _ in range(count)]

    def _choose(self, closed: NDArray[np.bool_], batch: bool = False) -> Hashable:
        if (batch or self._waiting) and not self._all_tried:
            tried = self._tells + self._pending > 0
            self._all_tried = bool(tried.all())
            tried = tried | closed if closed.size else tried
            closed = closed if tried.all() else tried
        turn = self._asked_at
        limited = closed.size > 0
        if limited:
            self._shut[:] = closed
        place, probability = self._calls.decide(limited, turn, self._turn_value(turn))
        if probability != probability:
            working = Ledger(*(part.copy() for part in self._working))
            acting = self._policy.acting(self._memory)
            self._drawn[len(self._chosen)] = (place, working, acting, closed)
        arm = self._arms[place]
        self._chosen.append(arm)
        self._chances.append(probability)
        self._waiting += 1
        return arm

    def _turn_value(self, turn: int) -> float:
        found = self._turn_values.get(turn)
        if found is not None:
            return found
        turns = np.arange(turn, turn + _TABULATED, dtype=np.float64)
        try:
            turn_values = self._policy.turn_values(turns, len(self._arms))
        except Exception:  # a schedule of the user's may not reach so far ahead
            turn_values = self._policy.turn_values(turns[:1], len(self._arms))
        self._turn_values = dict(enumerate(turn_values.tolist(), start=turn))
        return self._turn_values[turn]

    @property
    def last(self) -> list[Choice]:
        """What the last `ask` chose, with the chance of each choice, so that a later replay is
        honest.

        >>> agent = Agent(["blue", "red"], seed=1)
        >>> arm = agent.ask()
        >>> agent.last[0].probability
        0.5
        """
        chosen = zip(self._chosen, self.probabilities, strict=True)
        return [Choice(arm, self._asked_at, chance) for arm, chance in chosen]

    @property
    def probabilities(self) -> list[float]:
        """The chances alone with which the policy made the choices of the last `ask`."""
        found = self._chances.copy()
        for i, (place, ledger, policy, closed) in self._drawn.items():
            open_arms = np.flatnonzero(~closed) if closed.size else np.arange(len(ledger.plays))
            chances = policy.own_chances(self._family, ledger, open_arms)
            if chances is None:
                beliefs = ledger.beliefs[open_arms]
                chances = policy.chances(best_probabilities(self._family, beliefs))
            found[i] = float(chances[np.flatnonzero(open_arms == place)[0]])
        return found

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """Asks whose reward is not told yet, per arm."""
        return {
            arm: int(count) for arm, count in zip(self._arms, self._pending, strict=True) if count
        }

    def expect(self, arm: Hashable, asks: int = 1) -> None:
        """Count asks of an arm that were decided elsewhere as outstanding."""
        place = self._place(arm)
        self._pending[place] += asks
        self._waiting += asks
        self._calls.mark_stale(place)

    def weights(
        self, n: int, *, floor: float | Mapping[Hashable, float] = 0.0
    ) -> dict[Hashable, float]:
        """The weights of the arms for the next `n` decisions: the shares in which the policy would
        play them if nothing were learnt meanwhile. Nothing is changed by looking.

        They are those of `ask(n)`, found without asking n times; with n = 1 they are the chances
        with which the policy plays each arm now. Policies that draw, such as Thompson's, keep the
        chances that they have now. `floor` is the least weight of every arm, or {arm: least
        weight}: w = floor + (1 − Σ floor)·share.

        >>> agent = Agent(["blue", "red"], start={"blue": (90, 30), "red": (60, 18)}, seed=7)
        >>> {arm: round(weight, 3) for arm, weight in agent.weights(1_000, floor=0.05).items()}
        {'blue': 0.749, 'red': 0.251}
        """
        return weights_of(self, doors.check_count(n, f"weights({n!r})"), floor)

    @property
    def leaves_all_a_chance(self) -> bool:
        """Whether the next ask may choose any arm, so that a log of such asks tells about other
        policies.
        """
        return self._policy.leaves_all_a_chance and bool((self._tells + self._pending).all())

    # Telling

    def tell(self, arm: Hashable, reward: float) -> None:
        """Learn the reward of an arm; late, out of order and unasked rewards are welcome."""
        place = self._place(arm)
        value = self._scale.inward(reward)
        was_pending = bool(self._pending[place])
        if not self._calls.learn(place, value):
            why = self._family.beyond_reach(self._calls.after)
            raise RewardError(f"reward {reward!r} is too large for arm {arm!r}: {why}")
        if self._calls.hear is not None:
            self._calls.hear(place, value)
        if self._scale.clip and self._scale.nearest(reward) != reward:
            self._clipped += 1
        self._waiting -= was_pending
        self._told += 1
        self._tells[place] += 1

    @property
    def clipped(self) -> int:
        """How many rewards lay beyond the range and were taken for its end (`clip=True`).

        >>> agent = Agent(["blue", "red"], range=(0, 100), clip=True, seed=7)
        >>> agent.tell("blue", 250)
        >>> agent.clipped
        1
        """
        return self._clipped

    def cancel(self, arm: Hashable, asks: int = 1) -> None:
        """Forget outstanding asks of an arm whose rewards will never come."""
        place = self._place(arm)
        if self._pending[place] < asks:
            raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
        self._pending[place] -= asks
        self._waiting -= asks
        self._all_tried = False
        self._calls.mark_stale(place)

    @property
    def provisional(self) -> dict[Hashable, tuple[float, ...]]:
        """Successes and failures per arm that count, and are not learnt: they are set anew at any
        time, and not saved.

        They stand for outstanding asks of which something is known before their reward is:
        decisions, beliefs and advice count them, and imagine only what is left of these asks. For
        rewards of 0 and 1; set {arm: (successes, failures)}, and all other arms have none. A third
        number is a doubt that is common to all arms, the relative variance of what they count:
        intervals take it in, and comparisons do not.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.provisional = {"red": (0.0, 2.5)}
        >>> agent.belief("red"), agent.learnt("red").belief
        ((1.0, 3.5), (1.0, 1.0))
        """
        rows = zip(self._arms, self._provisional.tolist(), strict=True)
        return {arm: tuple(row) for arm, row in rows if any(row)}

    @provisional.setter
    def provisional(self, counts: Mapping[Hashable, ArrayLike]) -> None:
        given = doors.check_provisional(counts, self._family)
        found = np.zeros_like(self._provisional)
        for arm, pair in given.items():
            place = self._place(arm)
            found[place] = doors.check_counts(arm, pair, self._truth.beliefs[place])
        self.count_provisionally(found)

    def count_provisionally(self, rows: Floats) -> None:
        """Set `provisional` of all arms at once (K × 3), in their order and unchecked: for whoever
        works it out anew at every ask.
        """
        self._calls.rows[:] = rows
        self._calls.set_provisional()

    @property
    def settled(self) -> Floats:
        """The beliefs about all arms (K × d), in their order, from the rewards told alone."""
        return self._truth.beliefs.copy()

    # Arms

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The names of the arms, in order."""
        return tuple(self._arms)

    def add_arm(
        self, arm: Hashable, prior: ArrayLike | None = None, *, learnt: Learnt | None = None
    ) -> None:
        """Take in a new arm, of which the prior says all that is known, or one that was removed,
        with what was `learnt` of it.
        """
        doors.check_new(arm, self._places)
        if learnt is None:
            learnt = Learnt.nothing(
                self._family.check_prior(self._family.prior if prior is None else prior)
            )
        self._arms.append(arm)
        self._priors = np.vstack([self._priors, learnt.prior])
        self._tells, self._pending = (
            np.append(self._tells, learnt.tells),
            np.append(self._pending, learnt.pending),
        )
        self._provisional = np.vstack([self._provisional, np.zeros(3)])
        rows = zip(self._truth[1:], (learnt.plays, learnt.sum, learnt.squares), strict=True)
        self._truth = Ledger(
            np.vstack([self._truth.beliefs, learnt.belief]),
            *(np.append(column, row) for column, row in rows),
        )
        self._lay_out_arrays([*range(len(self._arms) - 1), -1])

    def remove_arm(self, arm: Hashable) -> Learnt:
        """Retire an arm, and hand over all that was learnt of it.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> learnt = agent.remove_arm("red")
        >>> agent.add_arm("red", learnt=learnt)
        >>> agent.belief("red")
        (2.0, 1.0)
        """
        place = self._place(arm)
        if len(self._arms) == 1:
            raise ArmError(f"arm {arm!r} is the last one: an agent needs at least one arm")
        if self._control is not None and arm == self._control:
            remedy = "set agent.control to another arm, or to None, first"
            raise ArmError(f"arm {arm!r} is the control: {remedy}")
        learnt = self.learnt(arm)
        del self._arms[place]
        self._priors = np.delete(self._priors, place, axis=0)
        self._tells, self._pending = np.delete(self._tells, place), np.delete(self._pending, place)
        self._truth = Ledger(*(np.delete(column, place, axis=0) for column in self._truth))
        self._provisional = np.delete(self._provisional, place, axis=0)
        self._lay_out_arrays([old for old in range(len(self._arms) + 1) if old != place])
        return learnt

    def learnt(self, arm: Hashable) -> Learnt:
        """All that was learnt of an arm."""
        place = self._place(arm)
        return Learnt(
            prior=tuple(map(float, self._priors[place])),
            belief=tuple(map(float, self._truth.beliefs[place])),
            plays=float(self._truth.plays[place]),
            sum=float(self._truth.sums[place]),
            squares=float(self._truth.squares[place]),
            tells=int(self._tells[place]),
            pending=int(self._pending[place]),
        )

    def relearn(self, arm: Hashable, learnt: Learnt, *, heard: bool = False) -> None:
        """Believe this of an arm in place of what was learnt of it; its open asks stay. Policies
        that keep more than beliefs do take the arm as it is believed, unless they `heard` of it.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> agent.relearn("red", agent.learnt("blue"))
        >>> agent.belief("red"), agent.turn
        ((1.0, 1.0), 1)
        """
        place, learnt = self._place(arm), doors.check_learnt(learnt, self._family)
        self._told += learnt.tells - int(self._tells[place])
        self._tells[place] = learnt.tells
        self._truth.beliefs[place] = learnt.belief
        self._truth.plays[place] = learnt.plays
        self._truth.sums[place], self._truth.squares[place] = learnt.sum, learnt.squares
        self._provisional[place] = 0.0  # it was counted beside the belief that was
        self._all_tried = False
        self._calls.mark_stale(place)
        if not heard:
            self._policy.forget(self._memory, place)
            self._calls.settle_heard()

    def learn_many(self, arm: Hashable, n: int, learnt: Learnt) -> None:
        """Take in `n` rewards of an arm at once, after which this is learnt of it."""
        place, before = self._place(arm), self.learnt(arm)
        total, squares = learnt.sum - before.sum, learnt.squares - before.squares
        self._policy.learn_many(self._family, self._memory, place, n, total, squares)
        self.relearn(arm, learnt, heard=True)

    # Time

    @property
    def time(self) -> float:
        """The seconds since some beginning, by which a policy goes that goes by the clock
        (`belman.Drift(half_life=…)`); set it before every `ask` and `tell`. It never goes back.

        >>> from datetime import timedelta
        >>> agent = Agent(["blue", "red"], drift=Drift(half_life=timedelta(days=7)), seed=7)
        >>> agent.time = 1_700_000_000.0
        """
        return self._time

    @time.setter
    def time(self, seconds: float) -> None:
        self._time = max(doors.check_time(seconds), self._time)
        if self._policy.by_clock:
            self._policy.set_time(self._memory, self._time)

    # Looking

    @property
    def family(self) -> Family:
        """What a reward is (mirrored, if this agent minimises)."""
        return self._family

    @property
    def policy(self) -> Policy:
        """The policy; another may take over at any turn, with all that was learnt."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        self._take_policy(policy)

    @property
    def exposure(self) -> Exposure:
        """How greedy BelMan is, when; another may be set at any turn, with all that was learnt.

        >>> from belman.exposure import Infinite, Paper
        >>> agent = Agent(["blue", "red"], policy=BelMan(Infinite()), seed=7)
        >>> agent.tell("blue", 1)
        >>> agent.exposure = Paper()
        >>> agent
        Agent(2 arms, family='bernoulli', policy=BelMan(exposure=Paper(C=15.0), ...), 1 reward told)
        """
        return doors.check_exposed(self._policy).schedule

    @exposure.setter
    def exposure(self, exposure: Exposure | Callable[[int], float]) -> None:
        self.policy = replace(doors.check_exposed(self._policy), exposure=exposure)

    @property
    def scale(self) -> Scale:
        """How a reward of the user becomes one of the family."""
        return self._scale

    @property
    def mind(self) -> chance.Words:
        """The generator that the policy draws from: four words, which may be overwritten to draw
        from another stream.
        """
        return self._mind

    @property
    def turn(self) -> int:
        """The turn being decided: the rewards told so far, plus one."""
        return self._told + 1

    def belief(self, arm: Hashable) -> tuple[float, ...]:
        """The coordinates of the belief about an arm, from the rewards told and what counts
        provisionally.
        """
        return tuple(map(float, self._seen().beliefs[self._place(arm)]))

    def _seen(self) -> Ledger:
        """What was told, and what counts provisionally."""
        believed = self._policy.believed(self._family, self._truth, self._memory)
        truth = self._truth._replace(beliefs=believed)
        if not self._provisional.any():
            return truth
        seen = Ledger(*(column.copy() for column in truth))
        held = {"truth": truth, "provisional": self._provisional, "working": seen}
        entry(decide.count_all_provisional)(LATER, **held)
        return seen

    def beliefs(self, level: float = 0.95) -> Table:
        """Per arm: plays, expected reward, credible interval and probability of being best.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("blue", 1)
        >>> print(agent.beliefs())
        arm   plays  expected reward     low    high  P(best)
        blue      1           0.6667  0.1581  0.9874   0.6667
        red       0              0.5   0.025   0.975   0.3333
        """
        return looking.beliefs(self, doors.check_level(level))

    def explain(self) -> Table:
        """Why this arm now: what the policy sees of each arm, the largest index first. Nothing is
        changed by looking.

        >>> agent = Agent(["blue", "red"], policy=BelMan.paper(), seed=7)
        >>> agent.tell("blue", 1); agent.tell("red", 0)
        >>> print(agent.explain())
        turn 3: the arm with the largest index is played
        arm   expected reward  KL to pseudobelief  exposure   index
        blue           0.6667              0.1931    0.3985    1.48
        red            0.3333              0.1931    0.3985  0.6433
        """
        return looking.explanation(self)

    def changes(self) -> Table:
        """The changes of the world that `drift` noticed: at which turn, which arm, after which
        turn, from and to which average reward, and how sure. The last 64 are kept.

        >>> agent = Agent(["blue", "red"], drift="auto", seed=7)
        >>> for reward in [1] * 40 + [0] * 20:
        ...     agent.tell("blue", reward)
        >>> print(agent.changes())
        turn  arm   after turn  from  to    sure
          45  blue          40     1   0  0.9894
        """
        return changing.changes_table(self._noticed())

    def changes_since(self, number: int) -> list[tuple[Hashable | None, Change]]:
        """The changes that were noticed after so many others, each with the name of its arm (None
        where it is not played any more).
        """
        return [pair for pair in self._noticed() if pair[1].number > number]

    def _noticed(self) -> list[tuple[Hashable | None, Change]]:
        arms, outward = self._arms, self._scale.outward
        return changing.changes_of(self._policy, self._memory, arms, outward)

    # Advising

    def recommend(self, m: int = 1) -> Any:
        """The arm to settle for now, or a list of the `m` best, best first. Nothing is changed by
        looking.

        It is the arm with the largest expected reward, or what the policy has kept in play
        (Successive Rejects and its kin).

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> agent.tell("red", 1)
        >>> agent.recommend()
        'red'
        """
        places = self._advice(m).places
        return self._arms[places[0]] if m == 1 else [self._arms[place] for place in places]

    def confidence(self, m: int = 1, *, threshold: str = "customary") -> float:
        """The largest 1 − δ at which the recommended arms can be said to be the best, by Chernoff's
        rule; 0 where it cannot.

        The rule holds the generalised likelihood ratio of the family against ln((1 + ln t)/δ),
        which is customary, or against a threshold that is proven
        (`policies/best_arm/stopping.py`). It bounds the chance of ever being wrong when one
        stops by it; the probability of being best given the prior is in `beliefs`.

        >>> agent = Agent(["blue", "red"], seed=7)
        >>> for reward in [1] * 20:
        ...     agent.tell("blue", reward); agent.tell("red", 1 - reward)
        >>> agent.confidence() > 0.99
        True
        """
        rule = check_rule(threshold, self._family)
        return confidence_of(self._advice(m).evidence, max(self._told, 1), len(self._arms), m, rule)

    def should_stop(self, delta: float = 0.05, m: int = 1, *, threshold: str = "customary") -> bool:
        """Whether the recommended arms are known to be the best up to a chance δ of being wrong."""
        return self.confidence(m, threshold=threshold) >= 1.0 - doors.check_level(delta, "delta")

    # The verdict

    @property
    def control(self) -> Hashable | None:
        """The arm that the others are compared with, if any; another may be set at any turn."""
        return self._control

    @control.setter
    def control(self, arm: Hashable | None) -> None:
        if arm is not None:
            self._place(arm)
        self._control = arm

    @property
    def stop_when(self) -> StopRule | None:
        """The rule by which `verdict` says whether one may stop; another may be set."""
        return self._stop_when

    @stop_when.setter
    def stop_when(self, rule: StopRule | None) -> None:
        self._stop_when = reporting.check_rule(rule)

    def report(self, level: float = 0.95) -> Report:
        """By how much, how sure, may one stop: per arm the lift over control, the chance to beat it
        and the expected loss of choosing the arm now, in a table, as data, and in one sentence.

        >>> start = {"blue": (10_000, 300), "green": (10_000, 381)}
        >>> agent = Agent(["blue", "green"], control="blue", start=start, seed=7)
        >>> print(agent.report().sentence)
        green converts 27 % better than blue, between 9 % and 47 % better; the chance that anything
        else is better is below 0.1 %; you may stop.
        """
        return reporting.report_of(self, self._control, doors.check_level(level), self._stop_when)

    def verdict(self) -> Verdict:
        """What the rule `stop_when` says now; by default `belman.Sure(0.95)`.

        >>> from belman.measures import Separated
        >>> start = {"blue": (10_000, 300), "green": (10_000, 381)}
        >>> agent = Agent(["blue", "green"], start=start, stop_when=Separated(0.05), seed=7)
        >>> agent.verdict().decided
        False
        """
        return self.report().verdict

    def _advice(self, m: int) -> advice.Advice:
        doors.check_wanted(m, len(self._arms))
        return advice.advise(
            self._policy, self._family, self._seen(), self._memory, int(m), self._mind.copy()
        )

    @property
    def pseudobelief(self) -> tuple[float, ...]:
        """The coordinates of the barycentre of the beliefs about all arms."""
        return tuple(map(float, least_kl_from_arms(self._family, self._seen().beliefs)))

    def __repr__(self) -> str:
        waiting = f", {int(self._pending.sum())} outstanding" if self._pending.any() else ""
        arms = f"{len(self._arms)} arm{'s' * (len(self._arms) != 1)}"
        told = f"{self._told} reward{'s' * (self._told != 1)} told{waiting}"
        return f"Agent({arms}, family={self._scale.base.name!r}, policy={self._policy!r}, {told})"

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file: a crash leaves the old file or the new one."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        return saving.to_text(self)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        arms: Sequence[Hashable] | None = None,
        family: Family | None = None,
        policy: Policy | None = None,
    ) -> Agent:
        """The agent of a state file, which goes on as if it had never stopped: one of the class
        that wrote it.

        `arms`, `family` and `policy` replace what the file holds; they are needed where it could
        hold only a name (arms that JSON lacks, a family or policy of your own, an exposure that is
        a function).
        """
        text, source = state_file.fetch(path), os.fspath(path)
        replaced = arms is not None or family is not None or policy is not None
        kind = writer_of(text) if cls is Agent and not replaced else None
        if kind is not None:
            found: Agent = kind.from_json(text, source=source)
            return found
        return cls.from_json(text, source=source, arms=arms, family=family, policy=policy)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        source: str = "the state",
        arms: Sequence[Hashable] | None = None,
        family: Family | None = None,
        policy: Policy | None = None,
    ) -> Agent:
        """The agent of a text that `to_json` gave."""
        return saving.from_text(cls, text, source, arms, family, policy)

    # The policy, and the arrays that its kernels need

    def _take_policy(self, policy: Policy) -> None:
        self._policy = doors.check_policy(policy, self._family, len(self._arms))
        self._lay_out_arrays()

    def _lay_out_arrays(self, places: Sequence[int] | None = None) -> None:
        """Lay out the arrays anew for the arms there are, and renew what the policy derives from
        the ledger; what it heard of arms stays with them, if their old `places` are given.
        """
        self._places = {arm: place for place, arm in enumerate(self._arms)}
        self._working = Ledger(*(column.copy() for column in self._truth))
        fresh = self._policy.memory(len(self._arms), self._family.dimension)
        if places is not None:
            fresh = self._policy.resettled(self._memory, fresh, places)
        self._memory: Any = fresh
        self._stale = np.arange(-1, len(self._arms), dtype=np.int64)
        self._stale[0] = len(self._arms)
        self._turn_values = {}
        self._waiting = int(self._pending.sum())
        self._all_tried = False
        self._shut = np.zeros(len(self._arms), dtype=np.bool_)
        self._index = np.zeros(len(self._arms))
        self._calls = Calls(self)
        if self._policy.by_clock:
            self._policy.set_time(self._memory, self._time)
        self._calls.settle_heard()

    def lay_out(self) -> None:
        """Forget how the policy worked, and nothing of what it learnt: equal agents have equal
        texts then, whatever they were asked.
        """
        self._lay_out_arrays(range(len(self._arms)) if self._policy.learns else None)

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        return {name: part for name, part in vars(self).items() if name != "_calls"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._calls = Calls(self)

    # Doors

    def _place(self, arm: Hashable) -> int:
        try:
            return self._places[arm]
        except (KeyError, TypeError):
            raise doors.unknown_arm(arm, self._arms) from None

    def _closed(self, among: Iterable[Hashable]) -> NDArray[np.bool_]:
        closed = np.ones(len(self._arms), dtype=np.bool_)
        for arm in doors.check_names(among, "among"):
            closed[self._place(arm)] = False
        if closed.all():
            raise ArmError("among is empty: name at least one arm that is available")
        return closed

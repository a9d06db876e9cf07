"""The state of a study: what is left of its log when it is folded, event by event.

It is a decider (who chooses, and what is believed), a book (outcomes that are open) and a tally
(what became of the traffic), with the rules that changed since the study was created. `folding.py`
says what an event does to it, `deciding.py` how the next asks are decided, and `saving.py` how it
is written down.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, methodcaller
from typing import Annotated, Any

import numpy as np

from belman import chance, codec
from belman.codec import DERIVED, Arm, Count, Form, Place
from belman.deciders import Asking, Choice, Draw, IndependentDecider, Learnt, decider_named
from belman.deciders.choosing import Dice
from belman.deciders.independent.independent import PLAIN
from belman.deciders.shares import NO_SHARES
from belman.delays import DelayDistribution
from belman.engine import LATER, entry
from belman.errors import SettingError
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.outcomes.book import Book, Outcome
from belman.studies.outcomes.candidates import Catalogue
from belman.studies.outcomes.early import EarlyLearning
from belman.studies.rules.guards import Guards
from belman.studies.settings import StudySettings
from belman.studies.traffic.evidence import Chances, bets_of
from belman.studies.traffic.publishing import Publishing
from belman.studies.traffic.spending import Spending
from belman.studies.traffic.tally import ArmTally, Tally

_SETTINGS = Form(
    attrgetter("plain"),
    lambda content, _: StudySettings.from_plain(content),
)
_DECIDER = Form(
    lambda decider: {"kind": decider.kind, "state": decider.state()},
    lambda content, _: decider_named(content["kind"]).restore(content["state"], "a snapshot"),
    methodcaller("copy"),
)


@dataclass
class State:
    """What decides, the register of all arms there ever were, the book and the tally.

    Every decision draws from a generator of its own, forked from the seed by the number of its
    event, so that the state follows from the log alone.
    """

    settings: Annotated[StudySettings, _SETTINGS]
    decider: Annotated[Any, _DECIDER]
    register: list[Arm]
    book: Book
    early: EarlyLearning | None
    tally: Tally
    guards: Guards = field(default_factory=Guards)
    publishing: Publishing = field(default_factory=Publishing)
    spending: Spending | None = None  # under a budget
    noticed: Count = 0  # changes of the world that are written down
    shipped: Place | None = None  # the arm that gets all traffic
    ships_itself: bool = False
    paused: bool = False
    number: Count = 0
    catalogue: Catalogue = field(default_factory=Catalogue)
    positions: dict[Arm, int] = field(default_factory=dict, metadata=DERIVED)
    shares: Any = field(default=NO_SHARES, metadata=DERIVED)  # of traffic, where there are any
    by_chances: bool = field(default=False, metadata=DERIVED)  # whether asks are drawn by shares
    in_contexts: bool = field(default=False, metadata=DERIVED)  # whether decisions depend on one
    follows_changes: bool = field(default=False, metadata=DERIVED)  # whether the policy may
    learns_sums: bool = field(default=False, metadata=DERIVED)  # whether it can, of many rewards
    by_clock: bool = field(default=False, metadata=DERIVED)  # whether the policy goes by the time
    choices: Any = field(default_factory=list, metadata=DERIVED)  # of arms without a context
    dice: Any = field(default=None, metadata=DERIVED)  # thrown with the generator of one decision
    _own: Any = field(default=None, metadata=DERIVED)  # the generator of one decision
    _fork: Any = field(default=None, metadata=DERIVED)  # makes it, by the number of an event
    _chances: Any = field(default_factory=dict, metadata=DERIVED)  # of draws by fixed shares

    @classmethod
    def begin(cls, settings: StudySettings) -> State:
        """Return the state of a new study with these settings."""
        arms = len(settings.arms)
        return cls(
            settings,
            settings.decider(),
            list(settings.arms),
            Book(),
            EarlyLearning(DelayDistribution(settings.window or 0.0, arms))
            if settings.early
            else None,
            Tally([ArmTally() for _ in range(arms)], bets=bets_of(settings)),
            Guards(limits=dict(settings.guard or {})),
            spending=None if settings.budget is None else Spending(),
            ships_itself=settings.then == "ship",
        )

    def __post_init__(self) -> None:
        self.positions = {arm: position for position, arm in enumerate(self.register)}
        self.book.under(self.settings)
        if self.spending is not None and self.settings.budget is not None:
            self.spending.under(self.settings.budget)
        shares, self.in_contexts = self.settings.shares, self.settings.has_contexts
        if shares.floored or shares.uniform or shares.most < 1.0:
            self.shares = shares
        self.by_chances = self.settings.draws_by_chances
        self.note_policy(self.decider.policy)
        self.choices = [Choice(arm) for arm in self.register]
        self._begin_forks()

    def note_policy(self, policy: Policy | DependentPolicy) -> None:
        """Note what a policy needs: the time, and whether to be asked for changes."""
        apart = policy if isinstance(policy, Policy) else None
        self.by_clock = apart is not None and apart.by_clock
        self.follows_changes = apart is not None and apart.learns and not self.in_contexts
        self.learns_sums = apart is not None and apart.learns_sums(self.decider.family)

    def copied(self) -> State:
        """Return a deep copy."""
        other = codec.copied(self)
        other._begin_forks()
        other._chances, other.choices = {}, list(self.choices)
        return other

    # The generator of one decision

    def _begin_forks(self) -> None:
        words, self._own = self.settings.words(), chance.generator(0)
        self._fork = entry(chance.fork).hold(LATER, words=words, out=self._own)
        self.dice = Dice(self._own)

    def fork(self, role: int) -> None:
        """Begin the generator of the next event, in one of its roles."""
        self._fork(self.number + 1, role)

    def ready(self) -> Any:
        """Return the decider, whose next choice or look follows from the log alone: its working
        memory is laid out, and its random words are those of the next event.
        """
        self.decider.lay_out()
        self.fork(0)
        self.decider.rng[:] = self._own
        return self.decider

    # Arms and what is asked

    @property
    def arms(self) -> Sequence[Hashable]:
        """The arms in play; one for all candidates, where these are the arms."""
        return self.decider.arms or self.register

    @property
    def retired(self) -> list[int]:
        """The places of the arms that are not in play any more."""
        gone = self.decider.retired
        return [position for position, arm in enumerate(self.register) if arm in gone]

    def check_asking(self, context: Any, candidates: Any) -> Asking:
        """Return a context and candidates as the log keeps them; nothing is changed."""
        if not self.in_contexts:
            if context is None and candidates is None:
                return PLAIN
            what = "context was" if candidates is None else "candidates were"
            how = "open_study(…, context=[…]), features=… or segments=… make one"
            raise SettingError(f"{what} given to a study that decides without: {how}")
        result: Asking = self.decider.check(context, candidates)
        return result

    def choice(self, outcome: Outcome) -> Choice:
        """Return the decision that an outcome is of."""
        result: Choice = self.choices[outcome.arm]
        if outcome.context is None:
            return result
        return result._replace(context=outcome.context, candidate=outcome.candidate)

    # Chances of past decisions

    def chances(self, key: Any, outcome: Outcome) -> Chances | None:
        """Return the chances of all arms, by place, at the decision of an outcome, if known."""
        if outcome.chances is not None or type(key) is not int or not self.by_chances:
            return outcome.chances
        return self.tally.draws.at(key)

    def chances_of(self, draw: Draw | int) -> Chances:
        """Return the chances of all arms, by place, in a draw by floors, or else a uniform one."""
        if draw not in self._chances:
            own = self.shares.of(self.arms) if draw == Draw.FLOOR else dict.fromkeys(self.arms, 1.0)
            total = sum(own.values())
            self._chances[draw] = tuple(own.get(arm, 0.0) / total for arm in self.register)
        known: Chances = self._chances[draw]
        return known

    def forget_chances(self) -> None:
        """Work out the chances of such draws anew, since arms have come or gone."""
        self._chances = {}

    # What is learnt

    def learnt(self, position: int) -> Learnt:
        """Return all that was learnt of an arm, in play or retired."""
        result: Learnt = self.over_contexts.learnt(self.register[position])
        return result

    @property
    def over_contexts(self) -> IndependentDecider:
        """What decides, or what believes every arm over all contexts."""
        result: IndependentDecider = self.decider.totals if self.in_contexts else self.decider
        return result

    def kept(self, reward: float) -> tuple[float, bool]:
        """Return a reward as it counts, and whether it was clipped to the range."""
        if not self.settings.clip:
            return reward, False
        result = float(self.decider.scale.nearest(reward))
        return result, result != reward

    @property
    def waits(self) -> str | None:
        """Why open tickets wait for their window in a study that learns early, if they do."""
        return None if self.early is None else self.early.alarm

    def count_early(self, now: float, peek: bool = False) -> None:
        """Count open tickets as far as their age and rewards say now, where the study learns early.
        An ask of the same time has to follow, unless this is a `peek`.
        """
        if self.early is None:
            return
        played = [self.positions[arm] for arm in self.arms]
        beliefs = np.ones((len(self.register), 2))
        beliefs[played] = self.decider.settled
        count = self.early.look if peek else self.early.counts
        self.decider.count_provisionally(count(max(now, self.book.time), beliefs)[played])

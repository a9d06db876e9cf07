"""The tally of a study: what became of its traffic, by arm and in all, without reading its log.

It is kept with the state, event by event: how many tickets of an arm counted and how many were
forgotten, how often each arm was drawn while its chance was the same, what the arm had earned at
its 1st, 2nd, 4th, 8th, … reward, what came from past data and in bulk, and what it all earned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from belman.codec import Count
from belman.deciders.learnt import Learnt
from belman.errors import BelmanError
from belman.families import Family
from belman.measures.bets import ArmBets
from belman.measures.lift import Units
from belman.measures.soundness import Drift, Finding, SampleRatio, told_shares
from belman.studies.outcomes.book import Counted
from belman.studies.rules.metrics import SumsByArm
from belman.studies.traffic.course import Course
from belman.studies.traffic.evidence import Draws

#: Seconds after which a ticket without a window that nobody told is taken for a missing reward.
LATE = 86_400.0


class Cut(NamedTuple):
    """What was known of an arm when it had so many rewards, the last of which counted at a time,
    by a ticket or (0) otherwise. Rewards are a share of one where a correction may be about any.
    """

    rewards: float
    sum: float
    belief: tuple[float, ...]
    time: float
    ticket: Count

    def has(self, time: float, ticket: int) -> bool:
        """Whether a ticket that counted at this time is among its rewards."""
        return time < self.time or (
            time == self.time and (ticket <= self.ticket or not self.ticket)
        )

    def changed(self, family: Family, before: Learnt, after: Learnt, share: float) -> Cut | None:
        """With a share of what a correction changed of the arm; None where that cannot be."""
        shift = family.additive(after.belief) - family.additive(before.belief)
        rewards = self.rewards + share * (after.tells - before.tells)
        if rewards <= 0.0:
            return None
        try:
            moved = family.from_additive(family.additive(self.belief) + share * shift)
            belief = tuple(map(float, family.check_belief(moved)))
        except (BelmanError, ArithmeticError):
            return None
        total = self.sum + share * (after.sum - before.sum)
        return self._replace(rewards=rewards, sum=total, belief=belief)


@dataclass
class ArmTally:
    """What became of the traffic of one arm: `asks` were decided, `told` counted, `forgotten` were
    not, `past` came as past data and `observed` in bulk; of those that published weights `assigned`
    to it, so many were `meant` to be; and `cuts` of its past.
    """

    asks: Count = 0
    told: Count = 0
    forgotten: Count = 0
    past: Count = 0
    observed: Count = 0
    assigned: Count = 0
    meant: float = 0.0
    cuts: dict[Count, Cut] = field(default_factory=dict)

    def cut(self, before: int, learnt: Callable[[], Learnt], time: float, ticket: int = 0) -> None:
        """Keep what was learnt of an arm where the number of its rewards passes a power of 2."""
        rewards = self.told + self.past
        if rewards.bit_length() > before.bit_length():
            now = learnt()
            self.cuts[rewards.bit_length()] = Cut(float(rewards), now.sum, now.belief, time, ticket)

    def correct_cuts(
        self, family: Family, before: Learnt, after: Learnt, share: Callable[[Cut], float]
    ) -> None:
        """Let a correction change what was kept of the past, each cut by its share of it."""
        kept = {}
        for position, cut in self.cuts.items():
            result = cut.changed(family, before, after, share(cut)) if family.adds_up else None
            if result is not None:
                kept[position] = result
        self.cuts = kept


@dataclass
class Tally:
    """Counts by an arm's place in the register, and in all."""

    arms: list[ArmTally]
    told: Count = 0
    reward: float = 0.0
    expired: Count = 0
    past_sum: float = 0.0
    draws: Draws = field(default_factory=Draws)
    log_odds: float = 0.0  # against the published weights
    clipped: Count = 0  # rewards that lay beyond the range
    bets: ArmBets | None = None  # on the arm of every outcome, beside control
    course: Course = field(default_factory=Course)
    metrics: SumsByArm = field(default_factory=SumsByArm)
    attribute_names: set[str] = field(default_factory=set)  # that tickets or rows ever had

    # What happens

    def ask(self, arm: int, time: float, count: int = 1) -> None:
        """Asks of an arm were decided, or (-1) were not after all."""
        self.arms[arm].asks += count
        self.course.ask(arm, time, count)

    def count(self, one: Counted, learnt: Callable[[], Learnt]) -> None:
        """An outcome was learnt: that of a ticket, of a row, or of past data."""
        position, reward = one.outcome.arm, one.outcome.reward or 0.0
        arm = self.arms[position]
        before = arm.told + arm.past
        self.told += 1
        self.reward += reward
        if one.key is None:
            arm.past += 1
            self.past_sum += reward
        else:
            arm.told += 1
            if type(one.key) is tuple:
                arm.observed += 1
                self.ask(position, one.time)
            self.course.earn(one.time, reward)
        arm.cut(before, learnt, one.time, one.key if type(one.key) is int else 0)
        if one.outcome.metrics:
            self.metrics.count(position, one.outcome.metrics)

    def observe(
        self, position: int, time: float, n: int, total: float, learnt: Callable[[], Learnt]
    ) -> None:
        """Many rewards of an arm were learnt at once."""
        arm = self.arms[position]
        before = arm.told + arm.past
        self._add(position, time, n, total)
        self.ask(position, time, n)
        arm.observed += n
        arm.cut(before, learnt, time)

    def _add(self, position: int, time: float, n: int, total: float) -> None:
        self.told += n
        self.reward += total
        self.arms[position].told += n
        self.course.earn(time, total, n)

    def correct(self, position: int, time: float, n: int, total: float, in_bulk: bool) -> None:
        """Rewards count otherwise, with `n` more of them."""
        arm = self.arms[position]
        self._add(position, time, n, total)
        if in_bulk:
            arm.asks += n
            arm.observed += n
        else:
            arm.forgotten -= n

    # Is the data sound?

    def assigned(self, register: Sequence[Hashable]) -> SampleRatio:
        """Return the test of whether units were assigned as published weights say, as far as it has
        come.
        """
        test = SampleRatio(register)
        test.counts[:] = [arm.assigned for arm in self.arms]
        test.expected[:] = [arm.meant for arm in self.arms]
        test.log_odds = self.log_odds
        return test

    def sample_ratio(self, register: Sequence[Hashable]) -> Finding | None:
        """Return whether random draws fell as their chances say, and units as published weights do;
        None where there are neither.
        """
        test, drawn = self.assigned(register), self.draws.test(register)
        test.counts, test.expected = test.counts + drawn.counts, test.expected + drawn.expected
        test.log_odds += drawn.log_odds
        return test.finding() if test.counts.any() else None

    def missing(
        self, register: Sequence[Hashable], out: Sequence[int], late: list[int]
    ) -> Finding | None:
        """Return whether rewards are missing for one arm more than for another; None if none are.

        `out` are the tickets that are out, by arm, and `late` those of them that nobody will tell.
        """
        if not any(late) and not any(arm.forgotten for arm in self.arms):
            return None
        settled = [arm.asks - waiting for arm, waiting in zip(self.arms, out, strict=True)]
        told = [n - arm.forgotten for n, arm in zip(settled, self.arms, strict=True)]
        due = [n + more for n, more in zip(settled, late, strict=True)]
        return told_shares(
            dict(zip(register, due, strict=True)), dict(zip(register, told, strict=True))
        )

    def drift(
        self, position: int, arm: Hashable, family: Family, now: Learnt, units: Units, risk: float
    ) -> Finding:
        """Return whether an arm changed while it was played."""
        result = Drift(arm, family, now.prior, units)
        cuts = [cut[:3] for _, cut in sorted(self.arms[position].cuts.items())]
        return result.resume(now.tells, now.sum, now.belief, cuts).finding(risk)

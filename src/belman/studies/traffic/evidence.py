"""The chances by which asks are drawn, and the bets by them on the arm of every outcome.

Chances that every ask of a study has in common are made anew when the log has grown by a fiftieth,
and when arms or the policy change. An ask that begins with new ones has them in the log, and all
that follow are drawn by the same. So the chances of *all* arms at any ask are known, which is what
a comparison of two arms needs.

Bets are part of the tally, and hold whatever the prior and however often one looks
(`measures/bets.py`). Outcomes that nobody drew by chances (past data, units without a version, a
policy that chose for sure) are learnt, and say nothing here.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from belman import codec
from belman.codec import Count, Number
from belman.measures.bets import ArmBets
from belman.measures.soundness import SampleRatio
from belman.studies.outcomes.bulk import Bulk, Group
from belman.studies.settings import StudySettings

#: One more than this many events, and chances are made anew.
_LASTING = 50
#: The number of decisions whose chances were logged elsewhere: before all that belman made.
NO_VERSION = -1

#: Of every arm, by its place in the register; arms that came later are not in it.
Chances = tuple[float, ...]


class Stage(NamedTuple):
    """Chances, and the first ask that was drawn by them."""

    number: Number
    chances: Chances


@dataclass
class Draws:
    """The chances that stand and how often each arm was drawn by them (`counts`); how often it was
    before and was meant to be; and the odds against the chances.
    """

    stages: list[Stage] = field(default_factory=list)
    chances: Chances = ()
    counts: list[Count] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    meant: list[float] = field(default_factory=list)
    log_odds: float = 0.0
    due: Count = 0  # the number of the event that is drawn by new chances

    def stand(self, number: int, chances: Chances) -> None:
        """Let these chances stand from an ask on, for a fiftieth of the log so far."""
        self.stages.append(Stage(number, chances))
        self.due = number + 1 + number // _LASTING

    def at(self, number: int) -> Chances | None:
        """Return the chances by which an ask was drawn, if it was drawn by such."""
        position = bisect_right(self.stages, number, key=lambda stage: stage.number)
        return self.stages[position - 1].chances if position else None

    def add(self, arm: int, chances: Chances, count: int = 1) -> None:
        """An arm was drawn by these chances, once or many times."""
        if self.chances is not chances and self.chances != chances:
            self._close()
            self.chances, self.counts = chances, [0] * len(chances)
        self.counts[arm] += count

    def _close(self) -> None:
        """Keep of the chances that stood how arms fell by them."""
        if any(self.counts):
            test = self.test(range(len(self.chances)))
            self.seen, self.meant = test.counts.tolist(), test.expected.tolist()
            self.log_odds = test.log_odds

    def test(self, arms: Sequence[Hashable]) -> SampleRatio:
        """Return the test of whether arms fell as their chances say, as far as it has come."""
        result = SampleRatio(arms)
        result.counts[: len(self.seen)] = self.seen
        result.expected[: len(self.meant)] = self.meant
        result.log_odds = self.log_odds
        if any(self.counts):
            result.add(_filled(self.counts, len(arms)), _filled(self.chances, len(arms)))
        return result


def _filled(values: Sequence[float], size: int) -> np.ndarray:
    return np.pad(np.asarray(values, np.float64), (0, size - len(values)))


#: Arms that are compared with control, and control, at most: each has a few hundred sums.
MOST_ARMS = 50


def bets_of(settings: StudySettings) -> ArmBets | None:
    """Return the bets of a new study; None where nothing is compared with control."""
    if settings.control is None or len(settings.arms) > MOST_ARMS:
        return None
    kind, ends = "amount", settings.range or settings.family.reward_range
    if settings.range is None and settings.family.coin:
        kind = "rate"
    elif ends is not None:
        kind = "range"
    low, high = (0.0, 1.0) if ends is None else ends
    position = settings.arms.index(settings.control)
    return ArmBets(len(settings.arms), position, kind, float(low), float(high))


def joined(bets: ArmBets) -> ArmBets | None:
    """Return the bets of one arm more; None where there are too many."""
    if bets.arms >= MOST_ARMS:
        return None
    bets.join()
    return bets


def bet(
    bets: ArmBets | None,
    arm: int,
    chances: Sequence[float],
    reward: float | None,
    times: float,
    number: int | None,
) -> None:
    """Count a reward, if there is one, so many times (−1 takes it back) of the decision of a number
    or of several that were made together.
    """
    if bets is not None and reward is not None and times:
        _make_room(bets, [reward])
        bets.add(arm, chances, reward, times, number)


def bet_many(
    bets: ArmBets, arm: int, chances: Sequence[float], rewards: Sequence[float], number: int
) -> None:
    """Count rewards of decisions that were made together."""
    _make_room(bets, rewards)
    bets.add_many([arm] * len(rewards), chances, rewards, number=max(number, NO_VERSION))


def _make_room(bets: ArmBets, rewards: Iterable[float]) -> None:
    """Let bets on 0 and 1 be bets on shares where one comes: their sums are the same."""
    if bets.kind == "rate" and not set(rewards) <= {0.0, 1.0}:
        bets.kind = "range"


def bet_bulk(bets: ArmBets, bulk: Bulk) -> ArmBets:
    """Count the outcomes of a batch that came by published weights, and return the bets: rewards
    that are kept one by one, and sums where every reward is a side of a coin.
    """
    if bulk.bets is not None:
        return codec.read(ArmBets, bulk.bets, {})
    shares, width = dict(bulk.shares), bets.high - bets.low
    every = bulk.values or [()] * len(bulk.groups)
    for group, values in zip(bulk.groups, every, strict=True):
        if group.version is None or group.version not in shares:
            continue
        counts: Sequence[tuple[float, float]] = values
        if not values and bets.kind != "amount" and _are_sides(group, bets):
            wins = (group.sum - group.n * bets.low) / width
            counts = ((bets.high, wins), (bets.low, group.n - wins))
        for reward, times in counts:
            number = max(group.version, NO_VERSION)
            bet(bets, group.arm, shares[group.version], reward, times, number)
    return bets


def _are_sides(group: Group, bets: ArmBets) -> bool:
    """Whether sums can only be those of rewards at both ends of the range."""
    n, low, high = group.n, bets.low, bets.high
    squares = n * low * low + (low + high) * (group.sum - n * low)
    return math.isclose(group.squares, squares, rel_tol=1e-9, abs_tol=1e-9)

"""Whether a policy plays each arm as often as the chance says that is logged for it.

A policy is brought to a few states, and from each it chooses hundreds of times, with other random
words and everything else as it was. How often it chose an arm is held against the logged chance by
an exact binomial test; all tests of a call together raise a false alarm for one seed in a million.
"""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import leaves
from belman.families.family import Floats
from belman.measures.best import best_probabilities
from belman.policies.ledger import Ledger, record
from belman.policies.policy_kernels import any_open, choose_open
from belman.testing.cases import ALARM, Faults

if TYPE_CHECKING:
    from belman.testing.policies import PolicyCase

ARMS = 4
#: States: the rewards that were told before, and whether an arm is closed then.
_STATES = ((0, False), (10, False), (30, False), (30, True))
_DRAWS, _CHANCES = 400, 16  # choices from a state; those of an arm at which its chance is looked at
_SAME = 1e-9  # chances that differ by less are the same
_LEVEL = ALARM / (len(_STATES) * ARMS)
_REMEDY = (
    "let propensity say NaN where the chance is not known, with draws_from_beliefs = False unless "
    "it follows from the chances of being best"
)


class _Table:
    """A policy that is played by its kernels alone, as Python."""

    def __init__(self, case: PolicyCase) -> None:
        self.policy, self.family, self.turn = case.policy, case.family, 1
        self.kernels = case.policy.kernels
        self.params = case.policy.params(case.family)
        self.ledger = Ledger.blank(np.tile(np.array(case.family.prior), (ARMS, 1)))
        self.memory = case.policy.memory(ARMS, case.family.dimension)
        self.rng = chance.generator(1)
        for arm in range(ARMS):
            self.kernels.refresh(*self.seen, arm)

    @property
    def seen(self) -> tuple[Any, ...]:
        return self.family.kernels, self.family.constants, self.params, self.ledger, self.memory

    @property
    def clock(self) -> tuple[int, float]:
        values = self.policy.turn_values(np.array([float(self.turn)]), ARMS)
        return self.turn, float(values[0])

    def choose(self, clock: tuple[Any, ...], closed: Any) -> tuple[int, int]:
        """An arm, and how many share its index: as an agent chooses."""
        state: list[Any] = [self.kernels, *self.seen, *clock, self.rng, np.zeros(ARMS)]
        choose = partial(choose_open, closed=closed) if closed.size else self.kernels.choose
        arm, ties = choose(*state)
        return any_open(ARMS, closed, self.rng) if ties == 0 else (arm, ties)

    def live(self, streams: list[Floats], turns: int) -> None:
        """Play, and learn of every other arm unasked, until `turns` rewards were told."""
        none = np.zeros(0, dtype=np.bool_)
        while self.turn <= turns:
            asked = self.choose(self.clock, none)[0]
            arm = asked if self.turn % 2 else self.turn // 2 % ARMS
            reward = float(streams[arm % len(streams)][self.turn])
            record(self.family.kernels, self.family.constants, self.ledger, arm, reward)
            self.kernels.learn(*self.seen, arm, reward)
            self.kernels.refresh(*self.seen, arm)
            self.turn += 1


class _Counts(NamedTuple):
    """How often each arm was chosen from a state, and the chances that were logged for it."""

    plays: dict[int, int]
    chances: dict[int, list[float]]
    draws: int  # 1 where nothing is drawn, and every choice is the same


def _counted(table: _Table, closed: Any) -> _Counts:
    """Choose again and again from the same state."""
    kept = copy.deepcopy((table.ledger, table.memory))
    counts, clock = _Counts({}, {}, 0), table.clock
    for draw in range(_DRAWS):
        words = chance.generator(7, draw)
        table.rng[:] = words
        arm, ties = table.choose(clock, closed)
        drawn = not np.array_equal(table.rng, words)
        counts.plays[arm] = counts.plays.get(arm, 0) + 1
        if len(counts.chances.setdefault(arm, [])) < _CHANCES:
            known = table.kernels.propensity(*table.seen, *clock, closed, arm, ties)
            counts.chances[arm].append(float(known))
        restored = zip(leaves((table.ledger, table.memory)), leaves(kept), strict=True)
        for array, old in restored:
            array[...] = old
        if not drawn:
            return counts._replace(draws=1)
    return counts._replace(draws=_DRAWS)


def _integrated(table: _Table, playable: NDArray[np.int64]) -> Floats:
    """The chances that an agent logs where the policy's kernel says NaN."""
    acting = table.policy.acting(table.memory)
    chances = acting.own_chances(table.family, table.ledger, playable)
    if chances is not None:
        return chances
    if not acting.draws_from_beliefs:
        return acting.chances(np.full(len(playable), np.nan))
    return acting.chances(best_probabilities(table.family, table.ledger.beliefs[playable]))


def _faults_of(table: _Table, closed: Any) -> Faults:
    """What is wrong with the chances of a state."""
    from scipy.stats import binomtest  # half a second, for those who check

    counts = _counted(table, closed)
    playable = np.flatnonzero(~closed) if closed.size else np.arange(ARMS)
    integrated: Floats | None = None
    for arm, chances in counts.chances.items():
        if max(chances) - min(chances) > _SAME:
            low, high = min(chances), max(chances)
            yield f"it logs chances from {low:.3g} to {high:.3g} for one arm in one state"
        said, plays = chances[0], counts.plays[arm]
        if math.isnan(said):
            integrated = _integrated(table, playable) if integrated is None else integrated
            said = float(integrated[np.flatnonzero(playable == arm)[0]])
        if math.isnan(said):
            continue
        if counts.draws == 1:
            right, often = abs(said - 1.0) <= _SAME, "always plays"
        else:
            test = binomtest(plays, counts.draws, min(max(said, 0.0), 1.0))
            right = 0.0 < said <= 1.0 + _SAME and test.pvalue > _LEVEL
            often = f"plays in {plays} of {counts.draws} draws"
        if not right:
            yield f"it logs the chance {said:.3g} for an arm that it {often}: {_REMEDY}"


def chances_are_frequencies(case: PolicyCase) -> Faults:
    """Every arm is chosen as often as the logged chance says: one false alarm in a million."""
    if case.policy.sees_truth:
        return
    most = max(told for told, _ in _STATES)
    streams = [case.rewards.draws(mean, most + 2, 11) for mean in case.rewards.means]
    with np.errstate(all="ignore"):
        table = _Table(case)
        for told, limited in _STATES:
            table.live(streams, told)
            closed = np.arange(ARMS if limited else 0) == 1
            for fault in _faults_of(table, closed):
                yield f"after {told} rewards {fault}"

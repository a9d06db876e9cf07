"""Any policy with a detector around it: on evidence of a change it begins anew.

The policy inside sees a ledger of its own: the rewards since its last restart, of all arms
("global") or of the arm that has changed ("local"). Its clock counts these rewards. So that changes
of arms which it does not play are seen, a share of the turns goes round all arms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.families.family import Family
from belman.policies.change.detectors import MARKS, Detector, GLRTest
from belman.policies.optimism.kl_ucb import KLUCB
from belman.policies.policy import Floats, Ledger, Policy, PolicyKernels, pick, record
from belman.policies.settings import is_number, require
from belman.policies.wrappers.wrapper import OwnLedger, around, is_news, set_to_prior

EXPLORE, GLOBAL, SIZE, OWN, HEAD = 0, 1, 2, 3, 4
_STEPS, _OCTAVES = 8.0, 50  # turns whose values are tabulated, a power of two in steps


class Memory(NamedTuple):
    """What the policy inside sees and keeps, and what the detector keeps of every arm."""

    own: Ledger
    inner: Any
    clock: Floats  # (2) rewards told, and restarts
    seeded: Floats  # (K) whether the arm is known
    fresh: Floats  # (K) whether the policy inside knows what is remembered of the arm
    marks: Floats  # (K, MARKS)
    state: Floats  # (K, size)
    values_scratch: Floats  # turn values of the policy inside, at powers of two in steps


@kernel
def forced_arm(params, clock, arms):
    """The arm whose turn it is among those that go round, or −1."""
    if not params[EXPLORE] > 0.0:
        return -1
    period = max(math.ceil(arms / params[EXPLORE]), arms)
    return max(int(clock % period) - period + arms, -1)


@kernel
def remembered_turn(own):
    turn = 1.0
    for a in range(own.plays.size):
        turn += own.plays[a]
    return turn


@kernel
def value_at(values, turn):
    """The turn value of the policy inside, at the last tabulated turn."""
    return values[min(int(_STEPS * math.log2(turn)), values.size - 1)]


@factory
def _around(inner: PolicyKernels, watch: Callable[..., Any]) -> PolicyKernels:
    """The kernels of a policy that begins anew when a detector says so."""

    @kernel
    def cut(params):
        """Where the params of the policy inside begin."""
        return HEAD + int(params[SIZE]) + int(params[OWN])

    @kernel
    def refresh(family, law, params, ledger, memory, arm):
        if is_news(memory, ledger, arm):
            inner.refresh(family, law, params[cut(params) :], memory.own, memory.inner, arm)

    @kernel
    def restart(family, law, params, memory, arm):
        size = int(params[SIZE])
        set_to_prior(memory.own, params[HEAD : HEAD + size], arm)
        for i in range(memory.marks.shape[1]):
            memory.marks[arm, i] = 0.0
        for i in range(memory.state.shape[1]):
            memory.state[arm, i] = 0.0
        inner.refresh(family, law, params[cut(params) :], memory.own, memory.inner, arm)

    @kernel
    def learn(family, law, params, ledger, memory, arm, reward):
        own, size = memory.own, int(params[SIZE])
        known = params[HEAD + size : HEAD + size + int(params[OWN])]
        memory.clock[0] += 1.0
        record(family, law, own, arm, reward)
        if watch(family, law, known, memory.marks[arm], memory.state[arm], reward):
            memory.clock[1] += 1.0
            if params[GLOBAL] > 0.0:
                for a in range(own.plays.size):
                    restart(family, law, params, memory, a)
            else:
                restart(family, law, params, memory, arm)
        else:
            inner.refresh(family, law, params[cut(params) :], own, memory.inner, arm)

    @kernel
    def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
        forced = forced_arm(params, memory.clock[0], index.size)
        if forced >= 0 and index[forced] == index[forced]:
            for a in range(index.size):
                if index[a] == index[a]:
                    index[a] = 1.0 if a == forced else 0.0
            return
        known, own = params[cut(params) :], memory.own
        now = remembered_turn(own)
        value = value_at(memory.values_scratch, now)
        inner.indices(family, law, known, own, memory.inner, int(now), value, mind, index)

    @kernel
    def choose(policy, family, law, params, ledger, memory, turn, turn_value, mind, index):
        forced = forced_arm(params, memory.clock[0], index.size)
        if forced >= 0:
            for a in range(index.size):
                index[a] = 1.0 if a == forced else 0.0
            return pick(index, mind)
        known, own = params[cut(params) :], memory.own
        now = remembered_turn(own)
        value = value_at(memory.values_scratch, now)
        return inner.choose(
            inner, family, law, known, own, memory.inner, int(now), value, mind, index
        )

    @kernel
    def deal(policy, family, law, params, ledger, memory, turn, turn_value, decisions, mind, deal):
        known, own, kept = params[cut(params) :], memory.own, memory.inner
        now = remembered_turn(own)
        value = value_at(memory.values_scratch, now)
        inner.deal(inner, family, law, known, own, kept, int(now), value, decisions, mind, deal)

    @kernel
    def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
        forced = forced_arm(params, memory.clock[0], memory.own.plays.size)
        if forced >= 0 and not (closed.size > 0 and closed[forced]):
            return 1.0
        known, own = params[cut(params) :], memory.own
        now = remembered_turn(own)
        value = value_at(memory.values_scratch, now)
        return inner.propensity(
            family, law, known, own, memory.inner, int(now), value, closed, arm, ties
        )

    shown = around(inner, cut, refresh, learn)
    return replace(shown, indices=indices, choose=choose, propensity=propensity, deal=deal)


@dataclass(frozen=True)
class Restarting(OwnLedger):
    """Play what `policy` plays, and begin anew when the `detector` has evidence of a change.

    With `scope="global"` a change of one arm restarts all, with "local" that arm alone. A share
    `explore` of the turns goes round all arms.

    >>> Restarting(KLUCB(), GLRTest(), scope="local", explore=0.05).scope
    'local'
    """

    policy: Policy = field(default_factory=KLUCB)
    detector: Detector = field(default_factory=GLRTest)
    scope: str = "global"
    explore: float = 0.05

    name = "restarting"
    moving = ("seeded", "marks", "state")
    forgets = "this agent follows changes, and rewards before and after one are not of one mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        tests = "a detector, such as belman.policies.GLRTest()"
        require(self, "detector", isinstance(self.detector, Detector), tests)
        require(self, "scope", self.scope in ("global", "local"), "'global' or 'local'")
        share = self.explore if is_number(self.explore) else -1.0
        shared = share == 0.0 or 1e-6 <= share <= 1.0
        require(self, "explore", shared, "0, or a share from 1e-6 to 1")

    @property
    def kernels(self) -> PolicyKernels:
        return _around(self.policy.kernels, type(self.detector).watch)

    def params(self, family: Family) -> Floats:
        own = self.detector.params(family)
        head = [float(self.explore), float(self.scope == "global"), family.dimension, len(own)]
        return np.array([*head, *family.prior, *own, *self.policy.params(family)])

    def memory(self, arms: int, dimension: int) -> Memory:
        turns = 2.0 ** (np.arange(_STEPS * _OCTAVES) / _STEPS)
        return Memory(
            own=Ledger.blank(np.zeros((arms, dimension))),
            inner=self.policy.memory(arms, dimension),
            clock=np.zeros(2),
            seeded=np.zeros(arms),
            fresh=np.zeros(arms),
            marks=np.zeros((arms, MARKS)),
            state=np.zeros((arms, self.detector.size)),
            values_scratch=np.array(self.policy.turn_values(turns, arms), dtype=np.float64),
        )

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return np.zeros(len(turns))  # the policy inside goes by the turns that are remembered

    def resettled(self, memory: Memory, fresh: Memory, places: Sequence[int]) -> Memory:
        moved: Memory = super().resettled(memory, fresh, places)
        moved.clock[:] = memory.clock
        return moved

    def forget(self, memory: Memory, arm: int) -> None:
        memory.marks[arm] = memory.state[arm] = 0.0
        super().forget(memory, arm)

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        own = {"clock": (0, 10**15), "marks": (0, 10**15)}
        return own | super().whole_numbers(arms)

    def check(self, family: Family, arms: int) -> None:
        super().check(family, arms)
        self.detector.check(family)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Memory, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        value = float(value_at(memory.values_scratch, remembered_turn(memory.own)))
        return super().explanation(family, ledger, memory, value, index)

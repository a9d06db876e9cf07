"""Any policy with a detector around it: on evidence of a change it begins anew.

The policy inside sees a ledger of its own: the rewards since its last restart, of all arms
("global") or of the arm that has changed ("local"). Its clock counts these rewards. So that changes
of arms which it does not play are seen, a share of the turns goes round all arms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.families.family import Family
from belman.policies.change.detectors import MARKS, Detector, GLRTest
from belman.policies.dealing import set_to_prior
from belman.policies.ledger import Ledger
from belman.policies.ledger import record as enter
from belman.policies.memory import Floats, part, record
from belman.policies.optimism.kl_ucb import KLUCB
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick
from belman.policies.settings import is_number, require
from belman.policies.wrappers.wrapper import OwnLedger, around, is_news
from belman.registry import register

EXPLORE, GLOBAL, SIZE, OWN, HEAD = 0, 1, 2, 3, 4
_STEPS, _OCTAVES = 8.0, 50  # turns whose values are tabulated, a power of two in steps


class Memory(NamedTuple):
    """What the policy inside sees and keeps, and what the detector keeps of every arm."""

    inner: Any
    own: Ledger = record(Ledger)
    clock: Floats = part(2, told=True, whole=(0, 10**15))  # rewards told, and restarts
    seeded: Floats = part("K", told=True)  # whether the arm is known
    fresh: Floats = part("K")  # whether the policy inside knows what is remembered of the arm
    marks: Floats = part("K", MARKS, told=True, whole=(0, 10**15))
    state: Floats = part("K", "watched", told=True)
    values_scratch: Floats = part(0)  # turn values of the policy inside, at powers of two in steps


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


@kernel
def own_clock(memory, turn, turn_value):
    """The policy inside goes by the turns that are remembered."""
    now = remembered_turn(memory.own)
    return int(now), value_at(memory.values_scratch, now)


@factory
def _around(inner: PolicyKernels, watch: Callable[..., Any]) -> PolicyKernels:
    """The kernels of a policy that begins anew when a detector says so."""

    @kernel
    def cut(params):
        """Where the params of the policy inside begin."""
        return HEAD + int(params[SIZE]) + int(params[OWN])

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        if is_news(memory, ledger, arm):
            inner.refresh(family, constants, params[cut(params) :], memory.own, memory.inner, arm)

    @kernel
    def restart(family, constants, params, memory, arm):
        size = int(params[SIZE])
        set_to_prior(memory.own, params[HEAD : HEAD + size], arm)
        for i in range(memory.marks.shape[1]):
            memory.marks[arm, i] = 0.0
        for i in range(memory.state.shape[1]):
            memory.state[arm, i] = 0.0
        inner.refresh(family, constants, params[cut(params) :], memory.own, memory.inner, arm)

    @kernel
    def learn(family, constants, params, ledger, memory, arm, reward):
        own, size = memory.own, int(params[SIZE])
        known = params[HEAD + size : HEAD + size + int(params[OWN])]
        memory.clock[0] += 1.0
        enter(family, constants, own, arm, reward)
        if watch(family, constants, known, memory.marks[arm], memory.state[arm], reward):
            memory.clock[1] += 1.0
            if params[GLOBAL] > 0.0:
                for a in range(own.plays.size):
                    restart(family, constants, params, memory, a)
            else:
                restart(family, constants, params, memory, arm)
        else:
            inner.refresh(family, constants, params[cut(params) :], own, memory.inner, arm)

    shown = around(inner, cut, refresh, learn, own_clock)

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        forced = forced_arm(params, memory.clock[0], index.size)
        if forced >= 0 and index[forced] == index[forced]:
            for a in range(index.size):
                if index[a] == index[a]:
                    index[a] = 1.0 if a == forced else 0.0
        else:
            shown.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)

    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        if forced_arm(params, memory.clock[0], index.size) < 0:
            return shown.choose(
                shown, family, constants, params, ledger, memory, turn, turn_value, rng, index
            )
        indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
        return pick(index, rng)

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        forced = forced_arm(params, memory.clock[0], memory.own.plays.size)
        if forced >= 0 and not (closed.size > 0 and closed[forced]):
            return 1.0
        return shown.propensity(
            family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties
        )

    return replace(shown, indices=indices, choose=choose, propensity=propensity)


@register
class Restarting(OwnLedger):
    """Play what `policy` plays, and begin anew when the `detector` has evidence of a change.

    With `scope="global"` a change of one arm restarts all, with "local" that arm alone. A share
    `explore` of the turns goes round all arms.

    Parameters
    ----------
    policy
        The policy that chooses.
    detector
        The test for a change of an arm's rewards.
    scope
        What begins anew at a change: 'global' is all arms, 'local' the one that changed.
    explore
        The share of turns that go round all arms.

    >>> Restarting(KLUCB(), GLRTest(), scope="local", explore=0.05).scope
    'local'
    """

    policy: Policy = field(default_factory=KLUCB)
    detector: Detector = field(default_factory=GLRTest)
    scope: str = "global"
    explore: float = 0.05

    name = "restarting"
    remembers = Memory
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

    @property
    def watched(self) -> int:
        """How many numbers the detector keeps of an arm."""
        return self.detector.size

    def memory(self, arms: int, dimension: int) -> Memory:
        turns = 2.0 ** (np.arange(_STEPS * _OCTAVES) / _STEPS)
        values = np.array(self.policy.turn_values(turns, arms), dtype=np.float64)
        return super().memory(arms, dimension)._replace(values_scratch=values)

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return np.zeros(len(turns))  # the policy inside goes by the turns that are remembered

    def check(self, family: Family, arms: int) -> None:
        super().check(family, arms)
        self.detector.check(family)

    def pseudobelief(
        self, family: Family, ledger: Ledger, memory: Memory, turn_value: float
    ) -> Floats:
        value = float(value_at(memory.values_scratch, remembered_turn(memory.own)))
        return super().pseudobelief(family, ledger, memory, value)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Memory, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        value = float(value_at(memory.values_scratch, remembered_turn(memory.own)))
        return super().explanation(family, ledger, memory, value, index)

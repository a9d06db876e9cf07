"""Any policy that forgets: by a discount, by a window, or at turns that it is told.

The policy inside sees a ledger of its own, in which old rewards fade (D-UCB and discounted
Thompson: Garivier and Moulines, 2011; Raj and Kalyani, 2017), leave with the window (SW-UCB and
kin), or are gone from a turn on: an oracle that knows when the world changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.dealing import set_to_prior
from belman.policies.ledger import Ledger
from belman.policies.ledger import record as enter
from belman.policies.memory import Floats, part, record
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import PositiveShare, is_whole, require, whole
from belman.policies.wrappers.wrapper import OwnLedger, around, is_news
from belman.registry import register

DISCOUNT, LAST, RESTARTS, CONJUGATE, SIZE, HEAD = 0, 1, 2, 3, 4, 5
_MOST = 1_000_000  # rewards of a window
_WINDOW = whole(1, f"a whole number of rewards up to {_MOST:,}", _MOST)


class Memory(NamedTuple):
    """What the policy inside sees and keeps, and the window."""

    inner: Any
    own: Ledger = record(Ledger)
    clock: Floats = part(1, told=True, whole=(0, 10**15))  # rewards told
    seeded: Floats = part("K", told=True)  # whether the arm is known
    fresh: Floats = part("K")  # whether the policy inside knows what is remembered of the arm
    first: Floats = part("K", "D", told=True)  # the prior of each arm, to which forgetting leads
    window_arms: Floats = part("window", whole=(0, "K-1"))  # in a ring, and
    window_rewards: Floats = part("window")
    row_scratch: Floats = part(3, "D")


@kernel
def keep_first(ledger, memory, prior, arm):
    """The prior of an arm that is new: what is believed of it, if there was no reward yet."""
    for i in range(prior.size):
        memory.first[arm, i] = ledger.beliefs[arm, i] if ledger.plays[arm] == 0.0 else prior[i]


@kernel
def take_back(family, constants, conjugate, memory, arm, reward):
    """Subtract what a reward added, to the natural parameters of a conjugate belief or to one that
    is made of sums; or begin anew if none is left.
    """
    own, prior = memory.own, memory.first[arm]
    if own.plays[arm] <= 1.0:
        set_to_prior(own, prior, arm)
        return
    told, before, now = memory.row_scratch[0], memory.row_scratch[1], memory.row_scratch[2]
    for i in range(prior.size):
        told[i] = prior[i]
    family.update(constants, told, reward)
    if conjugate:
        family.belief.natural(constants, told, before)
        family.belief.natural(constants, prior, told)
        family.belief.natural(constants, own.beliefs[arm], now)
        for i in range(prior.size):
            now[i] -= before[i] - told[i]
        family.belief.from_natural(constants, now, own.beliefs[arm])
    else:
        for i in range(prior.size):
            own.beliefs[arm, i] -= told[i] - prior[i]
    own.plays[arm] -= 1.0
    own.sums[arm] -= reward
    own.squares[arm] = max(own.squares[arm] - reward * reward, 0.0)


@kernel
def fade(family, constants, memory, discount):
    own = memory.own
    for a in range(own.plays.size):
        family.belief.blend(constants, own.beliefs[a], memory.first[a], discount)
        own.plays[a] *= discount
        own.sums[a] *= discount
        own.squares[a] *= discount


@factory
def _around(inner: PolicyKernels) -> PolicyKernels:
    """The kernels of a policy that looks at a ledger that forgets."""

    @kernel
    def cut(params):
        """Where the params of the policy inside begin."""
        return HEAD + int(params[SIZE]) + int(params[RESTARTS])

    @kernel
    def refresh_all(family, constants, params, memory):
        for a in range(memory.seeded.size):
            inner.refresh(family, constants, params[cut(params) :], memory.own, memory.inner, a)

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        if memory.seeded[arm] == 0.0:
            keep_first(ledger, memory, params[HEAD : HEAD + int(params[SIZE])], arm)
        if is_news(memory, ledger, arm):
            inner.refresh(family, constants, params[cut(params) :], memory.own, memory.inner, arm)

    @kernel
    def learn(family, constants, params, ledger, memory, arm, reward):
        own, size, told = memory.own, int(params[SIZE]), memory.clock[0]
        all_arms = params[DISCOUNT] < 1.0
        if params[DISCOUNT] < 1.0:
            fade(family, constants, memory, params[DISCOUNT])
        for i in range(int(params[RESTARTS])):
            if told + 1.0 == params[HEAD + size + i]:
                for a in range(own.plays.size):
                    set_to_prior(own, memory.first[a], a)
                all_arms = True
        if params[LAST] > 0.0:
            position = int(told % params[LAST])
            if told >= params[LAST]:
                old = int(memory.window_arms[position])
                gone = memory.window_rewards[position]
                take_back(family, constants, params[CONJUGATE] > 0.0, memory, old, gone)
                inner.refresh(family, constants, params[cut(params) :], own, memory.inner, old)
            memory.window_arms[position] = arm
            memory.window_rewards[position] = reward
        enter(family, constants, own, arm, reward)
        memory.clock[0] = told + 1.0
        if all_arms:
            refresh_all(family, constants, params, memory)
        else:
            inner.refresh(family, constants, params[cut(params) :], own, memory.inner, arm)

    return around(inner, cut, refresh, learn)


@register
class Forgetting(OwnLedger):
    """Play what `policy` plays that has forgotten: give one of `discount`, `last` or `restarts`.

    A `discount` below 1 fades all that was seen at every reward, `last` keeps the last rewards, and
    before the turns `restarts` everything is forgotten: an oracle that is told when the world
    changes. The clock of the policy inside runs as long as rewards are remembered.

    Parameters
    ----------
    policy
        The policy that chooses by what is remembered.
    discount
        What a reward counts after the next one, above 0 and at most 1.
    last
        The number of newest rewards that count.
    restarts
        The turns before which everything is forgotten.

    >>> Forgetting(last=500)
    Forgetting(policy=Thompson(), discount=1.0, last=500, restarts=())
    """

    discount: PositiveShare = 1.0
    last: Annotated[int, _WINDOW] | None = None
    restarts: tuple[int, ...] = ()

    name = "forgetting"
    remembers = Memory
    forgets = "this agent forgets rewards, and what is left is not a sum of all of them"

    def __post_init__(self) -> None:
        super().__post_init__()
        turns = tuple(self.restarts)
        require(self, "restarts", all(is_whole(turn, 2) for turn in turns), "turns from 2 on")
        object.__setattr__(self, "restarts", tuple(int(turn) for turn in turns))
        ways = (self.discount < 1.0) + (self.last is not None) + bool(turns)
        if ways > 1:
            raise PolicyError(f"{self!r} forgets in {ways} ways: give discount, last or restarts")

    @property
    def kernels(self) -> PolicyKernels:
        return _around(self.policy.kernels)

    def params(self, family: Family) -> Floats:
        head = [self.discount, float(self.last or 0), float(len(self.restarts))]
        own = [float(family.conjugate), float(family.dimension), *family.prior]
        return np.array([*head, *own, *map(float, self.restarts), *self.policy.params(family)])

    @property
    def window(self) -> int:
        """Room for the rewards that it keeps."""
        return self.last or 1

    def resettled(self, memory: Memory, fresh: Memory, positions: Sequence[int]) -> Memory:
        """What is remembered goes with its arms; the window forgets those that are gone."""
        moved: Memory = super().resettled(memory, fresh, positions)
        window = [(positions.index(arm), x) for arm, x in self._window(memory) if arm in positions]
        self._set_window(moved, window)
        return moved

    def forget(self, memory: Memory, arm: int) -> None:
        super().forget(memory, arm)
        self._set_window(memory, [pair for pair in self._window(memory) if pair[0] != arm])

    def _window(self, memory: Memory) -> list[tuple[int, float]]:
        """The arms and rewards in the ring, oldest first."""
        if self.last is None:
            return []
        told = int(memory.clock[0])
        positions = [i % self.last for i in range(max(0, told - self.last), told)]
        return [(int(memory.window_arms[i]), float(memory.window_rewards[i])) for i in positions]

    def _set_window(self, memory: Memory, pairs: list[tuple[int, float]]) -> None:
        if self.last is not None:
            memory.clock[0] = len(pairs)
            for i, (arm, reward) in enumerate(pairs):
                memory.window_arms[i], memory.window_rewards[i] = arm, reward

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """Those of the policy inside, at the number of turns that are remembered."""
        remembered = np.asarray(turns, dtype=np.float64)
        if self.discount < 1.0:
            remembered = np.minimum(remembered, max(1.0 / (1.0 - self.discount), 1.0))
        if self.last is not None:
            remembered = np.minimum(remembered, float(self.last))
        if self.restarts:
            begun = np.array([1, *sorted(self.restarts)], dtype=np.float64)
            remembered = turns - begun[np.searchsorted(begun, turns, side="right") - 1] + 1.0
        return self.policy.turn_values(remembered, arms)

    def check(self, family: Family, arms: int) -> None:
        super().check(family, arms)
        if self.last is not None and not family.adds_up:
            why = f"what a reward adds to {family.name} beliefs depends on those before it"
            raise PolicyError(f"last={self.last!r} cannot take rewards back: {why}")

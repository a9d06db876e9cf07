"""Any policy where rewards have heavy tails: each is clipped at quantiles of its arm's rewards.

The policy inside sees a ledger of its own. An arm's quantiles are those of its last rewards, so
memory is bounded: the ⌈share·n⌉ largest of n count as the next below them, the smallest likewise.
As long as all rewards of an arm are among the last ones, all are clipped anew at every reward, and
what came before the tails were known does no harm.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.families.family import Family
from belman.policies.belman.belman import BelMan
from belman.policies.dealing import set_to_prior
from belman.policies.ledger import Ledger
from belman.policies.ledger import record as enter
from belman.policies.memory import Floats, part, record
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import number
from belman.policies.wrappers.wrapper import OwnLedger, around, is_news
from belman.registry import register

#: Rewards of an arm by which its quantiles are known, and below which none is clipped.
LAST, FEWEST = 64, 5
SHARE, HEAD = 0, 1


class Memory(NamedTuple):
    """What the policy inside sees and keeps, and the last rewards of every arm."""

    inner: Any
    own: Ledger = record(Ledger)
    first: Floats = part("K", "D", told=True)  # what was believed before any reward
    told: Floats = part("K", told=True, whole=(0, 10**15))  # rewards
    seeded: Floats = part("K", told=True)  # whether the arm is known
    fresh: Floats = part("K")  # whether the policy inside knows what was told of the arm
    rewards: Floats = part("K", LAST, told=True)  # the last ones, in a ring


@kernel
def inner_value(rewards, count, beyond, sign):
    """The value that `beyond` of these rewards exceed (sign 1), or fall below (sign −1)."""
    bound, result = np.inf, 0
    for _ in range(beyond + 1):
        value, same = -np.inf, 0
        for i in range(count):
            here = sign * rewards[i]
            if here < bound:
                if here > value:
                    value, same = here, 0
                same += here == value
        bound = value
        result += same
        if result > beyond:
            break
    return sign * bound


@kernel
def clip_last(family, constants, params, memory, arm, reward):
    """Enter the last reward of an arm, clipped; all of them, as long as all are there."""
    own, rewards = memory.own, memory.rewards[arm]
    told = int(memory.told[arm])
    count = min(told, rewards.size)
    low, high = -np.inf, np.inf
    if told >= FEWEST:
        beyond = math.ceil(params[SHARE] * count)
        low = inner_value(rewards, count, beyond, -1.0)
        high = inner_value(rewards, count, beyond, 1.0)
    if told > rewards.size:
        enter(family, constants, own, arm, min(max(reward, low), high))
        return
    set_to_prior(own, memory.first[arm], arm)
    for i in range(count):
        enter(family, constants, own, arm, min(max(rewards[i], low), high))


@kernel
def cut(params):
    """Where the params of the policy inside begin."""
    return HEAD


@factory
def _around(inner: PolicyKernels) -> PolicyKernels:
    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        if memory.seeded[arm] == 0.0:
            for i in range(memory.first.shape[1]):
                memory.first[arm, i] = ledger.beliefs[arm, i]
        if is_news(memory, ledger, arm):
            inner.refresh(family, constants, params[HEAD:], memory.own, memory.inner, arm)

    @kernel
    def learn(family, constants, params, ledger, memory, arm, reward):
        memory.rewards[arm, int(memory.told[arm]) % LAST] = reward
        memory.told[arm] += 1.0
        clip_last(family, constants, params, memory, arm, reward)
        inner.refresh(family, constants, params[HEAD:], memory.own, memory.inner, arm)

    return around(inner, cut, refresh, learn)


@register
class Clipping(OwnLedger):
    """Play what `policy` plays that sees no tails: a `share` of an arm's rewards at either end
    counts as the next reward inwards.

    It is for rewards of which a few are wild and say nothing of the arm. Where arms differ by their
    tails, as in revenue, the tails are what counts: leave it out. What an agent shows is believed
    by all rewards as they came; choices and recommendations are by the clipped ones.

    Parameters
    ----------
    policy
        The policy that chooses.
    share
        The share of an arm's rewards at either end that count as the next one inwards.

    >>> Clipping(share=0.01).share
    0.01
    """

    policy: Policy = field(default_factory=BelMan)
    share: Annotated[float, number("(]", 0.0, 0.25, "above 0 and at most 0.25")] = 0.05

    name = "clipping"
    remembers = Memory

    @property
    def kernels(self) -> PolicyKernels:
        return _around(self.policy.kernels)

    def params(self, family: Family) -> Floats:
        return np.array([self.share, *self.policy.params(family)])

    def believed(self, family: Family, ledger: Ledger, memory: Memory) -> Floats:
        return ledger.beliefs  # by all rewards as they came

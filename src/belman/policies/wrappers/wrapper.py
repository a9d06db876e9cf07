"""The base of a policy around another one: it forwards the whole contract of `Policy`.

A wrapper overrides a member only where it differs from the policy inside. Who chooses is where all
of them differ: the policy inside decides in a part of the turns or by other beliefs than the
agent's, so that its chances are not those of the wrapper, which are not known unless the kernel
`propensity` tells them.

`OwnLedger` is the base of a wrapper that shows the policy inside a ledger of its own. Its memory
is a NamedTuple that begins with `own`, the ledger that the policy inside sees, and `inner`, the
memory of that policy; `seeded` (K) says which arms are known, and `fresh` (K) whether the policy
inside has seen what is remembered of an arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.families.family import Family
from belman.policies import memory as memories
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy import Change, Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import require
from belman.policies.thompson.thompson import Thompson


@dataclass(frozen=True)
class Wrapper(Policy):
    """A policy around `policy`, which sees the `ledger_inside` and keeps the `memory_inside`."""

    policy: Policy = field(default_factory=Thompson)

    draws_from_beliefs = False  # the draws of the policy inside are not all that is drawn

    def ledger_inside(self, ledger: Ledger, memory: Any) -> Ledger:
        """The ledger that the policy inside sees: the same one."""
        return ledger

    def memory_inside(self, memory: Any) -> Any:
        """The memory of the policy inside: all there is."""
        return memory

    def require_inside(self, fits: bool, allowed: str) -> None:
        """Raise PolicyError unless the policy inside is one that can be played and that `fits`."""
        plays = isinstance(self.policy, Policy) and not self.policy.sees_truth
        require(self, "policy", plays and fits, allowed)

    # Who chooses: the wrapper, with chances of its own

    @property
    def leaves_all_a_chance(self) -> bool:
        return False

    def acting(self, memory: Any) -> Policy:
        return self

    def chances(self, best: Floats) -> Floats:
        return np.full(len(best), np.nan)

    def own_chances(
        self, family: Family, ledger: Ledger, playable: NDArray[np.int64]
    ) -> Floats | None:
        return None

    # All else is forwarded

    @property
    def learns_from_asks(self) -> bool:
        return self.policy.learns_from_asks

    @property
    def forgets(self) -> str:
        return self.policy.forgets

    @property
    def by_clock(self) -> bool:
        return self.policy.by_clock

    def params(self, family: Family) -> Floats:
        return self.policy.params(family)

    def memory(self, arms: int, dimension: int) -> Any:
        return self.policy.memory(arms, dimension)

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return self.policy.whole_numbers(arms)

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return self.policy.turn_values(turns, arms)

    def check(self, family: Family, arms: int) -> None:
        self.policy.check(family, arms)

    def resettled(self, memory: Any, fresh: Any, positions: Sequence[int]) -> Any:
        inside = self.memory_inside(memory), self.memory_inside(fresh)
        return self.policy.resettled(*inside, positions)

    def forget(self, memory: Any, arm: int) -> None:
        self.policy.forget(self.memory_inside(memory), arm)

    def learns_sums(self, family: Family) -> bool:
        return self.policy.learns_sums(family)

    def learn_many(
        self, family: Family, memory: Any, arm: int, n: int, total: float, squares: float
    ) -> None:
        self.policy.learn_many(family, self.memory_inside(memory), arm, n, total, squares)

    def believed(self, family: Family, ledger: Ledger, memory: Any) -> Floats:
        inside = self.ledger_inside(ledger, memory), self.memory_inside(memory)
        return self.policy.believed(family, *inside)

    def pseudobelief(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float
    ) -> Floats:
        inside = self.ledger_inside(ledger, memory), self.memory_inside(memory)
        return self.policy.pseudobelief(family, *inside, turn_value)

    def changes(self, memory: Any) -> list[Change]:
        return self.policy.changes(self.memory_inside(memory))

    def set_time(self, memory: Any, seconds: float) -> None:
        self.policy.set_time(self.memory_inside(memory), seconds)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        inside = self.ledger_inside(ledger, memory), self.memory_inside(memory)
        return self.policy.explanation(family, *inside, turn_value, index)


Kernel = Callable[..., Any]


@kernel
def is_news(memory, ledger, arm):
    """Whether the policy inside has to look at an arm; one that is new is taken as believed."""
    if memory.seeded[arm] == 0.0:
        memory.seeded[arm] = 1.0
        for i in range(memory.own.beliefs.shape[1]):
            memory.own.beliefs[arm, i] = ledger.beliefs[arm, i]
        memory.fresh[arm] = 0.0
    news = memory.fresh[arm] == 0.0
    memory.fresh[arm] = 1.0
    return news


@kernel
def same_clock(memory, turn, turn_value):
    """For wrappers inside which turns are those of the agent."""
    return turn, turn_value


def around(
    inner: PolicyKernels, cut: Kernel, refresh: Kernel, learn: Kernel, clock: Kernel = same_clock
) -> PolicyKernels:
    """The kernels of a policy whose memory holds the ledger that the policy inside sees, `own`, and
    what that one keeps, `inner`; `cut(params)` is where the params of the policy inside begin, and
    `clock(memory, turn, turn_value)` its turn and turn value.
    """

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        known, own, kept = params[cut(params) :], memory.own, memory.inner
        now, value = clock(memory, turn, turn_value)
        inner.indices(family, constants, known, own, kept, now, value, rng, index)

    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        known, own, kept = params[cut(params) :], memory.own, memory.inner
        now, value = clock(memory, turn, turn_value)
        return inner.choose(inner, family, constants, known, own, kept, now, value, rng, index)

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        known, own, kept = params[cut(params) :], memory.own, memory.inner
        now, value = clock(memory, turn, turn_value)
        return inner.propensity(family, constants, known, own, kept, now, value, closed, arm, ties)

    @kernel
    def recommend(family, constants, params, ledger, memory, score):
        inner.recommend(family, constants, params[cut(params) :], memory.own, memory.inner, score)

    @kernel
    def finished(family, constants, params, ledger, memory):
        return inner.finished(family, constants, params[cut(params) :], memory.own, memory.inner)

    @kernel
    def deal(
        policy, family, constants, params, ledger, memory, turn, turn_value, decisions, rng, deal
    ):
        known, own, kept = params[cut(params) :], memory.own, memory.inner
        now, value = clock(memory, turn, turn_value)
        inner.deal(inner, family, constants, known, own, kept, now, value, decisions, rng, deal)

    return PolicyKernels(indices, refresh, propensity, learn, choose, recommend, finished, deal)


@dataclass(frozen=True)
class OwnLedger(Wrapper):
    """A policy that is told rewards one by one, and shows another one what it makes of them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        allowed = "a policy that learns from beliefs, such as belman.Thompson()"
        self.require_inside(not getattr(self.policy, "learns", True), allowed)

    def ledger_inside(self, ledger: Ledger, memory: Any) -> Ledger:
        """What is remembered, of arms that it knows."""
        known = np.where(memory.seeded[:, None] > 0.0, memory.own.beliefs, ledger.beliefs)
        return Ledger(known, *memory.own[1:])

    def memory_inside(self, memory: Any) -> Any:
        return memory.inner

    def learns_sums(self, family: Family) -> bool:
        return False  # what it shows of rewards depends on their order

    def memory(self, arms: int, dimension: int) -> Any:
        sizes, inner = memories.Sizes(self, arms, dimension), self.policy.memory(arms, dimension)
        return memories.blank(self.remembers, sizes, inner=inner)

    def resettled(self, memory: Any, fresh: Any, positions: Sequence[int]) -> Any:
        """What is remembered goes with its arms; the policy inside looks at all of them anew."""
        own = memories.moved(memory.own, fresh.own, positions)
        inner = super().resettled(memory, fresh, positions)
        return memories.moved(memory, fresh, positions)._replace(own=own, inner=inner)

    def forget(self, memory: Any, arm: int) -> None:
        memories.forgotten(memory.own, arm)
        memories.forgotten(memory, arm)
        super().forget(memory, arm)

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        inside = super().whole_numbers(arms).items()
        own = memories.whole_parts(self.remembers, memories.Sizes(self, arms))
        return own | {f"inner_{name}": limits for name, limits in inside}


def own_memory(policy: Policy, memory: Any) -> Any:
    """Return the memory of a policy, or of one inside it, that keeps a ledger of its own; None
    where none does.
    """
    while isinstance(policy, Wrapper):
        if isinstance(policy, OwnLedger):
            return memory
        memory, policy = policy.memory_inside(memory), policy.policy
    return None

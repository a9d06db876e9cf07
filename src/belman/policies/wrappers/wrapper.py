"""The base of a policy around another one: it forwards the whole contract of `Policy`.

A wrapper overrides a member only where it differs from the policy inside. Who chooses is where all
of them differ: the policy inside decides in a part of the turns or by other beliefs than the
agent's, so that its chances are not those of the wrapper, which are not known unless the kernel
`propensity` tells them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.families.family import Family
from belman.policies.changes import Change
from belman.policies.policy import Floats, Ledger, Policy
from belman.policies.settings import require
from belman.policies.thompson import Thompson


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

    def resettled(self, memory: Any, fresh: Any, places: Sequence[int]) -> Any:
        inside = self.memory_inside(memory), self.memory_inside(fresh)
        return self.policy.resettled(*inside, places)

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

    def changes(self, memory: Any) -> list[Change]:
        return self.policy.changes(self.memory_inside(memory))

    def set_time(self, memory: Any, seconds: float) -> None:
        self.policy.set_time(self.memory_inside(memory), seconds)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        inside = self.ledger_inside(ledger, memory), self.memory_inside(memory)
        return self.policy.explanation(family, *inside, turn_value, index)

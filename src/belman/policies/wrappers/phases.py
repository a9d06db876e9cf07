"""Two phases, by the clock or by confidence: the second policy goes on with all that was learnt.

Top-two Thompson and then Thompson is PSPE and then PSRL in the one-state case of bandits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.averages import plays_needed
from belman.policies.best_arm.stopping import contrast
from belman.policies.best_arm.top_two_thompson import TopTwoThompson
from belman.policies.policy import Floats, Ledger, Policy, PolicyKernels, score_by_expected_reward
from belman.policies.settings import is_number, is_whole, require
from belman.policies.thompson.thompson import Thompson

#: Where params have their numbers: the last turn of the first phase, ln(1/δ) at which it is left (∞
#: for never), the plays before an arm is known, the turn value of the first phase if constant
#: (else NaN), how many params the first has, and those of both.
TURNS, LOG_RISK, NEEDED, DIAL, FIRST, HEAD = 0, 1, 2, 3, 4, 5


class Memory(NamedTuple):
    """The memories of both phases, whether the second has begun, and the rival tried first."""

    first: Any
    then: Any
    switched: Floats
    doubt: Floats


@kernel
def _is_known(family, law, params, ledger, doubt, turn, score):
    """Whether the largest expected reward is best, by Chernoff's rule; `doubt` (1) comes first."""
    if turn < 2 or params[LOG_RISK] == np.inf:
        return False
    score_by_expected_reward(family, law, params, ledger, doubt, score)
    leader = 0
    for a in range(score.size):
        if score[a] > score[leader]:
            leader = a
    enough = math.log1p(math.log(turn - 1.0)) + params[LOG_RISK]
    for i in range(-1, score.size):
        rival = int(doubt[0]) if i < 0 else i
        if rival == leader:
            continue
        if contrast(family, law, ledger, params[NEEDED], leader, rival) <= enough:
            doubt[0] = rival
            return False
    return True


@kernel
def _first_turn_value(params, turn_value):
    return turn_value if math.isnan(params[DIAL]) else params[DIAL]


@kernel
def _switch(family, law, params, ledger, memory, turn, score):
    """Whether the second phase has begun, which is for good."""
    if memory.switched[0] == 0.0 and (
        turn > params[TURNS] or _is_known(family, law, params, ledger, memory.doubt, turn, score)
    ):
        memory.switched[0] = 1.0
    return memory.switched[0] > 0.0


@factory
def _one_then_the_other(first: PolicyKernels, then: PolicyKernels) -> PolicyKernels:
    """The kernels of both phases."""

    @kernel
    def refresh(family, law, params, ledger, memory, arm):
        cut = HEAD + int(params[FIRST])
        if memory.switched[0] == 0.0:
            first.refresh(family, law, params[HEAD:cut], ledger, memory.first, arm)
        then.refresh(family, law, params[cut:], ledger, memory.then, arm)

    @kernel
    def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
        if _switch(family, law, params, ledger, memory, turn, index):
            known = params[HEAD + int(params[FIRST]) :]
            then.indices(family, law, known, ledger, memory.then, turn, turn_value, mind, index)
        else:
            known = params[HEAD : HEAD + int(params[FIRST])]
            turn_value = _first_turn_value(params, turn_value)
            first.indices(family, law, known, ledger, memory.first, turn, turn_value, mind, index)

    @kernel
    def choose(policy, family, law, params, ledger, memory, turn, turn_value, mind, index):
        if _switch(family, law, params, ledger, memory, turn, index):
            known = params[HEAD + int(params[FIRST]) :]
            return then.choose(
                then, family, law, known, ledger, memory.then, turn, turn_value, mind, index
            )
        known = params[HEAD : HEAD + int(params[FIRST])]
        turn_value = _first_turn_value(params, turn_value)
        return first.choose(
            first, family, law, known, ledger, memory.first, turn, turn_value, mind, index
        )

    @kernel
    def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
        if memory.switched[0] > 0.0:
            known = params[HEAD + int(params[FIRST]) :]
            return then.propensity(
                family, law, known, ledger, memory.then, turn, turn_value, closed, arm, ties
            )
        known = params[HEAD : HEAD + int(params[FIRST])]
        turn_value = _first_turn_value(params, turn_value)
        return first.propensity(
            family, law, known, ledger, memory.first, turn, turn_value, closed, arm, ties
        )

    @kernel
    def recommend(family, law, params, ledger, memory, score):
        if memory.switched[0] > 0.0:
            known = params[HEAD + int(params[FIRST]) :]
            then.recommend(family, law, known, ledger, memory.then, score)
        else:
            known = params[HEAD : HEAD + int(params[FIRST])]
            first.recommend(family, law, known, ledger, memory.first, score)

    @kernel
    def finished(family, law, params, ledger, memory):
        """The second phase decides when to stop; the first one only leads to it."""
        known = params[HEAD + int(params[FIRST]) :]
        return memory.switched[0] > 0.0 and then.finished(family, law, known, ledger, memory.then)

    @kernel
    def deal(policy, family, law, params, ledger, memory, turn, turn_value, decisions, mind, deal):
        cut = HEAD + int(params[FIRST])
        if _switch(family, law, params, ledger, memory, turn, deal.indices):
            known, kept = params[cut:], memory.then
            then.deal(
                then, family, law, known, ledger, kept, turn, turn_value, decisions, mind, deal
            )
        else:
            known, kept = params[HEAD:cut], memory.first
            value = _first_turn_value(params, turn_value)
            first.deal(first, family, law, known, ledger, kept, turn, value, decisions, mind, deal)

    return PolicyKernels(refresh, indices, choose, propensity, recommend, finished, deal)


@dataclass(frozen=True)
class Phases(Policy):
    """The policy `first` for `turns` turns, or until the best is known by `confidence`; `then` on.

    Both see the same ledger, so nothing that was learnt is lost, and the clock of the second has
    been running all along. With a confidence the first policy must not depend on the clock;
    `turns=None` sets no limit.

    >>> Phases(turns=200)
    Phases(first=TopTwoThompson(beta=0.5), then=Thompson(), turns=200, confidence=None)
    """

    first: Policy = field(default_factory=TopTwoThompson)
    then: Policy = field(default_factory=Thompson)
    turns: int | None = 500
    confidence: float | None = None

    name = "phases"

    def __post_init__(self) -> None:
        for which, policy in (("first", self.first), ("then", self.then)):
            inner = getattr(policy, "policy", policy)  # of one that is forced to explore
            fits = isinstance(policy, Policy) and not isinstance(inner, Phases)
            allowed = "a policy that is not of two phases itself, nor told truth or single rewards"
            require(self, which, fits and not (policy.sees_truth or policy.learns), allowed)
        limited = self.turns is None or is_whole(self.turns, 0)
        require(self, "turns", limited, "a whole number from 0 up, or None for no limit")
        if self.confidence is not None:
            sure = is_number(self.confidence) and 0.0 < self.confidence < 1.0
            allowed = "strictly between 0 and 1, or None for the clock alone"
            require(self, "confidence", sure, allowed)
            if math.isnan(self._constant_turn_value()):
                raise PolicyError(
                    f"confidence={self.confidence:g} ends the first phase, whose policy must not "
                    f"depend on the clock, and {self.first!r} does: give turns=… alone, or, for "
                    "instance, belman.BelMan(belman.exposure.Infinite())"
                )
        elif self.turns is None:
            needs = f"{self.name} needs an end of its first phase"
            raise PolicyError(f"{needs}: give turns=…, confidence=…, or both")

    @property
    def kernels(self) -> PolicyKernels:
        return _one_then_the_other(self.first.kernels, self.then.kernels)

    def params(self, family: Family) -> Floats:
        first, then = self.first.params(family), self.then.params(family)
        turns = math.inf if self.turns is None else float(self.turns)
        log_risk = math.inf if self.confidence is None else -math.log1p(-self.confidence)
        turn_value = math.nan if self.confidence is None else self._constant_turn_value()
        head = [turns, log_risk, plays_needed(family), turn_value, float(len(first))]
        return np.array([*head, *first, *then])

    def memory(self, arms: int, dimension: int) -> Memory:
        first, then = self.first.memory(arms, dimension), self.then.memory(arms, dimension)
        return Memory(first, then, np.zeros(1), np.zeros(1))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        inside = {
            f"{phase}_{name}": limits
            for phase, policy in (("first", self.first), ("then", self.then))
            for name, limits in policy.whole_numbers(arms).items()
        }
        return {**inside, "switched": (0, 1), "doubt": (0, arms - 1)}

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """The second policy's, and before it the first one's where that is left by the clock."""
        later = self.then.turn_values(turns, arms)
        if self.confidence is not None or self.turns is None:
            return later
        return np.where(turns <= self.turns, self.first.turn_values(turns, arms), later)

    def _constant_turn_value(self) -> float:
        some = self.first.turn_values(np.array([1.0, 2.0, 10.0, 1e6]), 2)
        return float(some[0]) if np.all(some == some[0]) else math.nan

    def check(self, family: Family, arms: int) -> None:
        self.first.check(family, arms)
        self.then.check(family, arms)

    def acting(self, memory: Any) -> Policy:
        return self.then if memory.switched[0] else self.first

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        if memory.switched[0]:
            return self.then.explanation(family, ledger, memory.then, turn_value, index)
        constant = self._constant_turn_value()
        turn_value = turn_value if math.isnan(constant) else constant
        return self.first.explanation(family, ledger, memory.first, turn_value, index)

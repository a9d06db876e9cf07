"""Two phases, by the clock or by confidence: the second policy goes on with all that was learnt.

Top-two Thompson and then Thompson is PSPE and then PSRL in the one-state case of bandits.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Any, NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.averages import plays_needed
from belman.policies.best_arm.stopping import contrast
from belman.policies.best_arm.top_two_thompson import TopTwoThompson
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, Sizes, blank, part, whole_parts
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, learns_nothing, score_by_expected_reward
from belman.policies.settings import number, require, whole
from belman.policies.thompson.thompson import Thompson
from belman.registry import register

_TURNS = whole(0, "a whole number from 0 up, or None for no limit")
_SURE = number("()", 0.0, 1.0, "strictly between 0 and 1, or None for the clock alone")

#: Where params have their numbers: the last turn of the first phase, ln(1/δ) at which it is left (∞
#: for never), the plays before an arm is known, the turn value of the first phase if constant
#: (else NaN), how many params the first has, and those of both.
TURNS, LOG_RISK, NEEDED, DIAL, FIRST, HEAD = 0, 1, 2, 3, 4, 5


class Memory(NamedTuple):
    """The memories of both phases, whether the second has begun, and the rival tried first."""

    first: Any
    then: Any
    switched: Floats = part(1, whole=(0, 1))
    doubt: Floats = part(1, whole=(0, "K-1"))


@kernel
def _is_known(family, constants, params, ledger, doubt, turn, score):
    """Whether the largest expected reward is best, by Chernoff's rule; `doubt` (1) comes first."""
    if turn < 2 or params[LOG_RISK] == np.inf:
        return False
    score_by_expected_reward(family, constants, params, ledger, doubt, score)
    leader = 0
    for a in range(score.size):
        if score[a] > score[leader]:
            leader = a
    enough = math.log1p(math.log(turn - 1.0)) + params[LOG_RISK]
    for i in range(-1, score.size):
        rival = int(doubt[0]) if i < 0 else i
        if rival == leader:
            continue
        if contrast(family, constants, ledger, params[NEEDED], leader, rival) <= enough:
            doubt[0] = rival
            return False
    return True


@kernel
def _cut(params):
    """Where the params of the second policy begin."""
    return HEAD + int(params[FIRST])


@kernel
def _first_turn_value(params, turn_value):
    return turn_value if math.isnan(params[DIAL]) else params[DIAL]


@kernel
def _switch(family, constants, params, ledger, memory, turn, score):
    """Whether the second phase has begun, which is for good."""
    if memory.switched[0] == 0.0 and (
        turn > params[TURNS]
        or _is_known(family, constants, params, ledger, memory.doubt, turn, score)
    ):
        memory.switched[0] = 1.0
    return memory.switched[0] > 0.0


@factory
def _one_then_the_other(first: PolicyKernels, then: PolicyKernels) -> PolicyKernels:
    """The kernels of both phases."""

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        if memory.switched[0] == 0.0:
            first.refresh(family, constants, params[HEAD : _cut(params)], ledger, memory.first, arm)
        then.refresh(family, constants, params[_cut(params) :], ledger, memory.then, arm)

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        if _switch(family, constants, params, ledger, memory, turn, index):
            known, kept = params[_cut(params) :], memory.then
            then.indices(family, constants, known, ledger, kept, turn, turn_value, rng, index)
        else:
            known, kept = params[HEAD : _cut(params)], memory.first
            value = _first_turn_value(params, turn_value)
            first.indices(family, constants, known, ledger, kept, turn, value, rng, index)

    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        if _switch(family, constants, params, ledger, memory, turn, index):
            known, kept = params[_cut(params) :], memory.then
            return then.choose(
                then, family, constants, known, ledger, kept, turn, turn_value, rng, index
            )
        known, kept = params[HEAD : _cut(params)], memory.first
        value = _first_turn_value(params, turn_value)
        return first.choose(first, family, constants, known, ledger, kept, turn, value, rng, index)

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        if memory.switched[0] > 0.0:
            known, kept = params[_cut(params) :], memory.then
            return then.propensity(
                family, constants, known, ledger, kept, turn, turn_value, closed, arm, ties
            )
        known, kept = params[HEAD : _cut(params)], memory.first
        value = _first_turn_value(params, turn_value)
        return first.propensity(
            family, constants, known, ledger, kept, turn, value, closed, arm, ties
        )

    @kernel
    def recommend(family, constants, params, ledger, memory, score):
        if memory.switched[0] > 0.0:
            then.recommend(family, constants, params[_cut(params) :], ledger, memory.then, score)
        else:
            known = params[HEAD : _cut(params)]
            first.recommend(family, constants, known, ledger, memory.first, score)

    @kernel
    def finished(family, constants, params, ledger, memory):
        """The second phase decides when to stop; the first one only leads to it."""
        known = params[_cut(params) :]
        return memory.switched[0] > 0.0 and then.finished(
            family, constants, known, ledger, memory.then
        )

    @kernel
    def deal(
        policy, family, constants, params, ledger, memory, turn, turn_value, decisions, rng, deal
    ):
        if _switch(family, constants, params, ledger, memory, turn, deal.indices):
            known, kept = params[_cut(params) :], memory.then
            then.deal(
                then, family, constants, known, ledger, kept, turn, turn_value, decisions, rng, deal
            )
        else:
            known, kept = params[HEAD : _cut(params)], memory.first
            value = _first_turn_value(params, turn_value)
            first.deal(
                first, family, constants, known, ledger, kept, turn, value, decisions, rng, deal
            )

    return PolicyKernels(
        indices, refresh, propensity, learns_nothing, choose, recommend, finished, deal
    )


@register
class Phases(Policy):
    """The policy `first` for `turns` turns, or until the best is known by `confidence`; `then` on.

    Both see the same ledger, so nothing that was learnt is lost, and the clock of the second has
    been running all along. With a confidence the first policy must not depend on the clock;
    `turns=None` sets no limit.

    Parameters
    ----------
    first
        The policy that begins.
    then
        The policy that goes on.
    turns
        The number of turns of the first one; None sets no limit.
    confidence
        The probability that the best arm is known, from which the second one plays.

    >>> Phases(turns=200)
    Phases(first=TopTwoThompson(beta=0.5), then=Thompson(), turns=200, confidence=None)
    """

    first: Policy = field(default_factory=TopTwoThompson)
    then: Policy = field(default_factory=Thompson)
    turns: Annotated[int, _TURNS] | None = 500
    confidence: Annotated[float, _SURE] | None = None

    name = "phases"

    def __post_init__(self) -> None:
        for which, policy in (("first", self.first), ("then", self.then)):
            inner = getattr(policy, "policy", policy)  # of one that is forced to explore
            fits = isinstance(policy, Policy) and not isinstance(inner, Phases)
            allowed = "a policy that is not of two phases itself, nor told truth or single rewards"
            require(self, which, fits and not (policy.sees_truth or policy.learns), allowed)
        super().__post_init__()
        if self.confidence is not None:
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
        inside = {name: getattr(self, name).memory(arms, dimension) for name in ("first", "then")}
        fresh: Memory = blank(Memory, Sizes(self, arms, dimension), **inside)
        return fresh

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        result = whole_parts(Memory, Sizes(self, arms))
        for phase, policy in (("first", self.first), ("then", self.then)):
            for name, limits in policy.whole_numbers(arms).items():
                result[f"{phase}_{name}"] = limits
        return result

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

    def _playing(self, memory: Any, turn_value: float) -> tuple[Policy, Any, float]:
        """The policy that plays now, its memory, and its value of the turn."""
        if memory.switched[0]:
            return self.then, memory.then, turn_value
        constant = self._constant_turn_value()
        return self.first, memory.first, turn_value if math.isnan(constant) else constant

    def pseudobelief(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float
    ) -> Floats:
        policy, own, value = self._playing(memory, turn_value)
        return policy.pseudobelief(family, ledger, own, value)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        policy, own, value = self._playing(memory, turn_value)
        return policy.explanation(family, ledger, own, value, index)

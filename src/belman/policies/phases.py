"""Two phases: one policy chooses at first, and another goes on with all that was learnt, by the
clock or by confidence.

Top-two Thompson and then Thompson is PSPE and then PSRL in the one-state case of bandits.
"""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from belman.engine import INTERPRETED, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.averages import plays_needed
from belman.policies.policy import Floats, Ledger, Policy, PolicyKernels, score_by_expected_reward
from belman.policies.settings import is_number, is_whole, require
from belman.policies.stopping import contrast
from belman.policies.thompson import Thompson
from belman.policies.top_two_thompson import TopTwoThompson

#: Where params have their numbers: the last turn of the first phase, ln(1/δ) at which it is left (∞
#: for never), the plays before an arm is known, the dial of the first phase if that is constant
#: (else NaN), how many params the first has, and those of both.
TURNS, LOG_RISK, NEEDED, DIAL, FIRST, HEAD = 0, 1, 2, 3, 4, 5

#: The kernels and the memories of pairs, by the names of both, as they are made, so that compiled
#: code can be kept on disk.
BUNDLES: dict[str, PolicyKernels] = {}
MEMORIES: dict[str, type] = {}
#: The kernels of pairs that no other process could import, such as those of a notebook.
_PASSING: dict[tuple[PolicyKernels, PolicyKernels], PolicyKernels] = {}


@kernel
def _is_known(family, law, params, ledger, doubt, turn, score):
    """Whether the arm with the largest expected reward is the best, by Chernoff's rule; `doubt` (1)
    is the rival tried first.
    """
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
        if (
            rival != leader
            and contrast(family, law, ledger, params[NEEDED], leader, rival) <= enough
        ):
            doubt[0] = rival
            return False
    return True


def _bundle(
    first: PolicyKernels, then: PolicyKernels, first_kind: Any, then_kind: Any
) -> PolicyKernels:
    """The kernels of both phases. A memory has the fields of the first, those of the second, the
    switch and the doubt.
    """
    cut, end = len(first_kind._fields), len(first_kind._fields) + len(then_kind._fields)

    @kernel
    def first_dial(params, dial):
        return dial if math.isnan(params[DIAL]) else params[DIAL]

    @kernel
    def refresh(family, law, params, ledger, memory, arm):
        if memory.switched[0] == 0.0:
            first.refresh(
                family,
                law,
                params[HEAD : HEAD + int(params[FIRST])],
                ledger,
                first_kind(*memory[:cut]),
                arm,
            )
        then.refresh(
            family,
            law,
            params[HEAD + int(params[FIRST]) :],
            ledger,
            then_kind(*memory[cut:end]),
            arm,
        )

    @kernel
    def switch(family, law, params, ledger, memory, turn, score):
        """Whether the second phase has begun, which is for good."""
        if memory.switched[0] == 0.0 and (
            turn > params[TURNS]
            or _is_known(family, law, params, ledger, memory.doubt, turn, score)
        ):
            memory.switched[0] = 1.0
        return memory.switched[0] > 0.0

    @kernel
    def indices(family, law, params, ledger, memory, turn, dial, mind, index):
        if switch(family, law, params, ledger, memory, turn, index):
            then.indices(
                family,
                law,
                params[HEAD + int(params[FIRST]) :],
                ledger,
                then_kind(*memory[cut:end]),
                turn,
                dial,
                mind,
                index,
            )
        else:
            dial = first_dial(params, dial)
            first.indices(
                family,
                law,
                params[HEAD : HEAD + int(params[FIRST])],
                ledger,
                first_kind(*memory[:cut]),
                turn,
                dial,
                mind,
                index,
            )

    @kernel
    def choose(policy, family, law, params, ledger, memory, turn, dial, mind, index):
        if switch(family, law, params, ledger, memory, turn, index):
            known = then_kind(*memory[cut:end])
            return then.choose(
                then,
                family,
                law,
                params[HEAD + int(params[FIRST]) :],
                ledger,
                known,
                turn,
                dial,
                mind,
                index,
            )
        dial, known = first_dial(params, dial), first_kind(*memory[:cut])
        return first.choose(
            first,
            family,
            law,
            params[HEAD : HEAD + int(params[FIRST])],
            ledger,
            known,
            turn,
            dial,
            mind,
            index,
        )

    @kernel
    def propensity(family, law, params, ledger, memory, turn, dial, closed, arm, ties):
        if memory.switched[0] > 0.0:
            known = then_kind(*memory[cut:end])
            return then.propensity(
                family,
                law,
                params[HEAD + int(params[FIRST]) :],
                ledger,
                known,
                turn,
                dial,
                closed,
                arm,
                ties,
            )
        dial, known = first_dial(params, dial), first_kind(*memory[:cut])
        return first.propensity(
            family,
            law,
            params[HEAD : HEAD + int(params[FIRST])],
            ledger,
            known,
            turn,
            dial,
            closed,
            arm,
            ties,
        )

    @kernel
    def recommend(family, law, params, ledger, memory, score):
        if memory.switched[0] > 0.0:
            then.recommend(
                family,
                law,
                params[HEAD + int(params[FIRST]) :],
                ledger,
                then_kind(*memory[cut:end]),
                score,
            )
        else:
            first.recommend(
                family,
                law,
                params[HEAD : HEAD + int(params[FIRST])],
                ledger,
                first_kind(*memory[:cut]),
                score,
            )

    return PolicyKernels(refresh, indices, choose, propensity, recommend)


def _name_of(policy: Policy) -> str | None:
    """A name for the kernels of a policy that is the same in every process; None where there is
    none.
    """
    module = type(policy).__module__
    if (
        INTERPRETED
        or module == "__main__"
        or not getattr(sys.modules.get(module), "__file__", None)
    ):
        return None
    names = (
        getattr(made, "__qualname__", "")
        for made in (policy.kernels.indices, policy.kernels.refresh)
    )
    return ".".join((module, *names))


def _kernels_of(first: Policy, then: Policy) -> PolicyKernels:
    names, pair = (_name_of(first), _name_of(then)), (first.kernels, then.kernels)
    kinds = (type(policy.memory(1, 1)) for policy in (first, then))
    if None in names:
        if pair not in _PASSING:
            _PASSING[pair] = _bundle(*pair, *kinds)
        return _PASSING[pair]
    key = f"{names[0]}, {names[1]}"
    if key not in BUNDLES:
        BUNDLES[key] = _bundle(*pair, *kinds)
    return BUNDLES[key]


@dataclass(frozen=True)
class Phases(Policy):
    """The policy `first` for `turns` turns, or until the best arm is known to a `confidence`, and
    `then` another for ever.

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
            fits = (
                isinstance(policy, Policy)
                and not policy.sees_truth
                and not isinstance(policy, Phases)
            )
            require(
                fits,
                self.name,
                which,
                policy,
                "a policy that is not of two phases itself, nor told the truth",
            )
        limited = self.turns is None or is_whole(self.turns, 0)
        require(
            limited,
            self.name,
            "turns",
            self.turns,
            "a whole number from 0 up, or None for no limit",
        )
        if self.confidence is not None:
            sure = is_number(self.confidence) and 0.0 < self.confidence < 1.0
            require(
                sure,
                self.name,
                "confidence",
                self.confidence,
                "strictly between 0 and 1, or None for the clock alone",
            )
            if math.isnan(self._constant_dial()):
                raise PolicyError(
                    f"confidence={self.confidence:g} ends the first phase, whose policy must not depend on the clock, and "
                    f"{self.first!r} does: give turns=… alone, or, for instance, belman.BelMan(belman.exposure.Infinite())"
                )
        elif self.turns is None:
            raise PolicyError(
                f"{self.name} needs an end of its first phase: give turns=…, confidence=…, or both"
            )

    @property
    def kernels(self) -> PolicyKernels:
        return _kernels_of(self.first, self.then)

    def params(self, family: Family) -> Floats:
        first, then = self.first.params(family), self.then.params(family)
        turns = math.inf if self.turns is None else float(self.turns)
        log_risk = math.inf if self.confidence is None else -math.log1p(-self.confidence)
        dial = math.nan if self.confidence is None else self._constant_dial()
        return np.array(
            [turns, log_risk, plays_needed(family), dial, float(len(first)), *first, *then]
        )

    def memory(self, arms: int, dimension: int) -> Any:
        first, then = self.first.memory(arms, dimension), self.then.memory(arms, dimension)
        kind = _memory_of(type(first), type(then))
        return kind(*first, *then, np.zeros(1), np.zeros(1))

    def dial(self, turns: Floats, arms: int) -> Floats:
        """The second policy's, and before it the first one's where that is left by the clock."""
        later = self.then.dial(turns, arms)
        if self.confidence is not None or self.turns is None:
            return later
        return np.where(turns <= self.turns, self.first.dial(turns, arms), later)

    def _constant_dial(self) -> float:
        some = self.first.dial(np.array([1.0, 2.0, 10.0, 1e6]), 2)
        return float(some[0]) if np.all(some == some[0]) else math.nan

    def check(self, family: Family, arms: int) -> None:
        self.first.check(family, arms)
        self.then.check(family, arms)

    def acting(self, memory: Any) -> Policy:
        return self.then if memory.switched[0] else self.first

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, dial: float, index: Floats
    ) -> dict[str, Floats]:
        cut = len(self.first.memory(1, 1))
        if memory.switched[0]:
            kind: Any = type(self.then.memory(1, 1))
            return self.then.explanation(family, ledger, kind(*memory[cut:-2]), dial, index)
        kind = type(self.first.memory(1, 1))
        constant = self._constant_dial()
        return self.first.explanation(
            family, ledger, kind(*memory[:cut]), dial if math.isnan(constant) else constant, index
        )


def _memory_of(first: Any, then: Any) -> Any:
    names = [
        *(f"first_{name}" for name in first._fields),
        *(f"then_{name}" for name in then._fields),
        "switched",
        "doubt",
    ]
    key = ", ".join(names)
    if key not in MEMORIES:
        made: Any = namedtuple("Memory", names)  # type: ignore[misc]
        made.__module__, made.__qualname__ = __name__, f"MEMORIES[{key!r}]"
        MEMORIES[key] = made
    return MEMORIES[key]

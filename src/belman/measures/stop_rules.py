"""When a question is decided: rules as plain data, each with a sentence.

`Sure` and `LossBelow` speak about beliefs: averaged over the prior they are right as often as they
say, also if one looks after every reward. `Separated` speaks about this one study: the chance that
it is ever wrong is at most δ, whatever the truth and however often one looks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from belman import spec
from belman.errors import SettingError


class Standing(Protocol):
    """What a rule reads of a report."""

    @property
    def leader(self) -> Any: ...
    @property
    def others(self) -> int: ...
    @property
    def log_separation(self) -> float | None: ...
    @property
    def without_sequences(self) -> str: ...


@dataclass(frozen=True)
class Verdict:
    """Whether a rule has decided, for which arm, and why, in words."""

    decided: bool
    arm: Hashable
    sentence: str


class StopRule(ABC):
    """Decides from a report whether one may stop."""

    name: ClassVar[str]

    @abstractmethod
    def decided(self, report: Standing) -> Verdict:
        """What the rule says of a report now."""


def _between(what: str, value: Any, low: float, high: float) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low < value < high:
        bounds = f"above {low:g}" if high == math.inf else f"strictly between {low:g} and {high:g}"
        raise SettingError(f"{what}={value!r} is not valid: it must lie {bounds}")
    return float(value)


@spec.member
@dataclass(frozen=True)
class Sure(StopRule):
    """Stop when the chance that an arm is the best is at least `level`, given the prior.

    >>> Sure(0.95)
    Sure(level=0.95)
    """

    level: float = 0.95
    name = "sure"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", _between("level", self.level, 0.0, 1.0))

    def decided(self, report: Standing) -> Verdict:
        best = report.leader
        enough = best.chance_best >= self.level
        words = f"{100.0 * self.level:.4g} % {'is' if enough else 'would be'} enough"
        chance = f"the chance that {best.arm} is the best is {100.0 * best.chance_best:.4g} %"
        return Verdict(enough, best.arm, f"{chance}: {words}")


@spec.member
@dataclass(frozen=True)
class LossBelow(StopRule):
    """Stop when choosing the leader is expected to lose at most `loss` a turn, given the prior.

    >>> LossBelow(0.001)
    LossBelow(loss=0.001)
    """

    loss: float
    name = "loss-below"

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", _between("loss", self.loss, 0.0, math.inf))

    def decided(self, report: Standing) -> Verdict:
        best = report.leader
        enough = best.expected_loss <= self.loss
        words = f"{self.loss:.4g} {'is' if enough else 'would be'} little enough"
        loss = f"choosing {best.arm} now is expected to lose {best.expected_loss:.3g} a turn"
        return Verdict(enough, best.arm, f"{loss}: {words}")


@spec.member
@dataclass(frozen=True)
class Separated(StopRule):
    """Stop when rewards set one arm apart from all others; ever wrong with a chance of at most δ.

    Every pair of the leader with another arm is asked at δ/(K − 1): at most so many pairs hold the
    arm that is truly the best, or any one arm where all are alike.

    >>> Separated(delta=0.05)
    Separated(delta=0.05)
    """

    delta: float = 0.05
    name = "separated"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _between("delta", self.delta, 0.0, 1.0))

    def decided(self, report: Standing) -> Verdict:
        best = report.leader
        if report.log_separation is None:
            return Verdict(False, best.arm, f"cannot be decided: {report.without_sequences}")
        needed = math.log(max(report.others, 1) / self.delta)
        enough = report.others == 0 or report.log_separation >= needed
        what = f"the rewards {'' if enough else 'do not yet '}set {best.arm} apart from the others"
        return Verdict(enough, best.arm, f"{what}, at any look, up to a risk of {self.delta:.4g}")


def check_rule(rule: object) -> StopRule | None:
    """Validate a stopping rule, or None."""
    if rule is not None and not isinstance(rule, StopRule):
        give = "belman.Sure(0.95), belman.LossBelow(0.001) or belman.Separated(delta=0.05)"
        raise SettingError(f"stop_when={rule!r} is not a stopping rule: give {give}")
    return rule

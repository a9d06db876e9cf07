"""When a question is decided: rules as plain data, each with a sentence.

`Sure` and `LossBelow` speak about beliefs: averaged over the prior they are right as often as they
say, also if one looks after every reward. Of A/A tests that are watched they stop more than half.
`Separated` speaks about this one study: the chance that it is ever wrong is at most δ, whatever the
truth and however often one looks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from belman import spec
from belman.errors import SettingError

#: The most that the leader gets of what it and control get until somebody decides, by the goal of
#: a study; 0 is an even split.
MOST_SHARE = {"earn": 1.0, "decide": 0.0, "both": 0.75}


class Standing(Protocol):
    """What a rule reads of a report."""

    @property
    def leader(self) -> Any: ...
    @property
    def others(self) -> int: ...
    @property
    def comparisons(self) -> int: ...
    @property
    def control(self) -> Any: ...
    @property
    def bets_on(self) -> str: ...
    @property
    def farthest_lift(self) -> float | None: ...
    @property
    def log_separation(self) -> float | None: ...
    @property
    def without_sequences(self) -> str: ...


@dataclass(frozen=True)
class Verdict:
    """Whether a rule has decided, for which arm, and why.

    Parameters
    ----------
    decided
        Whether it has.
    arm
        The arm, if one.
    sentence
        The reason, in words.
    """

    decided: bool
    arm: Hashable
    sentence: str


class StopRule(ABC):
    """Decides from a report whether one may stop."""

    name: ClassVar[str]
    #: Whether false stops are as rare as the rule says whatever the truth, A/A tests included.
    guaranteed: ClassVar[bool] = False

    @property
    def reads_lifts(self) -> bool:
        """Whether the rule reads lifts at any look, which take longest to find."""
        return False

    @abstractmethod
    def decided(self, report: Standing) -> Verdict:
        """Decide whether to stop.

        Parameters
        ----------
        report
            The report.

        Returns
        -------
        Verdict
            Whether the rule has decided, for which arm, and why.
        """


_ON_AVERAGE = "on average over the prior, not in an A/A test that is watched"


def _between(what: str, value: Any, low: float, high: float) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low < value < high:
        bounds = f"above {low:g}" if high == math.inf else f"strictly between {low:g} and {high:g}"
        raise SettingError(f"{what}={value!r} is not valid: it must lie {bounds}")
    return float(value)


@spec.member
@dataclass(frozen=True)
class Sure(StopRule):
    """Stop when the probability that an arm is the best is at least `level`, given the prior.

    Parameters
    ----------
    level
        The probability.

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
        return Verdict(enough, best.arm, f"{chance}: {words}, {_ON_AVERAGE}")


@spec.member
@dataclass(frozen=True)
class LossBelow(StopRule):
    """Stop when choosing the leader is expected to lose at most `loss` a turn, given the prior.

    Parameters
    ----------
    loss
        The expected loss a turn, in units of reward.

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
        return Verdict(enough, best.arm, f"{loss}: {words}, {_ON_AVERAGE}")


@spec.member
@dataclass(frozen=True)
class Separated(StopRule):
    """Stop when rewards set one arm apart; ever wrong with a probability of at most δ.

    Beside a control, the leader is set apart from control, or a control that leads from all others:
    K − 1 comparisons, each at δ/(K − 1). Without one, the leader is set apart from every other: at
    most K − 1 pairs hold the arm that is truly the best, or any one arm where all are alike.

    Parameters
    ----------
    delta
        δ.
    within
        The rule also stops, for control, when no arm can differ from it by more than this share of
        control's mean (0.01 is 1 %); 0 never stops so.

    >>> Separated(delta=0.05)
    Separated(delta=0.05, within=0.0)
    """

    delta: float = 0.05
    within: float = 0.0
    name = "separated"
    guaranteed = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _between("delta", self.delta, 0.0, 1.0))
        if self.within != 0.0:
            object.__setattr__(self, "within", _between("within", self.within, 0.0, math.inf))

    @property
    def reads_lifts(self) -> bool:
        return self.within > 0.0

    def decided(self, report: Standing) -> Verdict:
        best = report.leader
        if report.log_separation is None:
            return Verdict(False, best.arm, f"cannot be decided: {report.without_sequences}")
        count = report.comparisons
        risk = f"at any look, up to a risk of {self.delta:.4g}"
        if count > 1:
            risk += f" over all {count} comparisons"
        if report.bets_on == "amount":
            risk += " (exact where all are alike, asymptotic for means)"
        farthest = report.farthest_lift
        if self.within > 0.0 and farthest is not None and farthest <= self.within:
            size = f"no arm differs from {report.control} by more than {100.0 * self.within:.4g} %"
            return Verdict(True, report.control, f"{size}, {risk}")
        enough = report.others == 0 or report.log_separation >= math.log(count / self.delta)
        beside = "the others"
        if report.bets_on and report.control not in (None, best.arm):
            beside = str(report.control)
        what = f"the rewards {'' if enough else 'do not yet '}set {best.arm} apart from {beside}"
        return Verdict(enough, best.arm, f"{what}, {risk}")


def check_rule(rule: object) -> StopRule | None:
    """Validate a stopping rule, or None."""
    if rule is not None and not isinstance(rule, StopRule):
        give = "Sure(0.95), LossBelow(0.001) or Separated(delta=0.05) of belman.measures"
        raise SettingError(f"stop_when={rule!r} is not a stopping rule: give {give}")
    return rule

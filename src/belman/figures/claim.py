"""The contract of a claim: what the paper says, checks that the data must pass, and the verdict.

A check is an estimate with a 95 % interval beside a limit. It holds if the whole interval is on the
right side, fails if the whole interval is on the wrong one, and is undecided otherwise. Nobody
writes a verdict by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from belman.figures.figure import Data
from belman.table import Table, number

#: The data of every figure that a claim rests on, by the figure's name.
AllData = Mapping[str, Data]


class Verdict(StrEnum):
    """What the data say of a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "in part"
    NOT = "not reproduced"
    UNDECIDED = "undecided"


class Check(NamedTuple):
    """A statement, and the estimate that must be below (or above) a limit for it to be true."""

    states: str
    estimate: float
    half_width: float
    limit: float
    below: bool = True
    runs: int = 0

    @property
    def holds(self) -> bool | None:
        """Whether the statement is true; None if the interval holds the limit."""
        away = self.limit - self.estimate if self.below else self.estimate - self.limit
        return True if away > self.half_width else False if away < -self.half_width else None


def verdict(checks: Sequence[Check]) -> Verdict:
    """All hold, some do, none does; or it is too early to say.

    >>> str(verdict([Check("a", 1.0, 0.1, 2.0), Check("b", 3.0, 0.1, 2.0)]))
    'in part'
    """
    found = [check.holds for check in checks]
    if True in found and False in found:
        return Verdict.IN_PART
    if None in found:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if all(found) else Verdict.NOT


class Judgement(NamedTuple):
    """The checks on which the verdict rests; those of causes and of our default do not count."""

    checks: Sequence[Check]
    causes: Sequence[Check] = ()

    @property
    def verdict(self) -> Verdict:
        """What follows from the checks."""
        return verdict(self.checks)

    def table(self) -> Table:
        """Every check as a row."""
        answer = {True: "yes", False: "no", None: "undecided"}
        rows = [*self.checks, *self.causes]
        return Table(
            {
                "check": [check.states for check in rows],
                "estimate": [check.estimate for check in rows],
                "±": [check.half_width for check in rows],
                "must be": [
                    f"{'<' if check.below else '>'} {number(check.limit)}" for check in rows
                ],
                "runs": [check.runs for check in rows],
                "true": [answer[check.holds] for check in rows],
                "counts": ["yes"] * len(self.checks) + ["no"] * len(self.causes),
            }
        )


@dataclass(frozen=True)
class Claim:
    """A claim of the paper by its number: what it says, the figures it rests on, its judge."""

    number: int
    title: str
    says: str
    figures: tuple[str, ...]
    judge: Callable[[AllData], Judgement]
    remark: str = ""

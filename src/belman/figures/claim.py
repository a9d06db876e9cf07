"""The contract of a claim: what the paper says, the tests that the data must pass, and the verdict that follows from them.

A test is an estimate with a 95 % interval beside a limit. It holds if the whole interval is on the right side, fails if the whole
interval is on the wrong one, and is undecided otherwise. Nobody writes a verdict by hand.
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


class Test(NamedTuple):
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


def verdict(tests: Sequence[Test]) -> Verdict:
    """All hold, some do, none does; or it is too early to say.

    >>> str(verdict([Test("a", 1.0, 0.1, 2.0), Test("b", 3.0, 0.1, 2.0)]))
    'in part'
    """
    found = [test.holds for test in tests]
    if True in found and False in found:
        return Verdict.IN_PART
    if None in found:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if all(found) else Verdict.NOT


class Judgement(NamedTuple):
    """The tests on which the verdict rests, and those of the causes and of our own default, which it does not count."""

    tests: Sequence[Test]
    causes: Sequence[Test] = ()

    @property
    def verdict(self) -> Verdict:
        """What follows from the tests."""
        return verdict(self.tests)

    def table(self) -> Table:
        """Every test as a row."""
        answer = {True: "yes", False: "no", None: "undecided"}
        rows = [*self.tests, *self.causes]
        return Table(
            {
                "test": [test.states for test in rows],
                "estimate": [test.estimate for test in rows],
                "±": [test.half_width for test in rows],
                "must be": [f"{'<' if test.below else '>'} {number(test.limit)}" for test in rows],
                "runs": [test.runs for test in rows],
                "true": [answer[test.holds] for test in rows],
                "counts": ["yes"] * len(self.tests) + ["no"] * len(self.causes),
            }
        )


@dataclass(frozen=True)
class Claim:
    """A claim of the paper by its number: what it says, the figures it rests on, how it is judged."""

    number: int
    title: str
    says: str
    figures: tuple[str, ...]
    judge: Callable[[AllData], Judgement]
    remark: str = ""

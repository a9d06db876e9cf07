"""The contract of a claim: what the paper says, checks that the data must pass, and the verdict.

A check is an estimate with a 95 % interval beside a limit. It holds if the whole interval is on the
right side, fails if the whole interval is on the wrong one, and is undecided otherwise. Readings of
the paper exclude each other, so each has checks of its own, and a claim is reproduced under the
reading that is named. Nobody writes a verdict by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.figures.figure import SEED, Data, with_interval
from belman.table import Table, number

#: The data of every figure that a claim rests on, by the figure's name.
AllData = Mapping[str, Data]
#: Runs of a player, out of as many as there are, for repetitions of a protocol: (repetition, run).
Draw = Callable[[str, int], NDArray[np.int64]]

#: Runs of the protocols for which a claim's chance is given: the published means', the text's.
PROTOCOLS = (5, 25)
_REPETITIONS = 2_000
ANSWERS = {True: "yes", False: "no", None: "undecided"}


class Verdict(StrEnum):
    """What the data say of a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "in part"
    NOT = "not reproduced"
    UNDECIDED = "undecided"
    PICTURE = "as a picture"
    REFUTED = "refuted"


class Check(NamedTuple):
    """A statement, and the estimate that must be below (or above) a limit for it to be true.

    `redrawn` gives the estimates of repetitions with few runs, out of those that were played.
    """

    states: str
    estimate: float
    half_width: float
    limit: float
    below: bool = True
    runs: int = 0
    redrawn: Callable[[Draw], NDArray[np.float64]] | None = None

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
    result = [check.holds for check in checks]
    if True in result and False in result:
        return Verdict.IN_PART
    if None in result:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if all(result) else Verdict.NOT


class Judgement(NamedTuple):
    """The checks of each reading, on which the verdict rests; those of causes do not count.

    Each check `against` a claim is a counter-example: one that holds leaves of a claim that is
    reproduced its picture, and refutes another.
    """

    readings: Mapping[str, Sequence[Check]]
    causes: Sequence[Check] = ()
    against: Sequence[Check] = ()

    @property
    def reading(self) -> str:
        """The reading that comes nearest to the claim: all checks hold, or the most of them."""

        def nearness(reading: str) -> tuple[bool, int, int]:
            result = [check.holds for check in self.readings[reading]]
            return all(result), result.count(True), result.count(None)

        return max(self.readings, key=nearness)

    @property
    def checks(self) -> Sequence[Check]:
        """Those of that reading."""
        return self.readings[self.reading]

    @property
    def verdict(self) -> Verdict:
        """What follows from the checks."""
        result = verdict(self.checks)
        if not any(check.holds for check in self.against):
            return result
        return Verdict.PICTURE if result is Verdict.REPRODUCED else Verdict.REFUTED

    def chance(self, runs: int) -> float | None:
        """The chance that a protocol of this number of runs a player shows all that the claim says.

        Runs are drawn, with replacement and for each player apart, out of those that were played;
        None if the checks rest on no runs.
        """
        if any(check.redrawn is None for check in self.checks):
            return None
        generator = np.random.default_rng([SEED, runs])
        drawn: dict[str, NDArray[np.int64]] = {}

        def draw(player: str, played: int) -> NDArray[np.int64]:
            if player not in drawn:
                drawn[player] = generator.integers(played, size=(_REPETITIONS, runs))
            return drawn[player]

        shown = np.ones(_REPETITIONS, dtype=bool)
        for check in self.checks:
            assert check.redrawn is not None
            away = check.limit - check.redrawn(draw)
            shown &= (away if check.below else -away) > 0.0
        return float(shown.mean())

    def table(self) -> Table:
        """Every check as a row: those that count, those of other readings, those of causes."""
        rows = self.rows()
        columns = {
            "check": [row["states"] for row in rows],
            "estimate": [with_interval(row["estimate"], row["half_width"]) for row in rows],
            "must be": [f"{row['side']} {number(row['limit'])}" for row in rows],
            "runs": [row["runs"] or "–" for row in rows],
            "true": [ANSWERS[row["holds"]] for row in rows],
            "counts": [_counting(row) for row in rows],
        }
        if len(self.readings) > 1:
            columns["reading"] = [row["reading"] or "–" for row in rows]
        return Table(columns)

    def rows(self) -> list[dict[str, Any]]:
        """Every check as data: those that count first, then other readings, then causes.

        The id of a check has its reading in it, so that it stays when another reading is named.
        """
        named = self.reading
        kinds = [(named or "claim", self.readings[named], True), ("against", self.against, True)]
        kinds += [(name, each, False) for name, each in self.readings.items() if name != named]
        kinds.append(("cause", self.causes, False))
        return [
            {
                "id": f"{kind}.{position}",
                "states": check.states,
                "reading": kind if kind in self.readings else "",
                "counts": counts,
                "estimate": check.estimate,
                "half_width": check.half_width,
                "interval": [check.estimate - check.half_width, check.estimate + check.half_width],
                "side": "<" if check.below else ">",
                "limit": check.limit,
                "runs": check.runs,
                "holds": check.holds,
            }
            for kind, checks, counts in kinds
            for position, check in enumerate(checks, 1)
        ]


def _counting(row: Mapping[str, Any]) -> str:
    """Whether a check counts for its claim, against it, or not at all."""
    if row["id"].startswith("against"):
        return "against"
    return "yes" if row["counts"] else "no"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and how the data of figures decide it.

    Attributes
    ----------
    number
        Its number in the paper's order.
    title
        The heading of the claim in the report.
    says
        What the paper says, in a sentence.
    figures
        The names of the figures that it rests on.
    judge
        A function from the data of these figures, by name, to the checks that decide.
    remark
        What a reader has to know besides; empty for nothing.
    """

    number: int
    title: str
    says: str
    figures: tuple[str, ...]
    judge: Callable[[AllData], Judgement]
    remark: str = ""

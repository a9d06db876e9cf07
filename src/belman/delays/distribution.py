"""The distribution of the delays within a window, learnt from told delays: `DelayDistribution`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.codec import NAMED, Whole
from belman.delays.counts import (
    CELLS,
    PRIOR,
    Counts,
    advance,
    count_asked,
    count_closed,
    count_told,
    estimate,
    slot,
)
from belman.delays.log_rank import CLOSED, difference_found
from belman.delays.silence import count_silence, relative_doubt
from belman.engine import LATER, Call, entry, kernel
from belman.errors import SettingError, StateError

Floats = NDArray[np.float64]
#: How many arms there may be: memory is held for each.
MOST_ARMS = 1_000_000


@kernel
def _count_open(counts, cdf, doubt, beliefs, out, part: float):
    """What the open tickets of every arm count, and the doubt about F in it (K × 3)."""
    for a in range(len(beliefs)):
        won, lost = beliefs[a, 0], beliefs[a, 1]
        count_silence(counts, cdf, part, a, won, lost, out[a])
        worth = won + lost + out[a, 0] + out[a, 1]
        out[a, 2] = relative_doubt(counts, cdf, doubt, part, a, worth)


class _Calls(NamedTuple):
    """Kernels, and the arrays that they fill."""

    cdf: Floats
    beliefs: Floats
    out: Floats
    asked: Call
    told: Call
    closed: Call
    differ: Call
    advance: Call
    estimate: Call
    count: Call


@dataclass
class DelayDistribution:
    """The distribution F of the delays with which successes are told, for arms numbered from 0.

    A success is told at most `window` seconds after its ask, a failure never. The distribution is
    pooled over arms; delays that differ between arms are noticed, and then silence says nothing any
    more (`alarm` says why). Times are seconds on any clock. What is kept are counts on a grid, so
    that memory and time do not grow with the number of tickets.

    Parameters
    ----------
    window
        The longest delay of a success, in seconds.
    arms
        How many arms there are.
    prior
        How many observations of delays the prior is worth.
    alarm
        Why silence says nothing any more; None while it does.
    counted
        The counts of tickets so far; by default those of arms that were never asked.

    Raises
    ------
    SettingError
        If the window or the prior is not a positive number.
    StateError
        If the counts are not those of that many arms.

    >>> distribution = DelayDistribution(window=7200.0, arms=2)
    >>> for second in range(100):
    ...     distribution.asked(second % 2, float(second))
    >>> distribution.told(0, 10.0, 600.0)
    >>> successes, failures, doubt = distribution.counts(1800.0, [(1.0, 1.0), (1.0, 1.0)])[0]
    >>> round(float(successes), 2), round(float(failures), 1)  # of arm 0: 1 told, 49 silent
    (0.92, 22.4)
    """

    window: float
    arms: Annotated[int, Whole(0, MOST_ARMS)]
    prior: float = PRIOR
    alarm: str | None = None
    counted: Annotated[Counts, NAMED] = field(default_factory=lambda: Counts.blank(0))

    def __post_init__(self) -> None:
        for name, value in (("window", self.window), ("prior", self.prior)):
            if not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
                allowed = "it must be a positive number"
                raise SettingError(
                    f"{name}={value!r} is not valid for a distribution of delays: {allowed}"
                )
        self.window, self.prior = float(self.window), float(self.prior)
        by_arm = (self.counted.silent, self.counted.successes, self.counted.complete)
        if {len(counts) for counts in by_arm} not in ({0}, {self.arms}):
            raise StateError(f"its counts are not those of {self.arms} arms")
        self._grow()

    def _grow(self) -> None:
        """Make room for the counts of all arms."""
        kept = Counts.blank(self.arms)
        for name, counts in self.counted._asdict().items():
            getattr(kept, name)[: len(counts)] = counts
        self.counted = kept
        vars(self).pop("_calls", None)

    @cached_property
    def _width(self) -> float:
        """The seconds of a cell."""
        return self.window / CELLS

    @cached_property
    def _calls(self) -> _Calls:
        """The kernels with the arrays that they work on."""
        counts = self.counted
        cdf, doubt = np.zeros(CELLS + 1), np.zeros(CELLS + 1)
        beliefs, out = np.zeros((self.arms, 2)), np.zeros((self.arms, 3))
        distribution = {"counts": counts, "cdf": cdf, "doubt": doubt}
        return _Calls(
            cdf,
            beliefs,
            out,
            entry(count_asked).hold(LATER, counts=counts),
            entry(count_told).hold(LATER, counts=counts),
            entry(count_closed).hold(LATER, counts=counts),
            entry(difference_found).hold(LATER, counts=counts),
            entry(advance).hold(LATER, counts=counts),
            entry(estimate).hold(LATER, prior=self.prior, **distribution),
            entry(_count_open).hold(LATER, beliefs=beliefs, out=out, **distribution),
        )

    # What happens

    def asked(self, arm: int, time: float) -> None:
        """Count a ticket that goes out.

        Parameters
        ----------
        arm
            The number of the arm.
        time
            When the ticket was asked for.
        """
        self._calls.asked(arm, self.cell(time))

    def told(self, arm: int, asked: float, time: float) -> None:
        """Count the success of an open ticket.

        Parameters
        ----------
        arm
            The number of the arm.
        asked
            When the ticket was asked for.
        time
            When its success was told.
        """
        self._calls.told(arm, self.cell(asked), self._delay(time - asked), 1)

    def untold(self, arm: int, asked: float, time: float) -> None:
        """Take a success back while its ticket is open, which is silent once more.

        Parameters
        ----------
        arm
            The number of the arm.
        asked
            When the ticket was asked for.
        time
            When the success had been told.
        """
        self._calls.told(arm, self.cell(asked), self._delay(time - asked), -1)

    def closed(self, arm: int, asked: float, told: float | None = None) -> None:
        """Count a ticket whose window is over, and compare the delays of the arms where that is
        due.

        Parameters
        ----------
        arm
            The number of the arm.
        asked
            When the ticket was asked for.
        told
            When its success was told; None where nothing was told.
        """
        delay = -1 if told is None else self._delay(told - asked)
        self._calls.closed(arm, self.cell(asked), delay)
        p_value = 1.0 if self.alarm else float(self._calls.differ())
        if p_value < 1.0:
            number = int(self.counted.watch[CLOSED])
            self.alarm = (
                f"delays differ between arms (log-rank test on {number:,} delays, p = "
                f"{p_value:.1g}): open tickets count when their window closes, and not before"
            )

    def add_arm(self) -> None:
        """Take in one more arm, which gets the last number."""
        self.arms += 1
        self._grow()

    def cell(self, time: float) -> int:
        """Compute the cell of time that a moment is in; a window has 256 cells.

        Parameters
        ----------
        time
            The moment, in seconds.

        Returns
        -------
        int
            The number of the cell.
        """
        return math.floor(time / self._width)

    def _delay(self, delay: float) -> int:
        # as `delay_cell` does, which every tell would enter from Python
        return min(max(int(delay / self._width), 0), CELLS - 1)

    # What it says

    def cdf(self, now: float) -> Floats:
        """Estimate F, the chance that a success is told within an age.

        Parameters
        ----------
        now
            The present time; one that is earlier than before counts as the latest.

        Returns
        -------
        array (257)
            F at the edges of the cells of the window, from 0 at the age 0 to 1 at its end.
        """
        self._calls.advance(self.cell(now))
        self._calls.estimate()
        return self._calls.cdf.copy()

    def counts(self, now: float, beliefs: ArrayLike) -> Floats:
        """Compute what the open tickets of every arm count now.

        Parameters
        ----------
        now
            The present time; one that is earlier than before counts as the latest.
        beliefs
            α and β of each arm without its open tickets (K × 2).

        Returns
        -------
        array (K × 3)
            Successes, failures, and a doubt: the relative variance of what they count that comes
            from not knowing F. All are 0 on an alarm.
        """
        self._calls.out[:] = 0.0
        if self.alarm is None:
            self._calls.beliefs[:] = beliefs
            self._calls.advance(self.cell(now))
            self._calls.estimate()
            self._calls.count(min(max(now / self._width - float(self.counted.head[0]), 0.0), 1.0))
        return self._calls.out.copy()

    def is_of(self, tickets: Sequence[tuple[int, float, float | None]]) -> bool:
        """Check whether its counts are those of some open tickets.

        Parameters
        ----------
        tickets
            The arm of each, when it was asked for, and when its success was told, or None.

        Returns
        -------
        bool
            True if they are all the open tickets that were counted.

        >>> distribution = DelayDistribution(60.0, arms=2)
        >>> distribution.asked(1, 5.0)
        >>> distribution.is_of([(1, 5.0, None)]), distribution.is_of([(0, 5.0, None)])
        (True, False)
        """
        counts, blank = self.counted, Counts.blank(self.arms)
        for arm, asked, told in tickets:
            where = slot(counts, self.cell(asked))
            if told is None:
                blank.silent[arm, where] += 1
            else:
                blank.told[where] += 1
                blank.successes[arm] += 1
                blank.delays[self._delay(told - asked)] += 1
        complete = counts.complete.sum(axis=0)
        return (
            np.array_equal(counts.silent, blank.silent)
            and np.array_equal(counts.told, blank.told)
            and np.array_equal(counts.successes, blank.successes)
            and np.array_equal(counts.delays, blank.delays + complete)
            and int(counts.watch[CLOSED]) == int(complete.sum())
        )

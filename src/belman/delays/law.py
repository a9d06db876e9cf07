"""The distribution of the delays within a window, learnt from what is told: `DelayLaw`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.delays.counts import (
    PRIOR,
    Counts,
    Integers,
    advance,
    count_asked,
    count_closed,
    count_told,
    estimate,
)
from belman.delays.log_rank import CLOSED, difference_found
from belman.delays.silence import count_silence, relative_doubt
from belman.engine import LATER, entry, kernel
from belman.errors import SettingError, StateError

Floats = NDArray[np.float64]


@kernel
def _count_open(counts, cdf, doubt, beliefs, out, part: float):
    """What the open tickets of every arm count, and the doubt about F in it (K × 3)."""
    for a in range(len(beliefs)):
        won, lost = beliefs[a, 0], beliefs[a, 1]
        count_silence(counts, cdf, part, a, won, lost, out[a])
        worth = won + lost + out[a, 0] + out[a, 1]
        out[a, 2] = relative_doubt(counts, cdf, doubt, part, a, worth)


class DelayLaw:
    """The distribution F of the delays with which successes are told, for arms numbered from 0.

    A success is told at most `window` seconds after its ask, a failure never. The distribution is
    pooled over arms; delays that differ between arms are noticed, and then silence says nothing any
    more (`alarm` says why). Times are seconds on any clock. What is kept are counts on a grid, so
    that memory and time do not grow with the number of tickets.

    >>> law = DelayLaw(window=7200.0, arms=2)
    >>> for second in range(100):
    ...     law.asked(second % 2, float(second))
    >>> law.told(0, 10.0, 600.0)
    >>> successes, failures, doubt = law.counts(1800.0, [(1.0, 1.0), (1.0, 1.0)])[0]
    >>> round(float(successes), 2), round(float(failures), 1)  # of arm 0: 1 told, 49 silent
    (0.92, 22.4)
    """

    def __init__(self, window: float, arms: int, prior: float = PRIOR) -> None:
        for name, value in (("window", window), ("prior", prior)):
            if not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
                allowed = "it must be a positive number"
                raise SettingError(
                    f"{name}={value!r} is not valid for a distribution of delays: {allowed}"
                )
        self.window, self.prior = float(window), float(prior)
        self.alarm: str | None = None
        self._counts = Counts.blank(arms)
        self._hold()

    def _hold(self) -> None:
        counts = self._counts
        cells = counts.delays.size
        self._width = self.window / cells
        self._cdf, self._doubt = np.zeros(cells + 1), np.zeros(cells + 1)
        self._asked = entry(count_asked).hold(LATER, counts=counts)
        self._told = entry(count_told).hold(LATER, counts=counts)
        self._done = entry(count_closed).hold(LATER, counts=counts)
        self._differ = entry(difference_found).hold(LATER, counts=counts)
        self._advance = entry(advance).hold(LATER, counts=counts)
        self._estimate = entry(estimate).hold(
            LATER, counts=counts, prior=self.prior, cdf=self._cdf, doubt=self._doubt
        )
        self._beliefs, self._out = np.zeros((self.arms, 2)), np.zeros((self.arms, 3))
        self._count = entry(_count_open).hold(
            LATER,
            counts=counts,
            cdf=self._cdf,
            doubt=self._doubt,
            beliefs=self._beliefs,
            out=self._out,
        )

    # What happens

    def asked(self, arm: int, time: float) -> None:
        """A ticket goes out."""
        self._asked(arm, self.cell(time))

    def told(self, arm: int, asked: float, time: float) -> None:
        """The success of an open ticket is told."""
        self._told(arm, self.cell(asked), self._delay(time - asked), 1)

    def untold(self, arm: int, asked: float, time: float) -> None:
        """What was told at that time is taken back while the ticket is open: silent once more."""
        self._told(arm, self.cell(asked), self._delay(time - asked), -1)

    def closed(self, arm: int, asked: float, told: float | None = None) -> None:
        """The window of a ticket is over: what was `told` when, or nothing, is all there is."""
        delay = -1 if told is None else self._delay(told - asked)
        self._done(arm, self.cell(asked), delay)
        p_value = 1.0 if self.alarm else float(self._differ())
        if p_value < 1.0:
            number = int(self._counts.watch[CLOSED])
            self.alarm = (
                f"delays differ between arms (log-rank test on {number:,} delays, p = "
                f"{p_value:.1g}): open tickets count when their window closes, and not before"
            )

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return len(self._counts.successes)

    def add_arm(self) -> None:
        """One more arm, the last."""
        self._counts = Counts(
            *(
                np.concatenate([part, np.zeros_like(part[:1])]) if name in _PER_ARM else part
                for name, part in self._counts._asdict().items()
            )
        )
        self._hold()

    def cell(self, time: float) -> int:
        """The cell of time that it is: a window has so many of them as there are steps of F."""
        return math.floor(time / self._width)

    def _delay(self, delay: float) -> int:
        return min(max(int(delay / self._width), 0), len(self._counts.delays) - 1)

    # What it says

    def cdf(self, now: float) -> Floats:
        """F at the edges of the cells of the window, from 0 to 1."""
        self._advance(self.cell(now))
        self._estimate()
        return self._cdf.copy()

    def counts(self, now: float, beliefs: ArrayLike) -> Floats:
        """Per arm: the successes and failures that the open tickets count now, and a doubt (K × 3).

        `beliefs` (K × 2) holds α and β of each arm without its open tickets. The doubt is the
        relative variance of what they count that comes from not knowing F (`delays/silence.py`).
        All are 0 on an alarm.
        """
        self._out[:] = 0.0
        if self.alarm is None:
            self._beliefs[:] = beliefs
            self._advance(self.cell(now))
            self._estimate()
            self._count(min(max(now / self._width - float(self._counts.head[0]), 0.0), 1.0))
        return self._out.copy()

    def copied(self) -> DelayLaw:
        """The same, to go its own way."""
        other = object.__new__(DelayLaw)
        vars(other).update(vars(self))
        other._counts = Counts(*(part.copy() for part in self._counts))
        other._hold()
        return other

    # As plain data

    def to_plain(self) -> dict[str, Any]:
        """All that it knows, as JSON holds it; equal distributions give equal data.

        >>> law = DelayLaw(60.0, arms=2)
        >>> law.asked(1, 5.0)
        >>> DelayLaw.from_plain(law.to_plain()).to_plain() == law.to_plain()
        True
        """
        return {
            "window": self.window,
            "prior": self.prior,
            "alarm": self.alarm,
            **{name: _packed(part) for name, part in self._counts._asdict().items()},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> DelayLaw:
        """The distribution of what `to_plain` gave."""
        try:
            law = cls(plain["window"], 0, plain["prior"])
            law.alarm = plain["alarm"]
            blank = Counts.blank(_length(plain["successes"]))
            law._counts = Counts(
                *(_unpacked(plain[name], like) for name, like in blank._asdict().items())
            )
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            what = f"{type(error).__name__}: {error}"
            raise StateError(f"a distribution of delays is damaged: {what}") from None
        law._hold()
        return law

    def is_of(self, tickets: Sequence[tuple[int, float, float | None]]) -> bool:
        """Whether its counts are those of these open tickets: the arm of each, when it was asked
        for, and when its success was told, if it was.

        >>> law = DelayLaw(60.0, arms=2)
        >>> law.asked(1, 5.0)
        >>> law.is_of([(1, 5.0, None)]), law.is_of([(0, 5.0, None)])
        (True, False)
        """
        counts, blank = self._counts, Counts.blank(self.arms)
        cells, head = counts.delays.size, int(counts.head[0])
        for arm, asked, told in tickets:
            cell = self.cell(asked)
            where = cell % cells if cell > head - cells else cells
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


_PER_ARM = ("silent", "successes", "complete")
_MOST = 2**60
#: So many arms a file may speak of: memory is held for each.
MOST_ARMS = 1_000_000


def _packed(part: Integers) -> list[Any]:
    """The shape, then the place and the number of each count that is not 0."""
    places = np.flatnonzero(part)
    return [list(part.shape), places.tolist(), part.ravel()[places].tolist()]


def _unpacked(packed: Any, like: Integers) -> Integers:
    """Counts of this shape; no place is outside, and none but the time of `head` is below 0."""
    shape, places, numbers = packed
    least = -_MOST if like.shape == (1,) else 0
    fits = shape == list(like.shape) and len(places) == len(numbers)
    whole = all(type(number) is int for number in (*places, *numbers))
    if not fits or not whole or not all(least <= number <= _MOST for number in numbers):
        raise ValueError(f"counts of shape {str(shape)[:40]}, and {like.shape} are needed")
    if any(one >= other for one, other in zip([-1, *places], places, strict=False)):
        raise ValueError("the places of counts are not in order")
    part = np.zeros(like.size, dtype=np.int64)
    part[places] = numbers
    return part.reshape(like.shape)


def _length(packed: Any) -> int:
    """The number of arms that counts by arm are of."""
    (arms,), _, _ = packed
    if type(arms) is not int or not 0 <= arms <= MOST_ARMS:
        raise ValueError(f"counts of {str(arms)[:40]} arms")
    return arms

"""How many jobs a server may have at once: a fixed number, or one that is found out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Any

import numpy as np

from belman import chance, codec
from belman.codec import Form, Real, Scope, Whole
from belman.deciders import checks
from belman.deciders.checks import Size
from belman.errors import SettingError, StateError
from belman.validate import require_number, require_whole

MOST_SLOTS = 1024
HOLD = 4  # jobs completed with each slot before their number is drawn anew


@dataclass(frozen=True)
class LearntSlots:
    """Slots that are found out: as many as add to what the server completes.

    A server with room for c jobs at once completes jobs at a rate that grows with their number n up
    to c, as min(n, c) does, and no further. What is believed of c follows from how many were
    completed, and how long it took, with one job at once, with two, and so on. How many slots are
    used is a draw from that, and no more than one beyond what was tried.

    Parameters
    ----------
    most
        The most jobs that a server is ever given at once, from 1 to 1,024.
    memory
        About how many of the last jobs are remembered, at least 2.

    >>> LearntSlots(most=8).most
    8
    """

    most: int = 32
    memory: Real = 500.0

    def __post_init__(self) -> None:
        require_whole("most", self.most, 1, MOST_SLOTS)
        require_number("memory", self.memory, 2.0, checks.MOST)


class FixedSlots:
    """A server with a fixed number of slots, however its jobs go."""

    def __init__(self, count: int) -> None:
        if type(count) is not int or not 1 <= count <= MOST_SLOTS:
            allowed = f"give a whole number from 1 to {MOST_SLOTS}, or 'learnt'"
            raise SettingError(f"{count!r} slots are not allowed: {allowed}")
        self.expected = count

    def in_use(self, rng: chance.Words) -> int:
        """How many slots to use for the next job."""
        return self.expected

    def changes(self, now: float, count: int, completed: bool = False) -> None:
        """The server had `count` jobs until now, when one begins or ends."""


@dataclass
class Capacity:
    """What is believed of one server's slots."""

    rules: LearntSlots
    #: With one job at once, with two, …; the older the less.
    completed: list[Size] = field(default_factory=list)
    seconds: list[Size] = field(default_factory=list)
    since: Real = 0.0  # when a job last began or ended
    drawn: Annotated[int, Whole(1, MOST_SLOTS)] = 1  # the slots in use
    left: int = 0  # for how many more jobs

    def __post_init__(self) -> None:
        most, tried = self.rules.most, len(self.completed)
        fits = tried == len(self.seconds) and max(tried, self.drawn) <= most
        fits = fits and sum(self.completed) <= 1.001 * self.rules.memory
        if not fits or self.left > HOLD * most:
            raise StateError("slots hold what no jobs can leave")

    def changes(self, now: float, count: int, completed: bool = False) -> None:
        """The server had `count` jobs until now, when one begins or ends."""
        passed, self.since = max(now - self.since, 0.0), now
        if count == 0:
            return
        for values in (self.completed, self.seconds):
            values += [0.0] * (count - len(values))
        self.seconds[count - 1] += passed
        if completed:
            self.left -= 1
            self.completed[count - 1] += 1.0
            keep = 1.0 - 1.0 / self.rules.memory
            self.completed = [keep * value for value in self.completed]
            self.seconds = [keep * value for value in self.seconds]

    def in_use(self, rng: chance.Words) -> int:
        """How many slots to use for the next job: a draw, so that the next number is tried too.

        It is kept for a while, since what a number of jobs at once is good for shows only when
        most of them begin and end among so many.
        """
        if self.left <= 0:
            with np.errstate(over="ignore"):
                level = float(chance.uniform(rng))
            sums = itertools.accumulate(self.chances())
            below = itertools.takewhile(lambda total: total <= level * (1.0 - 1e-12), sums)
            self.drawn = 1 + sum(1 for _ in below)
            self.left = HOLD * self.drawn
        return self.drawn

    @property
    def expected(self) -> int:
        """The likeliest number, of those that were tried."""
        chances = self.chances()[: max(len(self.completed), 1)]
        return 1 + max(range(len(chances)), key=chances.__getitem__)

    def chances(self) -> list[float]:
        """How likely the server has room for one job, for two, …, up to one more than was tried.

        Completions come at the rate r·min(n, c), and r is integrated out under the prior 1/r.
        """
        tried = len(self.completed)
        jobs, time = sum(self.completed), sum(self.seconds)
        if jobs == 0.0 or time == 0.0:
            return [1.0]
        logs, grown, room = [], 0.0, 0.0
        for slots in range(1, min(tried + 1, self.rules.most) + 1):
            # those with at least this number of jobs would have gained by the last slot
            beyond = sum(self.seconds[slots - 1 :])
            room += beyond
            if slots > 1:
                grown += math.log(slots / (slots - 1.0)) * sum(self.completed[slots - 1 :])
            logs.append(grown - jobs * math.log(room))
        likeliest = max(logs)
        weights = [math.exp(value - likeliest) for value in logs]
        total = sum(weights)
        return [weight / total for weight in weights]


def _either(kind: Any, count: Callable[[Any], int], fixed: Callable[[int], Any]) -> Form:
    """Return how slots that are learnt, of a kind, or else a number are written and read."""

    def read(content: Any, scope: Scope) -> Any:
        return codec.read(kind, content, scope) if type(content) is dict else fixed(content)

    return Form(lambda one: codec.write(one) if type(one) is kind else count(one), read)


Slots = Annotated[FixedSlots | Capacity, _either(Capacity, attrgetter("expected"), FixedSlots)]
#: Those of servers that come later.
NewSlots = Annotated[
    int | LearntSlots, _either(LearntSlots, int, lambda count: FixedSlots(count).expected)
]


def slots_of(given: Any, server: Hashable) -> FixedSlots | Capacity:
    """The slots of one server, from what a person gives: a number, 'learnt', or either by server.

    >>> slots_of({"near": 4}, "near").expected, slots_of({"near": 4}, "far").expected
    (4, 1)
    """
    chosen = given.get(server, 1) if isinstance(given, Mapping) else given
    if chosen == "learnt":
        chosen = LearntSlots()
    return Capacity(chosen) if isinstance(chosen, LearntSlots) else FixedSlots(chosen)

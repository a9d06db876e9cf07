"""Which loop plays which problem: a problem names its loop, and a loop has seats for players and
fields for results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from belman.lab import queue_seat, seat
from belman.lab.results import Field
from belman.lab.serve import Served
from belman.problems.problem import Problem


class Loop(NamedTuple):
    """A way to play: the fields of its results, the record that holds them, and how a player sits
    down.
    """

    fields: Mapping[str, Field]
    record: Callable[..., Any]
    seat: Callable[[Any, Any, int], Any]


#: Every loop by its name.
LOOPS = {
    "bandit": Loop(seat.FIELDS, seat.Results, seat.bandit_seat),
    "queue": Loop(queue_seat.FIELDS, Served, queue_seat.QueueSeat),
}


def loop_of(problem: Problem) -> Loop:
    """The loop that plays a problem."""
    return LOOPS[problem.played_as]


@functools.lru_cache(maxsize=256)
def seated(player: Any, problem: Problem, horizon: int) -> Any:
    """The seat of a player; the same for equal players, so that a worker makes it once."""
    return loop_of(problem).seat(player, problem, horizon)

"""What a policy that watches for changes says of one."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """A change that was noticed, the `number`-th of all: at which turn, of which arm (−1: it is not
    played any more), after which turn, from and to which average reward, and how sure.
    """

    number: int
    turn: int
    arm: int
    after: int
    before: float
    now: float
    sure: float

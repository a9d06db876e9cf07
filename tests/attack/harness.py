"""What an attack is, and what it found."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple


class Trials:
    """So many trials, with randomness that is passed in, and a time to end."""

    def __init__(self, count: int, seed: int, seconds: float) -> None:
        self.count, self.luck = count, random.Random(seed)
        self.done = 0
        self.result: list[str] = []
        self._until = time.monotonic() + seconds

    def __iter__(self):
        """The numbers of the trials, until all are done or the time is over."""
        for number in range(self.count):
            if time.monotonic() > self._until:
                return
            yield number
            self.done += 1

    def expect(self, holds: object, otherwise: str) -> None:
        """Note what was found, where something does not hold that should."""
        if not holds:
            self.result.append(otherwise)


class Attack(NamedTuple):
    """Something that is tried, and what has to hold all the same.

    `short` and `long` are numbers of trials; after `seconds` no trial is begun any more. `needs`
    says what is missing here to try it, if anything is.
    """

    name: str
    what: str
    holds: str
    run: Callable[[Trials], None]
    short: int
    long: int
    seconds: float = 60.0
    seed: int = 1
    needs: Callable[[], str | None] = lambda: None

    def trials(self, count: int, seed: int | None = None) -> Trials:
        """Try it so many times."""
        trials = Trials(count, self.seed if seed is None else seed, self.seconds)
        self.run(trials)
        return trials

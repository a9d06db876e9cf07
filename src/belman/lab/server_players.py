"""Who sends jobs to parallel servers in a simulation: the usual rules, and who knows everything.

A player is offered a job and names its server, or None to let it wait in the common line. Rules
that send a job on at once leave it to wait at its server.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np

from belman.problems.servers import Servers


class ServerPlayer(Protocol):
    """Sends jobs to servers; it sees how many jobs each has, and the end of those it sent."""

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any] | None:
        """The place of the server for a job, with a note to get back at its end; None to wait."""

    def ended(self, note: Any, seconds: float, success: bool, now: float) -> None:
        """A job has ended, so many seconds after it was sent."""


#: Makes a player for a problem from a seed.
PlayerMaker = Callable[[Servers, int], ServerPlayer]


class _Rule:
    """A rule that learns nothing."""

    def __init__(self, problem: Servers, seed: int) -> None:
        self.problem, self.size = problem, len(problem.names)
        self.generator = np.random.default_rng(seed)

    def ended(self, note: Any, seconds: float, success: bool, now: float) -> None:
        """Nothing is learnt."""


class RoundRobin(_Rule):
    """Every server in turn."""

    def __init__(self, problem: Servers, seed: int) -> None:
        super().__init__(problem, seed)
        self.turn = -1

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any]:
        """The next one."""
        self.turn += 1
        return self.turn % self.size, None


class LeastLoaded(_Rule):
    """The server with the fewest jobs per slot; a draw among equals."""

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any]:
        """The least loaded of all."""
        return self._least(range(self.size), counts), None

    def _least(self, among: Any, counts: list[int]) -> int:
        loads = [counts[place] / self.problem.slots[place] for place in among]
        best = [place for place, load in zip(among, loads, strict=True) if load == min(loads)]
        return best[self.generator.integers(len(best))] if len(best) > 1 else best[0]


class PowerOfTwo(LeastLoaded):
    """The less loaded of two servers drawn at random."""

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any]:
        """The less loaded of two."""
        two = self.generator.choice(self.size, min(2, self.size), replace=False)
        return self._least(two.tolist(), counts), None


class KnowsAll(_Rule):
    """The oracle: of the servers with a free slot the one with the least expected seconds per
    success, which it knows, failures at this moment included.
    """

    def __init__(self, problem: Servers, seed: int) -> None:
        super().__init__(problem, seed)
        self.seconds = {name: problem.mean_seconds(name) for name in problem.services}

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any] | None:
        """The best that is free, or none."""
        problem = self.problem
        free = [place for place in range(self.size) if counts[place] < problem.slots[place]]
        if not free:
            return None

        def cost(place: int) -> float:
            chance = problem.failures[place]
            fails = chance(now) if callable(chance) else chance
            return float(self.seconds[job_class][place]) / max(1.0 - fails, 1e-9)

        return min(free, key=cost), None


RIVALS: dict[str, PlayerMaker] = {
    "oracle": KnowsAll,
    "least loaded": LeastLoaded,
    "power of two": PowerOfTwo,
    "round robin": RoundRobin,
}

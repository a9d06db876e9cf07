"""Jobs at parallel servers: who sends them, one run event by event, and what came of many.

A player is offered a job and names its server, or None to let it wait in the common line. Rules
that send a job on at once leave it to wait at its server.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from belman.errors import SettingError, listing, needing
from belman.problems.servers import Arrival, Servers
from belman.validate import require_whole

if TYPE_CHECKING:
    import xarray

#: What is measured of a run, in the units that the name says.
MEASURES = ("throughput", "response_mean", "response_p95", "response_p99", "waiting_mean", "failed")


class ServerPlayer(Protocol):
    """Sends jobs to servers; it sees how many jobs each has, and the end of those it sent."""

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any] | None:
        """The place of the server for a job, with a note to get back at its end; None to wait."""

    def ended(self, note: Any, seconds: float, success: bool, now: float) -> None:
        """A job has ended, `seconds` after it was sent."""


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

    turn = -1

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
        loads = [counts[position] / self.problem.slots[position] for position in among]
        best = [position for position, load in zip(among, loads, strict=True) if load == min(loads)]
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
        free = [
            position for position in range(self.size) if counts[position] < problem.slots[position]
        ]
        if not free:
            return None

        def cost(position: int) -> float:
            chance = problem.failures[position]
            fails = chance(now) if callable(chance) else chance
            return float(self.seconds[job_class][position]) / max(1.0 - fails, 1e-9)

        return min(free, key=cost), None


RIVALS: dict[str, PlayerMaker] = {
    "oracle": KnowsAll,
    "least loaded": LeastLoaded,
    "power of two": PowerOfTwo,
    "round robin": RoundRobin,
}


class Served(NamedTuple):
    """A job that has ended; or columns of them, in the order in which they ended."""

    server: Any
    job_class: Any
    arrived: Any
    ended: Any
    seconds: Any  # of service alone
    success: Any


class ServerLoop:
    """One run: a problem, a player, and the jobs that come."""

    def __init__(self, problem: Servers, player: ServerPlayer) -> None:
        self.problem, self.player = problem, player
        self.counts = [0] * len(problem.names)  # jobs sent to each server that have not ended
        self.working = [0] * len(problem.names)
        self.at_servers: list[deque[tuple[Arrival, float, Any]]] = [deque() for _ in self.counts]
        self.common: deque[Arrival] = deque()
        self.events: list[tuple[float, int, int, Any]] = []
        self.order = 0
        self.served: list[Served] = []

    def play(self, jobs: list[Arrival]) -> Served:
        """Let the jobs come, and serve them all."""
        for job in jobs:
            self._run_until(job.time)
            self.common.append(job)
            self._send(job.time)
        self._run_until(float("inf"))
        server, job_class, *rest = zip(*self.served, strict=True)
        return Served(np.array(server), job_class, *map(np.array, rest))

    def _run_until(self, time: float) -> None:
        while self.events and self.events[0][0] <= time:
            now, _, position, (job, sent, note) = heapq.heappop(self.events)
            self.working[position] -= 1
            self.counts[position] -= 1
            success = not self.problem.fails(position, job, now)
            self.player.ended(note, now - sent, success, now)
            seconds = float(job.seconds[position])
            self.served.append(Served(position, job.job_class, job.time, now, seconds, success))
            if self.at_servers[position]:
                self._begin(position, self.at_servers[position].popleft(), now)
            self._send(now)

    def _send(self, now: float) -> None:
        """Offer the jobs of the common line to the player, the first first."""
        while self.common:
            job = self.common[0]
            chosen = self.player.choose(job.job_class, self.counts, now)
            if chosen is None:
                return
            self.common.popleft()
            position, note = chosen
            self.counts[position] += 1
            if self.working[position] < self.problem.slots[position]:
                self._begin(position, (job, now, note), now)
            else:
                self.at_servers[position].append((job, now, note))

    def _begin(self, position: int, sent: tuple[Arrival, float, Any], now: float) -> None:
        self.working[position] += 1
        self.order += 1
        end = now + float(sent[0].seconds[position])
        heapq.heappush(self.events, (end, self.order, position, sent))


def simulate_players(
    players: Mapping[str, PlayerMaker], problem: Servers, jobs: int, runs: int, seed: int
) -> xarray.Dataset:
    """Every player on the same jobs, run by run."""
    with needing("a simulation of servers", "lab", "xarray"):
        import xarray
    for name, value in {"jobs": jobs, "runs": runs}.items():
        require_whole(name, value)
    if not isinstance(problem, Servers):
        remedy = "make it with belman.problems.servers"
        raise SettingError(f"{problem!r} is not a problem of parallel servers: {remedy}")
    if not players:
        raise SettingError(f"players={listing(players)} names nobody")
    shape = (len(players), runs)
    result = {name: np.zeros(shape) for name in MEASURES}
    shares = np.zeros((*shape, len(problem.names)))
    busy = np.zeros_like(shares)
    by_class = np.zeros((*shape, len(problem.arrivals)))
    for run in range(runs):
        sequence = np.random.SeedSequence([seed, run])
        arrivals = problem.jobs(jobs, np.random.default_rng(sequence))
        for position, make in enumerate(players.values()):
            player = make(problem, int(sequence.generate_state(1, np.uint32)[0]))
            served = ServerLoop(problem, player).play(arrivals)
            for measure, measured in _measured(served).items():
                result[measure][position, run] = measured
            shares[position, run], busy[position, run] = _by_server(served, problem)
            by_class[position, run] = _by_class(served, problem)
    dims = ("player", "run")
    values: dict[str, Any] = {name: (dims, array) for name, array in result.items()}
    values["share"], values["utilisation"] = ((*dims, "server"), shares), ((*dims, "server"), busy)
    values["class_response_mean"] = ((*dims, "job_class"), by_class)
    coordinates = {
        "player": list(players),
        "run": np.arange(runs),
        "server": [str(name) for name in problem.names],
        "job_class": [str(name) for name in problem.arrivals],
    }
    return xarray.Dataset(values, coordinates, attrs={"jobs": jobs, "seed": seed})


def _measured(served: Served) -> dict[str, float]:
    response, success = served.ended - served.arrived, served.success
    span = served.ended.max() - served.arrived.min()
    waiting = response - served.seconds
    p95, p99 = np.quantile(response, (0.95, 0.99))
    result = (success.sum() / span, response.mean(), p95, p99, waiting.mean(), 1.0 - success.mean())
    return dict(zip(MEASURES, map(float, result), strict=True))


def _by_server(served: Served, problem: Servers) -> tuple[Any, Any]:
    """Each server's share of the jobs, and of its slots' time that it worked."""
    position, size = served.server, len(problem.names)
    span = served.ended.max() - served.arrived.min()
    shares = np.bincount(position, minlength=size) / position.size
    worked = np.bincount(position, weights=served.seconds, minlength=size)
    return shares, worked / (span * np.array(problem.slots))


def _by_class(served: Served, problem: Servers) -> Any:
    names = list(problem.arrivals)
    position = np.array([names.index(name) for name in served.job_class])
    counts = np.bincount(position, minlength=len(names))
    sums = np.bincount(position, weights=served.ended - served.arrived, minlength=len(names))
    return np.divide(sums, counts, out=np.full(len(names), np.nan), where=counts > 0)

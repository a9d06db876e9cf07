"""Jobs at parallel servers, event by event."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from belman.lab.server_players import ServerPlayer
from belman.problems.servers import Arrival, Servers


@dataclass
class Served:
    """What became of the jobs, in the order in which they ended."""

    server: list[int] = field(default_factory=list)
    job_class: list[Any] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of service alone
    success: list[bool] = field(default_factory=list)


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
        self.served = Served()

    def play(self, jobs: list[Arrival]) -> Served:
        """Let the jobs come, and serve them all."""
        for job in jobs:
            self._run_until(job.time)
            self.common.append(job)
            self._send(job.time)
        self._run_until(float("inf"))
        return self.served

    def _run_until(self, time: float) -> None:
        while self.events and self.events[0][0] <= time:
            now, _, place, (job, sent, note) = heapq.heappop(self.events)
            self.working[place] -= 1
            self.counts[place] -= 1
            success = not self.problem.fails(place, job, now)
            self.player.ended(note, now - sent, success, now)
            self._keep(place, job, now, success)
            if self.at_servers[place]:
                self._begin(place, self.at_servers[place].popleft(), now)
            self._send(now)

    def _send(self, now: float) -> None:
        """Offer the jobs of the common line to the player, the first first."""
        while self.common:
            job = self.common[0]
            chosen = self.player.choose(job.job_class, self.counts, now)
            if chosen is None:
                return
            self.common.popleft()
            place, note = chosen
            self.counts[place] += 1
            if self.working[place] < self.problem.slots[place]:
                self._begin(place, (job, now, note), now)
            else:
                self.at_servers[place].append((job, now, note))

    def _begin(self, place: int, sent: tuple[Arrival, float, Any], now: float) -> None:
        self.working[place] += 1
        self.order += 1
        end = now + float(sent[0].seconds[place])
        heapq.heappush(self.events, (end, self.order, place, sent))

    def _keep(self, place: int, job: Arrival, now: float, success: bool) -> None:
        served = self.served
        served.server.append(place)
        served.job_class.append(job.job_class)
        served.arrived.append(job.time)
        served.ended.append(now)
        served.seconds.append(float(job.seconds[place]))
        served.success.append(success)

"""Does the simulator of parallel servers predict the dispatcher? Three scenarios.

An asyncio program sends jobs to servers that sleep as long as a job takes; the simulator plays the
same jobs. The program is run in time that passes as soon as everybody sleeps, so that a busy
machine changes nothing, and once in real time for comparison. Beside it, what the simulator says
of the dispatcher's rivals.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
from typing import Any

import numpy as np
from scipy import stats

import belman
from belman.problems.servers import Arrival, Servers
from benchmarks.claim import Claim, report

JOBS, SEED = 250, 7


class Failed(Exception):  # noqa: N818 (what a server says, and no error of ours)
    """A job that its server did not do."""


def scenarios() -> dict[str, tuple[Servers, dict[str, Any]]]:
    """Problems, with the settings of the dispatcher."""
    make = belman.problems.servers
    unequal = make({"a": 0.08, "b": 0.16, "c": 0.5}, arrivals=11.0)
    letters = {"a": stats.lognorm(0.6, scale=0.1), "b": stats.uniform(0.2, 0.2)}
    parcels = {"a": stats.uniform(0.3, 0.2), "b": stats.lognorm(0.6, scale=0.1)}
    rates = {"letters": 8.0, "parcels": 5.0}
    classes = make({"letters": letters, "parcels": parcels}, arrivals=rates, slots=2)
    failing = make(
        {"a": 0.1, "b": 0.15, "c": 0.2},
        arrivals=8.0,
        failures={"a": lambda now: 0.7 if now > 5.0 else 0.0},
    )
    return {
        "three unequal servers": (unequal, {}),
        "two classes, two slots": (classes, {}),
        "the best begins to fail": (failing, {"breaker": belman.dispatch.Breaker()}),
    }


class _Skipping(selectors.DefaultSelector):
    """Where an event loop would wait, time passes at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        result = super().select(0)
        if not result and timeout is not None:
            self.now += max(timeout, 0.0)
        return result


class QuickLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes as soon as everybody sleeps."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now


async def run(problem: Servers, settings: dict[str, Any], jobs: list[Arrival]) -> list[float]:
    """Seconds from arrival to end of every job, at servers that sleep."""
    slots = dict(zip(problem.names, problem.slots, strict=True))
    clock = asyncio.get_running_loop().time
    dispatcher = belman.Dispatcher(
        problem.names,
        slots=slots,
        queues=list(problem.arrivals),
        seed=SEED,
        clock=clock,
        **settings,
    )
    started, responses = clock(), []

    async def serve(job: Arrival) -> None:
        with contextlib.suppress(Failed):
            async with dispatcher.job(job.job_class) as server:
                position = problem.names.index(server)
                await asyncio.sleep(float(job.seconds[position]))
                if problem.fails(position, job, clock() - started):
                    raise Failed
        responses.append(clock() - started - job.time)

    async with asyncio.TaskGroup() as group:
        for job in jobs:
            await asyncio.sleep(max(0.0, job.time - (clock() - started)))
            group.create_task(serve(job))
    return responses


def main() -> None:
    rehearsal = belman.Dispatcher(["a"])
    for _ in range(1_000):
        rehearsal.completed(rehearsal.assign(), time=1.0)  # what is loaded late, is
    claims, notes = [], {}
    for name, (problem, settings) in scenarios().items():
        sequence = np.random.SeedSequence([SEED, 0])
        jobs = problem.jobs(JOBS, np.random.default_rng(sequence))
        with asyncio.Runner(loop_factory=QuickLoop) as runner:
            quick = np.mean(runner.run(run(problem, settings, jobs)))
        real = np.mean(asyncio.run(run(problem, settings, jobs)))
        players = {
            "dispatcher": belman.dispatch.dispatched(**settings),
            **belman.lab.servers.RIVALS,
        }
        result = belman.dispatch.simulate_servers(problem, players, jobs=JOBS, runs=1, seed=SEED)
        means = result.response_mean.isel(run=0)
        predicted = means.sel(player="dispatcher").item()
        claims.append(Claim(f"{name}: |predicted / run − 1|", abs(predicted / quick - 1), 0.1, ""))
        failed = result.failed.isel(run=0)
        others = ", ".join(
            f"{who} {1e3 * means.sel(player=who).item():.0f} ms"
            f" ({100 * failed.sel(player=who).item():.0f} % failed)"
            for who in players
        )
        ends = f"run {1e3 * quick:.0f} ms to an end, in real time {1e3 * real:.0f}"
        notes[name] = f"{ends}; simulated: {others}"
    report(f"{JOBS} jobs as they run, and as the simulator says", claims, notes)


if __name__ == "__main__":
    main()

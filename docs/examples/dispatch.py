"""Spread 10,000 tasks over five worker processes of unknown speed, two at a time, and compare with
who knows the speeds.

python docs/examples/dispatch.py [tasks] [picture.png]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from pathlib import Path

import belman

AWAY = {
    "attic": 8.0,
    "cellar": 3.0,
    "desk": 1.0,
    "hall": 1.5,
    "roof": 5.0,
}  # milliseconds, unknown to the dispatcher
AT_ONCE = 2  # what our line bears
ROUNDS = 10
WORKER = Path(__file__).with_name("worker.py")


class Server:
    """A worker process at the other end of a pipe."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin, process.stdout

    async def digest(self, task: int) -> str:
        self._to.write(f"{task}\n".encode())
        await self._to.drain()
        return (await self._from.readline()).decode().strip()


async def work_off(
    tasks: int, dispatcher: belman.Dispatcher, servers: dict[str, Server]
) -> list[tuple[float, str]]:
    """Give every task to a server as the dispatcher says; when each was done, and by whom."""
    done: list[tuple[float, str]] = []
    backlog = iter(range(tasks))
    started = time.perf_counter()

    async def customer() -> None:
        for task in backlog:
            async with dispatcher.job() as name:
                await servers[name].digest(task)
            done.append((time.perf_counter() - started, name))

    await asyncio.gather(*(customer() for _ in range(2 * AT_ONCE)))
    return done


async def compare(tasks: int) -> tuple[belman.Dispatcher, dict[str, list[tuple[float, str]]]]:
    """The same tasks with a dispatcher that learns and with one that is told the servers."""
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    spawn = asyncio.create_subprocess_exec
    servers = {
        name: Server(await spawn(sys.executable, str(WORKER), str(away), **pipes))
        for name, away in AWAY.items()
    }
    await asyncio.gather(*(server.digest(0) for server in servers.values()))  # all are awake

    rehearsal = belman.Dispatcher(AWAY)
    rehearsal.completed(rehearsal.assign())  # compiled before the clock runs
    learner = belman.Dispatcher(AWAY, limit=AT_ONCE, seed=7)
    oracle = belman.Dispatcher(AWAY, limit=AT_ONCE, seed=7)
    for name in sorted(AWAY, key=AWAY.__getitem__)[AT_ONCE:]:
        oracle.pause(name)

    runs: dict[str, list[tuple[float, str]]] = {"dispatcher": [], "oracle": []}
    for share in range(ROUNDS):  # in turns, so that whatever else this machine does meets both
        size = tasks * (share + 1) // ROUNDS - tasks * share // ROUNDS
        for done, dispatcher in zip(runs.values(), (learner, oracle), strict=True):
            before = done[-1][0] if done else 0.0
            done += [
                (before + when, name) for when, name in await work_off(size, dispatcher, servers)
            ]
    for server in servers.values():
        server.process.terminate()
        await server.process.wait()
    return learner, runs


def main(tasks: int, picture: str | None) -> None:
    """Run, say how it went, and draw it."""
    learner, runs = asyncio.run(compare(tasks))
    seconds = {player: done[-1][0] for player, done in runs.items()}
    print(learner.beliefs())
    print("served:", dict(Counter(name for _, name in runs["dispatcher"])))
    print(
        f"{tasks:,} tasks: {seconds['dispatcher']:.2f} s; the oracle needed "
        f"{seconds['oracle']:.2f} s"
    )
    print(f"ratio {seconds['dispatcher'] / seconds['oracle']:.3f}")
    if picture:
        draw(tasks, runs, picture)


def draw(tasks: int, runs: dict[str, list[tuple[float, str]]], path: str) -> None:
    """The backlog of both, and who served what."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from belman.plots import style

    with style.theme():
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(11.5, 4.2))
        for position, (player, done) in enumerate(runs.items()):
            left.plot(
                [when for when, _ in done],
                range(tasks - 1, -1, -1),
                color=style.colour(position),
                ls=("-", "--")[position],
            )
            left.plot(
                [],
                [],
                color=style.colour(position),
                ls=("-", "--")[position],
                label=f"{player}, {done[-1][0]:.1f} s",
            )
        left.set(
            xlabel="seconds", ylabel="tasks left", title="backlog", xlim=(0, None), ylim=(0, None)
        )
        left.legend()
        for position, name in enumerate(sorted(AWAY, key=AWAY.__getitem__)):
            times = [when for when, who in runs["dispatcher"] if who == name]
            label = f"{name}, {AWAY[name]:g} ms: {len(times):,}"
            until = [*times, runs["dispatcher"][-1][0]]
            right.step(
                until,
                [*range(1, len(times) + 1), len(times)],
                where="post",
                color=style.colour(position),
                label=label,
            )
        right.set(
            xlabel="seconds",
            ylabel="tasks served",
            title="who served what",
            xlim=(0, None),
            yscale="log",
        )
        right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(int(arguments[0]) if arguments else 10_000, arguments[1] if len(arguments) > 1 else None)

"""Several services on one PostgreSQL: pairs of ask and tell a second, and what a pair costs whom.

`python -m benchmarks.scale_out [SECONDS] [SHARE]`, of each line, or as the last part of
`benchmarks.scale`. One, two and four services, each in a process of its own with as many callers,
on studies of their own and on one study; then that one study by tickets ahead of time. The
database, the services and the callers share this machine, so that what a pair costs in time of the
processor says more than the rate: a service on a core of its own answers one over its cost. With a
share, such as 0.1, every service gets that part of a core and no more (by a control group of
Linux, for which one has to be root), as if there were ten times as many machines, each ten times
as slow: what grows with services then is the rate. The server does not wait for the disk.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.studies.postgres import REASON, Postgres, programs

import belman
from belman.table import Table
from benchmarks.service import AHEAD, Caller, alone, process

ARMS = [f"arm {i}" for i in range(10)]
PERIOD = 20_000  # microseconds, in each of which a service has its share of a core
CALLERS = 8  # of every service, each with one request at a time
_TICK = os.sysconf("SC_CLK_TCK")


class Line(NamedTuple):
    """Pairs a second, and milliseconds of the processor a pair in services and in the database."""

    rate: float
    service: float
    database: float


def callers(port: int, study: str, seconds: float) -> int:
    """How many pairs the callers of one service got."""

    async def call() -> int:
        result = [Caller(port, study) for _ in range(CALLERS)]
        for one in result:
            await one.open()
        until = time.perf_counter() + seconds
        done = await asyncio.gather(*(one.pairs(0.0, until, 0.0) for one in result))
        assert not sum(one.errors for one in result), "some were refused"
        return sum(done)

    return asyncio.run(call())


def spent(processes: list[int], server: Postgres) -> tuple[float, float]:
    """Seconds of the processor that services have spent, and the database with its children."""
    pid = int(Path(server.data, "postmaster.pid").read_text().split()[0])
    services, database = 0.0, 0.0
    for one in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = one.read_text().rpartition(") ")
        except OSError:
            continue  # it has ended
        fields, own = rest.split(), int(one.parent.name)
        if own in processes:
            services += (int(fields[11]) + int(fields[12])) / _TICK
        elif own == pid:
            database += sum(map(int, fields[11:15])) / _TICK  # of children that ended as well
        elif int(fields[1]) == pid:
            database += (int(fields[11]) + int(fields[12])) / _TICK
    return services, database


def measured(services: list[Any], studies: list[str], server: Postgres, seconds: float) -> Line:
    """What services give when each has callers, who ask the studies in turn."""
    ports = [int(one.address.rpartition(":")[2]) for one in services]
    work = [(port, studies[i % len(studies)]) for i, port in enumerate(ports)]
    with multiprocessing.get_context("fork").Pool(len(work)) as pool:
        pool.starmap(callers, [(*one, 1.0) for one in work])  # warm
        before = spent([one.pid for one in services], server)
        pairs = sum(pool.starmap(callers, [(*one, seconds) for one in work]))
        after = spent([one.pid for one in services], server)
    costs = [1e3 * (late - early) / pairs for early, late in zip(before, after, strict=True)]
    return Line(pairs / seconds, *costs)


@contextmanager
def kept_to(pid: int, share: float | None) -> Iterator[None]:
    """Let a process have a share of a core and no more."""
    if share is None:
        yield
        return
    first, old = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
    folder = (old if old.exists() else first) / f"belman-{pid}"
    folder.mkdir()
    try:
        if old.exists():
            (folder / "cpu.cfs_period_us").write_text(f"{PERIOD}")
            (folder / "cpu.cfs_quota_us").write_text(f"{share * PERIOD:.0f}")
        else:
            (folder / "cpu.max").write_text(f"{share * PERIOD:.0f} {PERIOD}")
        (folder / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (folder.parent / "cgroup.procs").write_text(str(pid))
        folder.rmdir()


def main(seconds: float | None = None, share: float | None = None) -> None:
    """Print the table."""
    if seconds is None:
        seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
        share = float(sys.argv[2]) if len(sys.argv) > 2 else None
    if programs() is None:
        print(REASON)
        return
    result: dict[str, Line] = {}
    server = Postgres()
    serve = ("-m", "belman", "serve", "--storage", server.url, "--port", "0", "--rate", "1e9")
    with ExitStack() as stack:
        stack.callback(server.close)
        services = [stack.enter_context(process(*serve)) for _ in range(4)]
        client = stack.enter_context(belman.Client(services[0].address))
        own = [f"study-{i}" for i in range(len(services))]
        hot = [client.create(name, ARMS) for name in (*own, "hot")][-1]
        measured(services, own, server, seconds)  # until all is compiled
        for one in services:
            stack.enter_context(kept_to(one.pid, share))
        for count in (1, 2, 4):
            some = services[:count]
            result[f"{count} × own study"] = measured(some, own, server, seconds)
            result[f"{count} × one study"] = measured(some, ["hot"], server, seconds)
        plain, ahead = alone(hot, seconds / 2.0)
    titles = ("pairs/s", "ms in services", "ms in the database")
    columns = dict(zip(titles, map(list, zip(*result.values(), strict=True)), strict=True))
    machine = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    kept = "" if share is None else f", {share:g} of a core each"
    title = f"Services on one PostgreSQL{kept}, {machine}"
    print(Table({"services": list(result), **columns}, title))
    one, two = result["1 × own study"], result["2 × own study"]
    four = result["4 × own study"].rate
    cost = two.service + two.database
    grown = f"{two.rate / one.rate:.2f} of one, four {four / one.rate:.2f}"
    print(f"  two services on studies of their own: {grown}")
    print(f"  a core of services and databases answers {1e3 / cost:,.0f} pairs a second")
    print(
        f"  one client of the hot study: {plain:,.0f} decisions/s; {ahead:,.0f} with {AHEAD} ahead"
    )


if __name__ == "__main__":
    main()

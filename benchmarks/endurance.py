"""A crowd for long: 32 clients ask and tell as fast as they are answered while 10 pages watch.

`python -m benchmarks.endurance [MINUTES]`, ten unless they are given. The service, the clients and
the pages share the machine. Memory is flat if the second half adds little to what the first left.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.claim import Claim, report
from benchmarks.watchers import load, service

CLIENTS, PAGES = 32, 10
MOST_MEGABYTES = 20.0  # by which the service may grow in the second half


def memory(process: int) -> float:
    """What a process holds, in megabytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    result = next(line for line in lines if line.startswith("VmRSS"))
    return int(result.split()[1]) / 1024.0


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder, service(folder) as (server, port, client):
        client.create("crowd", [f"arm {i}" for i in range(10)])
        asyncio.run(load(port, "crowd", CLIENTS, PAGES, 3.0))  # warm
        halves, held = [], [memory(server)]
        for _ in range(2):
            halves.append(asyncio.run(load(port, "crowd", CLIENTS, PAGES, 30.0 * minutes)))
            held.append(memory(server))
        events = client.study("crowd").status()["events"]
    rates = [half.rate for half in halves]
    claims = [
        Claim("pairs/s", sum(rates) / 2.0, 1_500.0, "pairs/s", more=True),
        Claim("errors", float(sum(half.errors for half in halves)), 0.0, ""),
        Claim("memory that the second half added", held[2] - held[1], MOST_MEGABYTES, "MB"),
    ]
    notes = {
        "halves": f"{rates[0]:,.0f} and {rates[1]:,.0f} pairs/s, {events:,} events in the log",
        "99 % within": f"{max(half.slowest for half in halves):.1f} ms",
        "memory": ", ".join(f"{one:.0f}" for one in held) + " MB before, between and after",
        "machine": f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}",
    }
    title = f"{CLIENTS} clients and {PAGES} pages for {minutes:g} minutes"
    report(title, claims, notes)


if __name__ == "__main__":
    main()

"""The speed of this checkout beside another one's, in one run: agents, studies on both databases,
the service, outcomes in bulk, opening a long study, and contexts.

`python -m benchmarks.side_by_side --beside PATH [--rounds 5] [--events 1000000] [--only NAME …]`.
Every measurement is a process of its own, with the package of the one checkout or of the other, and
they alternate, so that the moods of the machine meet both. Rates are by the time that the process
had of the processor, since others may use it too; those of the service and of PostgreSQL, which
work in other processes, are by the clock on the wall. What is printed is the median of each, and
the median of the ratios of neighbours with the least and the largest; a ratio above 1 says that
this checkout is faster.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

ARMS = [f"arm {i}" for i in range(20)]
CONTEXT = {"country": "fr", "age": 30.0}
SECONDS = 2.0  # that a rate is measured
CLIENTS = 8
ROWS = 50_000
ROOT = Path(__file__).parents[1]


def a_second(
    call: Callable[[], Any],
    warm: int = 200,
    at_once: int = 50,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """How often a call is made in a second, once warm."""
    for _ in range(warm):
        call()
    done, started = 0, clock()
    while (spent := clock() - started) < SECONDS:
        for _ in range(at_once):
            call()
        done += at_once
    return done / spent


def agent(where: Path) -> float:
    import belman

    one, turn = belman.Agent(ARMS, seed=1), itertools.count()
    return a_second(lambda: one.tell(one.ask(), float(next(turn) % 3 == 0)), 5_000, 1_000)


def agent_in_contexts(where: Path) -> float:
    import belman

    one, turn = belman.Agent(ARMS, context=["country", "age"], seed=1), itertools.count()

    def pair() -> None:
        arm = one.ask(context={"country": "fr", "age": float(next(turn) % 50)})
        one.tell(arm, float(next(turn) % 3 == 0))

    return a_second(pair)


def _study_pairs(
    url: str,
    *contexts: dict[str, Any],
    clock: Callable[[], float] = time.process_time,
    **settings: Any,
) -> float:
    """Pairs a second of a study, in one context after another."""
    from belman.studies import Storage, open_study

    asked = itertools.cycle([{"context": context} for context in contexts] or [{}])
    turn, now = itertools.count(), itertools.count(1.7e9, 0.001)
    with closing(Storage(url)) as storage:
        study = open_study(
            f"study {time.time_ns()}",
            ARMS,
            storage=storage,
            seed=1,
            clock=lambda: next(now),
            **settings,
        )
        return a_second(
            lambda: study.tell(study.ask(**next(asked)), float(next(turn) % 3 == 0)), clock=clock
        )


def study_on_sqlite(where: Path) -> float:
    return _study_pairs(f"sqlite:///{where}/pairs.db?synchronous=normal")


def study_with_a_window(where: Path) -> float:
    return _study_pairs(f"sqlite:///{where}/pairs.db?synchronous=normal", window=1.0)


def study_in_contexts(where: Path) -> float:
    url = f"sqlite:///{where}/pairs.db?synchronous=normal"
    return _study_pairs(url, CONTEXT, {"country": "de", "age": 50.0}, context=["country", "age"])


def study_by_segments(where: Path) -> float:
    url = f"sqlite:///{where}/pairs.db?synchronous=normal"
    return _study_pairs(url, {"country": "fr"}, {"country": "de"}, segments=["country"])


def study_on_postgresql(where: Path) -> float:
    # a database each: tables of another version are refused
    return _study_pairs(os.environ[f"BENCH_POSTGRESQL_{where.name}"], clock=time.perf_counter)


def observe(where: Path) -> float:
    """Rows of a file that are learnt in a second."""
    from belman.studies import Storage, open_study

    with closing(Storage(f"sqlite:///{where}/rows.db?synchronous=normal")) as storage:
        study = open_study(f"study {time.time_ns()}", ARMS, storage=storage, seed=1)
        rates = []
        for turn in range(3):
            path, luck = where / f"rows {turn}.csv", random.Random(turn)
            lines = (
                f"unit {turn} {i},,{luck.choice(ARMS)},{int(luck.random() < 0.2)},1700000000\n"
                for i in range(ROWS)
            )
            path.write_text("unit,version,arm,reward,time\n" + "".join(lines))
            started = time.process_time()
            assert study.observe(path) == ROWS
            rates.append(ROWS / (time.process_time() - started))
        return max(rates)


def opening(where: Path) -> float:
    """Openings a second of a long study, the one of the last round if there is one."""
    from belman.studies import Ask, Storage, Tell, open_study

    url, events = f"sqlite:///{where}/long.db?synchronous=normal", int(os.environ["BENCH_EVENTS"])
    luck = random.Random(1)
    with closing(Storage(url)) as storage:
        study = open_study("long", ARMS, storage=storage, seed=1)
        while study.number < events:
            answers: list[Any] = study.together([Ask(10)] * 250)
            tickets = [ticket for answer in answers for ticket in answer]
            study.together([Tell(ticket, float(luck.random() < 0.3)) for ticket in tickets])
    times = []
    for _ in range(5):
        started = time.process_time()
        with closing(Storage(url)) as storage:
            open_study("long", storage=storage)
            times.append(time.process_time() - started)
    return 1.0 / statistics.median(times)


def service(where: Path) -> float:
    """Pairs a second of some clients over HTTP."""
    url = f"sqlite:///{where}/served.db?synchronous=normal"
    options = ["--storage", url, "--port", "0", "--rate", "1000000"]
    command = [sys.executable, "-m", "belman", "serve", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        result = re.search(r":(\d+)", server.stdout.readline())
        assert result is not None
        port, name = int(result[1]), f"study-{time.time_ns()}"
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
            _send(line, "/api/studies", {"name": name, "arms": ARMS, "seed": 1})
        _load(port, name, 1.0)
        return _load(port, name, SECONDS) / SECONDS
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def _send(line: http.client.HTTPConnection, path: str, body: Any) -> Any:
    line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = line.getresponse()
    content = answer.read()
    assert answer.status < 300, content
    return json.loads(content)


def _load(port: int, name: str, seconds: float) -> int:
    until, done = time.perf_counter() + seconds, [0] * CLIENTS

    def client(who: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
            while time.perf_counter() < until:
                ticket = _send(line, f"/api/studies/{name}/ask", {})["tickets"][0]["id"]
                told = {"ticket": ticket, "reward": float(done[who] % 3 == 0)}
                _send(line, f"/api/studies/{name}/tell", told)
                done[who] += 1

    threads = [threading.Thread(target=client, args=(who,)) for who in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done)


MEASUREMENTS: dict[str, Callable[[Path], float]] = {
    "agent, pairs/s": agent,
    "agent in contexts, pairs/s": agent_in_contexts,
    "study on SQLite, pairs/s": study_on_sqlite,
    "study with a window, pairs/s": study_with_a_window,
    "study in contexts, pairs/s": study_in_contexts,
    "study by segments, pairs/s": study_by_segments,
    "study on PostgreSQL, pairs/s": study_on_postgresql,
    "service, pairs/s": service,
    "observe, rows/s": observe,
    "openings of a long study a second": opening,
}


def measured(what: str, checkout: Path, folder: str) -> float:
    """What a process with the package of a checkout measures."""
    path = os.pathsep.join([str(checkout / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "BELMAN_COMPILE": "first"}
    command = [sys.executable, "-m", "benchmarks.side_by_side", "--measure", what, folder]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    where, rate = done.stdout.splitlines()[-1].split()
    assert Path(where).is_relative_to(checkout.resolve()), f"{what} was measured of {where}"
    return float(rate)


def row(what: str, beside: Path, folder: str, rounds: int) -> str:
    """A line of the table, after rounds that alternate."""
    rates: dict[Path, list[float]] = {ROOT: [], beside: []}
    for position, checkout in enumerate(rates):  # compiles and fills what there is to
        (own := Path(folder, str(position))).mkdir(exist_ok=True)
        measured(what, checkout, str(own))
    for turn in range(rounds):
        order = [*enumerate(rates)]
        for position, checkout in order if turn % 2 else reversed(order):
            rates[checkout].append(measured(what, checkout, str(Path(folder, str(position)))))
    ratios = [one / other for one, other in zip(*rates.values(), strict=True)]
    here, there = (statistics.median(result) for result in rates.values())
    middle = f"{statistics.median(ratios):6.3f}  ({min(ratios):.3f} to {max(ratios):.3f})"
    return f"{what:36} {here:12,.1f} {there:12,.1f}  {middle}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side")
    parser.add_argument("--beside", type=Path, required=True, help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=100_000, help="of the long study")
    parser.add_argument("--only", nargs="*", default=(), help="parts of names")
    chosen = parser.parse_args()
    os.environ["BENCH_EVENTS"] = str(chosen.events)
    from tests.studies.postgres import Postgres, programs

    server = None if programs() is None else Postgres()
    try:
        if server is not None:
            for position in ("0", "1"):
                os.environ[f"BENCH_POSTGRESQL_{position}"] = server.database(f"checkout_{position}")
        print(f"{'':36} {'here':>12} {'beside':>12}  {'ratio':>6}")
        for what in MEASUREMENTS:
            if chosen.only and not any(part in what for part in chosen.only):
                continue
            if "PostgreSQL" in what and server is None:
                print(f"{what:36} PostgreSQL is not installed")
                continue
            with tempfile.TemporaryDirectory() as folder:
                line = row(what, chosen.beside.resolve(), folder, chosen.rounds)
                print(line, flush=True)
    finally:
        if server is not None:
            server.close()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        import belman

        rate = MEASUREMENTS[sys.argv[2]](Path(sys.argv[3]))
        print(Path(belman.__file__).resolve(), rate)
    else:
        main()

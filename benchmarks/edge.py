"""Deciding at the edge for minutes: 50,000 assignments a second by local deciders, while the
service is killed in the middle and started again.

`python -m benchmarks.edge [MINUTES]` (ten, unless you say otherwise). Two processes decide for new
units all the time, and learn the reward of one unit in twenty; the service has a SQLite file and
publishes weights every two seconds, for which they ask every second. Afterwards every assignment is
held against the version of the weights in the log that it names, and what the log counted against
what was acknowledged.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import belman
from belman.assignment import LocalDecider, Weights, assign
from belman.bulk_assignment import assign_many
from belman.studies.traffic.publishing import version_in
from benchmarks.claim import Claim, report

WORKERS, RATE = 2, 25_000  # processes, and what each assigns a second
ARMS = [f"arm-{i}" for i in range(10)]
EVERY, AWAY = 2.0, 1.0  # seconds between versions, and until the service is started again
STEP = 0.02  # seconds of which the assignments are made at once
ONE_IN = 20  # units whose reward is learnt
OLDEST = 10.0  # seconds that weights may have, without the service too


class Worked(NamedTuple):
    """What a process did: arms and versions by unit, ages of weights (seconds, and when), counts of
    the outcomes, and how long it took.
    """

    arms: Any
    versions: Any
    ages: Any
    counts: tuple[int, ...]
    seconds: float


def unit_of(worker: int, i: int) -> str:
    """The i-th unit of a process."""
    return f"user-{worker}-{i}"


def work(address: str, worker: int, seconds: float, told: Connection) -> None:
    """Assign new units at a steady rate, in a process of its own."""
    positions = {arm: position for position, arm in enumerate(ARMS)}
    arms, versions, ages = list[int](), list[int](), list[tuple[float, float]]()
    decider = LocalDecider(address, "edge", fallback=ARMS[0], refresh=0.5 * EVERY, flush=0.5)
    told.send("ready")
    while decider.weights is None:
        time.sleep(STEP)
    i, begun = 0, time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        weights = decider.weights
        assert weights is not None
        ages.append((time.time() - (weights.published or 0.0), time.time()))
        for i in range(i, max(i, int(RATE * (now + STEP)))):  # noqa: B020 (goes on from there)
            decision = decider.decide(unit_of(worker, i))
            arms.append(positions[decision.arm])
            versions.append(decision.version or 0)
            if i % ONE_IN == 0:
                decider.observe(decision, float(i // ONE_IN % (2 + positions[decision.arm]) == 0))
        i = len(arms)
        time.sleep(max(0.0, begun + now + STEP - time.monotonic()))
    took = time.monotonic() - begun
    decider.close(120.0)
    result = Worked(
        np.array(arms, np.int8), np.array(versions), np.array(ages), decider.counts, took
    )
    told.send(result)


def started(storage: str, port: int) -> subprocess.Popen[str]:
    """A service that listens."""
    options = ("--storage", storage, "--port", str(port), "--rate", "1000000")
    command = [sys.executable, "-m", "belman", "serve", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    return server


def warm_up(address: str) -> None:
    """Have the service publish and learn in another study: what is measured begins in its midst."""
    with belman.Client(address, retries=30) as client:
        client.create("warm", ARMS)
        study = client.study("warm")
        study.publish(10)
        study.observe([("user", None, ARMS[0], 1.0)])
        study.publish(10)


def published_anew(address: str, last: int) -> float:
    """When the service, killed and started again, has learnt and published."""
    with belman.Client(address, retries=30) as client:
        while client.study("edge").weights().version <= last:
            time.sleep(STEP)
    return time.time()


def wrong_arms(study: belman.Study, worker: int, result: Worked) -> int:
    """Assignments that are not those of the version that they name."""
    events = {event.number: event for event in study.events()}
    wrong = int((result.versions == 0).sum())
    for version in np.unique(result.versions[result.versions > 0]).tolist():
        weights: Weights = version_in(events.get(version), version)
        own = np.flatnonzero(result.versions == version)
        names = np.array([unit_of(worker, i) for i in own.tolist()])
        arms = np.array([ARMS.index(arm) for arm in weights.arms])
        wrong += int((arms[assign_many(weights, names)[0]] != result.arms[own]).sum())
        assert assign(weights, str(names[0])).arm == ARMS[result.arms[own[0]]]
    return wrong


def main() -> None:
    seconds = 60.0 * (float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        storage = f"sqlite:///{Path(folder)}/studies.db"
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        study = belman.open_study("edge", ARMS, storage=storage, seed=1, floor=0.01)
        server, address = started(storage, port), f"http://127.0.0.1:{port}"
        warm_up(address)
        context, pipes, workers = multiprocessing.get_context("spawn"), [], []
        for worker in range(WORKERS):
            mine, theirs = context.Pipe(duplex=False)
            given = (address, worker, seconds, theirs)
            workers.append(context.Process(target=work, args=given))
            pipes.append(mine)
            workers[-1].start()
        for pipe in pipes:
            pipe.recv()
        study.publish(int(WORKERS * RATE * EVERY), every=EVERY)  # for which they wait
        time.sleep(0.5 * seconds)
        server.send_signal(signal.SIGKILL)
        server.wait()
        killed, last = time.time(), study.weights().version
        time.sleep(AWAY)
        server = started(storage, port)
        back = published_anew(address, last) + EVERY  # deciders have the time to ask
        result = [pipe.recv() for pipe in pipes]
        for process in workers:
            process.join()
        server.terminate()
        server.wait()
        status = study.status()
        study.check()
        wrong = sum(wrong_arms(study, worker, one) for worker, one in enumerate(result))
        versions = len(np.unique(np.concatenate([one.versions for one in result])))
        study.storage.close()
    waiting, sent, refused, dropped = (sum(one.counts[i] for one in result) for i in range(4))
    ages = np.concatenate([one.ages for one in result])
    up = (ages[:, 1] < killed) | (ages[:, 1] > back)
    rate = sum(len(one.arms) / one.seconds for one in result)
    claims = [
        Claim("assignments", rate, 0.99 * WORKERS * RATE, "a second", more=True),
        Claim("wrong arms", float(wrong), 0.0, ""),
        Claim("outcomes acknowledged, and not counted", float(abs(sent - status["told"])), 0.0, ""),
        Claim("outcomes waiting, refused or dropped", float(waiting + refused + dropped), 0.0, ""),
        Claim("age of weights at any time", float(ages[:, 0].max()), OLDEST, "s"),
    ]
    notes = {
        "counted": f"{sent:,} outcomes of {sum(len(one.arms) for one in result):,} assignments by "
        f"{versions} versions; the state is the fold of the log",
        "without the service": f"{back - killed:.1f} s until it had published anew and deciders "
        f"had asked; at other times weights were at most {ages[up, 0].max():.1f} s old",
        "machine": f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}",
    }
    report(f"At the edge for {seconds / 60.0:g} minutes", claims, notes)


if __name__ == "__main__":
    main()

"""Windows under concurrency, and what they cost.

Eight processes share a study with a window: each tells some of its tickets, some of them again, and
corrects some after they closed. Every process keeps what its answers say each ticket counts as; in
the end all of that must be in the study, exactly. `python -m benchmarks.windows [PROCESSES]
[DECISIONS] [STORAGE]` does that and no more where these are given.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from belman.errors import TicketError
from belman.studies import Study, Ticket, open_study
from benchmarks.claim import Claim, report

PROCESSES = 8
DECISIONS = 5_000
ARMS = range(5)
WINDOW = 0.5  # seconds
OUT = 10_000
MANY = 100_000
COMPILING = 30.0  # seconds that kernels have to be compiled in
Counts = dict[str, tuple[Any, float | None]]


def worker(study: Study, decisions: int, seed: int) -> Counts:
    """Ask, tell, tell again and correct: what each ticket counts as, by the answers."""
    luck = random.Random(seed)
    counts: Counts = {}
    told: deque[Ticket] = deque()
    for _ in range(decisions):
        ticket = study.ask()
        counts[ticket.id] = (ticket.arm, 0.0)
        for _ in range(luck.choice((0, 1, 1, 2))):
            reward = float(luck.random() < 0.3)
            try:
                study.tell(ticket, reward)
            except TicketError:
                break  # too late
            counts[ticket.id] = (ticket.arm, reward)
        told.append(ticket)
        if told[0].time + 1.1 * WINDOW < time.time() and luck.random() < 0.1:
            _correct(study, told.popleft(), luck.choice((0.0, 1.0, None)), counts)
    return counts


def _correct(study: Study, ticket: Ticket, reward: float | None, counts: Counts) -> None:
    study.correct(ticket, reward, "refund")
    counts[ticket.id] = (ticket.arm, reward)


def crowd(storage: str, processes: int, decisions: int) -> dict[str, int]:
    """Play with so many processes; raises AssertionError where a single count is off."""
    study = open_study("windows", ARMS, storage=storage, window=WINDOW, seed=1)
    study.storage.close()
    children, counts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(processes):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    result = worker(open_study("windows", storage=storage), decisions, number)
                    Path(folder, str(number)).write_text(json.dumps(result))
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        codes = [os.waitpid(child, 0)[1] for child in children]
        assert codes == [0] * processes, f"a worker failed: {codes}"
        for number in range(processes):
            counts |= json.loads(Path(folder, str(number)).read_text())
    while study.outstanding:
        time.sleep(0.01)
    status, agent = study.status(), study.agent()
    rewards = [reward for _, reward in counts.values() if reward is not None]
    wanted = {"asked": processes * decisions, "told": len(rewards), "reward": sum(rewards)}
    assert status | wanted == status, (wanted, status)
    assert len(counts) == processes * decisions, "a ticket was given twice"
    for arm in ARMS:
        own = [reward for at, reward in counts.values() if at == arm and reward is not None]
        assert agent.belief(arm) == (1.0 + sum(own), 1.0 + len(own) - sum(own)), arm
    study.check()
    study.storage.close()
    kinds = [event.kind for event in study.events()]
    study.storage.close()
    return {"events": len(kinds), "corrections": kinds.count(11), "told": kinds.count(3)}


def seconds_per_pair(study: Study, pairs: int = 300) -> float:
    """Wall time of one ask and its tell."""
    started = time.perf_counter()
    for turn in range(pairs):
        study.tell(study.ask(), float(turn % 3 == 0))
    return (time.perf_counter() - started) / pairs


def costs(folder: str) -> list[Claim]:
    """Pairs and reads with a window, beside those without one; blocks alternate."""
    position = f"sqlite:///{folder}/costs.db?synchronous=normal"
    now = [time.time()]
    plain = open_study("plain", range(20), storage=position, seed=1)
    rolling = open_study(
        "rolling", range(20), storage=position, window=60.0, early=False, clock=lambda: now[0]
    )
    for study in (plain, rolling):
        study.ask(OUT // 10)
        seconds_per_pair(study, 50)
    ratios, pairs = [], []
    for _ in range(9):
        before = seconds_per_pair(plain)
        now[0] += 20.0  # some windows close in every block
        pairs.append(seconds_per_pair(rolling))
        ratios.append(pairs[-1] / before)
    ticket, *_ = rolling.ask(OUT)
    now[0] += 61.0  # ten thousand windows are due, and nobody writes
    looks = [_seconds(rolling.status) for _ in range(9)]
    fixes = [
        _seconds(lambda reward=float(turn % 2): rolling.correct(ticket, reward, "refund"))
        for turn in range(1, 50)
    ]
    fix = statistics.median(fixes) / statistics.median(pairs)
    for study in (plain, rolling):
        study.storage.close()
    return [
        Claim(
            "a pair of ask and tell, to one without a window", statistics.median(ratios), 1.3, "×"
        ),
        Claim(f"the first look with {OUT:,} windows due", looks[0], 1.0, "s"),
        Claim("the next looks, to the first", statistics.median(looks[1:]) / looks[0], 0.05, "×"),
        Claim("a correction, to a pair of ask and tell", fix, 5.0, "×"),
    ]


def early_costs(folder: str) -> list[Claim]:
    """What learning before the window closes costs, and that it does not grow with open tickets;
    CPU time, in blocks that alternate.
    """
    position = f"sqlite:///{folder}/early.db?synchronous=normal"
    now = [time.time()]
    rule: dict[str, Any] = {
        "storage": position,
        "window": 7200.0,
        "clock": lambda: now[0],
        "seed": 1,
    }
    waiting = open_study("waiting", ARMS, early=False, **rule)
    early, crowded = (open_study(name, ARMS, **rule) for name in ("early", "crowded"))
    studies = (waiting, early, crowded)
    for study in studies:
        study.ask(1_000)
    compiled = time.monotonic() + COMPILING
    while time.monotonic() < compiled:
        for study in studies:
            _cpu_seconds(study, now)
    for _ in range(10):
        now[0] += 600.0
        crowded.ask(MANY // 10)
    blocks = [[_cpu_seconds(study, now) for study in studies] for _ in range(15)]
    for study in studies:
        study.storage.close()
    slower, grown = (statistics.median(block[i + 1] / block[i] for block in blocks) for i in (0, 1))
    return [
        Claim("an ask that learns early, to one that waits", slower, 2.0, "×"),
        Claim(f"an ask with {MANY:,} tickets open, to few", grown, 1.5, "×"),
    ]


def _cpu_seconds(study: Study, now: list[float], asks: int = 100) -> float:
    """CPU time of an ask, while visitors come one by one."""
    started = time.process_time()
    for _ in range(asks):
        now[0] += 0.01
        study.ask()
    return (time.process_time() - started) / asks


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = [int(word) for word in sys.argv[1:3]]
        processes, decisions = own or (PROCESSES, DECISIONS)
        storage = sys.argv[3] if len(sys.argv) > 3 else f"sqlite:///{folder}/studies.db"
        print(json.dumps(crowd(storage, processes, decisions)))
        if not own:
            report("Windows", costs(folder) + early_costs(folder))


if __name__ == "__main__":
    main()

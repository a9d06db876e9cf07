"""Nothing lost: writers of a study are killed (SIGKILL) under load at random moments, and its log
is held against their notes.

A writer notes every answer that it got in a file, after it got it. After each round the study is
opened anew: every noted ask and tell must be in the log exactly once, of others at most the one
request that each writer had under way, and the state must be the fold of the log to the last bit.
`python -m benchmarks.survival [ROUNDS] [STORAGE]`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from belman.studies import Kind, Storage, Study, open_study, unit_of_work

WRITERS = 3
LARGEST = 3  # tickets of one ask
ARMS = ("a", "b", "c", "d")


class Toll(NamedTuple):
    """What came of the kills."""

    rounds: int
    events: int
    asks_noted: int
    tells_noted: int
    unnoted: int


def writer(storage: str, notes: Path, seed: int) -> None:
    """Ask and tell for ever, and note each answer."""
    luck = random.Random(seed)
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    study = open_study("survivor", storage=storage)
    out = study.tickets()
    while True:
        if len(out) < 30 and luck.random() < 0.6:
            asked = study.ask(luck.randint(1, LARGEST))
            out += asked
            os.write(
                file,
                "".join(
                    json.dumps(["asked", ticket.id, ticket.arm]) + "\n" for ticket in asked
                ).encode(),
            )
        elif out:
            ticket = out.pop(luck.randrange(len(out)))
            reward = float(
                hash_of(ticket.id) < 0.4
            )  # every writer says the same of a ticket, so that none contradicts another
            study.tell(ticket.id, reward)
            os.write(file, (json.dumps(["told", ticket.id, reward]) + "\n").encode())


def hash_of(text: str) -> float:
    return random.Random(text).random()


def verify(study: Study, notes: Path, before: int) -> tuple[int, int, int]:
    """The number of noted asks and tells and of events that nobody noted; raises AssertionError
    where anything is amiss.
    """
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    history = study.history()
    asked = {row["ticket"]: row["arm"] for row in history if row["event"] == "asked"}
    settled = [row["ticket"] for row in history if row["event"] == "told"]
    told = {row["ticket"]: row["reward"] for row in history if row["event"] == "told"}
    assert len(settled) == len(told), "a ticket was told twice"
    assert history["number"] == list(range(1, len(history) + 1)), "the log has gaps"
    for what, ticket, value in lines:
        found = asked.get(ticket) if what == "asked" else told.get(ticket)
        assert found == value, (
            f"{what} {ticket} {value!r} was acknowledged, and the log says {found!r}"
        )
    noted = {(what, ticket) for what, ticket, _ in lines}
    new = [row for row in history if row["number"] > before and row["event"] in ("asked", "told")]
    unnoted = sum((row["event"], row["ticket"]) not in noted for row in new)
    assert unnoted <= WRITERS * LARGEST, f"{unnoted} events of this round were never answered"
    study.check()
    return (
        sum(what == "asked" for what, *_ in lines),
        sum(what == "told" for what, *_ in lines),
        unnoted,
    )


def survive(storage: str, rounds: int, seed: int = 0) -> Toll:
    """Kill the writers `rounds` times, and look after each."""
    luck = random.Random(seed)
    unit_of_work.SNAPSHOT_EVERY = 100  # so that some are killed while they write one
    place = Storage(storage)
    study = open_study("survivor", ARMS, storage=place, seed=seed, uniform_share=0.1)
    study.tell(study.ask().id, 1)  # compiles
    unnoted = 0
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        for turn in range(rounds):
            before = study.number
            place.close()  # the last to leave: whoever opens next finds what a crash left behind
            children = []
            for number in range(WRITERS):
                child = os.fork()
                if child == 0:
                    try:
                        writer(storage, notes, seed + WRITERS * turn + number)
                    finally:
                        os._exit(3)
                children.append(child)
            # until the first of them is at work; others may be killed while they open the study
            size, started = _size(notes), time.monotonic()
            while _size(notes) == size and time.monotonic() - started < 300.0:
                time.sleep(0.005)
            time.sleep(luck.uniform(0.0, 0.3))
            for child in children:
                os.kill(child, signal.SIGKILL)
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
            assert codes == [-signal.SIGKILL] * WRITERS, f"a writer ended by itself: {codes}"
            study = open_study("survivor", storage=place)
            asks, tells, missed = verify(study, notes, before)
            unnoted += missed
    events = study.number
    assert sum(event.kind in (Kind.ASKED, Kind.TOLD) for event in study.events()) == events - 1
    place.close()
    return Toll(rounds, events, asks, tells, unnoted)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        storage = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{folder}/studies.db"
        print(json.dumps(survive(storage, rounds)._asdict()))


if __name__ == "__main__":
    main()

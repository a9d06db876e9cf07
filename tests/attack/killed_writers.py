"""Nothing lost: writers of a study are killed (SIGKILL) under load at random moments, and its log
is held against their notes.

A writer notes every answer that it got in a file, after it got it. After each round the study is
opened anew: every noted ask, tell and correction must be in the log exactly once, of others at most
the one request that each writer had under way, and the state must be the fold of the log to the
last bit. With a window (the default) tickets are told again while it is open, and corrected after
it has closed; what each of them then counts as must be what the notes and the log say.
`python -m tests.attack.killed_writers ROUNDS STORAGE [WINDOW, 0 for none] [SEED]`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from belman.errors import TicketError
from belman.studies import Storage, Study, Ticket, open_study, unit_of_work
from tests.attack.harness import Attack, Trials
from tests.studies.postgres import Postgres, missing_postgresql
from tests.waiting import HANG

AT_ONCE = 50  # kills that a study lives through
WRITERS = 3
WINDOW = 0.05  # seconds
LARGEST = 3  # tickets of one ask
NOTES = 5_000  # bytes of notes after which writers are killed at the latest, over a hundred notes
ARMS = ("a", "b", "c", "d")
WORDS = {"asked": "asked", "told": "told", "told so far": "told", "corrected": "corrected"}


class Toll(NamedTuple):
    """What came of the kills."""

    rounds: int
    events: int
    asks_noted: int
    tells_noted: int
    corrections_noted: int
    unnoted: int


def writer(storage: str, notes: Path, seed: int) -> None:
    """Ask, tell, tell again and correct for ever, and note each answer."""
    luck = random.Random(seed)
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    study = open_study("survivor", storage=storage)
    windowed = study.settings.window is not None
    out, old = study.tickets(), []

    def note(what: str, ticket: Ticket, value: Any) -> None:
        os.write(file, (json.dumps([what, ticket.id, value]) + "\n").encode())

    while True:
        lot = luck.random()
        if len(out) < 30 and lot < 0.5:
            for ticket in study.ask(luck.randint(1, LARGEST)):
                out.append(ticket)
                note("asked", ticket, ticket.arm)
        elif old and lot < 0.65:
            ticket = old.pop(luck.randrange(len(old)))
            with suppress(TicketError):  # whose window is still open
                if study.correct(ticket, None, "refund"):
                    note("corrected", ticket, None)
        elif out:
            ticket = out[luck.randrange(len(out))]
            reward = truth(ticket)
            try:
                # first another reward, where it may be told again
                if windowed and luck.random() < 0.5 and study.tell(ticket, 1.0 - reward):
                    note("told", ticket, 1.0 - reward)
                if study.tell(ticket, reward):
                    note("told", ticket, reward)
            except TicketError:  # its window has closed, or another writer forgot it
                pass
            out.remove(ticket)
            old.append(ticket)


def truth(ticket: Ticket) -> float:
    """Every writer says the same of a ticket in the end, so that none contradicts another."""
    return float(random.Random(ticket.id).random() < 0.4)


def verify(study: Study, notes: Path, before: int) -> tuple[dict[str, int], int]:
    """The number of noted asks, tells and corrections, and of events that nobody noted; raises
    AssertionError where anything is amiss.
    """
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    history = [row for row in study.history() if row["number"] is not None]
    assert [row["number"] for row in history] == list(range(1, len(history) + 1)), "gaps in the log"
    result = Counter((WORDS[row["event"]], row["ticket"], _value(row)) for row in history[1:])
    noted = Counter((what, ticket, value) for what, ticket, value in lines)
    lost = noted - result
    assert not lost, f"acknowledged, and not in the log: {lost}"
    new = Counter(
        (WORDS[row["event"]], row["ticket"], _value(row))
        for row in history[1:]
        if row["number"] > before
    )
    unnoted = (new - noted).total()
    assert unnoted <= WRITERS * LARGEST, f"{unnoted} events of this round were never answered"
    study.check()
    _check_counts(study)
    return Counter(what for what, *_ in lines), unnoted


def _value(row: Mapping[str, Any]) -> Any:
    return row["arm"] if row["event"] == "asked" else row["reward"]


def _check_counts(study: Study) -> None:
    """What every ticket counts as, counted by hand, is what is believed now."""
    while study.settings.window is not None and study.outstanding:
        time.sleep(0.01)  # what closes between two looks is in one of them only
    told: dict[str, float | None] = {}
    arms: dict[str, Any] = {}
    for row in study.history():
        if row["event"] in ("told", "counted", "corrected", "forgotten"):
            told[row["ticket"]], arms[row["ticket"]] = row["reward"], row["arm"]
    decider = study.copied()[0].decider
    for arm in study.arms:
        own = [x for ticket, x in told.items() if arms[ticket] == arm and x is not None]
        learnt = (1.0 + sum(own), 1.0 + len(own) - sum(own))
        assert decider.learnt(arm).belief == learnt, arm


def survive(
    storage: str, rounds: int, window: float = WINDOW, seed: int = 0, drift: str | None = None
) -> Toll:
    """Kill the writers `rounds` times, and look after each."""
    luck = random.Random(seed)
    unit_of_work.SNAPSHOT_EVERY = 100  # so that some are killed while they write one
    position = Storage(storage)
    chosen: dict[str, Any] = {"seed": seed, "uniform_share": 0.1, "window": window or None}
    chosen["drift"] = drift
    study = open_study("survivor", ARMS, storage=position, **chosen)
    study.ask(4)  # compiles
    counts, unnoted = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        for turn in range(rounds):
            before = study.number
            position.close()  # the last to leave: whoever opens next finds what a crash left behind
            children = []
            for number in range(WRITERS):
                child = os.fork()
                if child == 0:
                    try:
                        writer(storage, notes, seed + WRITERS * turn + number)
                    finally:
                        os._exit(3)
                children.append(child)
            # after some notes, however busy the machine; some may yet be opening the study
            size, started = _size(notes) + luck.randrange(1, NOTES), time.monotonic()
            while _size(notes) < size and time.monotonic() - started < 300.0:
                time.sleep(0.005)
            time.sleep(luck.uniform(0.0, 0.05))
            for child in children:
                os.kill(child, signal.SIGKILL)
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
            assert codes == [-signal.SIGKILL] * WRITERS, f"a writer ended by itself: {codes}"
            study = open_study("survivor", storage=position)
            counts, missed = verify(study, notes, before)
            unnoted += missed
    events = study.number
    position.close()
    noted = (counts[what] for what in ("asked", "told", "corrected"))
    return Toll(rounds, events, *noted, unnoted)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def main() -> None:
    rounds, storage = int(sys.argv[1]), sys.argv[2]
    window = float(sys.argv[3]) if len(sys.argv) > 3 else WINDOW
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    drift = sys.argv[5] if len(sys.argv) > 5 else None
    print(json.dumps(survive(storage, rounds, window, seed, drift)._asdict()))


# The attack


def run(trials: Trials, position: Callable[[], AbstractContextManager[str]]) -> None:
    """A trial is a kill of all writers; a study lives through some, with a window and without, and
    in a world that changes.
    """
    batch = max(min(trials.count // 3, AT_ONCE), 1)
    todo, noted = iter(trials), Counter[str]()
    for number in count():
        kills = sum(1 for _ in islice(todo, batch))
        if not kills:
            break
        window, *drift = ((WINDOW,), (0.0,), (0.0, "auto"))[number % 3]
        with position() as url:
            command = [sys.executable, "-m", "tests.attack.killed_writers"]
            seed = str(trials.luck.getrandbits(30))
            done = subprocess.run(
                [*command, str(kills), url, str(window), seed, *drift],
                capture_output=True,
                text=True,
                timeout=HANG,
                check=False,
            )
        words = done.stderr.strip().splitlines()[-1:] or ["without a word"]
        trials.expect(done.returncode == 0, f"seed {seed}, window {window} {drift}: {words[0]}")
        toll = json.loads(done.stdout) if done.returncode == 0 else {}
        noted += Counter({what: toll.get(f"{what}_noted", 0) for what in ("asks", "tells")})
    trials.expect(len(noted) == 2, f"writers wrote too little to be killed at it: {noted}")


@contextmanager
def on_sqlite() -> Iterator[str]:
    """A new file."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/studies.db"


@contextmanager
def on_postgresql() -> Iterator[str]:
    """A new cluster."""
    server = Postgres()
    try:
        yield server.url
    finally:
        server.close()


HOLDS = (
    "every acknowledged ask, tell and correction is in the log once, of others at most what was "
    "under way; beliefs are those of the notes, counted by hand"
)
ON_SQLITE = Attack(
    "writers killed, SQLite",
    f"{WRITERS} processes ask, tell, tell again and correct, and are killed (SIGKILL)",
    HOLDS,
    partial(run, position=on_sqlite),
    short=6,
    long=500,
    seconds=1_800.0,
)
ON_POSTGRESQL = ON_SQLITE._replace(
    name="writers killed, PostgreSQL",
    run=partial(run, position=on_postgresql),
    long=300,
    needs=missing_postgresql,
)


if __name__ == "__main__":
    main()

"""Power cuts, simulated: what was acknowledged is there, whatever the disk had not written yet.

A program asks and tells, and notes each answer; `strace` records what it writes to the database and
its write-ahead log, and when it waits for the disk. At random moments of that record the power is
cut: of what was written to a file since the last wait for it, any sectors may be lost. What is left
is opened, and every answer noted before has to be in the log. As a control, the same program with
`synchronous=normal`, which does not wait, has to lose some.
`python -m tests.attack "power cuts"`.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from belman.studies import open_study
from belman.studies.log.chain import Head
from tests.attack.harness import Attack, Trials

SECTOR = 512
PROGRAM = """
import os, sys
from belman.studies import open_study, unit_of_work
unit_of_work.SNAPSHOT_EVERY = 100
study = open_study("cut", ["a", "b", "c"], storage=sys.argv[1], seed=1)
notes = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
out = []
for turn in range(int(sys.argv[3])):
    asked = study.ask(1 + turn % 3)
    out += asked
    os.write(notes, (" ".join(f"asked {ticket.id}" for ticket in asked) + " ").encode())
    while len(out) > 4:
        ticket = out.pop(turn % 4)
        study.tell(ticket.id, turn % 2)
        os.write(notes, f"told {ticket.id} ".encode())
os._exit(0)  # as a program that is killed: nothing is tidied up
"""
_CALL = re.compile(r"^\d+ +(\w+)\((\d+)<([^>]*)>(?:, \"([^\"]*)\"(\.*))?(?:, (\d+))?(?:, (\d+))?\)")


class Step(NamedTuple):
    """One call: of a `write`, a `truncate` or a `sync`, at a place of a file."""

    what: str
    file: str
    position: int = 0
    data: bytes = b""


def recorded(synchronous: str, turns: int = 250) -> list[Step]:
    """What the program did, in order."""
    with tempfile.TemporaryDirectory() as folder:
        trace, url = Path(folder) / "trace", f"sqlite:///{folder}/studies.db"
        calls = "trace=pwrite64,write,fdatasync,fsync,ftruncate"
        options = ["-f", "-y", "-xx", "-s", "70000", "-e", calls, "-e", "signal=none"]
        program = [sys.executable, "-c", PROGRAM, f"{url}?synchronous={synchronous}"]
        subprocess.run(
            ["strace", *options, "-o", str(trace), *program, f"{folder}/notes", str(turns)],
            check=True,
            env={**os.environ, "BELMAN_COMPILE": "never"},
        )
        return list(_steps(trace))


def _steps(trace: Path) -> Iterator[Step]:
    kinds = {"pwrite64": "write", "write": "write", "fsync": "sync", "fdatasync": "sync"}
    with trace.open() as lines:
        for line in lines:
            result = _CALL.match(line)
            if result is None:
                assert "unfinished" not in line or "pwrite64" not in line, line
                continue
            call, _, path, text, more, first, second = result.groups()
            file = _bytes(path).decode().rpartition("/")[2] if "\\x" in path else Path(path).name
            if file not in ("studies.db", "studies.db-wal", "notes"):
                continue
            assert not more, "strace cut a text short"
            if call == "ftruncate":
                yield Step("truncate", file, int(first))
            else:
                yield Step(kinds[call], file, int(second or 0), _bytes(text or ""))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


class Disk:
    """Files as they surely are, and what was done to each since it was last waited for."""

    def __init__(self) -> None:
        self.sure: dict[str, bytearray] = {}
        self.pending: dict[str, list[Step]] = {}
        self.notes = b""

    def take(self, step: Step) -> None:
        if step.file == "notes":
            self.notes += step.data
        elif step.what == "sync":
            self._apply(
                self.sure.setdefault(step.file, bytearray()), self.pending.pop(step.file, [])
            )
        else:
            self.pending.setdefault(step.file, []).append(step)

    def after_a_cut(self, luck: random.Random) -> dict[str, bytearray]:
        """The files as somebody finds them when the power is back."""
        chance = luck.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        result = {}
        for file in {*self.sure, *self.pending}:
            result[file] = bytearray(self.sure.get(file, b""))
            sectors = [part for step in self.pending.get(file, []) for part in _sectors(step)]
            self._apply(result[file], [part for part in sectors if luck.random() < chance])
        return result

    @staticmethod
    def _apply(content: bytearray, steps: list[Step]) -> None:
        for _, _, position, data in steps:
            if not data:  # truncated
                del content[position:]
                continue
            content.extend(bytes(max(position + len(data) - len(content), 0)))
            content[position : position + len(data)] = data


def _sectors(step: Step) -> Iterator[Step]:
    """A write as the sectors that a disk writes one by one."""
    if not step.data:
        yield step
    start = 0
    while start < len(step.data):
        end = min(
            (step.position + start) // SECTOR * SECTOR + SECTOR - step.position, len(step.data)
        )
        yield Step("write", step.file, step.position + start, step.data[start:end])
        start = end


def missing(files: dict[str, bytearray], notes: list[str], whole: bool) -> list[str]:
    """What was noted and is not in the log; raises where it cannot be opened or is not whole."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        study = open_study("cut", storage=f"sqlite:///{folder}/studies.db")
        try:
            events, head = list(study.events()), Head()
            for event in events:
                head = head.follow(event, "cut")
            if whole:
                study.check()
            lines = study.history()
        finally:
            study.storage.close()
    there = {f"{row['event']} {row['ticket']}" for row in lines}
    return [note for note in notes if note not in there]


def cut(steps: list[Step], count: int, seed: int = 1) -> list[str]:
    """Cut the power so many times: the cuts that lost something, and what."""
    luck, lost = random.Random(seed), []
    begun = next(i for i, step in enumerate(steps) if step.file == "notes")
    moments = sorted(luck.choices(range(begun + 1, len(steps)), k=count))
    disk, done = Disk(), 0
    for i, step in enumerate(steps):
        while done < count and moments[done] == i:
            words = disk.notes.decode().split()
            notes = [
                f"{what} {ticket}" for what, ticket in zip(words[::2], words[1::2], strict=True)
            ]
            try:
                gone = missing(disk.after_a_cut(luck), notes, whole=done % 10 == 0)
            except Exception as error:
                gone = [repr(error)]
            lost += [f"cut {done} before step {i}: {gone[:3]}"] if gone else []
            done += 1
        disk.take(step)
    return lost


def run(trials: Trials) -> None:
    """A trial is a cut; for every ten of them there is one of the control."""
    result = cut(recorded("full"), len(list(trials)), trials.luck.getrandbits(30))
    trials.result += result
    control = cut(recorded("normal"), max(trials.count // 10, 12), trials.luck.getrandbits(30))
    trials.expect(control, "the control, which does not wait for the disk, lost nothing either")


def missing_strace() -> str | None:
    """Why no power can be cut here, if it cannot."""
    return None if shutil.which("strace") else "strace is not installed"


ATTACK = Attack(
    "power cuts",
    "of what SQLite wrote since it last waited for the disk any sectors are lost, at any moment of "
    "a recorded run",
    "every acknowledged event is there and the chain is whole; a control with `synchronous=normal` "
    "loses some",
    run,
    short=12,
    long=1_000,
    seconds=1_800.0,
    needs=missing_strace,
)

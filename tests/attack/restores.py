"""A backup is put back under a running process: what is lost is noticed, and credited to nobody."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from belman.errors import BelmanError, StateError, UnknownTicketError
from belman.studies import Kind, Storage, Study, open_study
from tests.attack.harness import Attack, Trials
from tests.studies.postgres import Postgres, programs
from tests.studies.test_chain import back_up

#: How a backup of SQLite comes back, and whether the write-ahead log is taken away too.
WAYS = ("restored", "moved", "moved alone", "copied", "copied alone")


class Notes:
    """A writer, and what it was answered."""

    def __init__(self, study: Study, luck: random.Random) -> None:
        self.study, self._luck = study, luck
        self.asked: list[str] = []
        self.told: dict[str, float] = {}

    def write(self, turns: int) -> None:
        for _ in range(turns):
            lot = self._luck.random()
            if lot < 0.6 or not self.asked:
                self.asked += [one.id for one in self.study.ask(self._luck.randint(1, 5))]
            else:
                ticket = self._luck.choice(self.asked)
                reward = self.told.get(ticket, float(self._luck.random() < 0.5))
                self.study.tell(ticket, reward)
                self.told[ticket] = reward


def run(trials: Trials) -> None:
    """A trial is a restore; where PostgreSQL is installed every fifth is one of a whole server."""
    server = None
    try:
        for number in trials:
            if number % 5 == 4 and programs() is not None:
                server = server or Postgres()
                _on_postgresql(trials, server, f"restore {number}")
            else:
                with tempfile.TemporaryDirectory() as folder:
                    _on_sqlite(trials, Path(folder))
    finally:
        if server is not None:
            server.close()


def _on_sqlite(trials: Trials, folder: Path) -> None:
    path, copy = folder / "studies.db", folder / "copy.db"
    how = trials.luck.choice(WAYS)

    def put_back() -> None:
        if how == "restored":
            back_up(copy, path)
        elif how.startswith("moved"):
            os.replace(copy, path)
        else:
            shutil.copyfile(copy, path)
        if how in ("moved", "copied"):
            for end in ("-wal", "-shm"):
                Path(f"{path}{end}").unlink(missing_ok=True)

    _restore(
        trials, f"sqlite:///{path}?synchronous=normal", how, lambda: back_up(path, copy), put_back
    )


def _on_postgresql(trials: Trials, server: Postgres, name: str) -> None:
    """The folder of the server is copied while it stands still, and put back."""
    copy = server.folder / "copy"

    def swap(source: str | Path, target: str | Path) -> None:
        server.stop("fast")
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)
        server.start()

    back_up, put_back = lambda: swap(server.data, copy), lambda: swap(copy, server.data)
    _restore(trials, server.url, name, back_up, put_back)


def _restore(
    trials: Trials, url: str, how: str, back_up: Callable[[], None], put_back: Callable[[], None]
) -> None:
    luck, storage = trials.luck, Storage(url)
    study = open_study(how, ["a", "b", "c"], storage=storage, seed=luck.getrandbits(30))
    notes = Notes(study, luck)
    notes.write(luck.randint(1, 30))
    back_up()
    notes.write(luck.randint(1, 30))
    if luck.random() < 0.5 and url.startswith("sqlite"):
        storage.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    put_back()
    try:
        study.ask()
        noticed = False
    except BelmanError as error:
        noticed = isinstance(error, StateError)
        trials.expect(noticed or how.startswith("copied"), f"{how}: {error!r}")
    storage.close()
    anew = None
    try:
        anew = Storage(url)
        again = Study(how, anew)
        again.check()
    except BelmanError:
        pass  # which says so
    else:
        _compare(trials, how, notes, again, noticed)
    finally:
        if anew is not None:
            anew.close()


def _compare(trials: Trials, how: str, notes: Notes, again: Study, noticed: bool) -> None:
    """What the log that is there now, and is whole, has of the notes."""
    rows = again.history()
    asked = {row["ticket"] for row in rows if row["event"] == "asked"}
    told = {row["ticket"]: row["reward"] for row in rows if row["event"] == "told"}
    lost = [ticket for ticket in notes.asked if ticket not in asked]
    untold = [ticket for ticket in notes.told if ticket not in told]
    trials.expect(noticed or not (lost or untold), f"{how}: {len(lost)} lost without notice")
    wrong = [ticket for ticket in told if told[ticket] != notes.told.get(ticket)]
    trials.expect(not wrong, f"{how}: credited to another: {wrong[:3]}")
    events = [event for event in again.events() if event.kind == Kind.TOLD]
    trials.expect(len(events) == len(told), f"{how}: told twice")
    result = {ticket.id for ticket in again.ask(len(lost) + 3)}
    trials.expect(not result & set(notes.asked), f"{how}: a ticket of a lost future comes again")
    for ticket in lost[:5]:
        try:
            again.tell(ticket, 1.0)
            trials.expect(False, f"{how}: a ticket of a lost future was taken for another")
        except UnknownTicketError:
            pass
    again.check()


ATTACK = Attack(
    "restores",
    "a backup is put back under a running process: by SQLite's own way, moved or copied over the "
    "file with its log taken away or not, and on PostgreSQL as a whole server",
    "the log is whole and nothing is lost, or both the process and whoever opens the study say "
    "what happened; no ticket of a lost future comes again or is credited",
    run,
    short=10,
    long=500,
    seconds=1_800.0,
)

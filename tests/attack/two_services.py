"""A backup is put back under two services: what one copy of a study saw, the others miss."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from belman.errors import BelmanError, RestoredError
from belman.studies import Storage, Study, open_study
from tests.attack.harness import Attack, Trials
from tests.studies.postgres import Postgres, programs
from tests.studies.test_chain import back_up


class Service:
    """What a service has of a study: a copy that writes and one that reads, on one storage."""

    def __init__(self, url: str) -> None:
        self.storage = Storage(url)
        self.open()

    def open(self) -> None:
        self.writing, self.reading = (Study("study", self.storage) for _ in range(2))

    def close(self) -> None:
        self.storage.close()


def run(trials: Trials) -> None:
    """A trial is a restore under two services; every fifth is on PostgreSQL, where it is."""
    server = None
    try:
        for number in trials:
            with tempfile.TemporaryDirectory() as folder:
                if number % 5 == 4 and programs() is not None:
                    server = server or Postgres()
                    _on_postgresql(trials, server)
                else:
                    path, copy = Path(folder) / "studies.db", Path(folder) / "copy.db"
                    url = f"sqlite:///{path}?synchronous=normal"
                    save, put_back = partial(back_up, path, copy), partial(back_up, copy, path)
                    _restore(trials, url, save, put_back)
    finally:
        if server is not None:
            server.close()


def _on_postgresql(trials: Trials, server: Postgres) -> None:
    copy = server.folder / "copy"

    def swap(source: str | Path, target: str | Path) -> None:
        server.stop("fast")
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)
        server.start()

    _restore(trials, server.url, lambda: swap(server.data, copy), lambda: swap(copy, server.data))


def _restore(
    trials: Trials, url: str, save: Callable[[], None], put_back: Callable[[], None]
) -> None:
    luck, name, storage = trials.luck, f"restore {trials.done}", Storage(url)
    open_study("study", ["a", "b"], storage=storage, seed=1)
    storage.close()
    one, two = Service(url), Service(url)
    try:
        one.writing.ask(luck.randint(1, 5))
        save()
        two.writing.ask(luck.randint(1, 100))
        if read := luck.random() < 0.8:
            one.reading.status()
        put_back()
        before = _events(url)
        for service, knows in ((one, read), (two, True)):
            for act in (service.writing.ask, service.reading.status, service.writing.ask):
                if knows:
                    _refused(trials, f"{name}: {act.__name__}", act)
            said = "study" in service.storage.out_of_step.values()
            trials.expect(said == knows, f"{name}: it is not said to be out of step")
        after = _events(url)
        trials.expect(after == before, f"{name}: {after - before} events were written")
        for service in (one, two):
            service.storage.reopen("study")
            service.open()
            service.writing.ask()
            service.reading.status()
            trials.expect(not service.storage.out_of_step, f"{name}: it is out of step for ever")
        one.reading.check()
    finally:
        one.close()
        two.close()


def _events(url: str) -> int:
    storage = Storage(url)
    try:
        return int(Study("study", storage).status()["events"])
    finally:
        storage.close()


def _refused(trials: Trials, what: str, act: Callable[[], object]) -> None:
    try:
        act()
    except RestoredError:
        return
    except BelmanError as error:
        trials.expect(False, f"{what}: {error!r}")
    else:
        trials.expect(False, f"{what} was answered")


ATTACK = Attack(
    "two services",
    "a backup is put back under two services, each with a copy of the study that writes and one "
    "that reads; by SQLite's own way, and on PostgreSQL as a whole server",
    "who saw what is lost refuses, reading and writing, and says so; nothing is written until the "
    "study is reopened, and all goes on from the log that is there then",
    run,
    short=10,
    long=300,
    seconds=1_800.0,
)

"""Archiving and deleting studies: out of the lists and back, and gone for good.

An archived study is paused, by an event with the reason, and left out of lists; everything of it
stays and can be looked at. A study that is deleted is gone with its log, and nothing brings it
back: so its name has to be given twice.
"""

from __future__ import annotations

from belman.errors import SettingError, StudyError
from belman.studies.log.event_log import LOCK
from belman.studies.log.storage import Storage, Transaction
from belman.studies.study import Study


def archive(study: Study, reason: str = "", *, key: str | None = None) -> None:
    """Pause a study, unless it is, and leave it out of lists."""
    if not study.paused:
        try:
            study.pause(reason or "archived", key=key)
        except StudyError:
            if not study.paused:  # somebody else was faster
                raise
    _mark(study.storage, study.name, study.storage.now())


def restore(storage: Storage, name: str) -> None:
    """List an archived study again; it stays paused until it is resumed."""
    storage.find(name)
    _mark(storage, name, None)


def _mark(storage: Storage, name: str, time: float | None) -> None:
    storage.execute("UPDATE belman_studies SET archived = ? WHERE name = ?", time, name)


def delete(storage: Storage, name: str, confirm: object) -> int:
    """Delete a study and its whole log, for which its name is to be given once more as `confirm`;
    gives the count of events. Whoever has it open finds that it is gone.
    """
    storage.find(name)
    if confirm != name:
        given = repr(confirm)[:80]
        raise SettingError(f"study {name!r} is deleted if confirm is its name, and it is {given}")

    def work(transaction: Transaction) -> int:
        gone = 0
        for (study,) in transaction.rows("SELECT id FROM belman_studies WHERE name = ?", name):
            transaction.rows_locked(LOCK, "SELECT 1 FROM belman_studies WHERE id = ?", study)
            transaction.execute("DELETE FROM belman_snapshots WHERE study = ?", study)
            gone = transaction.execute("DELETE FROM belman_events WHERE study = ?", study)
            transaction.execute("DELETE FROM belman_studies WHERE id = ?", study)
        return gone

    return storage.run(work)

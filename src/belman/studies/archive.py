"""Archiving and deleting studies: out of the lists and back, and gone for good.

An archived study is paused, by an event with the reason, and left out of lists; everything of it
stays and can be looked at. A study that is deleted is gone with its log, and nothing brings it
back: so its name has to be given twice.
"""

from __future__ import annotations

import hashlib

from belman.errors import SettingError, StudyError
from belman.studies.log.event_log import LOCK
from belman.studies.log.storage import Storage, Transaction
from belman.studies.study import Study
from belman.studies.unit_of_work import check_key, used_for_another


def archive(study: Study, reason: str = "", *, key: str | None = None) -> None:
    """Pause a study, unless it is paused, and leave it out of lists; `restore` lists it again.

    Parameters
    ----------
    study
        The study. Its log stays, and can be looked at.
    reason
        Why, for the log; "archived" by default.
    key
        An idempotency key of the event that pauses the study.
    """
    if not study.paused:
        try:
            study.pause(reason or "archived", key=key)
        except StudyError:
            if not study.paused:  # somebody else was faster
                raise
    _mark(study.storage, study.name, study.storage.now())


def restore(storage: Storage, name: str) -> None:
    """List an archived study again; it stays paused until it is resumed.

    Parameters
    ----------
    storage
        The storage that keeps it.
    name
        The name of the study.

    Raises
    ------
    UnknownStudyError
        If the storage has no study of that name.
    """
    storage.find(name)
    _mark(storage, name, None)


def _mark(storage: Storage, name: str, time: float | None) -> None:
    storage.execute("UPDATE belman_studies SET archived = ? WHERE name = ?", time, name)


def delete(storage: Storage, name: str, confirm: object, *, key: str | None = None) -> int:
    """Delete a study and its whole log for good. Whoever has it open finds that it is gone.

    Parameters
    ----------
    storage
        The storage that keeps it.
    name
        The name of the study.
    confirm
        The name once more.
    key
        An idempotency key: for a week the same key gives the same answer, even if another study has
        got that name since.

    Returns
    -------
    int
        How many events the log had.

    Raises
    ------
    SettingError
        If `confirm` is not the name.
    UnknownStudyError
        If the storage has no study of that name.
    """
    if confirm != name:
        storage.find(name)
        given = repr(confirm)[:80]
        raise SettingError(f"study {name!r} is deleted if confirm is its name, and it is {given}")
    if key is not None:
        check_key(key)

    def work(transaction: Transaction) -> int | None:
        there = "SELECT id FROM belman_studies WHERE {} = ?"
        result = transaction.rows(there.format("name"), name)
        if result:  # it may be gone once nobody else writes to it
            result = transaction.rows_locked(LOCK, there.format("id"), result[0][0])
        if key is not None and (gone := deleted_before(transaction, name, key)) is not None:
            return gone
        return _delete(transaction, result[0][0], name, key) if result else None

    events = storage.run(work)
    if events is None:
        raise storage.unknown(name)
    return events


def _delete(transaction: Transaction, study: int, name: str, key: str | None) -> int:
    if key is not None:
        keyed = "SELECT kind FROM belman_events WHERE study = ? AND key = ?"
        for (kind,) in transaction.rows(keyed, study, f"{key}/change"):
            raise used_for_another(key, kind)
    transaction.execute("DELETE FROM belman_snapshots WHERE study = ?", study)
    events = transaction.execute("DELETE FROM belman_events WHERE study = ?", study)
    transaction.execute("DELETE FROM belman_studies WHERE id = ?", study)
    if key is not None:
        remember(transaction, name, key, events)
    return events


# Deletions that are safe to send again: the log is gone, so a digest of the key is kept beside it.
# A digest, since nothing of a deleted study is to stay: neither its name nor who deleted it.

#: Seconds for which a deletion is known by its key: a week.
KEPT = 604_800.0
#: The largest number of deletions that are known by their keys: the latest ones.
MOST = 10_000

_OLDER = "DELETE FROM belman_deletions WHERE time <= ?"
_LATEST = "SELECT request FROM belman_deletions ORDER BY time DESC, request LIMIT ?"


def deleted_before(transaction: Transaction, name: str, key: str) -> int | None:
    """How many events a study had that was deleted under this key, or None."""
    transaction.execute(_OLDER, transaction.now() - KEPT)
    find = "SELECT events FROM belman_deletions WHERE request = ?"
    result = transaction.rows(find, _digest(name, key))
    return result[0][0] if result else None


def remember(transaction: Transaction, name: str, key: str, events: int) -> None:
    """Know a deletion by its key from now on."""
    put = "INSERT INTO belman_deletions (request, time, events) VALUES (?, ?, ?)"
    transaction.execute(put, _digest(name, key), transaction.now(), events)
    transaction.execute(f"DELETE FROM belman_deletions WHERE request NOT IN ({_LATEST})", MOST)


def _digest(name: str, key: str) -> str:
    return hashlib.blake2b(repr((name, key)).encode(), digest_size=16).hexdigest()

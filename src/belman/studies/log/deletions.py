"""Deletions that are safe to send again: the log is gone, so a digest of the key is kept beside it.

A digest, since nothing of a deleted study is to stay: neither its name nor who deleted it.
"""

from __future__ import annotations

import hashlib

from belman.studies.log.storage import Transaction

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
    found = transaction.rows(find, _digest(name, key))
    return found[0][0] if found else None


def remember(transaction: Transaction, name: str, key: str, events: int) -> None:
    """Know a deletion by its key from now on."""
    put = "INSERT INTO belman_deletions (request, time, events) VALUES (?, ?, ?)"
    transaction.execute(put, _digest(name, key), transaction.now(), events)
    transaction.execute(f"DELETE FROM belman_deletions WHERE request NOT IN ({_LATEST})", MOST)


def _digest(name: str, key: str) -> str:
    return hashlib.blake2b(repr((name, key)).encode(), digest_size=16).hexdigest()

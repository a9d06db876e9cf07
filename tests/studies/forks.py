"""The same study twice: with snapshots as often as is wished, as another process opens it, and in a
copy of its database, on which anything may be tried.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from belman.studies import Storage, Study, open_study

#: Events between two snapshots: the one name of the inside that these tests change.
SNAPSHOT_EVERY = "belman.studies.unit_of_work.SNAPSHOT_EVERY"


@contextmanager
def snapshots(every: int = 1) -> Iterator[None]:
    """Let studies keep a snapshot after every so many events."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SNAPSHOT_EVERY, every)
        yield


@contextmanager
def reopened(study: Study, url: str, **options: Any) -> Iterator[Study]:
    """The study as a process opens it that has just started."""
    with closing(Storage(url)) as storage:
        yield open_study(study.name, storage=storage, **options)


def copy_of(url: str, target: str) -> str:
    """The URL of a copy of an SQLite database."""
    source = url.removeprefix("sqlite:///").partition("?")[0]
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
    return f"sqlite:///{target}"

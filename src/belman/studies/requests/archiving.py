"""Archiving: old events go to a file, so that a database does not grow for ever."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from itertools import chain, takewhile
from typing import Any

from belman.errors import StudyError
from belman.studies.log import archives
from belman.studies.log.chain import Head
from belman.studies.log.event_log import Kind
from belman.studies.log.storage import Transaction
from belman.studies.rules.window_rule import check_seconds
from belman.studies.unit_of_work import UnitOfWork, check_reason

#: Seconds for which events stay in the database: 30 days.
KEEP = 2_592_000.0
_AT_ONCE = 10_000  # events that one transaction removes


def archive_events(
    replica: Any, path: str | os.PathLike[str], keep: float | timedelta | None, reason: str
) -> int:
    """Move events that are older than `keep`, and than the window, to a file; return how many.

    The file is written while others write to the study. Then an event says where it is, with a
    snapshot from which the study is opened from here on; and only then are the events removed, some
    at a time. Whoever is killed in between has lost nothing: the next archive removes the rest.
    """
    target, why = archives.check_path(path), check_reason(reason)
    age, log = check_seconds(keep, "keep") or 0.0, replica.log
    number, window = replica.look(lambda state: (state.number, state.settings.window or 0.0))
    until = replica.now() - max(age, window)

    def write(transaction: Transaction) -> tuple[Head, Head]:
        start = _end(archives.named_in(log.of_kind(transaction, Kind.ARCHIVED)))
        events = takewhile(
            lambda one: one.time <= until and one.number < number,
            log.after(transaction, start.number),
        )
        first = next(events, None)
        if first is None:
            return start, start
        return start, archives.write(target, chain([first], events), replica.name, start)

    start, end = replica.storage.run(write, write=False)
    if end.number > start.number:
        try:
            replica.transact(lambda unit: _note(unit, start, end, str(target), why))
        except StudyError:
            target.unlink()
            raise
    first = replica.storage.run(log.first, write=False)
    while first <= end.number:
        first = min(first + _AT_ONCE, end.number + 1)
        log.remove_before(replica.storage, first)
    return end.number - start.number


def _end(known: Sequence[archives.Archive]) -> Head:
    """Return the last event that is archived."""
    return known[-1].head if known else Head()


def _note(unit: UnitOfWork, start: Head, end: Head, file: str, reason: str) -> None:
    """Say in the log where its events are, and keep a snapshot that follows."""
    known, there = archives.named_in(unit.log.of_kind(Kind.ARCHIVED)), unit.log.event(end.number)
    if _end(known) != start or there is None or there.link != end.link:
        raise StudyError(f"study {unit.name!r} was archived, or restored, meanwhile: try again")
    words = reason or f"events {start.number + 1:,} to {end.number:,} are in {file}"
    unit.write(Kind.ARCHIVED, body=archives.body([*known, archives.Archive(file, end)], words))
    unit.keep_snapshot()

"""Archives: old events of a log in Parquet files, with the chain intact.

The last event ARCHIVED names all files, the last event in each and its link, so that the log goes
on from there: who reads the whole log reads the files first, and every event is held to the chain.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from belman.errors import SettingError, StateError, StudyError, needing, shown
from belman.files import replacing, sync
from belman.studies.log.chain import Head, link
from belman.studies.log.event_log import CHUNK, CHUNK_TEXT, Event, EventLog, Kind
from belman.studies.log.storage import Transaction

_TYPES = {
    "number": "int64", "kind": "int16", "time": "float64", "arm": "int32", "draw": "int16",
    "probability": "float64", "ticket": "int64", "reward": "float64", "key": "string",
    "body": "large_string", "link": "binary",
}  # fmt: skip


class Archive(NamedTuple):
    """A file of events, as the log names it: its last event is the one of `head`."""

    file: str
    head: Head


def named_in(events: Sequence[Event]) -> list[Archive]:
    """Return all archives of a log, by its events of the kind ARCHIVED, of which each names those
    before it as well.
    """
    if not events:
        return []
    result = events[-1].content["files"]
    return [Archive(file, Head(last, bytes.fromhex(link))) for file, last, link in result]


def body(known: Sequence[Archive], reason: str) -> str:
    """Return the body of an event that names these archives."""
    files = [(file, head.number, head.link.hex()) for file, head in known]
    return json.dumps({"reason": reason, "files": files}, ensure_ascii=False)


def whole(log: EventLog, transaction: Transaction, after: int = 0) -> Iterator[Event]:
    """Yield all events that follow a number; those that the database has no more are read from the
    archives, and StudyError is raised where a file is not there.
    """
    for event in log.after(transaction, after):
        if event.number > after + 1:
            yield from archived(log, transaction, after, event.number)
        yield event
        after = event.number


def archived(log: EventLog, transaction: Transaction, after: int, until: int) -> Iterator[Event]:
    """Yield the events between two numbers as the archives hold them."""
    start = Head()
    for archive in named_in(log.of_kind(transaction, Kind.ARCHIVED)):
        if after < archive.head.number:
            for event in _read(archive, start, after):
                if event.number >= until:
                    return
                yield event
            after = archive.head.number
        start = archive.head


def find(log: EventLog, transaction: Transaction, number: int) -> Event | None:
    """Return the event of a number, in the database or in an archive."""
    result = log.find(transaction, "number", number)
    if result is None and number < log.first(transaction):
        result = next(archived(log, transaction, number - 1, number + 1), None)
    return result


def corrections(log: EventLog, transaction: Transaction) -> list[Event]:
    """Return all corrections of a log, in order."""
    first = log.first(transaction)
    old = archived(log, transaction, 0, first) if first > 1 else ()
    result = [event for event in old if event.kind == Kind.CORRECTED]
    return result + log.of_kind(transaction, Kind.CORRECTED)


# Files


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return where an archive may be written: a file that is not there yet."""
    if not isinstance(path, (str, os.PathLike)):
        raise SettingError(f"path={shown(path)} is not valid: give the name of a file")
    target = Path(path).absolute()
    if target.suffix != ".parquet":
        raise SettingError(f"{target} is not for an archive: its name must end in .parquet")
    if target.exists():
        raise _there_already(target)
    return target


def _there_already(target: Path) -> SettingError:
    remedy = "an archive is never written over: give another name"
    return SettingError(f"{target} is there already, and {remedy}")


def write(target: Path, events: Iterable[Event], study: str, head: Head) -> Head:
    """Write events that follow a head to a new file, whole or not at all, and on the disk: what is
    in it is removed from the database soon; return the last one's head.
    """
    arrow, parquet = _arrow()
    schema = _schema(arrow)
    try:
        with (
            replacing(target, private=True, new=True) as draft,
            parquet.ParquetWriter(draft, schema) as to,
        ):
            for chunk in _chunks(events):
                for event in chunk:
                    head = head.follow(event, study)
                cells = dict(zip(Event._fields, map(list, zip(*chunk, strict=True)), strict=True))
                to.write_table(arrow.Table.from_pydict(cells, schema))
        if os.name == "posix":  # elsewhere a directory cannot be opened
            sync(target.parent)
    except FileExistsError:  # somebody else has written it meanwhile
        raise _there_already(target) from None
    except OSError as error:
        raise SettingError(f"{target} cannot be written: {error.strerror or error}") from None
    return head


def _chunks(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield events in groups of rows whose texts fit in memory."""
    chunk: list[Event] = []
    text = 0
    for event in events:
        chunk.append(event)
        text += len(event.body or "")
        if len(chunk) >= CHUNK or text >= CHUNK_TEXT:
            yield chunk
            chunk, text = [], 0
    if chunk:
        yield chunk


def _read(archive: Archive, start: Head, after: int) -> Iterator[Event]:
    """Yield the events of a file that follow a number, held to the chain from the event before the
    file on, and to its end.
    """
    arrow, parquet = _arrow()
    before: Head | None = None
    try:
        with parquet.ParquetFile(archive.file) as file:
            if not file.schema_arrow.equals(_schema(arrow)):
                raise _other(archive)
            first = _group_before(file, after)
            before = start if first == 0 else None
            for i in range(first, file.num_row_groups):
                columns = file.read_row_group(i).to_pydict().values()
                for event in map(Event._make, zip(*columns, strict=True)):
                    known = _follows(before, event) if before is not None else _is_at(event, after)
                    if not known:
                        raise _other(archive)
                    before = Head(event.number, event.link)
                    if event.number > after:
                        yield event
    except FileNotFoundError:
        moved = "put the file back where it was"
        raise StudyError(f"{_there(archive)}, which is not there: {moved}") from None
    except (arrow.ArrowException, OSError, TypeError, ValueError) as error:
        if isinstance(error, StateError):
            raise
        raise StudyError(f"{_there(archive)}, which cannot be read: {error}") from None
    if before != archive.head:
        raise _other(archive)


def _group_before(file: Any, after: int) -> int:
    """Return the group of rows before the one in which events follow a number, so that all that
    follow are held to the chain; the first where that cannot be told.
    """
    for i in range(file.num_row_groups):
        last = file.metadata.row_group(i).column(0).statistics
        if last is None or last.max > after:
            return max(i - 1, 0)
    return 0


def _is_at(event: Event, after: int) -> bool:
    """Whether what follows a number may begin with an event, which is not held to the chain."""
    return type(event.number) is int and event.number <= after and type(event.link) is bytes


def _follows(before: Head, event: Event) -> bool:
    """Whether an event is as it has to be to follow the one before."""
    try:
        own = link(before.link, event, event.link[:8])
    except (TypeError, struct.error):  # nothing is where something has to be
        return False
    return event.number == before.number + 1 and event.link == own


def _there(archive: Archive) -> str:
    return f"events up to {archive.head.number:,} are archived in {archive.file}"


def _other(archive: Archive) -> StateError:
    return StateError(f"{_there(archive)}, and the file is not as it was written")


def _schema(arrow: Any) -> Any:
    return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in _TYPES.items()])


def _arrow() -> Any:
    with needing("an archive of events", "parquet", "pyarrow"):
        import pyarrow
        from pyarrow import parquet
    return pyarrow, parquet

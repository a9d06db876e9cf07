"""The log of one study in its storage: events in, events out, and snapshots beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import bindparam, delete, insert, select

from belman.studies.events import Event
from belman.studies.schema import events, snapshots, studies
from belman.studies.session import Session

_COLUMNS = [events.c[name] for name in Event._fields]
_MINE = events.c.study == bindparam("study")
_AFTER = (
    select(*_COLUMNS)
    .where(_MINE, events.c.number > bindparam("after"))
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
_WHERE = {
    name: select(*_COLUMNS).where(_MINE, events.c[name] == bindparam("value"))
    for name in ("number", "key", "ticket")
}
_APPEND = insert(events)
_LOCK = select(studies.c.id).where(studies.c.id == bindparam("study")).with_for_update()

_NEWEST = (
    select(snapshots.c.content)
    .where(snapshots.c.study == bindparam("study"))
    .order_by(snapshots.c.number.desc())
    .limit(bindparam("most"))
)
_KEEP = insert(snapshots)
_DROP = delete(snapshots).where(
    snapshots.c.study == bindparam("study"), snapshots.c.number < bindparam("before")
)

_CHUNK = 10_000


class Log:
    """The events of one study, numbered from 1 without gaps."""

    def __init__(self, study: int) -> None:
        self.study = study

    def scroll(self, session: Session, after: int = 0, *, lock: bool = False) -> Iterator[Event]:
        """All events that follow a number, however many, a chunk at a time.

        With `lock` first wait until nobody else writes to this study, and keep them out until the
        transaction ends; on SQLite a transaction that writes has done so when it began.
        """
        size = _CHUNK
        rows_of = session.rows
        if lock and session.backend == "postgresql":
            rows_of = partial(session.rows_behind, _LOCK)
        while size == _CHUNK:
            rows = rows_of(_AFTER, study=self.study, after=after, most=_CHUNK)
            size = len(rows)
            for row in rows:
                yield Event._make(row)
            after = rows[-1][0] if rows else after

    def where(self, session: Session, field: str, value: object) -> Event | None:
        """The event of a number, of a key, or that settled a ticket: the only one, if there is one."""
        rows = session.rows(_WHERE[field], study=self.study, value=value)
        return Event._make(rows[0]) if rows else None

    def append(self, session: Session, new: Sequence[Event]) -> None:
        """Write events down."""
        session.insert(_APPEND, [(self.study, *event) for event in new])

    def newest_snapshot(self, session: Session) -> str | None:
        """The text of the last snapshot."""
        rows = session.rows(_NEWEST, study=self.study, most=1)
        return rows[0][0] if rows else None

    def keep_snapshot(self, session: Session, number: int, content: str) -> None:
        """Write a snapshot down, and drop those before it."""
        session.run(_DROP, study=self.study, before=number)
        session.insert(_KEEP, [(self.study, number, content)])

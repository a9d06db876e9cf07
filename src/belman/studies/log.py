"""The log of one study in its storage: events in, events out, and snapshots beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, bindparam, delete, insert, select

from belman.studies.events import Event
from belman.studies.schema import events, snapshots, studies

_COLUMNS = [events.c[name] for name in Event._fields]
_mine = events.c.study == bindparam("of")
_AFTER = select(*_COLUMNS).where(_mine, events.c.number > bindparam("after")).order_by(events.c.number)
_APPEND = insert(events)
_LOCK = select(studies.c.id).where(studies.c.id == bindparam("of")).with_for_update()


class Log:
    """The events of one study, numbered from 1 without gaps."""

    def __init__(self, study: int) -> None:
        self.study = study

    def lock(self, connection: Connection) -> None:
        """Wait until nobody else writes to this study, and keep them out until the transaction ends."""
        if connection.dialect.name == "postgresql":
            connection.execute(_LOCK, {"of": self.study})

    def after(self, connection: Connection, number: int) -> list[Event]:
        """The events that follow a number."""
        return [Event._make(row) for row in connection.execute(_AFTER, {"of": self.study, "after": number})]

    def scroll(self, connection: Connection, after: int = 0, chunk: int = 10_000) -> Iterator[Event]:
        """All events that follow a number, however many, a chunk at a time."""
        while found := [Event._make(row) for row in connection.execute(_AFTER.limit(chunk), {"of": self.study, "after": after})]:
            yield from found
            after = found[-1].number

    def append(self, connection: Connection, new: Sequence[Event]) -> None:
        """Write events down."""
        connection.execute(_APPEND, [{"study": self.study, **event._asdict()} for event in new])

    def where(self, connection: Connection, field: str, value: object) -> Event | None:
        """The event of a number, of a key, or that settled a ticket: the only one, if there is one."""
        row = connection.execute(select(*_COLUMNS).where(_mine, events.c[field] == value), {"of": self.study}).first()
        return None if row is None else Event._make(row)

    def newest_snapshot(self, connection: Connection) -> str | None:
        """The text of the last snapshot."""
        mine = snapshots.c.study == self.study
        return connection.scalar(select(snapshots.c.content).where(mine).order_by(snapshots.c.number.desc()).limit(1))

    def keep_snapshot(self, connection: Connection, number: int, content: str) -> None:
        """Write a snapshot down, and drop those before it."""
        connection.execute(delete(snapshots).where(snapshots.c.study == self.study, snapshots.c.number < number))
        connection.execute(insert(snapshots), {"study": self.study, "number": number, "content": content})

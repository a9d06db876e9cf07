"""The tables of a storage: studies, the log of their events, snapshots of their states, and keys of
a service.

An event is never changed and never removed. Two indices make promises that no program can break: a
ticket is settled once (told or expired), and a request that carries a key is answered once.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

metadata = MetaData()

studies = Table(
    "belman_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("secret", Text, nullable=False),
    Column("created", Float(53), nullable=False),
)

events = Table(
    "belman_events",
    metadata,
    Column("study", Integer, ForeignKey("belman_studies.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", SmallInteger, nullable=False),
    Column("time", Float(53), nullable=False),
    Column("arm", Integer),
    Column("draw", SmallInteger),
    Column("probability", Float(53)),
    Column("ticket", BigInteger),
    Column("reward", Float(53)),
    Column("key", Text),
    Column("body", Text),
    sqlite_with_rowid=False,
)

Index(
    "belman_events_settled",
    events.c.study,
    events.c.ticket,
    unique=True,
    sqlite_where=events.c.ticket.isnot(None),
    postgresql_where=events.c.ticket.isnot(None),
)
Index(
    "belman_events_keyed",
    events.c.study,
    events.c.key,
    unique=True,
    sqlite_where=events.c.key.isnot(None),
    postgresql_where=events.c.key.isnot(None),
)

snapshots = Table(
    "belman_snapshots",
    metadata,
    Column("study", Integer, ForeignKey("belman_studies.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

keys = Table(
    "belman_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("revoked", Float(53)),
)

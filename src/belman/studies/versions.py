"""The version of a storage's tables: checked at every opening, created where there are none,
brought up to date on request.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from belman.errors import StorageError

#: The version of the tables that this code reads and writes: the newest of `migrations/versions`.
HEAD = "0002"
VERSION_TABLE = "belman_version"

_HOME = Path(__file__).parent / "migrations"


def version(connection: Connection) -> str | None:
    """The version of the tables, or None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))


def prepare(connection: Connection, shown: str) -> None:
    """Create the tables in a database that has none; refuse tables of another version."""
    found = version(connection)
    connection.rollback()
    if found is None:
        upgrade(connection)
    elif found != HEAD:
        steps = {path.name[:4] for path in (_HOME / "versions").glob("[0-9]*.py")}
        remedy = (
            f"run: belman study migrate --storage {shown}"
            if found in steps
            else "install a newer belman"
        )
        raise StorageError(
            f"{shown} has tables of version {found}, and this belman works with {HEAD}: {remedy}"
        )


def upgrade(connection: Connection) -> None:
    """Bring the tables to `HEAD`, one process at a time; tables that are there already are left
    alone.
    """
    from alembic import command
    from alembic.config import Config

    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(8)"))
        if version(connection) == HEAD:
            return
        config = Config()
        config.set_main_option("script_location", str(_HOME))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

"""Storages to try a study on: every test that takes `url` runs on SQLite and on PostgreSQL.

What a study makes of its log is the same code on both, so that PostgreSQL is slow there; `make
test` runs it where the databases differ: in transactions, locks, values and what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from belman.studies import Storage, Study, open_study
from tests.studies.postgres import REASON, Postgres, programs

#: Modules of what the databases do themselves.
BOTH = {
    "test_archive",
    "test_archived_events",
    "test_bulk_together",
    "test_chain",
    "test_concurrency",
    "test_import_export",
    "test_large_rewards",
    "test_machine",
    "test_storage",
    "test_strange_values",
    "test_study",
    "test_together",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        given = getattr(item, "callspec", None)
        if given and given.params.get("url") == "postgresql" and item.path.stem not in BOTH:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if programs() is None:
        pytest.skip(REASON)
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/studies.db?synchronous=normal"
    server = request.getfixturevalue("postgres")
    storage = Storage(server.url)
    tables = "belman_studies, belman_events, belman_snapshots, belman_deletions"
    storage.execute(f"TRUNCATE {tables} RESTART IDENTITY")
    storage.close()
    return server.url


@pytest.fixture
def same_assignments(monkeypatch) -> None:
    """Units get the same arms in every run, since the salt of weights is not drawn anew."""
    monkeypatch.setattr("belman.studies.requests.publishing.secrets.token_hex", lambda n: "0f" * n)


class Clock:
    """A time that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(url) -> Iterator[Callable[..., Study]]:
    """`open_study` on the storage of the test, closed at its end."""
    storages: list[Storage] = []

    def open_one(name: str = "study", arms: Any = ("a", "b", "c"), **settings: Any) -> Study:
        storages.append(Storage(url))
        return open_study(
            name,
            arms,
            storage=storages[-1],
            **{"seed": 1, **settings} if arms is not None else settings,
        )

    yield open_one
    for storage in storages:
        storage.close()

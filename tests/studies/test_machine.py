"""Studies live the same life in several worlds: an object that lives on, one opened from snapshots,
one from the log, and two processes know the same, and decide the same next (`machine.py`).

Some seconds of it, and some more in `make test-slow`; the long form is
`python -m tests.studies.machine --minutes 60`.
"""

from __future__ import annotations

import pytest

from tests.studies.machine import files, lives, quickly
from tests.studies.machine_settings import KINDS

LONG = pytest.param(4, 12, marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "steps"), [(2, 9), LONG])
def test_all_worlds_decide_the_same_on_sqlite(kind, number, steps):
    with quickly(), files() as urls:
        lives(urls, number, steps, kinds=(kind,))


@pytest.mark.parametrize(("number", "steps"), [(2, 8), LONG])
def test_all_worlds_decide_the_same_on_postgresql(postgres, number, steps):
    names = [postgres.database(f"world{number}_{i}") for i in range(4)]
    with quickly():
        lives(names, number, steps)

"""Studies live the same life in several worlds: an object that lives on, one opened from snapshots,
one from the log, and two processes know the same, and decide the same next (`machine.py`).

Ten seconds of it; `python -m tests.studies.machine --minutes 60` is the long form.
"""

from __future__ import annotations

import pytest

from tests.studies.machine import files, lives, quickly
from tests.studies.machine_settings import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_all_worlds_decide_the_same_on_sqlite(kind):
    with quickly(), files() as urls:
        lives(urls, 4, 12, kinds=(kind,))


def test_all_worlds_decide_the_same_on_postgresql(postgres):
    names = [postgres.database(f"world{i}") for i in range(4)]
    with quickly():
        lives(names, 4, 10)

"""A few lives of the simulated world; `python -m tests.world --minutes 60` lives many."""

from __future__ import annotations

import tempfile
from collections import Counter

from tests.world.__main__ import folder_in_memory, lives
from tests.world.life import live, script, simulated


def test_lives_keep_the_promises():
    counted: Counter[str] = Counter()
    assert lives(range(40), 25, 600.0, counted) == []
    for happened in ("deaths of a service", "deaths of a program", "network: twice", "restores"):
        assert counted[happened] > 0, happened


def test_a_life_is_the_same_when_it_is_lived_again():
    seen = []
    with simulated(), tempfile.TemporaryDirectory(dir=folder_in_memory()) as folder:
        for _ in range(2):
            counted: Counter[str] = Counter()
            assert live(script(5, 25), folder, counted) is None
            seen.append(counted)
    assert seen[0] == seen[1]

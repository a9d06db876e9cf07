"""How power cuts are simulated; they are cut in tests/attack."""

from __future__ import annotations

import pytest

from tests.attack import power_cuts


@pytest.mark.skipif(power_cuts.missing_strace() is not None, reason="strace is not installed")
def test_the_log_is_moved_into_its_file_and_begins_anew_while_it_is_recorded():
    steps = power_cuts.recorded("full")
    begun = next(i for i, step in enumerate(steps) if step.file == "notes")
    positions = {(step.file, step.position) for step in steps[begun:] if step.data}
    assert ("studies.db", 0) in positions
    assert ("studies.db-wal", 0) in positions


def test_a_write_is_lost_by_sectors():
    step = power_cuts.Step("write", "studies.db", 500, bytes(range(256)) * 4)
    parts = list(power_cuts._sectors(step))
    assert [(part.position, len(part.data)) for part in parts] == [
        (500, 12),
        (512, 512),
        (1024, 500),
    ]
    assert b"".join(part.data for part in parts) == step.data

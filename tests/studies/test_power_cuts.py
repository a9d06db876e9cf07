"""The power is cut a few times; a thousand times by `python -m benchmarks.power_cuts`."""

from __future__ import annotations

import shutil

import pytest
from benchmarks import power_cuts


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_was_acknowledged_survives_and_would_not_without_waiting_for_the_disk():
    steps = power_cuts.recorded("full")
    begun = next(i for i, step in enumerate(steps) if step.file == "notes")
    places = {(step.file, step.place) for step in steps[begun:] if step.data}
    assert ("studies.db", 0) in places  # the log was moved into its file,
    assert ("studies.db-wal", 0) in places  # and began anew
    assert power_cuts.cut(steps, 12) == []
    assert power_cuts.cut(power_cuts.recorded("normal", 40), 12)


def test_a_write_is_lost_by_sectors():
    step = power_cuts.Step("write", "studies.db", 500, bytes(range(256)) * 4)
    parts = list(power_cuts._sectors(step))
    assert [(part.place, len(part.data)) for part in parts] == [(500, 12), (512, 512), (1024, 500)]
    assert b"".join(part.data for part in parts) == step.data

"""The clock of the access control."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest


@pytest.fixture
def clock(monkeypatch):
    """The time of the access control, which stands still until it is set."""
    found = SimpleNamespace(now=100.0, perf_counter=time.perf_counter)
    found.monotonic = lambda: found.now
    monkeypatch.setattr("belman.service.access.time", found)
    return found

"""A service and a client of it, for tests that need no other; the clock of its access control."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

import belman
from tests.service.running import running
from tests.waiting import HANG


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("client")) as result:
        yield result


@pytest.fixture(scope="module")
def client(service):
    with belman.Client(service.url, retries=3, timeout=HANG) as result:
        yield result


@pytest.fixture
def clock(monkeypatch):
    """The time of the access control, which stands still until it is set."""
    result = SimpleNamespace(now=100.0, perf_counter=time.perf_counter)
    result.monotonic = lambda: result.now
    monkeypatch.setattr("belman.service.access.time", result)
    return result

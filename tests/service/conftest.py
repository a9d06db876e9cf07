"""A service and a client of it, for tests that need no other."""

from __future__ import annotations

import pytest

import belman
from tests.service.running import running
from tests.waiting import HANG


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("client")) as found:
        yield found


@pytest.fixture(scope="module")
def client(service):
    with belman.Client(service.url, retries=3, timeout=HANG) as found:
        yield found

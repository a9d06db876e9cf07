"""What a page registers is known on that page alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from belman.policies import POLICIES


@pytest.fixture(autouse=True)
def known_policies() -> Iterator[None]:
    """Forget what a page registered."""
    before = dict(POLICIES)
    yield
    POLICIES.clear()
    POLICIES.update(before)

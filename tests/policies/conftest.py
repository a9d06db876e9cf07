"""What tests of policies share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def interpreted_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels are called as Python: words overflow as they should, and nothing is compiled."""
    monkeypatch.setenv("BELMAN_COMPILE", "never")
    with np.errstate(all="ignore"):
        yield

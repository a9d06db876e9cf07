"""For all tests: none leaves anything behind, and none is in a hurry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from belman.engine import tiers
from tests.leaks import nothing_left_behind

hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Look for examples in the package and in pages, and not in every test once more."""
    result = yield
    if file_path.name.startswith("test_"):
        return [one for one in result if isinstance(one, pytest.Module)]
    return result


@pytest.fixture(autouse=True, scope="module")
def _module_leaves_nothing() -> Iterator[None]:
    with nothing_left_behind():
        yield


@pytest.fixture(autouse=True)
def _test_leaves_nothing(_module_leaves_nothing: None) -> Iterator[None]:
    with nothing_left_behind(in_use=True):
        yield


#: Rooms whose tests make few turns with many policies and families.
_FEW_TURNS = {
    "agent",
    "attack",
    "deciders",
    "dispatch",
    "measures",
    "segments",
    "service",
    "studies",
}


@pytest.fixture(autouse=True)
def _interpreted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test makes few turns, kernels are run by Python: they choose the same, words overflow
    as they should, and nothing is compiled, which takes seconds for each policy at each family. So
    it is in some rooms, but for tests marked `compiled`, and elsewhere where one is marked
    `interpreted`.
    """
    [*_, room, _] = request.path.parts
    marked = request.node.get_closest_marker
    if marked("compiled") or not (marked("interpreted") or room in _FEW_TURNS):
        yield
    else:
        with tiers.interpreted(), np.errstate(all="ignore"):
            yield

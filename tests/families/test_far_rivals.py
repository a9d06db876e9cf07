"""Families of amounts: a rival's mean may be next to nothing."""

from __future__ import annotations

import math

import pytest

from belman.families import Family, LogNormal, Money


@pytest.mark.parametrize("family", [LogNormal(), Money()], ids=lambda family: family.name)
def test_a_rival_of_next_to_nothing_is_far_and_one_of_nothing_infinitely(family: Family) -> None:
    d = family.kernels.d.function
    near, far, none = (d(family.constants, 1.0, other, 0.5) for other in (1e-15, 1e-300, 0.0))
    assert 0.0 < near < far < none == math.inf

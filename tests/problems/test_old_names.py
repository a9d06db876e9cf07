"""Problems under the names they had before `belman.problems`: they work, and say where they are."""

from __future__ import annotations

import pytest

import belman

MOVED = [
    "bernoulli",
    "exponential",
    "gamma",
    "gaussian",
    "geometric",
    "poisson",
    "problem",
    "queue",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
]


@pytest.mark.parametrize("name", MOVED)
def test_at_the_top(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"belman.{name} is now belman.problems.{name}"):
        old = getattr(belman, name)
    assert old is getattr(belman.problems, name)


def test_from_the_old_room() -> None:
    with pytest.warns(DeprecationWarning, match=r"now belman\.problems\.Stationary"):
        from belman.environments import Stationary
    assert Stationary is belman.problems.Stationary


def test_not_in_what_a_star_brings() -> None:
    assert not {*MOVED, "environments"} & {*belman.__all__}

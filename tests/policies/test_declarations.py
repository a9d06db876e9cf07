"""Policies say in types what a setting may be, and in fields what they remember."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from belman.errors import PolicyError
from belman.families import Bernoulli, Poisson
from belman.policies import KLLUCB, UCB1, AdaUCB, Policy, PolicyKernels
from belman.policies.baselines import random_indices
from belman.policies.memory import POSITION, Floats, Sizes, blank, part, record
from belman.policies.settings import Inside, number


class Inner(NamedTuple):
    counts: Floats = part("K", "kept", told=True, whole=(0, "kept"))


class Memory(NamedTuple):
    mean: Floats = part("K", first=np.inf)
    seen: Floats = part(2, "K", told=True)
    rounds: Floats = part(1, told=True, whole=(0, 9))
    leader: Floats = part(1, first=-1.0, whole=POSITION)
    terms: Floats = part("T", "K")
    inner: Inner = record(Inner)


@dataclass(frozen=True)
class Declared(Policy):
    share: Inside = 0.5
    least: Annotated[float, number("[)", 1.0, 2.0, "from 1 to below 2")] | None = None
    other: NeverImported | None = None  # type: ignore[name-defined]  # noqa: F821
    kept: int = 3

    name = "declared"
    kernels = PolicyKernels(random_indices)
    remembers = Memory


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"share": 1.0},
            "share=1.0 is not valid for declared: it must be strictly between 0 and 1",
        ),
        ({"share": None}, "share=None is not valid"),
        ({"share": True}, "share=True is not valid"),
        (
            {"least": 2.0},
            "least=2.0 is not valid for declared: it must be from 1 to below 2, or None",
        ),
        ({"least": float("nan")}, "least=nan is not valid"),
    ],
)
def test_types_refuse_what_they_do_not_allow(given, why):
    with pytest.raises(PolicyError, match=why):
        Declared(**given)


def test_types_take_what_they_allow():
    assert Declared(share=0.1, least=1.0).least == 1.0
    assert Declared(least=None).params(Bernoulli()).tolist() == [0.5, 0.0, 0.0, 3.0]


def test_params_are_what_is_needed_of_the_family_and_then_the_settings():
    assert UCB1(range=(1, 4)).params(Poisson()).tolist() == [1.0, 3.0]
    assert AdaUCB(50, sigma=0.25).params(Poisson()).tolist() == [0.25, 50.0]
    with pytest.raises(PolicyError, match="rewards between two bounds"):
        UCB1().check(Poisson(), 3)
    with pytest.raises(PolicyError, match="m must be less than their number"):
        KLLUCB(m=3).check(Bernoulli(), 3)


def test_a_memory_has_the_shapes_and_first_values_of_its_fields():
    memory = Declared(kept=4).memory(3, 2)
    assert [part.shape for part in memory[:5]] == [(3,), (2, 3), (1,), (1,), (3, 3)]
    assert memory.inner.counts.shape == (3, 4)
    assert np.isinf(memory.mean).all()
    assert memory.leader.tolist() == [-1.0]
    limits = {"rounds": (0, 9), "leader": (-1, 2), "inner_counts": (0, 4)}
    assert Declared(kept=4).whole_numbers(3) == limits


def test_what_was_told_goes_with_its_arm_and_is_forgotten_with_it():
    policy = Declared()
    memory = policy.memory(3, 2)
    memory.seen[:] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    memory.rounds[0], memory.mean[:] = 7.0, 0.5
    moved = policy.resettled(memory, policy.memory(2, 2), [2, -1])
    assert moved.seen.tolist() == [[3.0, 0.0], [6.0, 0.0]]
    assert moved.rounds.tolist() == [7.0]
    assert np.isinf(moved.mean).all()
    moved.rounds[0] = 8.0
    assert memory.rounds.tolist() == [7.0]
    policy.forget(memory, 1)
    assert memory.seen.tolist() == [[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]
    assert memory.rounds.tolist() == [7.0]


def test_sizes_may_be_given():
    sized = blank(Inner, Sizes(None, 2, 2, kept=5))
    assert sized.counts.shape == (2, 5)

"""Every policy keeps the contract that users run on theirs, and what breaks it is told in words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from belman import Bernoulli, Gaussian, Poisson, Thompson, kernel
from belman.policies import ExploreThenCommit
from belman.policies.policy import (
    Policy,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    share_of_ties,
)
from belman.testing import check_policy
from belman.testing.policies import PolicyCase, places_are_declared
from tests.members import interpreted


def test_every_policy_keeps_the_contract():
    """Interpreted, so that policies present and future cost no compilation; what a policy demands
    is set to 20.
    """
    script = """
from dataclasses import MISSING, fields
from belman import Bernoulli, BelMan, exposure
from belman.policies import POLICIES
from belman.testing import check_policy
def made(name, kind):
    demanded = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
    quick = {"discount": 0.5} if name == "gittins" else {"draws": 20} if name == "ids" else {}
    return kind(**dict.fromkeys(demanded, 20), **quick)
for policy in (
    *(made(name, kind) for name, kind in POLICIES.items()),
    BelMan.paper(), BelMan.until(100), BelMan(exposure.Infinite()),
    BelMan(exposure.FadingEvidence(), "natural"), BelMan(exposure.two_phase(20)),
):
    check_policy(policy, Bernoulli())
print("true")
"""
    assert interpreted(script) is True


@pytest.mark.parametrize("family", [Gaussian(), Poisson()], ids=["gaussian", "poisson"])
def test_compiled_policies_keep_the_contract(family):
    check_policy(Thompson(), family)


@kernel
def first_arm(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = -a


KERNELS = PolicyKernels(no_refresh, first_arm, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Careless(Policy):
    """Prefers the first arm, cannot be a key, and its turn_value is no function of the turn."""

    seen: dict[str, int] = field(default_factory=dict)

    name = "careless"

    @property
    def kernels(self):
        return KERNELS

    def turn_values(self, turns, arms):
        self.seen["calls"] = self.seen.get("calls", 0) + 1
        return np.full(len(turns), float(self.seen["calls"]))


@pytest.mark.interpreted
def test_what_a_policy_does_not_keep_is_told_in_words():
    with pytest.raises(AssertionError, match="careless does not keep the contract") as caught:
        check_policy(Careless())
    told = str(caught.value)
    assert "cannot be a key: unhashable type" in told
    assert "depends on the turns that are asked for with it" in told
    assert "in 60 first turns it never played" in told


class Undeclared(ExploreThenCommit):
    """Does not say that it keeps a place."""

    def whole_numbers(self, arms):
        return {}


def test_a_place_that_is_not_declared_is_told():
    with pytest.raises(AssertionError, match="committed of its memory is used as a place"):
        check_policy(Undeclared(explore=2))
    assert list(places_are_declared(PolicyCase(ExploreThenCommit(explore=2), Bernoulli()))) == []

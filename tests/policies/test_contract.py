"""Every policy keeps the contract that users run on theirs, and what breaks it is told in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from belman import Thompson, chance, kernel
from belman.families import Bernoulli, Exponential, Gaussian
from belman.policies import IDS, ExploreThenCommit, ExpTS, ExpTSPlus, TopTwoThompson
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, share_of_ties, to_be_integrated
from belman.testing import FAMILY_CHECKS, POLICY_CHECKS, check_policy
from belman.testing.frequencies import chances_are_frequencies
from belman.testing.policies import PolicyCase, positions_are_declared
from tests.members import interpreted
from tests.policies.interpreted_play import taught


def test_every_policy_keeps_the_contract():
    """Interpreted, so that policies present and future cost no compilation; what a policy demands
    is set to 20. BelMan is tried with one exposure of each kind: by the turn, by the evidence, and
    with a pseudobelief. IDS is tried by its draws: its integrals for coins, which Python takes long
    for, are in test_bayesian_policies.py.
    """
    script = """
from dataclasses import MISSING, fields
from belman import BelMan, exposure
from belman.families import Bernoulli, Gaussian
from belman.policies import POLICIES
from belman.testing import FAMILY_CHECKS, POLICY_CHECKS, check_policy
def made(name, kind):
    demanded = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
    quick = {"discount": 0.5} if name == "gittins" else {"draws": 4} if name == "ids" else {}
    return kind(**dict.fromkeys(demanded, 20), **quick)
for policy in (
    *(made(name, kind) for name, kind in POLICIES.items()),
    BelMan.paper(), BelMan(exposure.FadingEvidence(), "natural"),
):
    check_policy(policy, Gaussian() if policy.name == "ids" else Bernoulli())
print("true")
"""
    assert interpreted(script) is True


def test_no_check_runs_twice():
    for checks in (POLICY_CHECKS, FAMILY_CHECKS):
        assert len({check.__name__ for check in checks}) == len(checks)


def test_a_compiled_policy_keeps_the_contract():
    """The checks themselves run compiled; tests/agent/test_interpreted.py has more families."""
    check_policy(Thompson(), Gaussian())


@kernel
def first_arm(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = -a


@dataclass(frozen=True)
class Careless(Policy):
    """Prefers the first arm, cannot be a key, and its turn_value is no function of the turn."""

    seen: dict[str, int] = field(default_factory=dict)

    name = "careless"
    kernels = PolicyKernels(first_arm)

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


@kernel
def half_as_wide(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        draw = family.sample_mean(constants, ledger.beliefs[a], rng)
        index[a] = 0.5 * (draw + family.expected_reward(constants, ledger.beliefs[a]))


@kernel
def noisy_average(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = family.sample_mean(constants, ledger.beliefs[a], rng)


@kernel
def half(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    return 0.5


@kernel
def by_coin(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    return 0.2 + 0.1 * memory.nothing[0]


@kernel
def tosses(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    memory.nothing[0] = float(chance.below(rng, 2))


@dataclass(frozen=True)
class Wrong(Policy):
    """A policy with these kernels."""

    of: tuple = ()
    name = "wrong"

    @property
    def kernels(self):
        indices, propensity = self.of
        return PolicyKernels(indices, propensity=propensity)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("indices", "propensity", "why"),
    [
        (half_as_wide, to_be_integrated, "it logs the chance 0.[0-9]* for an arm that it plays"),
        (noisy_average, share_of_ties, "it logs the chance 1 for an arm that it plays in"),
        (first_arm, half, "it logs the chance 0.5 for an arm that it always plays"),
        (tosses, by_coin, "it logs chances from 0.2 to 0.3 for one arm in one state"),
    ],
    ids=["narrow", "noisy", "half", "coin"],
)
def test_chances_that_are_not_how_often_it_plays_are_told(indices, propensity, why):
    result = list(chances_are_frequencies(PolicyCase(Wrong((indices, propensity)), Bernoulli())))
    assert any(re.search(why, fault) for fault in result), result


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "policy", [TopTwoThompson(), ExpTS(), ExpTSPlus(), IDS(draws=20)], ids=repr
)
@pytest.mark.parametrize("family", [Gaussian(sigma=0.5), Exponential()], ids=["gaussian", "exp"])
def test_chances_are_frequencies_at_other_families(policy, family):
    assert list(chances_are_frequencies(PolicyCase(policy, family))) == []


@pytest.mark.interpreted
def test_draws_that_tie_at_the_end_of_means_share_their_chance():
    """Two arms of successes alone draw 1 half of the time: 400 asks of each, 5 sigma."""
    seat = taught(ExpTS(), Bernoulli(), [[1, 1], [1, 1], [0, 0]])
    known = ExpTS().own_chances(Bernoulli(), seat.ledger, np.arange(3))
    counts = np.bincount([seat.ask(7) for _ in range(800)], minlength=3)
    assert known[0] == pytest.approx(known[1])
    assert abs(counts[0] - counts[1]) < 5.0 * np.sqrt(800)


class Undeclared(ExploreThenCommit):
    """Does not say that it keeps a place."""

    def whole_numbers(self, arms):
        return {}


@pytest.mark.interpreted
def test_a_position_that_is_not_declared_is_told():
    (told,) = positions_are_declared(PolicyCase(Undeclared(explore=2), Bernoulli()))
    assert "committed of its memory is used as a place" in told
    assert list(positions_are_declared(PolicyCase(ExploreThenCommit(explore=2), Bernoulli()))) == []

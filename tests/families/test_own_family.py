"""A family of one's own is asked what ours are asked, and what it breaks is told in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest

from belman import Agent, BayesUCB, Bernoulli, Gittins, Poisson
from belman.engine import kernel
from belman.families import bernoulli
from belman.families.family import Family
from belman.families.mirror import Mirror
from belman.policies.averages import plays_needed
from belman.policies.kl_ucb import KLUCB
from belman.policies.lucb import KLLUCB
from belman.policies.stopping import check_rule
from belman.testing import check_family


@dataclass(frozen=True)
class Clicks(Family):
    """Bernoulli rewards, without being one of ours."""

    name, support, kernels = "clicks", "0 and 1", bernoulli.KERNELS
    coordinates = ("alpha", "beta")
    summed = coin = True
    reward_range = (0.0, 1.0)

    def default_prior(self):
        return (1.0, 1.0)

    def supports(self, reward):
        return 0.0 <= reward <= 1.0

    def parameter_of(self, mean):
        return (self._mean_between(mean, 0.0, 1.0),)


def choices(family, policy):
    agent = Agent(range(3), family, policy, seed=1)
    found = []
    for turn in range(40):
        found.append(agent.ask())
        agent.tell(found[-1], float(turn % 3 == found[-1]))
    return found


@pytest.mark.parametrize("policy", [Gittins(discount=0.9), BayesUCB(), KLUCB()], ids=repr)
def test_a_coin_of_ones_own_is_played_like_ours(policy):
    assert choices(Clicks(), policy) == choices(Bernoulli(), policy)


def test_a_coin_of_ones_own_may_have_another_scale():
    agent = Agent(["a"], Clicks(), range=(0.0, 10.0), start={"a": (4, 30.0)})
    assert agent.belief("a") == (4.0, 2.0)


class Visits(Poisson):
    """Counts that are at least 2 on average."""

    name = "visits"
    mean_range = (2.0, math.inf)


def test_policies_know_where_the_means_of_ones_own_family_lie():
    assert KLLUCB().params(Visits())[-2:].tolist() == [2.0, math.inf]
    assert KLUCB().params(Mirror(Visits()))[4] == -2.0
    assert Mirror(Visits()).mean_range == (-math.inf, -2.0)
    assert check_rule("proven", Mirror(Visits())) == "proven"
    assert plays_needed(Mirror(Visits())) == 0.0


def test_a_family_of_ones_own_keeps_the_contract():
    check_family(Clicks())


@kernel
def hasty(law, belief, reward):
    """Counts every reward twice."""
    belief[0] += 2.0 * reward
    belief[1] += 2.0 * (1.0 - reward)


@kernel
def flat(law, mean, other, spread):
    return 0.0


class Hasty(Clicks):
    name = "hasty"
    kernels = replace(bernoulli.KERNELS, update=hasty, d=flat)


@pytest.mark.interpreted
def test_what_a_family_does_not_keep_is_told_in_words():
    with pytest.raises(AssertionError, match="hasty does not keep the contract") as caught:
        check_family(Hasty())
    told = str(caught.value)
    assert "- beliefs are calibrated: draws of θ" in told
    assert "a coin counts wins and losses" in told
    assert "does not grow with the distance" in told

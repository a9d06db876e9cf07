"""Priors that say next to nothing: refused below a limit, and from it on nothing breaks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import belman
from belman.errors import PriorError
from belman.families import (
    FAMILIES,
    Bounded,
    Exponential,
    Gaussian,
    GaussianUnknown,
    Money,
    Positive,
)
from belman.families.mirror import Mirror
from belman.measures.martingales import mixture
from tests.members import CLOSED, member

REWARDS = {
    "bernoulli": (1.0, 0.0, 1.0, 1.0),
    "geometric": (1.0, 3.0, 2.0, 7.0),
    "bounded": (0.5, 0.5, 0.25, 0.75),
}


def at_least(family):
    """The weakest prior that a family takes, as to every count of it."""
    weakest = zip(family.prior, family.least, strict=True)
    return tuple(most if least == -math.inf else least for most, least in weakest)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_below_the_limit_is_refused_and_the_limit_is_named(name):
    family = member(name)
    assert replace(family, prior=at_least(family)).prior == at_least(family)
    counts = [i for i, least in enumerate(family.least) if least > -math.inf]
    assert counts
    for i in counts:
        weak = list(family.prior)
        weak[i] = 0.5 * family.least[i]
        words = f"says too little: {family.coordinates[i]} is .* at least {family.least[i]:g}$"
        with pytest.raises(PriorError, match=words):
            replace(family, prior=weak)
        with pytest.raises(PriorError, match=words):
            Mirror(family).check_prior(weak)


def test_the_limit_is_on_counts_and_goes_with_the_scale_of_rewards():
    assert Gaussian(sigma=1e6).prior == (0.0, 1e-14)  # of which one reward makes 1e-12
    assert Gaussian(prior=(-1e-300, 1.0)).prior == (-1e-300, 1.0)
    assert Exponential(prior=(1.0, 1e-30)).prior == (1.0, 1e-30)  # a sum of rewards, not a count
    with pytest.raises(PriorError, match=r"precision is 1e-13, .* at least 1e-12"):
        Gaussian(prior=(0.0, 1e-13))
    with pytest.raises(PriorError, match=r"says too little: at 0\.125 is"):
        Bounded(atoms=9, prior=(1e-13, 1e-13))


@pytest.mark.interpreted
@pytest.mark.parametrize("minimise", [False, True])
@pytest.mark.parametrize("name", CLOSED)
def test_at_the_limit_an_agent_is_reported_on_saved_and_loaded(name, minimise):
    family = member(name)
    family = replace(family, prior=at_least(family))
    agent = belman.Agent(["a", "b"], family, minimise=minimise, control="b", seed=1)
    for reward in (None, *REWARDS.get(name, (1.0, 2.0, 1.0, 4.0))):
        if reward is not None:
            agent.tell(agent.ask(), reward)
        assert "<html" in agent.report().to_html()
        assert str(agent.beliefs())
        assert str(agent.explain())
        again = belman.Agent.from_json(agent.to_json())
        assert again.to_json() == agent.to_json()
        assert again.ask() == agent.ask()


@pytest.mark.parametrize("family", [Money(), Positive()])
def test_means_whose_squares_overflow_are_told_apart_as_others_are(family):
    """They are those of a prior that says nothing of how much amounts vary."""
    near = family.reward_divergence(1.0, 2.0, 0.5)
    assert family.reward_divergence(1e151, 2e151, 0.5e302) == pytest.approx(near)
    for spread in (0.0, 1e300, math.inf):
        terms = np.zeros(3)
        family.kernels.terms(family.constants, 1e299, spread, terms)
        assert not np.isnan(terms).any()


@pytest.mark.interpreted
def test_an_agent_of_amounts_that_may_vary_by_any_factor_is_loaded():
    agent = belman.Agent(["a", "b"], Money(prior=(0.5, 0.5, 0.0, 0.05, 1e-12, 4.0)), seed=1)
    agent.tell(agent.ask(), 3.0)
    agent.ask()
    assert belman.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.interpreted
def test_a_scale_of_squares_that_is_next_to_nothing_breaks_no_interval():
    """Means so far out that squares overflow are as unlikely as their logarithm says."""
    family = GaussianUnknown(prior=(0.0, 1e-12, 1e-9, 1e-212))
    agent = belman.Agent(["a", "b"], family, control="b", seed=1)
    for arm, reward in (("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", 3.0)):
        agent.tell(arm, reward)
    assert "<html" in agent.report().to_html()
    against = mixture(family, family.prior, agent.belief("a"), 2.0, 1.5)
    assert against.log(1e200) - against.log(1e100) == pytest.approx(2.0 * math.log(1e100))


@pytest.mark.interpreted
def test_rewards_that_are_all_the_same_round_to_a_belief_that_can_be_loaded():
    """… though the sums leave nothing of the prior by which their mean is not certain."""
    agent = belman.Agent(["a", "b"], Bounded(prior=(1e-12, 1e-12)), seed=1)
    for _ in range(20_000):
        agent.tell("a", 0.5)
    assert agent.belief("a") == (5_000.0, 10_000.0, 10_000.0)
    again = belman.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.report().to_html() == agent.report().to_html()
    with pytest.raises(PriorError, match="is not proper: bounded needs"):
        Bounded(prior=agent.belief("a"))  # which is a place for a mean, and not a belief about one


def test_a_prior_that_expects_no_number_is_refused():
    """Such a belief would be saved, and not loaded: what it expects is e^(10⁶)."""
    words = "expects a reward beyond all numbers"
    with pytest.raises(PriorError, match=words):
        belman.Agent(["a", "b"], family="chi-squared", priors={"a": (1e6, 1.0)})
    FAMILIES["chi-squared"]().check_prior((1e4, 1.0))

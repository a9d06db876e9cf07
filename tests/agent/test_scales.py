"""Costs, rewards on other scales, and beliefs that fade."""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import Agent, BelMan
from belman.exposure import FadingEvidence
from belman.families import Bernoulli, Gaussian
from tests.agent.played import ARMS, played


def test_costs_make_the_choices_of_the_mirrored_rewards():
    """Bernoulli costs 1 − x against rewards x: α and β change places, the index is the same, and so
    are choices.
    """
    rng = np.random.default_rng(5)
    rewards, costs = Agent(range(4), seed=9), Agent(range(4), minimise=True, seed=9)
    for _ in range(400):
        arm = rewards.ask()
        assert costs.ask() == arm
        x = float(rng.random() < (0.2, 0.4, 0.6, 0.5)[arm])
        rewards.tell(arm, x)
        costs.tell(arm, 1.0 - x)
    for arm in range(4):
        assert costs.belief(arm) == rewards.belief(arm)[::-1]
    paid = costs.beliefs()
    assert paid["expected cost"] == pytest.approx(
        [1.0 - mean for mean in rewards.beliefs()["expected reward"]]
    )
    assert paid["P(best)"] == pytest.approx(rewards.beliefs()["P(best)"], abs=1e-4)
    assert all(
        low <= mean <= high
        for low, mean, high in zip(paid["low"], paid["expected cost"], paid["high"], strict=True)
    )


def test_least_waiting_time_is_found_and_every_arm_is_tried_first():
    rng = np.random.default_rng(5)
    agent = Agent(range(4), "exponential", minimise=True, seed=9)
    assert sorted(agent.ask() for _ in range(4)) == [0, 1, 2, 3]
    for arm in range(4):
        agent.cancel(arm)
    for _ in range(300):
        arm = agent.ask()
        agent.tell(arm, rng.exponential((4.0, 1.0, 8.0, 2.0)[arm]))
    table = agent.beliefs()
    assert (
        np.argmax(table["plays"])
        == np.argmin(table["expected cost"])
        == np.argmax(table["P(best)"])
        == 1
    )
    assert all(0.0 < low < high for low, high in zip(table["low"], table["high"], strict=True))


def test_costs_without_a_finite_expectation_are_shown_as_such():
    agent = Agent(["a", "b"], "exponential", prior=(1e-3, 1.0), minimise=True, seed=1)
    table = agent.beliefs()
    assert table["expected cost"] == [math.inf, math.inf]
    assert all(
        0.0 < low < high == math.inf for low, high in zip(table["low"], table["high"], strict=True)
    )


def test_rewards_on_another_scale():
    scaled, plain = Agent(ARMS, "bernoulli", range=(-10.0, 30.0), seed=2), Agent(ARMS, seed=2)
    rng = np.random.default_rng(1)
    for _ in range(100):
        arm = scaled.ask()
        assert arm == plain.ask()
        x = float(rng.integers(0, 5)) / 4.0
        scaled.tell(arm, -10.0 + 40.0 * x)
        plain.tell(arm, x)
    assert [scaled.belief(arm) for arm in ARMS] == [plain.belief(arm) for arm in ARMS]
    for column in ("expected reward", "low", "high"):
        assert scaled.beliefs()[column] == pytest.approx(
            [-10.0 + 40.0 * x for x in plain.beliefs()[column]]
        )
    assert scaled.explain()["expected reward"] == pytest.approx(
        [-10.0 + 40.0 * x for x in plain.explain()["expected reward"]]
    )


def test_costs_on_another_scale():
    agent = Agent(ARMS, range=(0.0, 100.0), minimise=True, seed=2)
    for _ in range(3):
        agent.tell("blue", 25.0)
    assert agent.belief("blue") == (0.5625, 1.75, 3.25)
    table = agent.beliefs()
    assert table["expected cost"][0] == pytest.approx(35.0)
    assert 0.0 <= table["low"][0] < 35.0 < table["high"][0] <= 100.0
    assert table["P(best)"][0] > table["P(best)"][1]


def test_discounted_bernoulli_beliefs_by_hand():
    """prior + Σ γ^k statistic, k the rewards told since (of any arm)."""
    gamma, prior = 0.9, {"a": (1.0, 1.0), "b": (2.0, 3.0)}
    agent = Agent(["a", "b"], priors=prior, discount=gamma, seed=1)
    tells = [("a", 1.0), ("b", 0.0), ("a", 0.0), ("a", 0.5), ("b", 1.0), ("a", 1.0)]
    for arm, reward in tells:
        agent.ask()
        agent.tell(arm, reward)
    for arm, (alpha, beta) in prior.items():
        for age, (told, reward) in enumerate(reversed(tells)):
            if told == arm:
                alpha += gamma**age * reward
                beta += gamma**age * (1.0 - reward)
        assert agent.belief(arm) == pytest.approx((alpha, beta), rel=1e-12)
    assert agent.beliefs()["plays"] == [4, 2]
    assert agent.turn == 7


def test_discounted_gaussian_beliefs_by_hand():
    """In natural parameters (κm, κ) as for Bernoulli: each reward adds (x, 1)/σ²."""
    gamma, sigma, prior = 0.8, 0.7, (1.5, 0.2)
    agent = Agent(["a", "b"], Gaussian(sigma), prior=prior, discount=gamma, seed=1)
    tells = [("a", 1.0), ("b", -2.0), ("a", 4.0), ("b", 0.5), ("b", 3.0), ("a", -1.0)]
    for arm, reward in tells:
        agent.tell(arm, reward)
    for arm in ("a", "b"):
        first, precision = prior[0] * prior[1], prior[1]
        for age, (told, reward) in enumerate(reversed(tells)):
            if told == arm:
                first += gamma**age * reward / sigma**2
                precision += gamma**age / sigma**2
        assert agent.belief(arm) == pytest.approx((first / precision, precision), rel=1e-12)


def test_evidence_fades_like_the_beliefs():
    """The exposure of an arm is (μ_L − μ)/(c n d), with n the sum of γ^k over its rewards."""
    agent = Agent(["a", "b"], policy=BelMan(FadingEvidence()), discount=0.5, seed=1)
    for arm, reward in (("b", 0.0), ("a", 1.0), ("b", 0.0), ("a", 1.0)):
        agent.tell(arm, reward)
    mean, leading = (Bernoulli().expected_reward(agent.belief(arm)) for arm in ("b", "a"))
    weight = 0.5 + 0.8 * math.log(2) / (1.0 + 0.1 * math.log(1.0 + 5 / 2))
    against = weight * (0.5 + 0.125) * Bernoulli().reward_divergence(mean, leading)
    assert agent.explain().row("b")["exposure"] == pytest.approx(
        (leading - mean) / against, rel=1e-12
    )


def test_a_faded_belief_returns_to_its_prior_and_the_arm_is_tried_again():
    """After the best arm has gone bad, a discounting agent changes over; with these seeds nothing
    is random.
    """
    agent = Agent(["a", "b"], discount=0.95, seed=3)
    played(agent, 200, chances=(0.9, 0.1))
    assert agent.belief("b")[0] + agent.belief("b")[1] < 12.0
    played(agent, 300, chances=(0.1, 0.9))
    assert agent.beliefs()["expected reward"][1] > agent.beliefs()["expected reward"][0]

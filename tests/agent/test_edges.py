"""Long lives, huge counts, tiny priors, many arms: no NaN, finite indices, sane choices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.exposure import Constant, Infinite
from belman.families import Bernoulli
from tests.members import CLOSED, member, random_rewards


def check_finite(agent: Agent) -> None:
    reasons, beliefs = agent.explain(), agent.beliefs()
    assert all(map(math.isfinite, reasons["index"]))
    assert not any(
        math.isnan(value)
        for name, column in reasons.columns.items()
        if name != "arm"
        for value in column
    )
    assert all(kl >= 0.0 for kl in reasons.columns.get("KL to pseudobelief", []))
    assert all(math.isfinite(value) for arm in agent.arms for value in agent.belief(arm))
    assert all(math.isfinite(value) for value in agent.pseudobelief)
    assert not any(
        math.isnan(value) for name in ("low", "high", "P(best)") for value in beliefs[name]
    )
    assert sum(beliefs["P(best)"]) == pytest.approx(
        1.0, abs=1e-4 + 5e-7 * len(agent.arms)
    )  # each rounded to a millionth


def test_one_arm_wins_for_ever():
    agent = Agent(["win", "lose", "never"], seed=1)
    for _ in range(20_000):
        arm = agent.ask()
        agent.tell(arm, float(arm == "win"))
    check_finite(agent)
    assert agent.belief("win")[0] > 19_900
    assert agent.beliefs().row("win")["P(best)"] == pytest.approx(1.0, abs=1e-3)
    assert agent.ask() == "win"


def test_all_arms_lose_for_ever():
    agent = Agent(range(3), seed=1)
    for _ in range(5_000):
        agent.tell(agent.ask(), 0.0)
    check_finite(agent)
    assert min(agent.beliefs()["plays"]) > 100  # none is worse than another


@pytest.mark.parametrize("policy", [BelMan(), BelMan.paper(), BelMan.paper("joint"), Thompson()])
def test_a_billion_counts_beside_a_thousandth(policy):
    priors = {
        0: (1e9, 1e9),
        1: (1e9, 1e-3),
        2: (1e-3, 1e9),
        3: (1e-3, 1e-3),
        4: (1.0, 1.0),
        5: (1e9, 1.0),
    }
    agent = Agent(range(6), policy=policy, priors=priors, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(300):
        arm = agent.ask()
        assert 0.0 < agent.last[0].probability <= 1.0
        agent.tell(arm, float(rng.random() < 0.5))
    check_finite(agent)


@pytest.mark.parametrize("name", CLOSED)
def test_tiny_priors_in_every_family(name):
    family = member(name)
    prior = [{"mean": 0.0, "soft": 0.0}.get(name, 1e-3) for name in family.coordinates]
    agent = Agent(range(4), family, prior=prior, seed=1)
    for reward in random_rewards(family, np.random.default_rng(1), 60):
        agent.tell(agent.ask(), reward)
    agent.ask(4)
    assert all(map(math.isfinite, agent.explain()["index"]))
    check_finite(agent)


@pytest.mark.parametrize("name", CLOSED)
def test_huge_counts_in_every_family(name):
    family = member(name)
    prior = [{"mean": 1.0, "soft": 1e8}.get(name, 1e9) for name in family.coordinates]
    agent = Agent(range(4), family, prior=prior, seed=1)
    for reward in random_rewards(family, np.random.default_rng(1), 60):
        agent.tell(agent.ask(), reward)
    check_finite(agent)


@pytest.mark.compiled
def test_a_thousand_arms():
    agent = Agent(range(1_000), seed=1)
    rng = np.random.default_rng(1)
    chances = rng.random(1_000)
    for _ in range(2_000):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < chances[arm]))
    check_finite(agent)
    plays = np.array(agent.beliefs()["plays"])
    assert plays.sum() == 2_000
    assert chances @ plays / 2_000 > 0.55  # two turns an arm are few; a random player has ½ ± 0.006
    assert len(set(agent.ask(50))) > 1


def test_one_arm_alone():
    agent = Agent(["only"], seed=1)
    for turn in range(20):
        assert agent.ask() == "only"
        assert agent.last[0].probability == 1.0
        agent.tell("only", float(turn % 2))
    assert agent.beliefs()["P(best)"] == [1.0]
    check_finite(agent)


def test_a_long_fade_ends_at_the_prior():
    agent = Agent(["told", "idle"], priors={"idle": (2.0, 3.0)}, discount=0.5, seed=1)
    agent.tell("idle", 1.0)
    for _ in range(3_000):
        agent.ask()
        agent.tell("told", 1.0)
    assert agent.belief("idle") == pytest.approx((2.0, 3.0), rel=1e-12)
    assert agent.belief("told") == pytest.approx((3.0, 1.0), rel=1e-12)  # Σ ½^k = 2, so 1 + 2
    check_finite(agent)


def test_many_asks_outstanding():
    agent = Agent(range(3), seed=1)
    agent.ask(2_000)
    assert sum(agent.outstanding.values()) == 2_000
    check_finite(agent)
    for arm, count in agent.outstanding.items():
        for _ in range(count):
            agent.tell(arm, 0.5)
    assert agent.outstanding == {}
    assert sum(sum(agent.belief(arm)) for arm in range(3)) == pytest.approx(2_006.0)


@pytest.mark.parametrize("tau", [1e-6, 1e6])
def test_extreme_exposures(tau):
    for reading in ("barycentre", "joint"):
        agent = Agent(range(3), policy=BelMan(Constant(tau), reading), seed=1)
        rng = np.random.default_rng(1)
        for _ in range(100):
            agent.tell(agent.ask(), float(rng.random() < 0.5))
        check_finite(agent)


def test_pure_exploration_tries_all_arms():
    """… though far from evenly: the location term of the KL avoids the outstanding arm."""
    agent = Agent(range(5), policy=BelMan(Infinite()), seed=1)
    rng = np.random.default_rng(1)
    for _ in range(1_000):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < (0.3, 0.4, 0.5, 0.6, 0.7)[arm]))
    assert min(agent.beliefs()["plays"]) > 10


def test_rewards_at_the_edges_of_the_support():
    exponential = Agent(range(3), "exponential", seed=1)
    for reward in (0.0, 1e-300, 1e12, 0.0, 5e-324, 1.0) * 5:
        exponential.tell(exponential.ask(), reward)
    check_finite(exponential)
    gaussian = Agent(range(3), "gaussian", seed=1)
    for reward in (0.0, 1e6, -1e6, 1e-300) * 5:
        gaussian.tell(gaussian.ask(), reward)
    check_finite(gaussian)


def test_huge_counts_leave_the_choice_to_the_evidence():
    """A billion failures and successes of one arm, a slightly better one beside it: the better is
    played.
    """
    agent = Agent(
        ["good", "better"],
        Bernoulli(),
        priors={"good": (5e8, 5e8), "better": (5.01e8, 4.99e8)},
        seed=1,
    )
    for _ in range(2_000):
        agent.tell(agent.ask(), 0.5)
    check_finite(agent)
    assert agent.beliefs().row("better")["P(best)"] == pytest.approx(1.0, abs=1e-6)

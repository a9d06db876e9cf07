"""Tsallis-INF and EXP3.P against their pseudocode, turn by turn, and against an adversary."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from belman import Agent
from belman.errors import PolicyError
from belman.families import Bernoulli, Gaussian
from belman.policies import EXP3P, TsallisINF
from tests.policies.interpreted_play import Seat

pytestmark = pytest.mark.interpreted


def tsallis_weights(losses, rate):
    """w = 4 (η (L − x))⁻² with Σ w = 1, by bisection."""
    low, high = losses.min() - 2 * math.sqrt(len(losses)) / rate, losses.min() - 2 / rate

    def weights(x):
        return 4 / (rate * (losses - x)) ** 2

    x = brentq(lambda x: weights(x).sum() - 1, low - 1e-9, high, xtol=1e-14)
    return weights(x)


def naive_tsallis(seat, rewards, reduced):
    """The pseudocode beside the policy: the same chances in every turn."""
    losses = np.zeros(seat.arms)
    for turn in range(1, len(rewards) + 1):
        rate = (4 if reduced else 2) / math.sqrt(turn)
        arm, weights = seat.ask(turn), tsallis_weights(losses, rate)
        assert [seat.propensity(turn, a) for a in range(seat.arms)] == pytest.approx(
            weights, rel=1e-6
        )
        reward = rewards[turn - 1][arm]
        base = 0.5 * (weights >= rate**2) if reduced else np.zeros(seat.arms)
        estimate = base.copy()
        estimate[arm] = (1 - reward - base[arm]) / weights[arm] + base[arm]
        losses += estimate
        seat.tell(arm, reward)


@pytest.mark.parametrize("reduced", [True, False])
def test_tsallis_inf_is_its_pseudocode(reduced):
    rewards = (np.random.default_rng(2).random((200, 4)) < [0.2, 0.5, 0.6, 0.1]).astype(float)
    naive_tsallis(Seat(TsallisINF(reduced=reduced), Bernoulli(), 4), rewards, reduced)


def test_exp3_p_is_its_pseudocode():
    arms, horizon, delta = 3, 500, 0.05
    seat = Seat(EXP3P(horizon, delta), Bernoulli(), arms)
    rewards = np.random.default_rng(4).random((200, arms))
    gains = np.zeros(arms)
    beta = math.sqrt(math.log(arms / delta) / (horizon * arms))
    eta = 0.95 * math.sqrt(math.log(arms) / (horizon * arms))
    gamma = 1.05 * math.sqrt(arms * math.log(arms) / horizon)
    for turn in range(1, 201):
        arm = seat.ask(turn)
        chances = np.exp(eta * gains) / np.exp(eta * gains).sum()
        chances = (1 - gamma) * chances + gamma / arms
        assert [seat.propensity(turn, a) for a in range(arms)] == pytest.approx(chances)
        reward = rewards[turn - 1][arm]
        gains += beta / chances
        gains[arm] += reward / chances[arm]
        seat.tell(arm, reward)


def test_closed_arms_share_their_chance():
    seat = Seat(TsallisINF(), Bernoulli(), 4)
    for turn in range(1, 30):
        arm = seat.ask(turn, (1,))
        assert arm != 1
        total = sum(seat.propensity(turn, a, (1,)) for a in (0, 2, 3))
        assert total == pytest.approx(1.0)
        seat.tell(arm, float(arm == 0))


def test_it_follows_an_adversary_who_turns():
    """The best arm of the first half is the worst of the second, and less than a third is lost."""
    for policy in (TsallisINF(), EXP3P(2_000)):
        seat, earned = Seat(policy, Bernoulli(), 2, 7), 0.0
        for turn in range(1, 2_001):
            arm = seat.ask(turn)
            reward = float(arm == (0 if turn <= 1_000 else 1))
            earned += reward
            seat.tell(arm, reward)
        assert earned > 1_000 - 2_000 / 3


def test_arms_come_and_go():
    agent = Agent(["a", "b"], policy=TsallisINF(), seed=1)
    for turn in range(40):
        agent.tell(agent.ask(), turn % 2)
    agent.add_arm("c")
    assert {agent.ask() for _ in range(60)} == {"a", "b", "c"}
    agent.retire_arm("a")
    assert agent.weights(1)["c"] > 0.1


def test_rewards_without_bounds_are_refused():
    with pytest.raises(PolicyError, match="between two bounds"):
        TsallisINF().check(Gaussian(), 2)
    with pytest.raises(PolicyError, match=r"delta=1\.5 is not valid for exp3\.p"):
        EXP3P(10, delta=1.5)


def test_a_flag_that_is_none_is_refused():
    with pytest.raises(PolicyError, match="it must be True or False"):
        TsallisINF(reduced=(1, 1))

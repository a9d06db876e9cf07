"""Policies whose chances are known: MED and Maillard sampling, ExpTS, Boltzmann–Gumbel, by twins.

Frequencies are tested at five standard errors: fewer than one false alarm in a million numbers.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import Agent
from belman.families import Bernoulli, Gaussian, Poisson
from belman.policies import (
    KLMS,
    MED,
    BoltzmannGumbel,
    ExpKLMS,
    ExpTS,
    ExpTSPlus,
    Policy,
)
from belman.policies.thompson.thompson import chances_of_largest
from tests.policies.interpreted_play import Seat, lost, taught

pytestmark = pytest.mark.interpreted


REWARDS = [[1, 0, 1, 1, 0], [0, 1, 0], [1, 1, 1, 0, 1, 1, 0, 1], [0]]


def kl(p: float, q: float) -> float:
    terms = [(p, q), (1.0 - p, 1.0 - q)]
    return sum(x * math.log(x / y) for x, y in terms if x > 0.0)


def softmax(rewards, divergence, spared=0.0):
    """p_a ∝ exp(−(n − s) d(μ̂_a, μ̂*)), the definition."""
    means = [sum(row) / len(row) for row in rewards]
    weights = [
        math.exp(-max(len(row) - spared, 0.0) * divergence(mean, max(means)))
        for row, mean in zip(rewards, means, strict=True)
    ]
    return np.array(weights) / sum(weights)


@pytest.mark.parametrize(
    ("policy", "family", "divergence", "spared"),
    [
        (MED(), Bernoulli(), kl, 0.0),
        (KLMS(), Bernoulli(), kl, 0.0),
        (ExpKLMS(), Bernoulli(), kl, 1.0),
        (MED(), Gaussian(2.0), lambda p, q: (p - q) ** 2 / 8.0, 0.0),
        (ExpKLMS(), Poisson(), lambda p, q: q - p + (p * math.log(p / q) if p else 0.0), 1.0),
    ],
    ids=["med", "kl-ms", "exp-kl-ms", "med gaussian", "exp-kl-ms poisson"],
)
def test_chances_are_their_definition(policy, family, divergence, spared):
    seat = taught(policy, family, REWARDS)
    seat.ask(18)
    result = [seat.propensity(18, arm) for arm in range(4)]
    assert result == pytest.approx(softmax(REWARDS, divergence, spared), rel=1e-9)
    rest = softmax([REWARDS[0], REWARDS[1], REWARDS[3]], divergence, spared)
    among = [seat.propensity(18, arm, (2,)) for arm in (0, 1, 3)]
    assert among == pytest.approx(rest, rel=1e-9)


def test_kl_ms_scales_rewards():
    seat = taught(KLMS(range=(0.0, 10.0)), Gaussian(), [[10 * x for x in row] for row in REWARDS])
    seat.ask(18)
    assert [seat.propensity(18, a) for a in range(4)] == pytest.approx(softmax(REWARDS, kl))


def naive_draw(rng, rewards, arms, plus, high=1.0, low=0.0):
    """ExpTS by inverting its distribution function with bisection."""
    mean, plays = sum(rewards) / len(rewards), len(rewards) - 1
    if plus and rng.random() >= 1.0 / arms:
        return mean
    level, up = rng.exponential(), rng.random() < 0.5
    near, far = mean, high if up else low
    if plays == 0 or plays * kl(mean, min(max(far, 1e-12), 1 - 1e-12)) <= level:
        return far
    for _ in range(50):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if plays * kl(mean, middle) <= level else (near, middle)
    return near


@pytest.mark.parametrize("plus", [False, True])
def test_exp_ts_draws_by_its_distribution_and_knows_its_chances(plus):
    rng, draws = np.random.default_rng(5), 2_000
    twin, own = np.zeros(4), np.zeros(4)
    policy = ExpTSPlus() if plus else ExpTS()
    seat = taught(policy, Bernoulli(), REWARDS)
    for _ in range(draws):
        drawn = [naive_draw(rng, row, 4, plus) for row in REWARDS]
        best = np.flatnonzero(np.array(drawn) == max(drawn))
        twin[rng.choice(best)] += 1 / draws
        own[seat.ask(18)] += 1 / draws
    known = policy.own_chances(Bernoulli(), seat.ledger, np.arange(4))
    error = np.sqrt(known * (1 - known) / draws)
    assert known.sum() == pytest.approx(1.0)
    assert (np.abs(own - known) <= 5 * error + 1e-3).all(), (own, known)
    assert (np.abs(twin - known) <= 5 * error + 1e-3).all(), (twin, known)
    among = policy.own_chances(Bernoulli(), seat.ledger, np.array([0, 1, 3]))
    counted = np.bincount([seat.ask(18, (2,)) for _ in range(draws)], minlength=4)[[0, 1, 3]]
    assert np.abs(counted / draws - among).max() < 0.04


def test_exp_ts_chances_are_those_of_its_distribution():
    """Two arms, by their distribution functions on a fine grid."""
    rewards = [[1, 0, 1, 1, 0], [0, 1, 0]]
    seat = taught(ExpTS(), Bernoulli(), rewards)
    points = np.linspace(0.0, 1.0, 4_001)[1:-1]
    levels = []
    for row in rewards:
        mean, plays = sum(row) / len(row), len(row) - 1
        tail = np.array([0.5 * math.exp(-plays * kl(mean, x)) for x in points])
        levels.append([0.0, *np.where(points < mean, tail, 1.0 - tail), 1.0])
    known = seat.policy.own_chances(Bernoulli(), seat.ledger, np.arange(2))
    assert known == pytest.approx(chances_of_largest(np.array(levels)), abs=2e-3)


def test_boltzmann_gumbel_is_its_definition_and_knows_its_chances():
    rng, draws = np.random.default_rng(3), 20_000
    seat = taught(BoltzmannGumbel(), Bernoulli(), REWARDS)
    noise = rng.gumbel(size=(draws, 4))
    plays = np.array([len(row) for row in REWARDS])
    drawn = np.array([np.mean(row) for row in REWARDS]) + 0.5 * noise / np.sqrt(plays)
    twin = np.bincount(drawn.argmax(axis=1), minlength=4) / draws
    known = seat.policy.own_chances(Bernoulli(), seat.ledger, np.arange(4))
    assert np.abs(twin - known).max() < 5 * 0.5 / math.sqrt(draws)
    own = np.bincount([seat.ask(18) for _ in range(2_000)], minlength=4) / 2_000
    assert np.abs(own - known).max() < 5 * 0.5 / math.sqrt(2_000)


def test_the_largest_of_two_exponentials():
    """P(X > Y) = b/(a + b) for rates a and b, by the mesh."""
    points = np.linspace(0.0, 40.0, 20_001)
    levels = np.array([1 - np.exp(-points), 1 - np.exp(-3 * points)])
    assert chances_of_largest(levels) == pytest.approx([0.75, 0.25], abs=1e-5)


def test_an_agent_reports_the_chance_of_its_choice_and_integrates_no_belief(monkeypatch):
    """So replays of what they logged need no integration."""

    def integrated(*given):
        raise AssertionError("beliefs were integrated")

    for module in ("weights", "views"):
        monkeypatch.setattr(f"belman.deciders.independent.{module}.best_probabilities", integrated)
    for policy in (MED(), KLMS(), ExpKLMS(), ExpTS(), ExpTSPlus(), BoltzmannGumbel()):
        agent = Agent(["a", "b"], policy=policy, seed=3)
        for arm, reward in (("a", 1), ("a", 0), ("b", 0), ("b", 1), ("b", 0)):
            agent.tell(arm, reward)
        arm = agent.ask()
        weights = agent.weights(1)
        agent.cancel(arm)
        assert 0.0 < agent.last[0].probability < 1.0
        assert sum(weights.values()) == pytest.approx(1.0)


class Naive:
    """A player that plays by chances that a function gives from the rewards so far."""

    def __init__(self, decide, arms, rng):
        self.rewards, self.decide, self.rng = [[] for _ in range(arms)], decide, rng

    def ask(self, turn):
        empty = [arm for arm, row in enumerate(self.rewards) if not row]
        return int(self.rng.choice(empty)) if empty else self.decide(self.rng, self.rewards)

    def tell(self, arm, reward):
        self.rewards[arm].append(reward)


def by_chances(rng, rewards):
    return int(rng.choice(len(rewards), p=softmax(rewards, lambda p, q: kl(p, min(q, 1 - 1e-16)))))


def by_draws(rng, rewards):
    drawn = np.array([naive_draw(rng, row, len(rewards), True) for row in rewards])
    return int(rng.choice(np.flatnonzero(drawn == drawn.max())))


@pytest.mark.parametrize("means", [[0.8, 0.6], [0.5, 0.3, 0.1], [0.2, 0.25, 0.1, 0.05]])
@pytest.mark.parametrize(
    ("policy", "decide"),
    [(MED(), by_chances), (KLMS(), by_chances), (ExpTSPlus(), by_draws)],
    ids=["med", "kl-ms", "exp-ts+"],
)
def test_regret_is_that_of_a_slow_twin(policy: Policy, decide, means):
    """Within three standard errors of their difference: one false alarm in 370 for each of nine."""
    rng, runs, turns = np.random.default_rng(8), 30, 80
    ours = [lost(Seat(policy, Bernoulli(), len(means), r), means, turns, rng) for r in range(runs)]
    twin = [lost(Naive(decide, len(means), rng), means, turns, rng) for _ in range(runs)]
    error = math.sqrt((np.var(ours, ddof=1) + np.var(twin, ddof=1)) / runs)
    assert abs(np.mean(ours) - np.mean(twin)) <= 3 * error

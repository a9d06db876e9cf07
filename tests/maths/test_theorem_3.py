"""Every inequality of docs/maths/theorem-3.md, by number, and the bad start, simulated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import belman
from belman import BelMan, manifold
from belman.exposure import Paper
from belman.families import Bernoulli

FAMILY = Bernoulli()
ROUNDING = 1e-8
plays = st.integers(1, 10**6)
shares = st.floats(0.0, 1.0)


def harmonic(j):
    return float(special.digamma(j + 1.0) + np.euler_gamma)


def negentropy(belief):
    """E ln b(θ) under b itself."""
    ends = np.asarray(belief) - 1.0
    return float(ends @ FAMILY.mean_parameters(belief) - special.betaln(*belief))


def beliefs(k, n, hits):
    return (1.0, 1.0 + k), (1.0 + hits, 1.0 + n - hits)


def difference(k, n, hits, centre):
    """D = KL(b₂ ‖ b̄) − KL(b₁ ‖ b̄)."""
    one, two = beliefs(k, n, hits)
    return FAMILY.divergence(two, centre) - FAMILY.divergence(one, centre)


@given(plays, plays, shares)
def test_1_the_difference_under_the_barycentre(k, n, share):
    hits = round(share * n)
    one, two = beliefs(k, n, hits)
    centre = manifold.least_kl_from_arms(FAMILY, [one, two])
    bound = negentropy(two) + 2.0 * math.log(harmonic(k + 1))
    assert difference(k, n, hits, centre) <= bound + ROUNDING * (1.0 + abs(bound))


@given(plays, plays, shares)
def test_1_by_the_belief_in_its_proof(k, n, share):
    (one, two), height = beliefs(k, n, round(share * n)), harmonic(k + 1)
    other = (1.0 / height, 1.0)
    assert FAMILY.divergence(one, other) <= math.log(height) + ROUNDING
    bound = negentropy(two) + math.log(height)
    assert FAMILY.divergence(two, other) <= bound + ROUNDING * (1.0 + abs(bound))


@given(plays, shares)
def test_2_the_entropy(n, share):
    hits = round(share * n)
    _, two = beliefs(1, n, hits)
    assert negentropy(two) <= math.log(n + 1.0) + ROUNDING
    if 0 < hits < n:
        x = hits / n
        spread = 0.5 * math.log(2.0 * math.pi * x * (1.0 - x))
        bound = 0.5 * math.log(n) + math.log((n + 1) / n) - spread
        assert negentropy(two) <= bound + ROUNDING


@given(st.integers(2, 10**6), plays, st.floats(0.5, 1.0), st.floats(0.0, 60.0))
def test_3_and_4_the_joint_projection(k, n, share, pull):
    hits = math.ceil(share * n)
    one, two = beliefs(k, n, hits)
    centre = manifold.least_kl_from_arms_tilted(FAMILY, [one, two], pull)
    rest = harmonic(n + 1) - harmonic(n - hits)
    bound = negentropy(two) + 2.0 + max(centre[1] - 1.0, 0.0) * rest
    assert difference(k, n, hits, centre) <= bound + 1e-6 * (1.0 + abs(bound))
    z, y = -np.mean([FAMILY.mean_parameters(belief) for belief in (one, two)], axis=0)
    assert math.exp(-y) <= math.sqrt(1.0 - FAMILY.expected_reward(two)) + ROUNDING
    assert math.exp(-z) <= math.exp(-harmonic(k + 1) / 2.0) + ROUNDING
    total = float(sum(centre))
    if total >= 1.0:
        left = total * (1.0 - math.exp(-y) - math.exp(-z))
        assert left <= 1.0 + 1.72 * math.exp(-y) + 1e-6


@pytest.mark.parametrize("joint", [False, True])
def test_the_best_arm_falls_behind_for_ever(joint):
    """At states that the event allows: by x − 1/(k + 2) − ½ > 0 for each unit of ln t, at C = 0."""
    for k in (2, 3, 8):
        for x in (0.77, 0.8, 0.9):
            behind = []
            for t in (1e7, 1e11):
                arms, pull = beliefs(k, t, x * t), math.log(t)
                if joint:
                    centre = manifold.least_kl_from_arms_tilted(FAMILY, arms, pull)
                else:
                    centre = manifold.least_kl_from_arms(FAMILY, arms)
                best, other = manifold.nearness(FAMILY, arms, centre, pull)
                behind.append(other - best)
            slope = (behind[1] - behind[0]) / math.log(1e4)
            assert slope == pytest.approx(x - 1.0 / (k + 2.0) - 0.5, abs=0.002)
            assert slope > 0.0


def test_a_walk_that_never_goes_below_0():
    """P(S ≥ n/2 for all n) = ¾ with rewards of mean 0.8; 20,000 walks, error rate 1e-6."""
    steps = np.where(np.random.default_rng(6).random((20_000, 200)) < 0.8, 1, -1)
    stays = float((np.cumsum(steps, axis=1).min(axis=1) >= 0).mean())
    assert stays == pytest.approx(0.75, abs=5.0 * math.sqrt(0.75 * 0.25 / 20_000))


def turns_until_it_returns(policy, most, seed):
    """From a start with three failures of the best arm and eight successes in ten of the other."""
    luck = np.random.default_rng(seed)
    agent = belman.Agent(["best", "other"], policy=policy, seed=seed)
    for arm, rewards in {"best": (0, 0, 0), "other": (1, 1, 1, 1, 0, 1, 1, 1, 1, 0)}.items():
        for reward in rewards:
            agent.tell(arm, reward)
    for turn in range(most):
        if agent.ask() == "best":
            return turn
        agent.tell("other", int(luck.random() < 0.8))
    return math.inf


@pytest.mark.parametrize("constant", [0.0, 15.0])
def test_from_the_bad_start_the_best_arm_is_not_played_again(constant):
    """In none of 20 runs of 1,000 turns. With 600 other seeds it was in none either."""
    waits = [turns_until_it_returns(BelMan(Paper(C=constant)), 1_000, seed) for seed in range(20)]
    assert waits == [math.inf] * 20


def test_from_the_bad_start_the_default_returns():
    """By turn ν₁e^(κ + E), 5·2^2.25·e^(5 d(0.2, m)), if the other arm's mean is below m = 0.83."""
    evidence = 5.0 * FAMILY.reward_divergence(0.2, 0.83)
    most = 5.0 * 2.0**2.25 * math.exp(evidence)
    assert 2_000.0 < most < 4_000.0
    assert all(turns_until_it_returns(BelMan(), 4_000, seed) < most for seed in range(20))


def test_pinskers_inequality_is_the_other_way_round():
    """|Δ| ≤ √(KL/2) for all beliefs, while the published proof needs Δ ≥ √(KL/2)."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        one, other = rng.gamma(1.0, 30.0, (2, 2)) + 0.05
        gap = FAMILY.expected_reward(one) - FAMILY.expected_reward(other)
        assert abs(gap) <= math.sqrt(FAMILY.divergence(other, one) / 2.0) + ROUNDING

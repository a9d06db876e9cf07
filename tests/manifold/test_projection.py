"""The projections of Algorithm 1 against their literal definitions, integrated over rewards and
parameters.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, special, stats

from belman import Agent, BelMan
from belman.errors import PolicyError
from belman.families import FAMILIES, BoundedExponential, Exponential
from belman.families.mirror import Mirror
from belman.manifold import (
    check_joint,
    least_kl_from_arms,
    least_kl_from_arms_tilted,
    nearness,
    projection,
)
from tests.manifold.test_barycentre import rule
from tests.members import CLOSED, member, random_beliefs

BOUND = 10.0
PULLS = (0.0, 1.0, 5.0, 36.0, 400.0, 2_500.0)


# Σ_a KL(P_a ‖ Q̄) with Q̄ ∝ f_θ(x) b̄(θ) exp(pull·x): the KL of beliefs from SciPy, ln Z̄ by
# summing or integrating over x.


def beta_kl(belief, other):
    (a, b), (c, d) = belief, other
    gain = (
        (a - c) * special.psi(a) + (b - d) * special.psi(b) + (c + d - a - b) * special.psi(a + b)
    )
    return special.betaln(c, d) - special.betaln(a, b) + gain


def gamma_kl(belief, other):
    (a, b), (c, d) = belief, other
    return (
        (a - c) * special.psi(a)
        - special.gammaln(a)
        + special.gammaln(c)
        + c * math.log(b / d)
        + a * (d - b) / b
    )


def log_z_bernoulli(belief, pull):
    """ln Σ_x e^(pull·x) P(x) over x = 0 and 1."""
    logs = [math.log(belief[1]), math.log(belief[0]) + pull]
    return special.logsumexp(logs) - math.log(sum(belief))


_LADDER = 0.5 * BOUND * 0.5 ** np.arange(260.0)
_X, _W = rule(np.concatenate([[0.0], _LADDER[::-1], BOUND - _LADDER[1:45], [BOUND]]))


def log_z_bounded(belief, pull):
    """ln E[e^(pull·X)]: X has the density αβ^α/(β + x)^(α + 1) below the bound and an atom (β/(β +
    M))^α at it.
    """
    a, b = belief
    density = math.log(a / b) - (a + 1.0) * np.log1p(_X / b)
    atom = -a * math.log1p(BOUND / b)
    return special.logsumexp(
        np.append(pull * _X + density, pull * BOUND + atom), b=np.append(_W, 1.0)
    )


JOINT = {
    "bernoulli": (beta_kl, log_z_bernoulli, lambda a, b: a / (a + b)),
    "bounded-exponential": (
        gamma_kl,
        log_z_bounded,
        lambda a, b: b / (a - 1.0) * (1.0 - (b / (b + BOUND)) ** (a - 1.0)),
    ),
}


def literal(name, rows, belief, pull):
    kl, log_z, expected = JOINT[name]
    pulled = sum(kl(row, belief) - pull * expected(*row) for row in rows)
    return pulled + len(rows) * log_z(belief, pull)


@pytest.mark.parametrize("name", JOINT)
def test_the_literal_objective_is_the_kl_between_joint_distributions(name):
    """The reference itself, at a moderate pull, by summing over a grid of (x, θ)."""
    arm, belief, pull = (2.5, 4.0), (3.0, 2.0), 0.8
    if name == "bernoulli":
        theta, weight = rule(special.expit(np.linspace(-35.0, 35.0, 141)))
        constants = stats.beta
        rewards = [(0.0, 1.0, 1.0 - theta), (1.0, 1.0, theta)]
    else:
        theta, weight = rule(np.exp(np.linspace(-30.0, 5.0, 161)))
        constants = lambda a, b: stats.gamma(a, scale=1.0 / b)  # noqa: E731
        below, width = rule(np.linspace(0.0, BOUND, 61))
        rewards = [(x, w, theta * np.exp(-theta * x)) for x, w in zip(below, width, strict=True)]
        rewards.append((BOUND, 1.0, np.exp(-theta * BOUND)))
    ours, theirs = constants(*arm), constants(*belief)
    mass, rival = weight * ours.pdf(theta), weight * theirs.pdf(theta)
    z = sum(w * math.exp(pull * x) * (rival @ likelihood) for x, w, likelihood in rewards)
    gap = ours.logpdf(theta) - theirs.logpdf(theta)
    kl = sum(
        w * (mass @ (likelihood * (gap - pull * x + math.log(z)))) for x, w, likelihood in rewards
    )
    assert literal(name, [arm], belief, pull) == pytest.approx(kl, rel=1e-8)


@pytest.mark.parametrize("pull", PULLS)
@pytest.mark.parametrize("name", JOINT)
def test_joint_minimises_the_literal_objective(name, pull):
    family = member(name)
    rng = np.random.default_rng(int(pull) + 1)
    for _ in range(3):
        rows = random_beliefs(family, rng, int(rng.integers(2, 6)), 1.2, 30.0)
        result = least_kl_from_arms_tilted(family, rows, pull)
        assert np.all(result > 0.0)
        assert np.all(np.isfinite(result))
        least = literal(name, rows, result, pull)
        slack = 1e-9 * max(1.0, 1e-3 * abs(least))
        here = np.log(result)
        for size in (1e-2, 0.3, 3.0):
            for step in rng.normal(0.0, size, (100, 2)):
                assert (
                    literal(name, rows, np.exp(np.clip(here + step, -600.0, 600.0)), pull)
                    >= least - slack
                )
        ends = [
            optimize.minimize(
                lambda point, rows=rows: literal(
                    name, rows, np.exp(np.clip(point, -600.0, 600.0)), pull
                ),
                start,
                method="Nelder-Mead",
                options={"xatol": 1e-7, "fatol": 1e-12, "maxfev": 800},
            ).fun
            for start in (here, np.log(rows.mean(axis=0)), np.zeros(2))
        ]
        assert least - slack <= min(ends)
        assert min(ends) <= least + slack


@pytest.mark.parametrize("name", JOINT)
def test_joint_without_a_pull_is_the_barycentre(name):
    family = member(name)
    rng = np.random.default_rng(9)
    for _ in range(20):
        rows = random_beliefs(family, rng, 4, 0.05, 200.0)
        np.testing.assert_allclose(
            least_kl_from_arms_tilted(family, rows, 0.0),
            least_kl_from_arms(family, rows),
            rtol=1e-6,
        )


def test_alpha_may_run_to_zero_and_indices_stay_finite():
    """Bernoulli arms under a strong pull: the infimum lies at α = 0, where differences of indices
    have limits.
    """
    family = member("bernoulli")
    rows = np.array([(0.2, 6.0), (9.0, 1.5), (0.3, 2.0)])
    smallest, previous = math.inf, None
    for pull in (36.0, 100.0, 400.0, 690.0):
        result = least_kl_from_arms_tilted(family, rows, pull)
        index = nearness(family, rows, result, pull)
        assert np.all(np.isfinite(index))
        expected = np.array([family.expected_reward(row) for row in rows])
        gaps = np.diff(index - pull * expected)
        if previous is not None:
            np.testing.assert_allclose(gaps, previous, atol=1e-5)
        smallest, previous = min(smallest, result[0]), gaps
    assert smallest < 1e-6


@pytest.mark.parametrize("pull", [6.7, 36.0, 215.0, 4_000.0])
def test_beta_may_run_to_zero_within_few_steps(pull):
    """Bounded exponential arms: where their average rate θ̄ has ᾱ/θ̄ below the bound, the minimum is
    at β of the order e^(−pull·bound/ᾱ). It used to be sought, in vain, for thousands of steps.
    """
    family, evaluations = BoundedExponential(BOUND), []

    def tilted(*given):
        evaluations.append(given)
        return family.kernels.tilted(*given)

    counting = SimpleNamespace(tilted=tilted, belief=family.kernels.belief)
    rows = [(1.0, 1.0), (1.0, 1.0), (2.0, 1.5), (2.0, 2.5), (9.0, 30.0)]
    total = np.sum([family.mean_parameters(row) for row in rows], axis=0)
    result, eta = np.ones(2), np.empty(2)
    for _ in range(2):  # from afar, and from where it is
        evaluations.clear()
        given = (counting, family.constants, total, len(rows), pull, result, eta)
        projection.least_kl_from_arms_tilted(*given)
        assert len(evaluations) < 60
    assert np.all(result > 0.0)
    assert np.all(np.isfinite(nearness(family, rows, result, pull)))
    assert (result[1] < 1e-6) == (pull > 30.0)


@pytest.mark.parametrize("name", JOINT)
def test_joint_has_no_nan_at_extreme_pulls_and_counts(name):
    family = member(name)
    rng = np.random.default_rng(13)
    for pull in (1e2, 690.0, 1e3, 1e4, 1e6):
        for _ in range(15):
            rows = random_beliefs(family, rng, 4, 1e-3, 1e6)
            result = least_kl_from_arms_tilted(family, rows, pull)
            assert np.all(np.isfinite(result) & (result > 0.0))
            assert np.all(np.isfinite(nearness(family, rows, result, pull)))


# Where the joint projection does not exist

REASONS = {
    "gaussian": "focal term cancels.*never exploit",
    "gaussian-unknown": "focal term cancels.*never exploit",
    "exponential": "normaliser .*infinite",
    "gamma": "normaliser .*infinite",
    "geometric": "normaliser .*infinite",
    "poisson": "worst arm",
    "chi-squared": "normaliser .*infinite",
    "beta": "normaliser .*not known",
    "money": "normaliser .*infinite",
    "log-normal": "normaliser .*infinite",
    "positive": "normaliser .*not known",
    "bounded": "normaliser .*not known",
}


def test_every_family_has_the_joint_projection_or_a_reason():
    assert set(REASONS) | set(JOINT) == set(FAMILIES)


@pytest.mark.parametrize("name", REASONS)
def test_joint_is_refused_with_the_reason(name):
    family = member(name)
    reason = rf"{REASONS[name]}.*use 'barycentre' or 'natural'"
    refused = rf"reading 'joint' does not exist for {name} rewards: .*{reason}"
    with pytest.raises(PolicyError, match=refused):
        least_kl_from_arms_tilted(family, [family.prior], 1.0)
    with pytest.raises(PolicyError, match=refused):
        Agent(["a", "b"], family, BelMan.paper("joint"))


def test_joint_is_refused_for_costs():
    with pytest.raises(PolicyError, match="costs are mirrored rewards"):
        check_joint(Mirror(BoundedExponential(BOUND)))


# The I-projection: the arm nearest to the pseudobelief under the focal distribution


@pytest.mark.parametrize("pull", [0.0, 0.7, 20.0])
@pytest.mark.parametrize("name", CLOSED)
def test_nearness_is_pull_times_reward_minus_kl_up_to_a_constant(name, pull):
    family = member(name)
    rng = np.random.default_rng(11)
    for high in (10.0, 1e4):
        rows, pseudobelief = (
            random_beliefs(family, rng, 6, 1.5, high),
            random_beliefs(family, rng, 1, 1.5, 10.0)[0],
        )
        near = nearness(family, rows, pseudobelief, pull)
        by_hand = [
            pull * family.expected_reward(row) - family.divergence(row, pseudobelief)
            for row in rows
        ]
        shared = near - by_hand
        assert np.ptp(shared) <= 1e-11 * max(np.abs(near).max(), high)
        assert shared[0] == pytest.approx(
            family.log_partition(pseudobelief), rel=1e-9, abs=1e-9 * high
        )


def gaussian_grid():
    theta, weight = rule(np.linspace(-14.0, 14.0, 29))
    x, width = rule(np.linspace(-18.0, 18.0, 37))
    return (
        lambda m, k: stats.norm(m, k**-0.5),
        theta,
        weight,
        x,
        width,
        stats.norm.pdf(x[:, None], theta, 0.7),
    )


def poisson_grid():
    theta, weight = rule(np.exp(np.linspace(-25.0, 4.5, 61)))
    x = np.arange(160.0)
    return (
        lambda a, b: stats.gamma(a, scale=1.0 / b),
        theta,
        weight,
        x,
        np.ones(160),
        stats.poisson.pmf(x[:, None], theta),
    )


def bernoulli_grid():
    theta, weight = rule(special.expit(np.linspace(-30.0, 30.0, 61)))
    return (
        stats.beta,
        theta,
        weight,
        np.array([0.0, 1.0]),
        np.ones(2),
        np.array([1.0 - theta, theta]),
    )


@pytest.mark.parametrize("pull", [0.0, 0.6])
@pytest.mark.parametrize(
    ("name", "grid"),
    [("bernoulli", bernoulli_grid), ("gaussian", gaussian_grid), ("poisson", poisson_grid)],
)
def test_the_largest_nearness_is_the_least_kl_between_joint_distributions(name, grid, pull):
    """KL(P_a ‖ Q̄) with P_a = f_θ(x) b_a(θ) and Q̄ ∝ f_θ(x) b̄(θ) exp(pull·x), summed over a grid
    of (x, θ).
    """
    family = member(name)
    constants, theta, weight, x, width, likelihood = grid()
    rng = np.random.default_rng(12)
    rows, pseudobelief = (
        random_beliefs(family, rng, 5, 2.0, 12.0),
        random_beliefs(family, rng, 1, 2.0, 6.0)[0],
    )
    if name == "gaussian":
        rows[:, 0] *= 0.5
    log_focal = constants(*pseudobelief).logpdf(theta) + pull * x[:, None]
    z = width @ (likelihood * np.exp(log_focal)) @ weight
    kls = []
    for row in rows:
        joint = likelihood * constants(*row).pdf(theta)
        kls.append(
            width @ (joint * (constants(*row).logpdf(theta) - log_focal + math.log(z))) @ weight
        )
    near = nearness(family, rows, pseudobelief, pull)
    assert np.argmax(near) == np.argmin(kls)
    np.testing.assert_allclose(near - near[0], np.array(kls)[0] - kls, rtol=1e-7, atol=1e-8)


def test_an_arm_of_infinite_expected_reward_comes_first_unless_nothing_pulls():
    rows = [(3.0, 2.0), (1.0, 1.0), (0.5, 2.0)]
    assert np.isposinf(nearness(Exponential(), rows, (2.0, 2.0), 1e-3)).tolist() == [
        False,
        True,
        True,
    ]
    assert np.all(np.isfinite(nearness(Exponential(), rows, (2.0, 2.0), 0.0)))

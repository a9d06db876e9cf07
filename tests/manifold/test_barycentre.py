"""The two barycentres against the objectives they are named for, by brute force; Theorem 1 and its
corollary.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from belman.families import FAMILIES, Bernoulli, Exponential, Gaussian
from belman.manifold import _centre, divergence, least_kl_from_arms, least_kl_to_arms, projection
from tests.members import BY_QUADRATURE, CLOSED, interpreted, member, random_beliefs

_REAL = ("mean", "chi")


def spread_out(family, belief):
    """Coordinates on the whole line: positive ones by their logarithm."""
    return np.array(
        [
            x if name in _REAL else math.log(x)
            for name, x in zip(family.coordinates, belief, strict=True)
        ]
    )


def gathered(family, point):
    return np.array(
        [
            x if name in _REAL else math.exp(x)
            for name, x in zip(family.coordinates, point, strict=True)
        ]
    )


def from_arms(family, rows, belief):
    return sum(divergence(family, row, belief) for row in rows)


def to_arms(family, rows, belief):
    return sum(divergence(family, belief, row) for row in rows)


@pytest.fixture(params=CLOSED)
def family(request):
    return member(request.param)


@pytest.fixture(params=[name for name in CLOSED if FAMILIES[name].conjugate])
def conjugate(request):
    """Families in which every distribution is one belief: two moments hold more than their Beta
    distribution.
    """
    return member(request.param)


BOTH = pytest.mark.parametrize(
    ("centre", "objective"), [(least_kl_from_arms, from_arms), (least_kl_to_arms, to_arms)]
)


@BOTH
def test_no_random_candidate_does_better(conjugate, centre, objective):
    family = conjugate
    rng = np.random.default_rng(1)
    rows = random_beliefs(family, rng, 4)
    result = centre(family, rows)
    least = objective(family, rows, result)
    here = spread_out(family, result)
    for size in (1e-3, 1e-2, 0.1, 1.0, 5.0):
        for step in rng.normal(0.0, size, (300, family.dimension)):
            rival = objective(family, rows, gathered(family, here + step))
            assert rival >= least * (1.0 - 1e-13)
            assert rival > least or np.abs(step).max() < 1e-6


@BOTH
def test_no_optimiser_does_better_from_any_start(conjugate, centre, objective):
    family = conjugate
    rng = np.random.default_rng(2)
    rows = random_beliefs(family, rng, 3)
    result = centre(family, rows)
    least = objective(family, rows, result)
    starts = [*rows, np.array(family.prior), random_beliefs(family, rng, 1)[0]]
    ends = [
        optimize.minimize(
            lambda point: objective(family, rows, gathered(family, point)),
            spread_out(family, start),
            method="Nelder-Mead",
            options={"xatol": 1e-8, "fatol": 1e-13, "maxfev": 4000, "adaptive": True},
        )
        for start in starts
    ]
    assert min(end.fun for end in ends) >= least - 1e-9
    # … and the optimiser is no straw man: it comes to the same place
    best = min(ends, key=lambda end: end.fun)
    assert best.fun <= least + 1e-9
    np.testing.assert_allclose(gathered(family, best.x), result, rtol=1e-3, atol=1e-3)


def worst_error(family, rows, belief):
    average = np.mean([family.mean_parameters(row) for row in rows], axis=0)
    return np.max(
        np.abs(family.mean_parameters(belief) - average) / np.maximum(1.0, np.abs(average))
    )


@pytest.mark.parametrize(("low", "high"), [(0.5, 50.0), (1e-3, 0.1), (1e5, 1e9), (1e-3, 1e9)])
def test_theorem_1_the_mean_parameters_are_the_average(family, low, high):
    rng = np.random.default_rng(3)
    for arms in (1, 2, 3, 10):
        for _ in range(25):
            rows = random_beliefs(family, rng, arms, low, high)
            assert worst_error(family, rows, least_kl_from_arms(family, rows)) < 1e-10


def test_theorem_1_holds_by_quadrature():
    script = f"""
import json, numpy as np
from belman.manifold import least_kl_from_arms
from tests.manifold.test_barycentre import worst_error
from tests.members import member, random_beliefs
rng, errors = np.random.default_rng(3), {{}}
for name in {BY_QUADRATURE!r}:
    family = member(name)
    rows = random_beliefs(family, rng, 3)
    errors[name] = worst_error(family, rows, least_kl_from_arms(family, rows))
print(json.dumps(errors))
"""
    errors = interpreted(script)
    assert set(errors) == set(BY_QUADRATURE)
    assert max(errors.values()) < 1e-10


@pytest.mark.parametrize(("low", "high"), [(0.5, 50.0), (1e-3, 1e5)])
def test_every_start_ends_in_the_same_point(family, low, high):
    rng = np.random.default_rng(4)
    rows = random_beliefs(family, rng, 3, low, high)
    points = [family.mean_parameters(row) for row in rows]
    result = least_kl_from_arms(family, rows)
    starts = random_beliefs(family, rng, 40, 1e-3, 1e6)
    for start in starts:
        again = _centre(projection.least_kl_from_arms, family, points, start, 0.0)
        np.testing.assert_allclose(again, result, rtol=1e-6)


def test_natural_parameters_of_the_other_barycentre_are_the_average(family):
    rows = random_beliefs(family, np.random.default_rng(5), 4)
    average = np.mean([family.natural(row) for row in rows], axis=0)
    np.testing.assert_allclose(family.natural(least_kl_to_arms(family, rows)), average, rtol=1e-12)


def test_one_arm_is_its_own_barycentre(family):
    row = random_beliefs(family, np.random.default_rng(6), 1)
    np.testing.assert_allclose(least_kl_from_arms(family, row), row[0], rtol=1e-7)
    np.testing.assert_allclose(least_kl_to_arms(family, row), row[0], rtol=1e-12)


def test_of_normals_in_closed_form():
    """Mean: the average of the means. Variance: the average variance plus the variance of the
    means.
    """
    means, variances = np.array([1.0, -2.0, 4.0]), np.array([0.5, 1.0, 3.0])
    mean, precision = least_kl_from_arms(Gaussian(), np.column_stack([means, 1.0 / variances]))
    assert mean == pytest.approx(1.0, rel=1e-12)
    assert 1.0 / precision == pytest.approx(1.5 + means.var(), rel=1e-12)


# The corollary: the barycentre is the projection of the mixture of the arms.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def rule(edges):
    """Gauss–Legendre nodes and weights over panels between these edges."""
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + _NODES)).ravel(), (half * _WEIGHTS).ravel()


MIXTURES = {
    "bernoulli": (
        Bernoulli(),
        [(3.0, 1.5), (2.0, 6.0), (9.0, 4.0)],
        stats.beta,
        special.expit(np.linspace(-30.0, 30.0, 121)),
    ),
    "gaussian": (
        Gaussian(),
        [(0.0, 1.0), (2.0, 4.0), (-1.0, 0.5)],
        lambda m, k: stats.norm(m, k**-0.5),
        np.linspace(-20, 20, 81),
    ),
    "exponential": (
        Exponential(),
        [(2.0, 1.0), (5.0, 2.0), (3.0, 7.0)],
        lambda a, b: stats.gamma(a, scale=1.0 / b),
        np.exp(np.linspace(-30.0, 4.5, 121)),
    ),
}


def mixture_to(constants, arms, belief, edges):
    """KL(mixture ‖ b) by quadrature, from SciPy's densities."""
    theta, weights = rule(edges)
    density = np.mean([constants(*arm).pdf(theta) for arm in arms], axis=0)
    seen = density > 1e-300
    return weights[seen] @ (
        density[seen] * (np.log(density[seen]) - constants(*belief).logpdf(theta[seen]))
    )


@pytest.mark.parametrize("name", MIXTURES)
def test_corollary_the_barycentre_projects_the_mixture(name):
    """KL(mixture ‖ b) − KL(mixture ‖ b̄) = KL(b̄ ‖ b): Pythagoras, so that b̄ is nearest."""
    family, arms, constants, edges = MIXTURES[name]
    centre = least_kl_from_arms(family, arms)
    nearest = mixture_to(constants, arms, centre, edges)
    rng = np.random.default_rng(7)
    for size in (0.01, 0.1, 0.1, 0.3, 0.3, 1.0, 1.0):
        rival = gathered(family, spread_out(family, centre) + rng.normal(0.0, size, 2))
        excess = mixture_to(constants, arms, rival, edges) - nearest
        assert excess > 0.0
        assert excess == pytest.approx(family.divergence(centre, rival), rel=1e-8, abs=1e-10)


def test_running_sums_do_not_drift():
    rng = np.random.default_rng(8)
    points, total, refreshes = np.zeros((2, 7)), np.zeros(2), np.zeros(1)
    for _ in range(20_000):
        point = -np.exp(rng.uniform(-7.0, 14.0, 2))
        projection.replace_point(points, total, refreshes, int(rng.integers(7)), point)
        assert np.abs(total - points.sum(axis=1)).max() <= 1e-13 * 7 * math.exp(14.0)
    for arm in [*range(7), *range(7)]:
        projection.replace_point(points, total, refreshes, arm, np.array([-1e-3, -2e-3]))
    np.testing.assert_allclose(total, [-7e-3, -14e-3], rtol=1e-14)

"""The probability of being best against ∫ f_a Π F_b on a fine grid of the parameter, with SciPy's
distribution functions.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from belman.families import Bernoulli, Exponential, Gaussian
from belman.families.mirror import Mirror
from belman.measures import best_probabilities
from tests.members import BY_QUADRATURE, CLOSED, interpreted, member, random_beliefs

LIMIT = 1e-3


def quantiles(constants):
    """Points at which one distribution rises evenly, and far into its tails."""
    tails = np.logspace(-14, -3, 200)
    levels = np.concatenate([tails, np.linspace(1e-3, 1.0 - 1e-3, 2_000), 1.0 - tails])
    return constants.ppf(levels)


def _as_coins(row):
    """The Beta distribution of as much variance of the mean as two moments leave."""
    soft, alpha, beta = row
    share = 1.0 - soft * (1.0 / alpha + 1.0 / beta)
    more = ((alpha + beta + 1.0) / share - 1.0) / (alpha + beta)
    return alpha * more, beta * more


def distribution_functions(family, rows, points):
    """F_a of every arm's expected reward on a common grid, in its order; the grid is fine in θ, not
    in the reward.
    """
    if family.name == "bounded":
        return distribution_functions(Bernoulli(), [_as_coins(row) for row in rows], points)
    if family.name in ("bernoulli", "geometric"):
        u = np.unique(
            np.concatenate(
                [np.sinh(np.linspace(-7.2, 7.2, points)), *(_logits(row) for row in rows)]
            )
        )
        x, y = special.expit(u), special.expit(-u)
        lower = np.array(
            [
                np.where(u < 0.0, special.betainc(a, b, x), 1.0 - special.betainc(b, a, y))
                for a, b in rows
            ]
        )
        return lower if family.name == "bernoulli" else 1.0 - lower[:, ::-1]
    if family.coordinates == ("alpha", "beta"):
        peaks = [special.gammaincinv(a, np.linspace(1e-9, 1.0 - 1e-9, 2_000)) / b for a, b in rows]
        theta = np.unique(np.concatenate([np.exp(np.linspace(-690.0, 600.0, points // 2)), *peaks]))
        lower = np.array([special.gammainc(a, np.minimum(b * theta, 1e300)) for a, b in rows])
        upper = np.array([special.gammaincc(a, np.minimum(b * theta, 1e300)) for a, b in rows])
        return lower if family.name == "poisson" else upper[:, ::-1]
    distributions = [
        stats.norm(row[0], row[1] ** -0.5)
        if len(row) == 2
        else stats.t(2.0 * row[2], row[0], math.sqrt(row[3] / (row[2] * row[1])))
        for row in rows
    ]
    x = np.unique(
        np.concatenate(
            [np.sinh(np.linspace(-300.0, 300.0, points)), *map(quantiles, distributions)]
        )
    )
    return np.array([constants.cdf(x) for constants in distributions])


def _logits(row):
    """Where a narrow Beta distribution lives."""
    a, b = row
    if min(a, b) < 2.0:
        return np.zeros(0)
    return math.log(a / b) + np.linspace(-9.0, 9.0, 4_000) * math.sqrt(1.0 / a + 1.0 / b)


def by_integration(functions):
    ends = np.zeros((len(functions), 1))
    rising = np.concatenate([ends, functions, ends + 1.0], axis=1)
    chances = []
    for a in range(len(rising)):
        others = np.prod(np.delete(rising, a, axis=0), axis=0)
        chances.append(np.diff(rising[a]) @ (0.5 * (others[1:] + others[:-1])))
    return np.array(chances)


def reference(family, rows, points=20_000):
    chances = by_integration(distribution_functions(family, np.asarray(rows), points))
    assert chances.sum() == pytest.approx(1.0, abs=1e-4)
    return chances


def check(family, rows):
    result = best_probabilities(family, np.asarray(rows, dtype=float))
    assert result.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all((result >= 0.0) & (result <= 1.0))
    np.testing.assert_allclose(result, reference(family, rows), atol=LIMIT, rtol=0.0)
    return result


@pytest.fixture(params=CLOSED)
def family(request):
    return member(request.param)


@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 20.0), (0.15, 1.5), (0.15, 1e4), (1e3, 1e9), (0.15, 1e9)]
)
def test_random_beliefs(family, low, high):
    """Down to counts of 0.15, where expected rewards such as 1/θ have tails without end."""
    rng = np.random.default_rng(1)
    for arms in (2, 3, 6):
        check(family, random_beliefs(family, rng, arms, low, high))


def test_near_contenders_at_a_billion_counts():
    check(Bernoulli(), [(5.0e8, 5.0e8), (5.0e8 + 1e4, 5.0e8), (5.0e8, 5.0e8 + 3e4), (30.0, 30.0)])
    check(Gaussian(), [(1.0, 1e9), (1.0 + 2e-5, 1e9), (1.0 - 1e-5, 3e8), (0.9, 100.0)])
    check(Exponential(), [(1e9, 1e9), (1e9, 1.00002e9), (3e8, 3e8), (8.0, 7.0)])


NARROW = {
    "bernoulli": [(6e5, 4e5), (1.0, 1.0), (2.0, 1.5), (3.0, 3.0)],
    "exponential": [(2e6, 4e6), (2.0, 2.0), (1.5, 3.0), (5.0, 9.0)],
    "bounded-exponential": [(2e6, 4e6), (2.0, 2.0), (1.5, 3.0), (5.0, 9.0)],
    "poisson": [(2e6, 1e6), (2.0, 2.0), (1.5, 0.5), (5.0, 3.0)],
    "gaussian": [(0.5, 1e8), (0.0, 1.0), (1.0, 0.3), (-1.0, 0.1)],
    "gaussian-unknown": [
        (0.5, 1e8, 1e6, 1e6),
        (0.0, 1.0, 2.0, 2.0),
        (1.0, 0.3, 1.0, 1.0),
        (-1.0, 0.1, 0.6, 1.0),
    ],
    "gamma": [(2e6, 4e6), (2.0, 2.0), (1.5, 3.0), (5.0, 9.0)],
    "geometric": [(4e5, 6e5), (1.0, 1.0), (2.0, 1.5), (3.0, 3.0)],
    "bounded": [(2e5, 6e5, 4e5), (0.0, 1.0, 1.0), (0.3, 2.0, 1.5), (1.0, 3.0, 3.0)],
    "positive": [
        (0.5, 1e6, 1e6, 1e6),
        (0.0, 1.0, 2.0, 2.0),
        (1.0, 0.5, 1.0, 1.0),
        (-1.0, 0.3, 2.0, 1.0),
    ],
}


def test_one_narrow_arm_among_wide_ones(family):
    result = check(family, NARROW[family.name])
    assert 0.01 < result[0] < 0.99


def test_identical_arms_share_alike(family):
    for arms in (2, 7, 300):
        row = random_beliefs(family, np.random.default_rng(arms), 1)
        np.testing.assert_allclose(
            best_probabilities(family, np.tile(row, (arms, 1))), 1.0 / arms, rtol=1e-9
        )


def test_one_arm_is_best(family):
    assert best_probabilities(family, np.array([family.prior])).tolist() == [1.0]


def test_a_thousand_arms():
    """The product of a thousand distribution functions rises late: a grid of rewards is enough."""
    rng = np.random.default_rng(2)
    beliefs = random_beliefs(Bernoulli(), rng, 1_000, 1.0, 300.0)
    x = 1.0 - np.append(np.geomspace(0.7, 1e-9, 3_000), 0.0)
    functions = special.betainc(beliefs[:, :1], beliefs[:, 1:], x)
    np.testing.assert_allclose(
        best_probabilities(Bernoulli(), beliefs), share(functions), atol=LIMIT, rtol=0.0
    )
    beliefs = random_beliefs(Gaussian(), rng, 1_000, 0.05, 50.0)
    x = np.linspace(beliefs[:, 0].max() - 1.0, beliefs[:, 0].max() + 25.0, 4_000)
    functions = special.ndtr((x - beliefs[:, :1]) * np.sqrt(beliefs[:, 1:]))
    np.testing.assert_allclose(
        best_probabilities(Gaussian(), beliefs), share(functions), atol=LIMIT, rtol=0.0
    )


def share(functions):
    """As `by_integration`, by logarithms, for many arms."""
    logs = np.log(np.maximum(functions, 1e-300))
    others = np.exp(logs.sum(axis=0) - logs)
    chances = (np.diff(functions, axis=1) * 0.5 * (others[:, 1:] + others[:, :-1])).sum(axis=1)
    assert chances.sum() == pytest.approx(1.0, abs=1e-3)
    return chances / chances.sum()


def test_two_arms_in_closed_form():
    assert best_probabilities(Bernoulli(), np.array([[2.0, 1.0], [1.0, 2.0]]))[0] == pytest.approx(
        5 / 6, abs=1e-4
    )
    (m, k), (n, j) = (0.3, 2.0), (-0.1, 0.7)
    exact = special.ndtr((m - n) / math.sqrt(1.0 / k + 1.0 / j))
    assert best_probabilities(Gaussian(), np.array([[m, k], [n, j]]))[0] == pytest.approx(
        exact, abs=1e-4
    )
    # P(θ₁ < θ₂) for rates Gamma(a, b) and Gamma(c, d): bθ₁/(bθ₁ + dθ₂) is Beta(a, c)
    (a, b), (c, d) = (2.5, 1.0), (4.0, 2.5)
    exact = special.betainc(a, c, b / (b + d))
    assert best_probabilities(Exponential(), np.array([[a, b], [c, d]]))[0] == pytest.approx(
        exact, abs=1e-4
    )
    assert best_probabilities(Mirror(Exponential()), np.array([[a, b], [c, d]]))[
        0
    ] == pytest.approx(1.0 - exact, abs=1e-4)


def test_a_better_belief_has_a_better_chance_and_leaves_less_to_the_others():
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = random_beliefs(Bernoulli(), rng, 4)
        before = best_probabilities(Bernoulli(), rows)
        rows[1, 0] *= 1.5
        after = best_probabilities(Bernoulli(), rows)
        assert after[1] >= before[1]
        assert np.all(np.delete(after - before, 1) <= LIMIT)


def test_hopeless_and_certain_arms():
    result = best_probabilities(Bernoulli(), np.array([[1e9, 1.0], [1.0, 1e9], [5e8, 5e8]]))
    np.testing.assert_allclose(result, [1.0, 0.0, 0.0], atol=1e-9)


def test_counts_of_a_thousandth_have_no_nan(family):
    rows = random_beliefs(family, np.random.default_rng(4), 5, 1e-3, 1e-2)
    for distributions in (family, Mirror(family)) if family.name == "exponential" else (family,):
        result = best_probabilities(distributions, rows)
        assert np.all((result >= 0.0) & (result <= 1.0))
        assert result.sum() == pytest.approx(1.0, abs=1e-12)


def test_beliefs_by_quadrature():
    """b(θ) ∝ exp(χθ − νB(θ)) on a grid, for chi-squared (E = 2θ) and Beta(θ, 2) rewards (E = θ/(θ +
    2)).
    """
    rows = {
        "chi-squared": [(0.0, 1.0), (2.0, 3.0), (9.0, 9.0)],
        "beta": [(-1.0, 1.0), (-2.0, 3.0), (-9.0, 8.0)],
    }
    assert set(rows) == set(BY_QUADRATURE)
    result = interpreted(f"""
import json, numpy as np
from belman.measures import best_probabilities
from tests.members import member
rows = {rows!r}
tables = {{name: np.array(beliefs) for name, beliefs in rows.items()}}
found = {{name: best_probabilities(member(name), table) for name, table in tables.items()}}
print(json.dumps({{name: chances.tolist() for name, chances in found.items()}}))
""")
    u = np.linspace(-25.0, 8.0, 40_000)
    theta = np.exp(u)
    partitions = {"chi-squared": special.gammaln(theta), "beta": special.betaln(theta, 2.0)}
    for name, beliefs in rows.items():
        logs = np.array([chi * theta - nu * partitions[name] + u for chi, nu in beliefs])
        density = np.exp(logs - logs.max(axis=1, keepdims=True))
        functions = np.cumsum(density, axis=1)
        np.testing.assert_allclose(
            result[name], by_integration(functions / functions[:, -1:]), atol=LIMIT, rtol=0.0
        )

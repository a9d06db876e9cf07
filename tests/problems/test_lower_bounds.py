"""The least number of turns: published proportions, and brute force to 1e-6."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize, minimize_scalar

import belman
from belman.errors import SettingError
from belman.problems import Stationary, characteristic_time
from tests.members import interpreted

#: Garivier and Kaufmann (2016), Section 6: proportions for Bernoulli arms.
PUBLISHED = {
    (0.5, 0.45, 0.43, 0.4): (0.417, 0.390, 0.136, 0.057),
    (0.3, 0.21, 0.2, 0.19, 0.18): (0.336, 0.251, 0.177, 0.132, 0.104),
}


@pytest.mark.parametrize("means", PUBLISHED)
def test_published_proportions(means: tuple[float, ...]) -> None:
    assert characteristic_time(belman.problems.bernoulli(means)).proportions == pytest.approx(
        PUBLISHED[means], abs=6e-4
    )


def least_evidence(problem: Stationary, m: int, shares: np.ndarray) -> float:
    """By definition, with a search over x for every pair."""
    family, means = problem.family, np.array(problem.means)
    order = np.argsort(-means)
    result = math.inf
    for a in order[:m]:
        for b in order[m:]:

            def total(x: float, a: int = a, b: int = b) -> float:
                return shares[a] * family.reward_divergence(means[a], x) + shares[
                    b
                ] * family.reward_divergence(means[b], x)

            result = min(
                result,
                minimize_scalar(
                    total, bounds=(means[b], means[a]), method="bounded", options={"xatol": 1e-12}
                ).fun,
            )
    return result


def brute(problem: Stationary, m: int) -> float:
    """1/max over proportions, by a simplex search from several starts, with no use of gradients or
    of convexity.
    """

    def loss(z: np.ndarray) -> float:
        shares = np.exp(np.append(z, 0.0) - z.max(initial=0.0))
        return -math.log(least_evidence(problem, m, shares / shares.sum()))

    best = math.inf
    for seed in range(2):
        z = np.random.default_rng(seed).normal(size=problem.arms - 1)
        for _ in range(6):  # a simplex that has shrunk on a ridge is spread out anew
            result = minimize(
                loss,
                z,
                method="Nelder-Mead",
                options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 1_500},
            )
            z = result.x
        best = min(best, result.fun)
    return math.exp(best)


@pytest.mark.parametrize("m", [1, 2])
def test_brute_force(m: int) -> None:
    problem = belman.problems.bernoulli([0.7, 0.5, 0.2])
    assert characteristic_time(problem, m).turns == pytest.approx(brute(problem, m), rel=1e-6)


TWO_ARMS = """
import json
from scipy.optimize import minimize_scalar
from belman.problems import characteristic_time
from belman.problems import problem
from tests.members import member

def search(f, low, high, precision):
    return minimize_scalar(f, bounds=(low, high), method="bounded", options={"xatol": precision})

found = {}
others = "exponential poisson bounded-exponential gaussian-unknown geometric beta"
for name in others.split():
    family = member(name)
    pair = {"geometric": (3.0, 2.0), "beta": (0.6, 0.4)}.get(name, (1.5, 1.0))
    ours = characteristic_time(problem(family, pair))
    means = [family.mean_of(family.parameter_of(mean)) for mean in pair]
    spread = float(family.constants[0]) ** 2 if name == "gaussian-unknown" else 1.0

    def d(i, x):
        return family.reward_divergence(means[i], x, spread)

    def evidence(share):
        def both(x):
            return share * d(0, x) + (1 - share) * d(1, x)

        return search(both, means[1], means[0], 1e-10).fun

    best = search(lambda share: -evidence(share), 0.01, 0.99, 1e-8)
    found[name] = [float(ours.turns), -1.0 / best.fun, float(ours.proportions[0]), float(best.x)]
print(json.dumps(found))
"""


def test_two_arms_of_other_families() -> None:
    """1/T* is the largest least over the share of one of them, also where d is not Bregman."""
    for name, (turns, wanted, share, best) in interpreted(TWO_ARMS).items():
        assert turns == pytest.approx(wanted, rel=1e-6), name
        assert share == pytest.approx(best, abs=1e-3), name


def test_gaussian_arms_have_a_closed_form() -> None:
    """Two Gaussian arms: T* = 8σ²/Δ², half of the plays each."""
    script = "import json, belman; arms = belman.problems.gaussian([0.3, 0.1], sigma=2.0);"
    script += (
        "f = belman.problems.characteristic_time(arms);print(json.dumps([f.turns, *f.proportions]))"
    )
    assert interpreted(script) == pytest.approx([8.0 * 4.0 / 0.04, 0.5, 0.5])


def test_nested_bisection() -> None:
    """Garivier and Kaufmann's own recipe, Theorem 5, on the paper's 20 arms."""
    means = sorted(
        [
            0.25,
            0.22,
            0.2,
            0.17,
            0.17,
            0.2,
            0.13,
            0.13,
            0.1,
            0.07,
            0.07,
            0.05,
            0.05,
            0.05,
            0.02,
            0.02,
            0.02,
            0.01,
            0.01,
            0.01,
        ]
    )[::-1]

    def d(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    def level(x: float, mean: float) -> float:
        middle = (means[0] + x * mean) / (1 + x)
        return d(means[0], middle) + x * d(mean, middle)

    def ratios(y: float) -> list[float]:
        return [
            brentq(lambda x, mean=mean: level(x, mean) - y, 0.0, 1e6, xtol=1e-15)
            for mean in means[1:]
        ]

    def excess(y: float) -> float:
        middles = [
            (means[0] + x * mean) / (1 + x) for x, mean in zip(ratios(y), means[1:], strict=True)
        ]
        return (
            sum(
                d(means[0], middle) / d(mean, middle)
                for mean, middle in zip(means[1:], middles, strict=True)
            )
            - 1.0
        )

    y = brentq(excess, 1e-8, d(means[0], means[1]) * 0.99, xtol=1e-16)
    wanted = (1.0 + sum(ratios(y))) / y
    result = characteristic_time(belman.problems.bernoulli(means))
    assert result.turns == pytest.approx(wanted, rel=1e-6)
    assert result.proportions.sum() == pytest.approx(1.0)


def test_edges() -> None:
    same = characteristic_time(belman.problems.bernoulli([0.5, 0.5]))
    assert same.turns == math.inf
    assert characteristic_time(belman.problems.bernoulli([0.5, 0.4]), m=2).turns == 0.0
    for m in (0, 3, True, 1.5):
        with pytest.raises(SettingError, match="m="):
            characteristic_time(belman.problems.bernoulli([0.5, 0.4]), m)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="needs fixed means"):
        characteristic_time(belman.problems.random_bernoulli(3))  # type: ignore[arg-type]

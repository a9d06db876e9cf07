"""The whole class of rules of docs/maths/optimality.md against an adversary: he sets p_a in [0, 1]
and φ anywhere in [x − κ, x], anew for every arm and turn, and breaks ties for the worst arm.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.maths.bounds import d, d_plus

TURNS = 150


def priors(mode, arms, m, rng):
    """What the adversary has arms believed to be: at random, or against the best one."""
    return {
        "any": rng.random(arms),
        "ends": rng.integers(2, size=arms).astype(float),
        "low": np.zeros(arms),
        "against the best": np.array([0.0] + [1.0] * (arms - 1)),
        "just below the level": np.array([0.0] + [0.999 * m] * (arms - 1)),
    }[mode]


@pytest.mark.parametrize("mode", ["any", "ends", "low", "against the best", "just below the level"])
def test_6_7_and_both_counts_whatever_the_adversary_does(mode):
    """Every play of the worst arm, on every path: no luck is needed, so nothing may fail."""
    rng, kinds = np.random.default_rng(len(mode)), {"A": 0, "B": 0}
    for _ in range(12):
        arms, worth, kappa = int(rng.integers(2, 5)), *rng.choice([0.05, 0.7, 2.0, 6.0], 2)
        means = np.sort(rng.random(arms))[::-1]
        last = arms - 1
        m = means[0] - (means[0] - means[1]) * rng.uniform(0.1, 0.9)
        r = means[last] + (m - means[last]) * rng.uniform(0.1, 0.9)
        rewards = rng.random((arms, TURNS)) < means[:, None]
        sums = np.concatenate([np.zeros((arms, 1)), rewards.cumsum(axis=1)], axis=1)
        plays, of_kind_a, of_kind_b = np.zeros(arms, dtype=int), 0, {}
        most = math.log(TURNS) + kappa + math.log(max(1.0, 1.0 / worth))
        for t in range(1, TURNS + 1):
            nu = plays + worth
            told = sums[np.arange(arms), plays]
            mu = np.clip((told + worth * priors(mode, arms, m, rng)) / nu, 0.0, 1.0)
            top = float(mu.max())
            short = kappa * (rng.random(arms) if rng.random() < 0.5 else np.eye(arms)[0])
            index = np.log(t / nu) - short - nu * [d(one, top) for one in mu]
            played = int(np.flatnonzero(index >= index.max() - 1e-12)[-1])
            if played == last and top >= m:
                of_kind_a += 1
                bound = math.log(t) + kappa + math.log(max(1.0, 1.0 / worth))
                assert nu[last] * d_plus(mu[last], m) <= bound + 1e-9
            elif played == last:
                n = int(plays[0])
                average = sums[0, n] / n if n else 1.0
                assert n == 0 or average < m + worth * m / n + 1e-12
                largest = (n + worth) * math.exp(kappa + n * d_plus(average, m))
                largest *= (1.0 - m) ** -worth
                assert nu[last] <= largest * (1.0 + 1e-9)
                of_kind_b[n] = (of_kind_b.get(n, (0,))[0] + 1, largest)
            plays[played] += 1
        n = np.arange(plays[last])
        lucky = int(((sums[last, n] + worth) / (n + worth) > r).sum())
        assert of_kind_a <= most / d(r, m) + 1.0 + lucky
        assert all(count <= largest + 1.0 for count, largest in of_kind_b.values())
        kinds["A"] += of_kind_a
        kinds["B"] += sum(count for count, _ in of_kind_b.values())
    assert kinds["A"] > 0
    assert kinds["B"] > 0 or mode in ("any", "ends", "against the best")

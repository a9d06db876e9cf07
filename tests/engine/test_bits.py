"""Kernels give the same numbers compiled as interpreted, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from belman import chance, special
from belman.engine import entry, kernel
from belman.families.family_kernels import TERMS
from tests.contracts.cases import CASES


@kernel
def everything(family, constants, belief, x, other, rng, theta, row, matrix, terms, weights, out):
    """All that a family can do with a belief: one number after the other."""
    size = belief.size
    out[0] = family.expected_reward(constants, belief)
    out[1] = family.worth(constants, belief)
    out[2] = family.spread(constants, belief)
    out[3] = family.mean_cdf(constants, belief, x)
    out[4] = family.d(constants, x, other, out[2])
    out[5] = family.common_mean(constants, 3.0, x, out[2], 5.0, other, out[2])
    out[6] = family.belief.log_partition(constants, belief)
    position = 7
    for level in (1e-13, 0.1):
        out[position] = family.mean_quantile(constants, belief, level, False)
        out[position + 1] = family.mean_quantile(constants, belief, level, True)
        position += 2
    for _ in range(3):
        family.sample(constants, belief, rng, theta)
        out[position] = theta[0]
        out[position + 1] = family.sample_mean(constants, belief, rng)
        out[position + 2] = family.reward(constants, theta, chance.uniform(rng))
        position += 3
    family.terms(constants, x, out[2], terms[:, 0])
    family.weights(constants, other, weights)
    out[position] = family.evidence(terms, 0, weights)
    position += 1
    family.belief.metric(constants, belief, matrix)
    for i in range(size):
        for j in range(size):
            out[position] = matrix[i, j]
            position += 1
    family.belief.natural(constants, belief, row)
    for i in range(size):
        out[position + i] = row[i]
    family.belief.mean_parameters(constants, belief, row)
    for i in range(size):
        out[position + size + i] = row[i]
        matrix[0, i] = belief[i]
    family.belief.solve(constants, row, matrix[0])
    out[position + 2 * size] = family.belief.divergence(constants, belief, matrix[0])
    family.update(constants, matrix[0], family.reward(constants, theta, 0.75))
    family.imagine(constants, matrix[0])
    for i in range(size):
        out[position + 2 * size + 1 + i] = matrix[0, i]


def arguments(case: Any, belief: Any) -> dict[str, Any]:
    family, size = case.family, case.family.dimension
    return {
        "constants": family.constants,
        "belief": np.array(belief, dtype=np.float64),
        "x": float(case.means[0]),
        "other": float(case.means[1]),
        "rng": chance.generator(4),
        "theta": np.zeros(family.parameters),
        "row": np.zeros(size),
        "matrix": np.zeros((size, size)),
        "terms": np.zeros((TERMS, 1)),
        "weights": np.zeros(TERMS),
        "out": np.zeros(22 + size * size + 3 * size),
    }


@pytest.mark.parametrize("name", CASES)
def test_families(name):
    case = CASES[name]
    call = entry(everything, family=case.family.kernels)
    beliefs = [
        case.ordinary[1],
        *(case.extreme if case.distribution else ()),
    ]  # integrals take long
    for belief in beliefs:
        compiled, interpreted = arguments(case, belief), arguments(case, belief)
        call(**compiled)
        with np.errstate(all="ignore"):
            everything(family=case.family.kernels, **interpreted)
        for held in ("out", "rng", "belief"):
            assert compiled[held].tobytes() == interpreted[held].tobytes(), belief
        assert np.count_nonzero(interpreted["out"]) > 10


@kernel
def functions(points, out):
    for i in range(points.size):
        x, y = points[i], points[(7 * i) % points.size]
        out[i, 0] = special.log_gamma(x)
        out[i, 1] = special.digamma(x)
        out[i, 2] = special.trigamma(x)
        out[i, 3] = special.stirling(x)
        out[i, 4] = special.log_beta(x, y)


def test_special_functions():
    points = np.array([*np.logspace(-3, 9, 40), 1.0, 2.0, 1.4616321449683623, 7.999])
    compiled, interpreted = np.zeros((len(points), 5)), np.zeros((len(points), 5))
    entry(functions)(points=points, out=compiled)
    functions(points, interpreted)
    assert compiled.tobytes() == interpreted.tobytes()

"""A corrected reward leads where it would have led: exactly if rewards are linear, else nearly."""

from __future__ import annotations

import numpy as np
import pytest

from belman.engine import entry
from belman.models import Block, Linear, Logistic, PoissonLog
from belman.models.correcting import correct
from tests.models.learning import covariance, learnt

KNOWN, UNKNOWN = Linear(noise=0.5), Linear(unknown=True)
BLOCKS = [Block(2), Block(3, pooled=True)]


def corrected(model, belief, row, old, new, kept=1.0):
    """Correct a belief in place."""
    numbers = {"old": float(old), "new": float(new), "kept": kept}
    entry(correct, model=model.kernels)(
        constants=model.constants, belief=belief, features=row, **numbers
    )
    return belief


def told(model, seed, n=60):
    """Rows of features, and rewards that the model allows."""
    nature = np.random.default_rng(seed)
    rows = nature.normal(size=(n, 5))
    level = rows @ nature.normal(size=5) * 0.7
    if isinstance(model, Logistic):
        return rows, (nature.random(n) < 1.0 / (1.0 + np.exp(-level))).astype(float)
    if isinstance(model, PoissonLog):
        return rows, nature.poisson(np.exp(np.minimum(level, 2.0))).astype(float)
    return rows, level + 0.5 * nature.normal(size=n)


def near(one, other, tolerance):
    """Whether two beliefs differ by at most this part of a deviation, and of a variance."""
    wide = np.sqrt(np.diag(covariance(other)))
    apart = np.abs(one.mean - other.mean).max(axis=0) / wide
    return apart.max() < tolerance and np.allclose(
        covariance(one), covariance(other), rtol=0.0, atol=tolerance * wide.max() ** 2
    )


@pytest.mark.parametrize("position", [0, 30, 59])
@pytest.mark.parametrize("model", [KNOWN, UNKNOWN])
@pytest.mark.parametrize("new", [3.0, np.nan])
def test_linear_beliefs_are_what_they_would_have_been(model, position, new):
    rows, rewards = told(model, position)
    belief = corrected(
        model, learnt(model, BLOCKS, rows, rewards), rows[position], rewards[position], new
    )
    right = rewards.copy()
    right[position] = new
    there = np.isfinite(right)
    anew = learnt(model, BLOCKS, rows[there], right[there])
    for part in ("mean", "noise", "fit", "share", "clock"):
        np.testing.assert_allclose(getattr(belief, part), getattr(anew, part), atol=1e-9)
    for member in range(4):
        np.testing.assert_allclose(
            covariance(belief, member=member), covariance(anew, member=member), atol=1e-9
        )


@pytest.mark.parametrize("position", [0, 1, 30, 59])
@pytest.mark.parametrize("model", [Logistic(), Logistic(laplace=True), PoissonLog()])
@pytest.mark.parametrize("forget", [False, True])
def test_other_beliefs_are_nearly_what_they_would_have_been(model, position, forget):
    """Within a tenth of a deviation; beliefs of rewards in another order are no nearer."""
    rows, rewards = told(model, 7)
    new = np.nan if forget else (1.0 - rewards[position] if rewards[position] <= 1.0 else 0.0)
    belief = corrected(
        model, learnt(model, 5, rows, rewards), rows[position], rewards[position], new
    )
    right = rewards.copy()
    right[position] = new
    there = np.isfinite(right)
    assert near(belief, learnt(model, 5, rows[there], right[there]), 0.1)


@pytest.mark.parametrize(
    "model", [KNOWN, UNKNOWN, Logistic(), Logistic(laplace=True), PoissonLog()]
)
def test_the_last_reward_is_taken_out_as_it_was_put_in(model):
    """Nothing came after it, so that its factor is known; without any reward the prior is left."""
    rows, rewards = told(model, 3)
    belief = corrected(model, learnt(model, 5, rows, rewards), rows[-1], rewards[-1], np.nan)
    assert near(belief, learnt(model, 5, rows[:-1], rewards[:-1]), 1e-5)
    only = corrected(model, learnt(model, 5, rows[:1], rewards[:1]), rows[0], rewards[0], np.nan)
    for part, prior in zip(only, model.belief(5), strict=True):
        if part is not only.scratch:
            np.testing.assert_array_equal(part, prior)


@pytest.mark.parametrize("model", [KNOWN, UNKNOWN, Logistic(), PoissonLog()])
def test_any_number_of_corrections_leaves_a_belief(model):
    """There and back again, a thousand times: deviations stay positive, and where they were."""
    rows, rewards = told(model, 5)
    belief = learnt(model, 5, rows, rewards)
    nature = np.random.default_rng(1)
    for _ in range(1_000):
        position = int(nature.integers(len(rows)))
        corrected(model, belief, rows[position], rewards[position], np.nan)
        corrected(model, belief, rows[position], np.nan, rewards[position])
    assert np.isfinite(belief.mean).all()
    assert (np.diagonal(belief.root[0]) > 0.0).all()
    assert near(belief, learnt(model, 5, rows, rewards), 0.1)


def test_what_has_faded_is_corrected_as_far_as_it_is_left():
    """Of a reward that a hundredth is left of, a hundredth of the difference is."""
    rows, rewards = told(KNOWN, 9)
    whole = corrected(KNOWN, learnt(KNOWN, 5, rows, rewards), rows[3], rewards[3], 4.0)
    part = corrected(KNOWN, learnt(KNOWN, 5, rows, rewards), rows[3], rewards[3], 4.0, 0.01)
    before = learnt(KNOWN, 5, rows, rewards)
    np.testing.assert_allclose(
        part.mean - before.mean, 0.01 * (whole.mean - before.mean), atol=1e-9
    )

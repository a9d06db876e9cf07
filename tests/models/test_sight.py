"""What is seen of arms: marginals, draws, and the cheap way for features that stay."""

from __future__ import annotations

import numpy as np
import pytest

from belman import chance
from belman.engine import entry, kernel
from belman.models import Block, Linear, Logistic, PoissonLog, Sight
from belman.models.shared import draw, learn
from belman.models.sight import expected_scale, follow, look_at_all
from tests.models.learning import covariance, learnt


@kernel
def learn_and_follow(model, constants, belief, features, arms, rewards, sight):
    look_at_all(model, constants, belief, features, sight)
    for i in range(len(arms)):
        before = expected_scale(model, constants, belief)
        learn(model, constants, belief, features[arms[i]], rewards[i])
        follow(model, constants, belief, features, before, sight)
    return 0


MODELS = [
    (Linear(noise=0.1), [Block(6)]),
    (Linear(noise=0.1, unknown=True), [Block(6)]),
    (Linear(keep=0.99), [Block(6)]),
    (Linear(), [Block(2), Block(4, 1.0, True)]),
    (Logistic(), [Block(6)]),
    (PoissonLog(), [Block(6)]),
]


@pytest.mark.parametrize(("model", "blocks"), MODELS, ids=str)
def test_following_arms_sees_what_looking_at_them_afresh_sees(model, blocks):
    rng = np.random.default_rng(10)
    features = rng.normal(size=(9, 6)) / 2.0
    arms = np.where(rng.random(5_000) < 0.9, 3, rng.integers(9, size=5_000))
    rewards = rng.integers(2, size=5_000).astype(float)
    belief, followed, fresh = model.belief(blocks), Sight.of(9), Sight.of(9)
    held = {"constants": model.constants, "belief": belief, "features": features}
    entry(learn_and_follow, model=model.kernels)(**held, arms=arms, rewards=rewards, sight=followed)
    entry(look_at_all, model=model.kernels)(**held, sight=fresh)
    for name in ("eta", "variance", "worth", "first"):
        np.testing.assert_allclose(getattr(followed, name), getattr(fresh, name), rtol=1e-7)


def test_marginals_of_a_bank_are_those_of_the_mixture():
    rng = np.random.default_rng(11)
    rows, rewards = rng.normal(size=(30, 4)), rng.normal(size=30)
    model = Linear()
    belief = learnt(model, [Block(1), Block(3, 1.0, True)], rows, rewards)
    seen, features = Sight.of(1), np.array([[1.0, 0.5, -1.0, 2.0]])
    entry(look_at_all, model=model.kernels)(
        constants=model.constants, belief=belief, features=features, sight=seen
    )
    means = belief.mean @ features[0]
    inner = [features[0] @ covariance(belief, 1.0, b) @ features[0] for b in range(4)]
    mean = belief.share @ means
    assert seen.eta[0] == pytest.approx(mean, rel=1e-12)
    assert seen.variance[0] == pytest.approx(belief.share @ (inner + (means - mean) ** 2))


def test_draws_have_the_moments_of_the_belief():
    """20,000 draws: moments within five standard errors."""
    rng = np.random.default_rng(12)
    rows, rewards = rng.normal(size=(10, 3)), rng.normal(size=10)
    model = Linear(noise=0.5)
    belief = learnt(model, 3, rows, rewards)
    rng, theta, drawn = chance.generator(1), np.zeros(3), np.zeros((20_000, 3))
    call = entry(draw, model=model.kernels).hold(
        constants=model.constants, belief=belief, rng=rng, inflation=1.0, theta=theta
    )
    for row in drawn:
        call()
        row[:] = theta
    wide = covariance(belief, 0.25)
    deviations = np.sqrt(np.diag(wide))
    errors = (drawn.mean(axis=0) - belief.mean[0]) / deviations * np.sqrt(20_000)
    assert np.abs(errors).max() < 5.0
    np.testing.assert_allclose(np.cov(drawn.T), wide, atol=0.05 * deviations.max() ** 2)

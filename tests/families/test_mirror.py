"""A mirrored family is the family of −X: every answer is the base's, seen from the other side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import chance
from belman.errors import FamilyError, PriorError, RewardError
from belman.families.mirror import Mirror
from belman.testing.cases import means_of
from belman.testing.rewards import UNIFORMS, evidence_of, rewards_at
from tests.contracts.cases import CASES

pytestmark = pytest.mark.interpreted


@pytest.fixture(params=["bernoulli", "exponential", "gaussian-unknown"])
def case(request):
    return CASES[request.param]


def test_beliefs(case):
    base, family = case.family, Mirror(case.family)
    assert (family.prior, family.coordinates, family.parameters) == (
        base.prior,
        base.coordinates,
        base.parameters,
    )
    for belief in case.ordinary:
        assert (family.mean_parameters(belief) == base.mean_parameters(belief)).all()
        assert family.divergence(belief, case.ordinary[0]) == base.divergence(
            belief, case.ordinary[0]
        )
        for reward in case.rewards:
            assert (family.update(belief, -reward) == base.update(belief, reward)).all()
        expected = base.expected_reward(belief)
        assert family.expected_reward(belief) == (
            -expected if math.isfinite(expected) else math.inf
        )
        for level in (1e-9, 0.2, 0.7):
            x = family.mean_quantile(belief, level)
            assert x == -base.mean_quantile(belief, level, upper=True)
            assert family.mean_cdf(belief, x) == pytest.approx(level, rel=1e-6)


def test_rewards(case):
    base, family = case.family, Mirror(case.family)
    theta = np.array(base.parameter_of(case.means[0]))
    assert (means_of(family, theta) == -means_of(base, theta)).all()
    assert family.parameter_of(-case.means[0]) == tuple(theta)
    result, mirrored = rewards_at(family, theta, UNIFORMS), rewards_at(base, theta, 1.0 - UNIFORMS)
    assert (np.diff(result) >= 0.0).all()
    assert (result == -mirrored).all()
    drawn = [
        each.sample_parameters(case.ordinary[1], chance.generator(1), 5) for each in (family, base)
    ]
    assert (drawn[0] == drawn[1]).all()


def test_divergence_of_rewards(case):
    base, family = case.family, Mirror(case.family)
    low, high = case.means
    assert family.reward_divergence(-low, -high, 0.8) == base.reward_divergence(low, high, 0.8)
    assert evidence_of(family, -low, -high, 0.8)[0] == pytest.approx(
        base.reward_divergence(low, high, 0.8), rel=1e-9
    )


def test_doors():
    family = Mirror(CASES["exponential"].family)
    with pytest.raises(
        RewardError, match="mirrored exponential rewards are the negatives of numbers from 0 up"
    ):
        family.update(family.prior, 1.0)
    with pytest.raises(FamilyError, match="must lie strictly between"):
        family.parameter_of(1.0)
    with pytest.raises(PriorError, match="mirrored exponential needs 2 numbers"):
        family.expected_reward((1.0, 2.0, 3.0))
    assert Mirror(CASES["bernoulli"].family).reward_range == (-1.0, 0.0)
    assert family.reward_range is None

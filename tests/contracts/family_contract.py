"""Beliefs of our own families against the textbook: densities, integrals, divergences in many
digits, Bayes on a grid. What needs no textbook is in `belman.testing`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from belman import chance
from belman.testing.cases import deviations, means_of, uniform_enough
from tests import naive
from tests.contracts.cases import Case
from tests.naive import mp


class FamilyContract:
    """The suite; a test module derives from it and gives the fixture `case`."""

    # The belief as an exponential family.

    def test_density_is_the_distribution(self, case: Case) -> None:
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            assert abs(weight.sum() - 1.0) < 1e-10
            if case.distribution:
                inner = weight > 1e-15
                expected = case.distribution.log_density(belief, theta[inner])
                assert np.allclose(
                    case.family.log_density(belief, theta[inner]), expected, rtol=1e-11, atol=1e-11
                )

    def test_density_at_the_ends(self, case: Case) -> None:
        """0⁰ = 1: a uniform distribution is as dense at its ends as between them."""
        if not case.distribution or case.family.parameters == 2:
            pytest.skip("the ends of this belief are not known here")
        ends = np.array([end for end in case.distribution.range if math.isfinite(end)])
        for belief in (*case.ordinary, (1.0, 2.5), (2.5, 1.0)):
            assert np.allclose(
                case.family.log_density(belief, ends),
                case.distribution.log_density(belief, ends),
                rtol=1e-12,
                atol=1e-12,
            )

    def test_mean_parameters_are_expected_statistics(self, case: Case) -> None:
        if not case.distribution:
            pytest.skip("the statistics of this belief are not known here")
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            expected = np.array(
                [weight @ statistic for statistic in case.distribution.statistics(theta)]
            )
            result = case.family.mean_parameters(belief)
            assert (
                np.abs(expected - result)
                < 1e-9 * (np.abs(result) + deviations(case.family, belief))
            ).all()

    # Divergence.

    def test_divergence_is_the_integral(self, case: Case) -> None:
        for belief, other in itertools.product(case.ordinary, case.ordinary):
            theta, weight = case.grid(belief)
            theta, weight = theta[weight > 0], weight[weight > 0]
            true = weight @ (case.log_density(belief, theta) - case.log_density(other, theta))
            assert abs(case.family.divergence(belief, other) - true) < 1e-9 * (1.0 + true)

    def test_divergence_keeps_its_digits_far_and_near(self, case: Case) -> None:
        """Relative 1e-9 at counts from 1e-3 to 1e9, between strangers and between neighbours."""
        if not case.distribution:
            pytest.skip("no closed form of the divergence is known here")
        beliefs = (*case.ordinary, *case.extreme)
        pairs = list(itertools.permutations(beliefs, 2))
        for belief in beliefs:
            for factor, axis in itertools.product(
                (1 + 1e-9, 1 - 1e-6, 1 + 1e-3, 1.5), range(len(belief))
            ):
                pairs.append((belief, (*belief[:axis], belief[axis] * factor, *belief[axis + 1 :])))
            pairs.append((belief, tuple(value + 1.0 for value in belief)))
        with mp.workdps(70):
            for belief, other in pairs:
                if belief != other:
                    true = case.distribution.divergence(belief, other)
                    assert abs(case.family.divergence(belief, other) - true) <= 1e-9 * true, (
                        belief,
                        other,
                        float(true),
                    )

    # Bayes and expectations.

    def test_update_is_bayes_on_a_grid(self, case: Case) -> None:
        family = case.family
        for belief, reward in itertools.product(case.ordinary, case.rewards):
            theta, weight = case.grid(belief)
            constants = naive.reward_distribution(family, *case.columns(theta))
            if constants is None:
                pytest.skip("the reward distribution of this family is not known here")
            kept = weight > 1e-12 * weight.max()
            likelihood = constants.log_density(reward)
            posterior = family.log_density(family.update(belief, reward), theta[kept])
            ratio = posterior - case.log_density(belief, theta[kept]) - likelihood[kept]
            assert np.ptp(ratio) < 1e-10 * (1.0 + np.abs(posterior).max())
            assert ratio.mean() == pytest.approx(
                -math.log(weight @ np.exp(likelihood)), abs=1e-4
            )  # the evidence

    def test_expected_reward_is_the_integral(self, case: Case) -> None:
        if not case.family.mean_exists:
            pytest.skip("the integral is infinite")
        for belief in case.ordinary:
            result = case.family.expected_reward(belief)
            if math.isfinite(result):
                theta, weight = case.grid(belief)
                assert abs(result - weight @ means_of(case.family, theta)) < 1e-8 * (
                    1.0 + abs(result)
                )

    def test_expected_reward_is_infinite_where_the_integral_is(self, case: Case) -> None:
        """E[1/θ] does not exist for shapes of 1 and less."""
        if case.family.name in ("exponential", "gamma", "geometric"):
            assert (
                case.family.expected_reward((1.0, 2.0))
                == case.family.expected_reward((0.5, 2.0))
                == math.inf
            )
            assert case.family.expected_reward((1.0 + 1e-6, 2.0)) < math.inf

    # The distribution of the expected reward.

    def test_chances_are_the_integral(self, case: Case) -> None:
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            means = means_of(case.family, theta)
            x = case.family.mean_quantile(belief, 0.3)
            step = (
                weight.max() if case.family.parameters == 1 else 0.04
            )  # of the sum over the grid, which is no smooth function
            assert abs(weight[means <= x].sum() - case.family.mean_cdf(belief, x)) < 2 * step

    def test_draws_of_a_precision_follow_the_belief(self, case: Case) -> None:
        if case.family.parameters == 1:
            pytest.skip("this family has one parameter")
        for belief in case.ordinary:
            drawn = case.family.sample_parameters(belief, chance.generator(11), 5_000)[:, 1]
            assert uniform_enough(stats.gamma.cdf(drawn, belief[2], scale=1 / belief[3]))

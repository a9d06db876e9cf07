"""What every family must keep of its beliefs: geometry, Bayes, expectations, quantiles and draws.

A statistical check raises a false alarm with chance 1e-6 for a random seed (p-values above 1e-6,
deviations under 5 sigma).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from belman import chance
from belman.engine import kernel
from tests import naive
from tests.contracts.cases import Case
from tests.naive import mp

ALARM = 1e-6
TINY = 1e-290
LEVELS = (1e-13, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999)
#: Where the statistic of the belief is the reward itself, imagining the expected reward leaves it
#: as it was.
REWARD_IS_STATISTIC = (
    "bernoulli",
    "poisson",
    "gaussian",
    "gaussian-unknown",
    "exponential",
    "gamma",
    "geometric",
)


@kernel
def _imagine(family, law, belief):
    family.imagine(law, belief)


@kernel
def _means(family, law, thetas, out):
    for i in range(out.size):
        out[i] = family.mean(law, thetas[i])


@kernel
def _sample_means(family, law, belief, mind, out):
    for i in range(out.size):
        out[i] = family.sample_mean(law, belief, mind)


def means_of(family: Any, thetas: Any) -> Any:
    """E_θ[X] for each row of parameters."""
    rows = np.asarray(thetas, dtype=np.float64).reshape(-1, family.parameters)
    out = np.empty(len(rows))
    family._run(_means, rows, out)
    return out


def slope(function: Any, point: Any, width: float, axis: int) -> Any:
    """The derivative along an axis, by five points."""
    step = np.zeros(len(point))
    step[axis] = width
    near = function(point + step) - function(point - step)
    far = function(point + 2 * step) - function(point - 2 * step)
    return (8 * near - far) / (12 * width)


def deviations(family: Any, belief: Any) -> Any:
    """Standard deviations of the statistics under the belief, the natural scale of its mean
    parameters.
    """
    return np.sqrt(np.maximum(np.diag(family.metric(belief)), 0.0))


def uniform_enough(chances: Any) -> bool:
    """By Kolmogorov and Smirnov, and by mean and variance, which see a wrong scale sooner (5
    sigma).
    """
    centred = np.asarray(chances) - 0.5
    mean, variance = centred.mean(), np.mean(centred**2) - 1 / 12
    close = abs(mean) < 5 / math.sqrt(12 * centred.size) and abs(variance) < 5 / math.sqrt(
        180 * centred.size
    )
    return close and stats.kstest(chances, "uniform").pvalue > ALARM


class FamilyContract:
    """The suite; a test module derives from it and gives the fixture `case`."""

    # The belief as an exponential family.

    def test_density_is_the_law(self, case: Case) -> None:
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            assert abs(weight.sum() - 1.0) < 1e-10
            if case.law:
                inner = weight > 1e-15
                expected = case.law.log_density(belief, theta[inner])
                assert np.allclose(
                    case.family.log_density(belief, theta[inner]), expected, rtol=1e-11, atol=1e-11
                )

    def test_density_at_the_ends(self, case: Case) -> None:
        """0⁰ = 1: a uniform law is as dense at its ends as between them."""
        if not case.law or case.family.parameters == 2:
            pytest.skip("the ends of this belief are not known here")
        ends = np.array([end for end in case.law.range if math.isfinite(end)])
        for belief in (*case.ordinary, (1.0, 2.5), (2.5, 1.0)):
            assert np.allclose(
                case.family.log_density(belief, ends),
                case.law.log_density(belief, ends),
                rtol=1e-12,
                atol=1e-12,
            )

    def test_natural_parameters_and_back(self, case: Case) -> None:
        for belief in (*case.ordinary, *case.extreme):
            eta = case.family.natural(belief)
            # a Normal-gamma's β is lost in β + κm²/2 where that is larger by many digits
            lost = (
                1e-12 + 1e-15 * np.max(np.abs(eta)) / np.min(np.abs(belief[-1:]))
                if len(belief) == 4
                else 1e-12
            )
            assert np.allclose(case.family.from_natural(eta), belief, rtol=lost, atol=0.0)

    def test_mean_parameters_are_the_gradient(self, case: Case) -> None:
        family = case.family
        for belief in case.ordinary:
            eta, mean, scale = (
                family.natural(belief),
                family.mean_parameters(belief),
                deviations(family, belief),
            )
            for axis in range(eta.size):
                found = slope(
                    lambda x: family.log_partition(family.from_natural(x)),
                    eta,
                    3e-3 / scale[axis],
                    axis,
                )
                assert abs(found - mean[axis]) < 1e-8 * (abs(mean[axis]) + scale[axis])

    def test_mean_parameters_are_expected_statistics(self, case: Case) -> None:
        if not case.law:
            pytest.skip("the statistics of this belief are not known here")
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            expected = np.array([weight @ statistic for statistic in case.law.statistics(theta)])
            found = case.family.mean_parameters(belief)
            assert (
                np.abs(expected - found) < 1e-9 * (np.abs(found) + deviations(case.family, belief))
            ).all()

    def test_metric_is_the_jacobian(self, case: Case) -> None:
        family = case.family
        for belief in case.ordinary:
            eta, metric, scale = (
                family.natural(belief),
                family.metric(belief),
                deviations(family, belief),
            )
            assert (metric == metric.T).all()
            assert (np.linalg.eigvalsh(metric / np.outer(scale, scale)) > 0.0).all()
            for axis in range(eta.size):
                found = slope(
                    lambda x: family.mean_parameters(family.from_natural(x)),
                    eta,
                    3e-3 / scale[axis],
                    axis,
                )
                assert (np.abs(found - metric[axis]) < 1e-7 * scale * scale[axis]).all()

    def test_mean_parameters_and_back(self, case: Case) -> None:
        family = case.family
        for belief in (*case.ordinary, *case.extreme):
            target, scale = family.mean_parameters(belief), deviations(family, belief)
            for guess in (None, belief, case.ordinary[-1]):
                found = family.from_mean_parameters(target, guess)
                family.check_belief(found)
                allowed = 1e-10 * np.maximum(np.abs(target), scale) + 1e-14 * (
                    1.0 + np.abs(target).max()
                )
                assert (np.abs(family.mean_parameters(found) - target) <= allowed).all(), (
                    belief,
                    guess,
                )
                if belief in case.ordinary:
                    assert np.allclose(found, belief, rtol=1e-8, atol=1e-8)

    def test_extreme_beliefs_give_numbers(self, case: Case) -> None:
        family = case.family
        for belief in case.extreme:
            thetas = family.sample_parameters(belief, chance.generator(1), 50)
            points = thetas[:, 0] if family.parameters == 1 else thetas
            finite = [
                family.log_partition(belief),
                *family.mean_parameters(belief),
                *family.metric(belief).ravel(),
            ]
            assert np.isfinite(finite).all(), (belief, finite)
            assert (np.diag(family.metric(belief)) >= 0.0).all()
            assert np.isfinite(family.spread(belief))
            assert not np.isnan(thetas).any()
            assert not np.isnan(family.log_density(belief, points)).any()
            assert not math.isnan(family.expected_reward(belief))
            for other in (*case.extreme, *case.ordinary):
                assert 0.0 <= family.divergence(belief, other) < math.inf

    # Divergence.

    def test_divergence_is_the_integral(self, case: Case) -> None:
        for belief, other in itertools.product(case.ordinary, case.ordinary):
            theta, weight = case.grid(belief)
            theta, weight = theta[weight > 0], weight[weight > 0]
            true = weight @ (case.log_density(belief, theta) - case.log_density(other, theta))
            assert abs(case.family.divergence(belief, other) - true) < 1e-9 * (1.0 + true)

    def test_divergence_vanishes_on_itself_only(self, case: Case) -> None:
        for belief in (*case.ordinary, *case.extreme):
            assert case.family.divergence(belief, belief) == 0.0
        for belief, other in itertools.permutations(case.ordinary, 2):
            assert case.family.divergence(belief, other) > 0.0

    def test_divergence_is_the_fast_form(self, case: Case) -> None:
        """⟨η − ζ, m⟩ − A(η) + A(ζ)."""
        family = case.family
        for belief, other in itertools.product(case.ordinary, case.ordinary):
            gap = (family.natural(belief) - family.natural(other)) @ family.mean_parameters(belief)
            fast = gap - family.log_partition(belief) + family.log_partition(other)
            size = (
                abs(gap)
                + abs(family.log_partition(belief))
                + abs(family.log_partition(other))
                + 1.0
            )
            assert abs(family.divergence(belief, other) - fast) < 1e-10 * size

    def test_divergence_keeps_its_digits_far_and_near(self, case: Case) -> None:
        """Relative 1e-9 at counts from 1e-3 to 1e9, between strangers and between neighbours."""
        if not case.law:
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
                    true = case.law.divergence(belief, other)
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
            law = naive.reward_law(family, *case.columns(theta))
            if law is None:
                pytest.skip("the reward law of this family is not known here")
            kept = weight > 1e-12 * weight.max()
            likelihood = law.log_density(reward)
            posterior = family.log_density(family.update(belief, reward), theta[kept])
            ratio = posterior - case.log_density(belief, theta[kept]) - likelihood[kept]
            assert np.ptp(ratio) < 1e-10 * (1.0 + np.abs(posterior).max())
            assert ratio.mean() == pytest.approx(
                -math.log(weight @ np.exp(likelihood)), abs=1e-4
            )  # the evidence

    def test_update_leaves_its_argument_alone(self, case: Case) -> None:
        belief = np.array(case.ordinary[0], dtype=float)
        kept = belief.copy()
        after = case.family.update(belief, case.rewards[0])
        assert (belief == kept).all()
        assert not (after == kept).all()

    def test_expected_reward_is_the_integral(self, case: Case) -> None:
        for belief in case.ordinary:
            found = case.family.expected_reward(belief)
            if math.isfinite(found):
                theta, weight = case.grid(belief)
                assert abs(found - weight @ means_of(case.family, theta)) < 1e-8 * (
                    1.0 + abs(found)
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

    def test_imagined_statistic_is_the_expected_one(self, case: Case) -> None:
        """Natural parameters are linear in the statistic, so imagining gives their average over
        rewards to come (5 sigma).
        """
        family, nature = case.family, chance.generator(7)
        for belief in (
            case.ordinary if family.reward_range else case.ordinary[-1:]
        ):  # with few counts only bounded rewards have a variance
            imagined = np.array(belief, dtype=float)
            family._run(_imagine, imagined)
            thetas = family.sample_parameters(belief, chance.generator(6), 800)
            rewards = [family.sample_rewards(theta, nature, 1)[0] for theta in thetas]
            after = np.array(
                [family.natural(family.update(belief, float(reward))) for reward in rewards]
            )
            allowed = 5 * after.std(axis=0) / math.sqrt(len(after)) + 1e-9 * np.abs(
                after.mean(axis=0)
            )
            assert (np.abs(after.mean(axis=0) - family.natural(imagined)) <= allowed).all(), belief

    def test_imagining_leaves_the_expected_reward(self, case: Case) -> None:
        if case.family.name not in REWARD_IS_STATISTIC:
            pytest.skip("the reward of this family is not its statistic")
        for belief in (*case.ordinary, *case.extreme):
            before = case.family.expected_reward(belief)
            imagined = np.array(belief, dtype=float)
            case.family._run(_imagine, imagined)
            case.family.check_belief(imagined)
            if math.isfinite(before):
                assert case.family.expected_reward(imagined) == pytest.approx(
                    before, rel=1e-9, abs=1e-12
                )

    # The law of the expected reward.

    def test_quantiles_invert_the_distribution_function(self, case: Case) -> None:
        """Seen from both sides of the quantile, so that quantiles which round to an end of the
        range are judged too.
        """
        family = case.family
        for belief, level, upper in itertools.product(
            (*case.ordinary, *case.extreme), LEVELS, (False, True)
        ):
            found = family.mean_quantile(belief, level, upper=upper)
            assert not math.isnan(found)
            x = min(max(found, -1.0 / TINY), 1.0 / TINY)
            near = 1e-12 * abs(x) + TINY
            low, high = (family.mean_cdf(belief, x + side * near) for side in (-1, 1))
            if abs(x) == 1.0 / TINY:  # it overflows
                low, high = (low, 1.0) if x > 0 else (0.0, high)
            sides = (1.0 - high, 1.0 - low) if upper else (low, high)
            slack = 1e-12 if upper else 1e-9 * level + 1e-15
            assert sides[0] - slack <= level <= sides[1] + slack, (belief, level, upper, x, sides)

    def test_quantiles_of_both_tails_meet(self, case: Case) -> None:
        for belief in case.ordinary:
            quantiles = [case.family.mean_quantile(belief, level) for level in (0.1, 0.3, 0.5, 0.9)]
            uppers = [
                case.family.mean_quantile(belief, 1.0 - level, upper=True)
                for level in (0.1, 0.3, 0.5, 0.9)
            ]
            assert quantiles == sorted(set(quantiles))
            assert np.allclose(quantiles, uppers, rtol=1e-12)

    def test_chances_are_the_integral(self, case: Case) -> None:
        for belief in case.ordinary:
            theta, weight = case.grid(belief)
            means = means_of(case.family, theta)
            x = case.family.mean_quantile(belief, 0.3)
            step = (
                weight.max() if case.family.parameters == 1 else 0.04
            )  # of the sum over the grid, which is no smooth function
            assert abs(weight[means <= x].sum() - case.family.mean_cdf(belief, x)) < 2 * step

    def test_draws_follow_the_belief(self, case: Case) -> None:
        family, size = case.family, 5_000 if case.law else 1_000  # quadrature takes its time
        for belief in case.ordinary:
            thetas = family.sample_parameters(belief, chance.generator(11), size)
            assert uniform_enough(
                [family.mean_cdf(belief, mean) for mean in means_of(family, thetas)]
            )
            if family.parameters == 2:
                assert uniform_enough(stats.gamma.cdf(thetas[:, 1], belief[2], scale=1 / belief[3]))
            drawn = np.empty(size)
            family._run(_sample_means, np.array(belief, dtype=float), chance.generator(12), drawn)
            assert uniform_enough([family.mean_cdf(belief, mean) for mean in drawn])

    def test_draws_at_extremes_follow_the_belief(self, case: Case) -> None:
        """Where draws round to the ends of the range, by the chances of whole tails: below the 0.3
        and above the 0.8 quantile.
        """
        family = case.family
        for belief in case.extreme:
            drawn = np.empty(1_500)
            family._run(_sample_means, np.array(belief, dtype=float), chance.generator(13), drawn)
            assert not np.isnan(drawn).any()
            for level in (0.3, 0.8):
                x = family.mean_quantile(belief, level)
                if (
                    not TINY < abs(x) < 1.0 / TINY
                ):  # it underflows or overflows, and so do the draws
                    continue
                below, at = int((drawn < x).sum()), int((drawn <= x).sum())
                assert stats.binomtest(below, drawn.size, level, "greater").pvalue > ALARM, (
                    belief,
                    level,
                )
                assert stats.binomtest(at, drawn.size, level, "less").pvalue > ALARM, (
                    belief,
                    level,
                )

"""Rewards of our own families against the textbook: distributions, means, divergences; and what
their doors say. What needs no textbook is in `belman.testing`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from belman.errors import FamilyError, PriorError, RewardError
from belman.families import FAMILIES, family_named
from belman.testing.cases import means_of
from belman.testing.rewards import UNIFORMS, rewards_at, tilt_of
from tests import naive
from tests.contracts.cases import SETTINGS, Case


def distribution_of(case: Case, theta: tuple[float, ...]) -> naive.RewardDistribution:
    constants = naive.reward_distribution(case.family, *theta)
    if constants is None:
        pytest.skip("the reward distribution of this family is not known here")
    return constants


class RewardContract:
    """The suite; a test module derives from it and gives the fixture `case`."""

    # Distributions of rewards.

    def test_parameter_of_a_mean_is_of_the_uncut_distribution(self, case: Case) -> None:
        if case.family.name == "bounded-exponential":
            for mean in case.means:
                assert 1.0 / case.family.parameter_of(mean)[0] == pytest.approx(mean, rel=1e-14)

    def test_mean_is_the_integral(self, case: Case) -> None:
        for mean in case.means:
            theta = case.family.parameter_of(mean)
            assert means_of(case.family, theta)[0] == pytest.approx(
                distribution_of(case, theta).moments()[0], rel=1e-10
            )

    def test_rewards_are_quantiles(self, case: Case) -> None:
        """P(X < x) ≤ u ≤ P(X ≤ x) for the reward x at u, which rises with u."""
        for theta in case.parameters:
            constants, rewards = (
                distribution_of(case, theta),
                rewards_at(case.family, theta, UNIFORMS),
            )
            assert (np.diff(rewards) >= 0.0).all()
            assert all(case.family.supports(reward) for reward in rewards)
            slack = 1e-11 + 1e-9 * np.minimum(UNIFORMS, 1.0 - UNIFORMS)
            # a reward that underflows stands for the smaller ones
            tiny = (rewards < 1e-290) & (not constants.discrete)
            assert (np.where(tiny, 0.0, constants.cdf_before(rewards)) <= UNIFORMS + slack).all(), (
                theta
            )
            assert (constants.cdf(rewards) + slack >= UNIFORMS).all(), theta

    # Divergence between reward distributions.

    def test_d_is_the_divergence_of_the_distributions(self, case: Case) -> None:
        family = case.family
        for mean, other in itertools.permutations(case.means, 2):
            if not family.mean_fixes_distribution:
                if family.name not in naive.LEAST_DIVERGENCES:
                    pytest.skip("the least divergence of this family is tried elsewhere")
                true = naive.LEAST_DIVERGENCES[family.name](mean, other, 0.8)
                assert family.reward_divergence(mean, other, 0.8) == pytest.approx(true, rel=1e-7)
                continue
            thetas = [family.parameter_of(value) for value in (mean, other)]
            distributions = [distribution_of(case, theta) for theta in thetas]
            own = [float(means_of(family, theta)[0]) for theta in thetas]
            assert family.reward_divergence(*own) == pytest.approx(
                distributions[0].divergence(distributions[1]), rel=1e-9
            )

    # The tilted log-partition, where the joint projection is offered.

    def test_tilted_is_the_integral(self, case: Case) -> None:
        family = case.family
        if family.kernels.tilted is None:
            pytest.skip(family.no_joint)
        for belief, pull in itertools.product(case.ordinary, (0.1, 1.0, 3.0)):
            theta, weight = case.grid(belief)
            true = family.log_partition(belief) + math.log(
                weight @ naive.exponential_moment(family, theta, pull)
            )
            assert tilt_of(family, belief, pull)[0] == pytest.approx(true, rel=1e-9, abs=1e-9)

    def test_tilted_next_to_an_edge(self, case: Case) -> None:
        if case.family.kernels.tilted is None:
            pytest.skip(case.family.no_joint)
        for pull in (0.0, 1.0, 100.0):
            assert np.isfinite(tilt_of(case.family, (1e-12, 2.0), pull)).all()

    # Doors.

    def test_impossible_rewards_are_refused(self, case: Case) -> None:
        family = case.family
        for reward in (
            math.nan,
            math.inf,
            -math.inf,
            "1",
            b"1",
            None,
            [],
            [1.0, 2.0],
            {},
            1j,
            10**400,
            *case.impossible,
        ):
            with pytest.raises(RewardError, match=f"{family.name} rewards are") as caught:
                family.update(family.prior, reward)
            assert repr(reward)[:50] in str(caught.value)
            assert family.support in str(caught.value)

    def test_possible_rewards_are_taken(self, case: Case) -> None:
        for reward in case.rewards:
            for kind in (float, np.float64, np.float32):
                if case.family.supports(float(kind(reward))):
                    assert case.family.check_reward(kind(reward)) == float(kind(reward))
        if case.family.supports(1.0):
            assert [
                case.family.check_reward(one) for one in (1, True, np.int64(1), np.bool_(True))
            ] == [1.0] * 4

    def test_improper_priors_are_refused(self, case: Case) -> None:
        family, settings = case.family, SETTINGS.get(case.family.name, {})
        proper = list(map(float, family.prior))
        wrong = [
            proper[:-1],
            [*proper, 1.0],
            ["a", "b"],
            "prior",
            3.0,
            [[1.0], [2.0, 3.0]],
            object(),
        ]
        wrong += [
            [*proper[:-1], bad] for bad in (math.nan, math.inf, 0.0, -1.0, 10**400, None, "1")
        ]
        for prior in wrong:
            with pytest.raises(
                PriorError, match=f"{family.name} needs \\({', '.join(family.coordinates)}\\)"
            ):
                type(family)(**settings, prior=prior)

    def test_priors_of_any_sequence(self, case: Case) -> None:
        settings = SETTINGS.get(case.family.name, {})
        for prior in (
            case.ordinary[1],
            list(case.ordinary[1]),
            np.array(case.ordinary[1], dtype=float),
        ):
            made = type(case.family)(**settings, prior=prior)
            assert made.prior == case.ordinary[1]
            assert hash(made) == hash(type(case.family)(**settings, prior=case.ordinary[1]))

    def test_beliefs_of_the_wrong_shape_are_refused(self, case: Case) -> None:
        for belief in ([1.0], [[1.0] * case.family.dimension], [1.0] * 7):
            with pytest.raises(
                PriorError, match=f"{case.family.name} needs {case.family.dimension} numbers"
            ):
                case.family.expected_reward(belief)

    def test_impossible_means_are_refused(self, case: Case) -> None:
        for mean in (math.nan, math.inf, -math.inf):
            with pytest.raises(
                FamilyError, match=f"is not valid for the {case.family.name} distribution"
            ):
                case.family.parameter_of(mean)

    def test_settings_make_a_distribution(self, case: Case) -> None:
        for name, value in itertools.product(
            SETTINGS.get(case.family.name, {}), (0.0, -1.0, math.nan, math.inf, "1", None)
        ):
            with pytest.raises(FamilyError, match=f"{name}=.* must be a positive number"):
                type(case.family)(**{name: value})

    def test_found_by_name_and_by_what_is_near(self, case: Case) -> None:
        name = case.family.name
        assert FAMILIES[name] is type(case.family)
        assert family_named(name, **SETTINGS.get(name, {})) == case.family
        assert family_named(case.family) is case.family
        with pytest.raises(FamilyError, match=f"did you mean '{name}'"):
            family_named(name[:-1] + "x" if len(name) > 4 else name + "e")
        with pytest.raises(FamilyError, match="does not take 'nonsense'"):
            family_named(name, nonsense=1)
        with pytest.raises(FamilyError, match="is complete"):
            family_named(case.family, sigma=1.0)

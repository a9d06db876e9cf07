"""What every family must keep of its rewards: laws, means, divergences, and the doors that refuse
what cannot be.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from belman import chance
from belman.engine import kernel
from belman.errors import FamilyError, PriorError, RewardError
from belman.families import FAMILIES, family_named
from belman.families.family import TERMS
from tests import naive
from tests.contracts.cases import SETTINGS, Case
from tests.contracts.family_contract import means_of, slope

UNIFORMS = np.sort(
    np.concatenate([np.random.default_rng(8).uniform(size=200), [1e-12, 1e-6, 1 - 1e-6, 1 - 1e-12]])
)


@kernel
def _rewards_at(family, law, theta, uniforms, out):
    for i in range(out.size):
        out[i] = family.reward(law, theta, uniforms[i])


@kernel
def _evidence(family, law, mean, other, spread, column, terms, weights):
    family.terms(law, mean, spread, column)
    for i in range(column.size):
        terms[i, 0] = column[i]
    family.weights(law, other, weights)
    return family.evidence(terms, 0, weights)


@kernel
def _tilted(family, law, x, y, pull):
    return family.tilted(law, x, y, pull)


def law_of(case: Case, theta: tuple[float, ...]) -> naive.RewardLaw:
    law = naive.reward_law(case.family, *theta)
    if law is None:
        pytest.skip("the reward law of this family is not known here")
    return law


class RewardContract:
    """The suite; a test module derives from it and gives the fixture `case`."""

    # Laws of rewards.

    def test_parameter_of_a_mean_has_that_mean(self, case: Case) -> None:
        for mean in case.means:
            theta = case.family.parameter_of(mean)
            if case.family.name == "bounded-exponential":  # the mean of the uncut law
                assert 1.0 / theta[0] == pytest.approx(mean, rel=1e-14)
            else:
                assert means_of(case.family, theta)[0] == pytest.approx(mean, rel=1e-12)

    def test_mean_is_the_integral(self, case: Case) -> None:
        for mean in case.means:
            theta = case.family.parameter_of(mean)
            assert means_of(case.family, theta)[0] == pytest.approx(
                law_of(case, theta).moments()[0], rel=1e-10
            )

    def test_rewards_are_quantiles(self, case: Case) -> None:
        """P(X < x) ≤ u ≤ P(X ≤ x) for the reward x at u, which rises with u."""
        for theta in case.parameters:
            law, rewards = law_of(case, theta), np.empty(UNIFORMS.size)
            case.family._run(_rewards_at, np.array(theta), UNIFORMS, rewards)
            assert (np.diff(rewards) >= 0.0).all()
            assert all(case.family.supports(reward) for reward in rewards)
            slack = 1e-11 + 1e-9 * np.minimum(UNIFORMS, 1.0 - UNIFORMS)
            # a reward that underflows stands for the smaller ones
            tiny = (rewards < 1e-290) & (not law.discrete)
            assert (np.where(tiny, 0.0, law.cdf_before(rewards)) <= UNIFORMS + slack).all(), theta
            assert (law.cdf(rewards) + slack >= UNIFORMS).all(), theta

    def test_draws_have_the_mean(self, case: Case) -> None:
        """5 sigma: a false alarm in 1.7 million seeds."""
        for mean in case.means:
            theta = case.family.parameter_of(mean)
            expected, variance = law_of(case, theta).moments()
            drawn = case.family.sample_rewards(theta, chance.generator(21), 10_000)
            assert abs(drawn.mean() - expected) < 5.0 * math.sqrt(variance / drawn.size)

    def test_nature_is_paired(self, case: Case) -> None:
        """The same uniforms give the better arm the better reward, turn by turn."""
        few, many = (
            case.family.sample_rewards(case.family.parameter_of(mean), chance.generator(5), 500)
            for mean in case.means
        )
        assert (few <= many).all()

    # Divergence between reward laws.

    def test_d_is_the_divergence_of_the_laws(self, case: Case) -> None:
        family = case.family
        for mean, other in itertools.permutations(case.means, 2):
            if family.parameters == 2:
                true = naive.unknown_variance_divergence(mean, other, 0.8)
                assert family.reward_divergence(mean, other, 0.8) == pytest.approx(true, rel=1e-7)
                continue
            thetas = [family.parameter_of(value) for value in (mean, other)]
            laws = [law_of(case, theta) for theta in thetas]
            own = [float(means_of(family, theta)[0]) for theta in thetas]
            assert family.reward_divergence(*own) == pytest.approx(
                laws[0].divergence(laws[1]), rel=1e-9
            )

    def test_d_vanishes_on_itself_only(self, case: Case) -> None:
        low, high = case.means
        for mean in np.linspace(low, high, 9):
            assert case.family.reward_divergence(mean, mean) == pytest.approx(0.0, abs=1e-14)
            for other in np.linspace(low, high, 9):
                assert case.family.reward_divergence(mean, other) >= (
                    0.0 if mean == other else 1e-6
                )

    def test_d_keeps_its_digits_between_neighbours(self, case: Case) -> None:
        """d ≈ ½ I (μ′ − μ)² for close means, so halving the gap quarters it."""
        for mean in case.means:
            wide, narrow = (
                case.family.reward_divergence(mean, mean * (1.0 + gap)) for gap in (2e-6, 1e-6)
            )
            assert wide / narrow == pytest.approx(4.0, rel=1e-4)

    def test_d_grows_with_the_gap(self, case: Case) -> None:
        low, high = case.means
        rising = [case.family.reward_divergence(low, other) for other in np.linspace(low, high, 30)]
        falling = [
            case.family.reward_divergence(high, other) for other in np.linspace(high, low, 30)
        ]
        assert rising == sorted(rising)
        assert falling == sorted(falling)

    def test_evidence_is_d(self, case: Case) -> None:
        for mean, other in itertools.product(np.linspace(*case.means, 5), repeat=2):
            for spread in (1.0, 0.3):
                buffers = np.zeros(TERMS), np.zeros((TERMS, 1)), np.zeros(TERMS)
                found = case.family._run(_evidence, mean, other, spread, *buffers)
                true = case.family.reward_divergence(mean, other, spread)
                assert found == pytest.approx(
                    true, rel=1e-9, abs=1e-13 * (1.0 + np.abs(buffers[0]).max()) * 10
                )

    # The tilted log-partition, where the joint projection is offered.

    def test_tilted_is_the_integral(self, case: Case) -> None:
        family = case.family
        if family.kernels.tilted is None:
            assert family.no_joint
            pytest.skip(family.no_joint)
        for belief, pull in itertools.product(case.ordinary, (0.1, 1.0, 3.0)):
            theta, weight = case.grid(belief)
            true = family.log_partition(belief) + math.log(
                weight @ naive.exponential_moment(family, theta, pull)
            )
            value = family._run(_tilted, float(belief[0]), float(belief[1]), pull)[0]
            assert value == pytest.approx(true, rel=1e-9, abs=1e-9)

    def test_tilted_gradient_and_hessian(self, case: Case) -> None:
        family = case.family
        if family.kernels.tilted is None:
            pytest.skip(family.no_joint)
        for belief, pull in itertools.product(case.ordinary, (0.1, 2.0, 40.0)):
            point = np.array(belief, dtype=float)
            _, *found = family._run(_tilted, *point, pull)
            gradient, hessian = np.array(found[:2]), np.array([found[2:4], found[3:5]])

            def value(x, pull=pull):
                return family._run(_tilted, *x, pull)[0]

            def first(x, pull=pull):
                return np.array(family._run(_tilted, *x, pull)[1:3])

            for axis in range(2):
                width = 2e-3 * point[axis]
                assert slope(value, point, width, axis) == pytest.approx(
                    gradient[axis], rel=1e-7, abs=1e-8
                )
                assert slope(first, point, width, axis) == pytest.approx(
                    hessian[axis], rel=1e-6, abs=1e-8
                )

    def test_tilted_at_extremes(self, case: Case) -> None:
        family = case.family
        if family.kernels.tilted is None:
            pytest.skip(family.no_joint)
        for belief, pull in itertools.product((*case.extreme, (1e-12, 2.0)), (0.0, 1.0, 100.0)):
            assert np.isfinite(
                family._run(_tilted, float(belief[0]), float(belief[1]), pull)
            ).all(), (belief, pull)

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
            with pytest.raises(FamilyError, match=f"makes no {case.family.name} law"):
                case.family.parameter_of(mean)

    def test_settings_make_a_law(self, case: Case) -> None:
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

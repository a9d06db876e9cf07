"""A family of one's own is asked what ours are asked, and what it breaks is told in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from scipy import stats

from belman import Agent, BelMan, Thompson, chance
from belman.engine import kernel
from belman.families import (
    Bernoulli,
    Exponential,
    GammaKnownShape,
    Poisson,
    bernoulli,
    gamma_known_shape,
    poisson,
)
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels
from belman.families.generic import OneParameter, RewardDistribution
from belman.families.mirror import Mirror
from belman.policies import BayesUCB, Forced, Gittins
from belman.policies.averages import plays_needed
from belman.policies.best_arm.lucb import KLLUCB
from belman.policies.best_arm.stopping import check_rule
from belman.policies.optimism.kl_ucb import KLUCB
from belman.testing import FAMILY_CHECKS, FamilyCase, check_family


@dataclass(frozen=True)
class Clicks(Family):
    """Bernoulli rewards, without being one of ours."""

    name, support, kernels = "clicks", "0 and 1", bernoulli.KERNELS
    coordinates = ("alpha", "beta")
    summed = coin = True
    reward_range = (0.0, 1.0)

    def default_prior(self):
        return (1.0, 1.0)

    def supports(self, reward):
        return 0.0 <= reward <= 1.0

    def parameter_of(self, mean):
        return (self._mean_between(mean, 0.0, 1.0),)


def choices(family, policy):
    agent = Agent(range(3), family, policy, seed=1)
    result = []
    for turn in range(40):
        result.append(agent.ask())
        agent.tell(result[-1], float(turn % 3 == result[-1]))
    return result


INTERPRETED = [pytest.param(one, marks=pytest.mark.interpreted) for one in (BayesUCB(), KLUCB())]


@pytest.mark.parametrize("policy", [Gittins(discount=0.9), *INTERPRETED], ids=repr)
def test_a_coin_of_ones_own_is_played_like_ours(policy):
    assert choices(Clicks(), policy) == choices(Bernoulli(), policy)


def test_a_coin_of_ones_own_may_have_another_scale():
    agent = Agent(["a"], Clicks(), range=(0.0, 10.0), start={"a": (4, 30.0)})
    assert agent.belief("a") == (4.0, 2.0)


class Visits(Poisson):
    """Counts that are at least 2 on average."""

    name = "visits"
    mean_range = (2.0, math.inf)


def test_policies_know_where_the_means_of_ones_own_family_lie():
    assert KLLUCB().params(Visits())[-2:].tolist() == [2.0, math.inf]
    assert KLUCB().params(Mirror(Visits()))[4] == -2.0
    assert Mirror(Visits()).mean_range == (-math.inf, -2.0)
    assert check_rule("proven", Mirror(Visits())) == "proven"
    assert plays_needed(Mirror(Visits())) == 0.0


def test_a_family_of_ones_own_keeps_the_contract():
    check_family(Clicks())


@kernel
def hasty(constants, belief, reward):
    """Counts every reward twice."""
    belief[0] += 2.0 * reward
    belief[1] += 2.0 * (1.0 - reward)


@kernel
def flat(constants, mean, other, spread):
    return 0.0


class Hasty(Clicks):
    name = "hasty"
    kernels = replace(bernoulli.KERNELS, update=hasty, d=flat)


@pytest.mark.interpreted
def test_what_a_family_does_not_keep_is_told_in_words():
    with pytest.raises(AssertionError, match="hasty does not keep the contract") as caught:
        check_family(Hasty())
    told = str(caught.value)
    assert "- beliefs are calibrated: draws of θ" in told
    assert "a coin counts wins and losses" in told
    assert "does not grow with the distance" in told


@kernel
def overflows(constants, belief):
    return math.exp(1e3 * belief[0])


class Steep(Clicks):
    name, kernels = "steep", replace(bernoulli.KERNELS, worth=overflows)


@pytest.mark.interpreted
def test_an_error_of_a_kernel_says_where_it_is():
    position = r"OverflowError in overflows \(test_own_family\.py, line \d+\): math range error"
    with pytest.raises(AssertionError, match=position):
        check_family(Steep())


@pytest.mark.parametrize("ends", [(2.0, math.inf), (-math.inf, -5.0), (3.0, 4.0)], ids=str)
def test_two_means_are_found_in_any_range_with_an_end(ends):
    class Shifted(Clicks):
        name, mean_range, reward_range = "shifted", ends, None

        def parameter_of(self, mean):
            return (self._mean_between(mean, *ends),)

    low, high = FamilyCase(Shifted()).means
    assert ends[0] < low < high < ends[1]


@kernel
def power(constants, x):
    return x**constants.k / constants.scale


@kernel
def negative_log(constants, theta):
    return -math.log(-theta)


@kernel
def negative_inverse(constants, theta):
    return -1.0 / theta


@kernel
def root_mean(constants, theta):
    return math.gamma(1.0 + 1.0 / constants.k) * (-theta / constants.scale) ** (-1.0 / constants.k)


@kernel
def mean_of_squares(constants, theta):
    """The mean where k is 2, whatever k is."""
    return math.gamma(1.5) * (-theta / constants.scale) ** -0.5


@kernel
def root(constants, theta, uniform):
    return (math.log1p(-uniform) * constants.scale / theta) ** (1.0 / constants.k)


@dataclass(frozen=True)
class Wind(OneParameter):
    """Weibull rewards, with two constants."""

    k: float = 2.0
    scale: float = 1.0

    name, support = "wind", "numbers from 0 up"
    reward_distribution = RewardDistribution(power, negative_log, root_mean, root, negative_inverse)
    range, statistic_range, mean_range = (-math.inf, 0.0), (0.0, math.inf), (0.0, math.inf)

    def supports(self, reward):
        return reward >= 0.0


@pytest.mark.interpreted
def test_constants_come_by_name():
    arm = Wind(k=3.0, scale=2.0)
    assert arm.update((4.0, 1.0), 2.0).tolist() == [8.0, 2.0]
    (theta,) = arm.parameter_of(1.5)
    assert root_mean(arm, theta) == pytest.approx(1.5)
    assert arm.kernels == Wind(k=5.0).kernels  # compiled once, whatever the numbers
    rewards = arm.sample_rewards((theta,), chance.generator(3), 20_000)
    assert (
        stats.kstest(rewards, stats.weibull_min(3.0, scale=(-2.0 / theta) ** (1 / 3)).cdf).pvalue
        > 1e-6
    )
    plain, shaped = Exponential(), Wind(k=1.0)
    assert shaped.expected_reward((5.0, 4.0)) == pytest.approx(plain.expected_reward((5.0, 5.0)))


class Forgetful(Wind):
    """Does not look at k where it says what the mean is."""

    reward_distribution = replace(Wind.reward_distribution, mean=mean_of_squares)


@pytest.mark.interpreted
def test_a_constant_that_is_left_out_is_told():
    names = ("rewards_have_the_mean",)
    checks = [check for check in FAMILY_CHECKS if check.__name__ in names]
    for family, wrong in ((Wind(k=3.0), False), (Forgetful(k=3.0), True), (Forgetful(), False)):
        result = [fault for check in checks for fault in check(FamilyCase(family))]
        assert bool(result) == wrong, (family, result)


#: What a family must bring; evidence, late rewards, pooling and drift have defaults.
NEEDED = (
    "update", "expected_reward", "worth", "mean_cdf", "mean_quantile", "sample_mean", "reward", "d",
)  # fmt: skip


@dataclass(frozen=True)
class Calls(Poisson):
    """Poisson's eight kernels, and no more: its parameter is its mean."""

    name = "calls"
    kernels = FamilyKernels.of(
        poisson.KERNELS.belief, {name: getattr(poisson.KERNELS, name) for name in NEEDED}
    )


@dataclass(frozen=True)
class Waits(GammaKnownShape):
    """The same with a rate as parameter, and a constant, which evidence hands on."""

    name = "waits"
    kernels = FamilyKernels.of(
        gamma_known_shape.KERNELS.belief,
        {
            name: getattr(gamma_known_shape.KERNELS, name)
            for name in (*NEEDED, "mean", "sample", "imagine")
        },
    )


@pytest.mark.interpreted
@pytest.mark.parametrize("family", [Calls(), Waits(shape=2.5)], ids=["calls", "waits"])
def test_eight_kernels_make_a_family(family):
    assert family.kernels.terms is not type(family).__mro__[1].kernels.terms
    check_family(family)


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", [BelMan(), KLUCB(), Forced(Thompson())], ids=repr)
def test_eight_kernels_are_played_as_all_are(policy):
    assert choices(Calls(), policy) == choices(Poisson(), policy)

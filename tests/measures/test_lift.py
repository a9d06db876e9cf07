"""Lift and expected loss against closed forms (normal differences, ratios of gammas), SciPy's
quadrature, and identities that hold for every family.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from belman.engine import kernel
from belman.families import (
    Bernoulli,
    Exponential,
    Gaussian,
    GaussianUnknown,
    LogNormal,
    Money,
    Poisson,
)
from belman.families.mirror import Mirror
from belman.measures import Units, expected_losses, lift
from belman.measures.mean_tables import tabulated

COSTS = Units(0.0, -1.0)
NARROW = (2.99, 454.05, 230.0, 236.7)


def test_normal_beliefs_have_a_normal_difference():
    result = lift(Gaussian(), (1.0, 100.0), (1.3, 25.0), level=0.9)
    constants = stats.norm(-0.3, math.sqrt(1 / 100 + 1 / 25))
    assert result.absolute == pytest.approx(constants.ppf([0.5, 0.05, 0.95]), abs=1e-6)
    assert result.beats == pytest.approx(constants.sf(0.0), abs=1e-9)


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize(
    ("family", "beliefs"),
    [
        (Money(typical=20.0), [(29.5, 471.5, 3.16, 29.05, 17.5, 17.0), (450.0, 52.0, *NARROW)]),
        (LogNormal(), [NARROW, (0.1, 30.05, 18.0, 22.0)]),
        (LogNormal(), [(0.0, 2.05, 4.0, 5.0), (0.3, 1.05, 3.5, 4.0)]),  # heavy tails
    ],
)
def test_tables_of_means_say_what_the_distribution_says(family, beliefs, costs):
    """Chances to 1e-4, and so lifts, where a distribution of the mean is an integral."""
    own = Mirror(family) if costs else family
    distributions, rows = tabulated(own, np.array(beliefs))
    assert distributions is not own
    for belief, row in zip(np.array(beliefs), rows, strict=True):
        for level in (0.001, 0.025, 0.3, 0.8, 0.975, 0.999):
            mean = distributions.enter(_quantile, row=row, level=level)
            assert own.mean_cdf(belief, mean) == pytest.approx(level, abs=1e-4)
        middle = own.mean_quantile(belief, 0.4)
        assert distributions.enter(_chance, row=row, x=middle) == pytest.approx(0.4, abs=1e-5)
    mine, wanted = lift(distributions, rows[0], rows[1]), lift(own, *np.array(beliefs))
    assert mine.beats == pytest.approx(wanted.beats, abs=1e-5)
    assert mine.absolute == pytest.approx(wanted.absolute, rel=1e-3)


@kernel
def _quantile(family, constants, row, level):
    return family.mean_quantile(constants, row, level, False)


@kernel
def _upper_quantile(family, constants, row, level):
    return family.mean_quantile(constants, row, level, True)


@kernel
def _chance(family, constants, row, x):
    return family.mean_cdf(constants, row, x)


def test_a_table_goes_on_straight_beyond_its_ends():
    """Quantiles that no point of the table reaches are where its own distribution function says."""
    belief = np.array([[30.5, 970.5, 3.4, 30.05, 18.0, 19.0]])
    distributions, (row,) = tabulated(Money(typical=30.0), belief)
    before = 0.0
    for level in (1e-40, 1e-25, 1e-9, 0.3):
        x = distributions.enter(_quantile, row=row, level=level)
        assert distributions.enter(_chance, row=row, x=x) == pytest.approx(level, rel=1e-3)
        assert x > before
        before = x
    for level in (0.3, 1e-9, 1e-14):
        x = distributions.enter(_upper_quantile, row=row, level=level)
        assert before < x < math.inf
        before = x


def test_families_that_answer_at_once_have_no_tables():
    beliefs = np.array([[3.0, 4.0]])
    distributions, rows = tabulated(Bernoulli(), beliefs)
    assert isinstance(distributions, Bernoulli)
    assert rows is beliefs


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_ratio_of_gammas_is_fishers(level):
    arm, control = (40.0, 10.0), (7.0, 2.5)
    result = lift(Poisson(), arm, control, level)
    constants = stats.f(2 * arm[0], 2 * control[0])
    scale = (arm[0] / arm[1]) / (control[0] / control[1])
    tail = 0.5 * (1.0 - level)
    wanted = scale * constants.ppf([0.5, tail, 1.0 - tail]) - 1.0
    assert result.relative == pytest.approx(wanted, rel=2e-4)
    assert result.beats == pytest.approx(constants.sf(1.0 / scale), abs=1e-7)


@pytest.mark.parametrize(
    ("arm", "control"),
    [((331.0, 9671.0), (301.0, 9701.0)), ((3.0, 5.0), (1.0, 1.0)), ((2.0, 900.0), (80.0, 3e4))],
)
def test_coins_against_quadrature(arm, control):
    """The chance below each end of the interval, by SciPy over the density of the arm."""
    result = lift(Bernoulli(), arm, control)
    a, c = stats.beta(*arm), stats.beta(*control)

    def chance(below):
        points = a.ppf([1e-9, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-4, 1 - 1e-9])
        parts = itertools.pairwise(points)
        return sum(
            integrate.quad(lambda x: a.pdf(x) * below(x), *part, epsabs=1e-12)[0] for part in parts
        )

    assert 1.0 - result.beats == pytest.approx(chance(c.sf), abs=1e-6)
    for end, level in zip(result.absolute, (0.5, 0.025, 0.975), strict=True):
        assert chance(lambda x, end=end: c.sf(x - end)) == pytest.approx(level, abs=2e-5)
    for end, level in zip(result.relative, (0.5, 0.025, 0.975), strict=True):
        assert chance(lambda x, end=end: c.sf(x / (1 + end))) == pytest.approx(level, abs=2e-5)


def test_costs_are_the_mirror_image():
    rewards = lift(Exponential(), (3.0, 2.0), (4.0, 5.0))
    costs = lift(Mirror(Exponential()), (3.0, 2.0), (4.0, 5.0), units=COSTS)
    assert costs.absolute == pytest.approx(rewards.absolute, rel=1e-6)
    assert costs.relative == pytest.approx(rewards.relative, rel=1e-6)
    assert costs.beats == pytest.approx(1.0 - rewards.beats)


def test_another_scale():
    result = lift(Bernoulli(), (30.0, 70.0), (20.0, 80.0))
    scaled = lift(Bernoulli(), (30.0, 70.0), (20.0, 80.0), units=Units(5.0, 10.0))
    assert scaled.absolute == pytest.approx([10.0 * end for end in result.absolute], rel=1e-4)
    assert scaled.relative.middle == pytest.approx(1.0 / 7.0, abs=0.01)
    assert scaled.beats == pytest.approx(result.beats)


def test_no_share_of_a_control_that_may_be_zero():
    assert lift(Gaussian(), (1.0, 100.0), (0.01, 25.0)).relative is None
    below = lift(Gaussian(), (-1.0, 1e4), (-2.0, 1e4))
    assert below.relative.middle == pytest.approx(0.5, abs=1e-3)


counts = st.floats(-3.0, 9.0).map(lambda power: 10.0**power)


@settings(max_examples=5, deadline=None)
@given(st.tuples(counts, counts), st.tuples(counts, counts))
@example((1.0, 0.01), (0.01, 1.0))  # of which half lies within rounding of the end
def test_swapping_arms_turns_the_sign(arm, control):
    there, back = lift(Bernoulli(), arm, control), lift(Bernoulli(), control, arm)
    assert there.beats + back.beats == pytest.approx(1.0, abs=0.02)
    assert all(map(math.isfinite, (*there.absolute, *there.relative)))
    assert there.absolute.low <= there.absolute.middle <= there.absolute.high


def test_expected_loss_of_two_normal_arms():
    rows = np.array([[1.0, 100.0], [1.1, 25.0]])
    spread, gap = math.sqrt(1 / 100 + 1 / 25), 0.1
    score = gap / spread
    first = spread * stats.norm.pdf(score) + gap * stats.norm.cdf(score)
    assert expected_losses(Gaussian(), rows) == pytest.approx([first, first - gap], rel=1e-7)


@pytest.mark.parametrize(
    ("family", "rows"),
    [
        (Bernoulli(), [[3.0, 4.0], [30.0, 20.0], [0.2, 0.1], [1e6, 2e6]]),
        (Exponential(), [[3.0, 4.0], [30.0, 20.0], [5.0, 1.0]]),
        (GaussianUnknown(), [[0.0, 3.0, 4.0, 2.0], [0.5, 2.0, 30.0, 20.0]]),
    ],
)
def test_losses_differ_as_expected_rewards_do(family, rows):
    """E[max] − E[μ_a] is the loss, so two losses differ by two expected rewards."""
    losses = expected_losses(family, np.array(rows))
    expected = np.array([family.expected_reward(row) for row in rows])
    assert losses + expected == pytest.approx([losses[0] + expected[0]] * len(rows), rel=1e-5)
    assert (losses >= 0.0).all()


def test_infinite_means():
    rows = np.array([[1.0, 1.0], [3.0, 2.0], [3.0, 5.0]])
    rewards = expected_losses(Exponential(), rows)
    costs = expected_losses(Mirror(Exponential()), rows, COSTS)
    assert np.isinf(rewards).tolist() == [False, True, True]
    assert np.isinf(costs).tolist() == [True, False, False]
    assert expected_losses(Exponential(), rows[:1]).tolist() == [0.0]
    assert math.isfinite(lift(Exponential(), rows[0], rows[1]).absolute.high)

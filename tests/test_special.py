"""Special functions against mpmath: relative error at most 1e-12 for arguments from 1e-3 to 1e9,
absolute near zeros.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from belman import special
from tests import naive
from tests.naive import mp

LIMIT = 1e-12
TINY = 1e-290
NEAR = [
    x + h
    for x in (1, 1.4616321449683623, 2, 8)
    for h in (-0.03, -1e-3, -1e-6, -1e-9, 0, 1e-12, 1e-9, 1e-6, 1e-3, 0.03)
]
SINGLE = [
    *np.logspace(-3, 9, 200).tolist(),
    *(10 ** np.random.default_rng(1).uniform(-3, 9, 200)).tolist(),
    *NEAR,
]
SHAPES = (1e-3, 0.4, 1.0027, 37.0, 1.6e4, 3e6, 1e9)
LEVELS = (
    1e-290,
    1e-200,
    1e-50,
    1e-17,
    0.9e-12,
    1.1e-12,
    1e-9,
    0.9e-5,
    1.1e-5,
    0.01,
    0.3,
    0.5,
    0.7,
    0.99,
    1 - 1e-6,
    1 - 1e-13,
)


def error(result, true) -> float:
    """Relative above 1, absolute below."""
    return float(abs(mp.mpf(result) - true) / max(1, abs(true)))


def assert_close(function, reference, arguments):
    worst = max((error(function(*x), reference(*map(mp.mpf, x))), x) for x in arguments)
    assert worst[0] <= LIMIT, worst


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (special.log_gamma, mp.loggamma),
        (special.digamma, mp.digamma),
        (special.trigamma, lambda x: mp.polygamma(1, x)),
        (special.digamma_gap, lambda x: mp.log(x) - mp.digamma(x)),
        (special.stirling, naive.stirling),
    ],
)
def test_gamma_functions(function, reference):
    assert_close(function, reference, [(x,) for x in SINGLE])


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (special.trigamma, lambda x: mp.polygamma(1, x)),
        (special.digamma_gap, lambda x: mp.log(x) - mp.digamma(x)),
        (special.stirling, naive.stirling),
    ],
)
def test_what_has_no_zero_is_relative_everywhere(function, reference):
    for x in SINGLE:
        assert abs(function(x) / reference(mp.mpf(x)) - 1) < LIMIT, x


def test_log_beta():
    pairs = (10 ** np.random.default_rng(2).uniform(-3, 9, (500, 2))).tolist()
    assert_close(
        special.log_beta, naive.log_beta, [*map(tuple, pairs), *itertools.product(SHAPES, SHAPES)]
    )


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (special.log_excess, lambda r: r - 1 - mp.log(r)),
        (special.entropy_excess, lambda r: r * mp.log(r) - r + 1),
    ],
)
def test_excess_is_relative_where_it_vanishes(function, reference):
    steps = [sign * size for size in np.logspace(-12, -0.001, 200) for sign in (-1, 1)] + list(
        np.logspace(0, 9, 40)
    )
    for e in map(float, steps):
        assert abs(function(1 + e, e) / reference(1 + mp.mpf(e)) - 1) < LIMIT, e


def test_excess_ends():
    assert special.entropy_excess(0.0, -1.0) == 1.0
    assert special.log_excess(1.0, 0.0) == special.entropy_excess(1.0, 0.0) == 0.0


def test_stirling_excess():
    ratios = [*np.logspace(-9, 3, 13), *-np.logspace(-9, -0.1, 13)]
    for old, ratio in itertools.product(np.logspace(np.log10(8.0), 9, 40).tolist(), ratios):
        new = max(old * (1 + float(ratio)), 8.0)
        if new == old:
            continue
        x, y = mp.mpf(old), mp.mpf(new)
        with mp.workdps(80):
            true = (
                naive.stirling(y)
                - naive.stirling(x)
                - (y - x) * (mp.digamma(x) - mp.log(x) + 1 / (2 * x))
            )
        assert abs(special.stirling_excess(new, old, new - old) / true - 1) < 2e-12, (new, old)


def test_lift_excess():
    for new, old in itertools.product((1e-3, 0.5, 3.0, 700.0), (1e-3, 0.5, 3.0)):
        ratios = [(mp.mpf(new) + k) / (mp.mpf(old) + k) for k in range(8)]
        true = mp.fsum(r - 1 - mp.log(r) for r in ratios)
        assert (
            error(special.lift_excess(new, old, new - old, special.lift_count(old)), true) < LIMIT
        )
    assert special.lift_count(8.0) == 0


def test_reference_chances_agree_with_mpmath():
    for a, b, x in ((2.5, 3.5, 0.4), (0.01, 0.3, 0.2), (40, 3, 0.999)):
        assert (
            abs(naive.beta_chances(a, b, x)[0] - mp.betainc(a, b, 0, x, regularized=True)) < 1e-20
        )
    for a, x in ((2.5, 1), (0.01, 1e-9), (300, 350)):
        assert abs(naive.gamma_chances(a, x)[1] - mp.gammainc(a, x, regularized=True)) < 1e-20


def check_chance(result, true, rounding):
    """1e-12 relative, or the effect of one rounding of x, x f(x)·2e-16: at counts of 1e9 a digit of
    x is 1e-11 of a chance.
    """
    if true > TINY:
        assert abs(result - true) <= LIMIT * true + 2.3e-16 * rounding, (result, true)


def beta_cases():
    """Corners with two levels each, and where SciPy 1.17 is NaN, stuck or wrong."""
    rng = np.random.default_rng(3)
    corners = [
        (a, b, float(rng.choice(LEVELS)))
        for a, b in itertools.product(SHAPES, SHAPES)
        for _ in range(2)
    ]
    known = [
        (1.0027, 3.4e-3, 4.9e-17),
        (447644.0, 4.947, 1e-200),
        (1.084, 0.227, 1.3e-19),
        (1.4e5, 1416.0, 2e-150),
    ]
    known += [
        (1.8e5, 9e6, 1e-50),
        (1000.0, 1e9, 0.3),
        (1000.0, 2e4, 1e-3),
        (29.0, 1e9, 0.53),
        (3.0, 1e9, 0.7),
        (0.5, 0.5, 1e-10),
    ]
    return corners + known + [(b, a, level) for a, b, level in known]


def test_beta_distribution():
    for a, b, level in beta_cases():
        for upper, quantile in enumerate((special.beta_quantile, special.beta_upper_quantile)):
            x = quantile(a, b, level)
            assert 0.0 <= x <= 1.0
            if not TINY < x < 1.0:
                continue
            chances = naive.beta_chances(a, b, x)
            rest = 1 - mp.mpf(x)
            off = (
                abs(chances[upper] - mp.mpf(level)) / chances[2] * rest
            )  # of x, relative, by a step of Newton in its logit
            assert off <= LIMIT, (a, b, level, upper, float(off))
            check_chance(special.beta_cdf(a, b, x), chances[0], chances[2] / rest)
            check_chance(special.beta_survival(a, b, x), chances[1], chances[2] / rest)


def test_gamma_distribution():
    for a, level in itertools.product((*SHAPES, 6300.0, 2e5, 1e7), LEVELS):
        for upper, quantile in enumerate((special.gamma_quantile, special.gamma_upper_quantile)):
            x = quantile(a, level)
            if x > TINY:
                chances = naive.gamma_chances(a, x)
                off = abs(chances[upper] - mp.mpf(level)) / chances[2]
                assert off <= LIMIT, (a, level, upper, float(off))
                check_chance(special.gamma_cdf(a, x), chances[0], chances[2])
                check_chance(special.gamma_survival(a, x), chances[1], chances[2])


def test_student_distribution():
    for freedom, level in itertools.product((*SHAPES, 2.19, 2.6), LEVELS):
        x = special.student_quantile(freedom, level)
        assert not np.isnan(x)
        if 0.0 < abs(x) < 1e150:
            chances = naive.student_chances(freedom, x)
            off = abs(chances[0] - mp.mpf(level)) / chances[2] * min(1, abs(x))
            assert off <= LIMIT, (freedom, level, float(off))
            check_chance(special.student_cdf(freedom, x), chances[0], chances[2])


def test_normal_distribution():
    for level in (*LEVELS, 0.5 + 1e-9):
        x = special.normal_quantile(level)
        chances = naive.normal_chances(x)
        if x != 0.0:
            assert abs(chances[0] - mp.mpf(level)) / chances[2] * min(1, abs(x)) <= LIMIT
        check_chance(special.normal_cdf(x), chances[0], chances[2])


def test_ends_of_distributions():
    assert special.beta_quantile(2.0, 3.0, 0.0) == special.beta_upper_quantile(2.0, 3.0, 1.0) == 0.0
    assert special.beta_quantile(2.0, 3.0, 1.0) == special.beta_upper_quantile(2.0, 3.0, 0.0) == 1.0
    assert special.beta_cdf(2.0, 3.0, 0.0) == special.beta_survival(2.0, 3.0, 1.0) == 0.0
    assert special.gamma_quantile(1e6, 0.0) == special.gamma_upper_quantile(1e6, 1.0) == 0.0
    assert special.gamma_cdf(1e6, 0.0) == special.gamma_survival(2.0, np.inf) == 0.0
    assert special.beta_quantile(1e-3, 1.0, 1e-13) == 0.0  # it is 1e-13000
    assert special.student_quantile(1e-3, 1e-13) == -np.inf


def test_the_logarithm_in_plain_arithmetic():
    """Next to that of the library from 1 on, also beside the powers of two and of √2."""
    rng = np.random.default_rng(3)
    powers = 2.0 ** np.arange(0.0, 1_024.0, 0.5)
    beside = [np.nextafter(powers, 0.0), powers, np.nextafter(powers, np.inf)]
    near = 1.0 + np.exp(rng.uniform(-37.0, 0.0, 2_000))
    x = np.concatenate([*beside, near, np.exp(rng.uniform(0.0, 709.0, 2_000)), [1.0, 1.7e308]])
    x = x[x >= 1.0]
    result = np.array([special.log_from_one(each) for each in x])
    assert np.all(np.abs(result - np.log(x)) <= 6e-16 * np.log(x))
    assert special.log_from_one(1) == 0.0


# Which of two Beta variables is the larger


def below(x, a, b):
    """P(θ ≤ x)."""
    return mp.betainc(a, b, 0, x, regularized=True)


def chance_above(a, b, c, d):
    """∫ f₁ F₂ by quadrature, cut where either has its mass."""
    with mp.workdps(30):
        cuts = {mp.mpf(0), mp.mpf(1)}
        for x, y in ((a, b), (c, d)):
            mean, spread = mp.mpf(x) / (x + y), mp.sqrt(mp.mpf(x) * y / (x + y + 1)) / (x + y)
            cuts |= {mean + k * spread for k in range(-12, 13, 3) if 0 < mean + k * spread < 1}
        whole = mp.beta(a, b)

        def risen(x):
            density = x ** (mp.mpf(a) - 1) * (1 - x) ** (mp.mpf(b) - 1) / whole
            return density * below(x, c, d)

        return mp.quad(risen, sorted(cuts))


PAIRS = [
    (1.0, 1.0, 1.0, 1.0),
    (0.5, 2.5, 3.0, 0.7),
    (3.0, 0.7, 0.5, 2.5),
    (2.0, 9.0, 1.0, 30.0),
    (40.0, 61.0, 55.0, 46.0),
    (150.5, 20.0, 1.5, 1.0),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_chance_that_one_beta_variable_exceeds_another(pair):
    true, (result, h) = chance_above(*pair), special.chance_above(*pair)
    a, b, c, d = map(mp.mpf, pair)
    assert error(result, true) <= LIMIT
    assert error(h, mp.beta(a + c, b + d) / mp.beta(a, b) / mp.beta(c, d)) <= LIMIT
    other, same = special.chance_above(*pair[2:], *pair[:2])
    assert result + other == pytest.approx(1.0, abs=LIMIT)
    assert same == pytest.approx(h, rel=LIMIT)
    # E max θ = ∫ 1 − F₁ F₂
    most = special.expected_most(result, h, *pair)
    cuts = sorted({mp.mpf(0), a / (a + b), c / (c + d), mp.mpf(1)})
    assert error(most, 1 - mp.quad(lambda x: below(x, a, b) * below(x, c, d), cuts)) <= 1e-7


def test_a_chance_that_is_all_but_none_has_its_digits():
    """P(θ₁ > θ₂) of Beta(1, n) and Beta(m, 1) is ∫ n (1 − x)^(n − 1) x^m dx = n B(m + 1, n)."""
    for n, m in ((40.0, 40.0), (200.0, 150.0)):
        true = mp.beta(m + 1, n) * n
        result, _ = special.chance_above(1.0, n, m, 1.0)
        assert abs(mp.mpf(result) / true - 1) < 1e-10
    assert special.chance_above(1e6, 1e3, 1e3, 1e6) == (1.0, 0.0)
    assert special.chance_above(1e8, 1e8, 1e8, 1e8)[0] == pytest.approx(0.5, abs=1e-7)


def test_a_reward_moves_the_chance_by_a_step():
    rng = np.random.default_rng(2)
    counts = [2.0, 3.5, 1.0, 4.0]
    result, h = special.chance_above(*counts)
    for _ in range(200):
        position = int(rng.integers(4))
        if rng.random() < 0.2 and counts[2] > 1.0:
            counts[2], counts[3] = counts[2] - 1.0, counts[3] + 1.0
            result, h = special.a_success_less(result, h, *counts)
        else:
            result, h = special.after_reward(result, h, *counts, position < 2, position % 2 == 0)
            counts[position] += 1.0
        afresh, step = special.chance_above(*counts)
        assert result == pytest.approx(afresh, abs=1e-13)
        assert h == pytest.approx(step, rel=1e-11)

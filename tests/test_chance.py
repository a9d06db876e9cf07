"""The generator against its definition in whole numbers, and its distributions against SciPy's.

Each statistical test raises a false alarm with chance 1e-6 if its seed were drawn anew (p-values
must exceed 1e-6).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from belman import chance
from belman.engine import entry, kernel

DRAWS = 20_000
ALARM = 1e-6
MASK = 2**64 - 1
EDGE = 3.442619855899


def xoshiro256plusplus(state: list[int]) -> int:
    """Blackman and Vigna's generator on Python integers."""

    def rotate(word: int, left: int) -> int:
        return ((word << left) | (word >> (64 - left))) & MASK

    result = (rotate((state[0] + state[3]) & MASK, 23) + state[0]) & MASK
    shifted = (state[1] << 17) & MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotate(state[3], 45)
    return result


@kernel
def fill_words(rng, out):
    for i in range(out.size):
        out[i] = chance.word(rng)


@kernel
def fill(distribution, rng, first, second, out):
    for i in range(out.size):
        if distribution == 0:
            out[i] = chance.uniform(rng)
        elif distribution == 1:
            out[i] = chance.below(rng, int(first))
        elif distribution == 2:
            out[i] = chance.normal(rng)
        elif distribution == 3:
            out[i] = chance.gamma(rng, first)
        elif distribution == 4:
            out[i] = chance.log_gamma_draw(rng, first)
        else:
            out[i] = chance.beta(rng, first, second)


def draws(distribution, first=0.0, second=0.0, seed=1, size=DRAWS):
    out = np.empty(size)
    distributions = ("uniform", "below", "normal", "gamma", "log gamma", "beta")
    rng = chance.generator(seed)
    given = {"first": float(first), "second": float(second)}
    entry(fill)(distribution=distributions.index(distribution), rng=rng, **given, out=out)
    return out


@pytest.fixture(autouse=True)
def quiet():
    """Words of 64 bits are meant to overflow, which NumPy's numbers would warn of."""
    with np.errstate(over="ignore"):
        yield


def assert_uniform(chances):
    assert stats.kstest(chances, "uniform").pvalue > ALARM


def test_stream_is_xoshiro():
    words = np.empty(1_000, np.uint64)
    rng = chance.generator(5, 3)
    state = [int(word) for word in rng]
    entry(fill_words)(rng=rng, out=words)
    assert [int(word) for word in words] == [xoshiro256plusplus(state) for _ in words]
    assert [int(word) for word in rng] == state


def test_known_words():
    """The first outputs for the state (1, 2, 3, 4), as in the test vectors of the rand_xoshiro
    crate.
    """
    words = np.empty(5, np.uint64)
    entry(fill_words)(rng=np.array([1, 2, 3, 4], np.uint64), out=words)
    assert words.tolist() == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
    ]


def test_seeds_and_paths():
    keys = [(7,), (8,), (7, 0), (7, 1), (7, 0, 0), (7, 0, 1), (7, 1, 0), (2**200,)]
    states = [tuple(map(int, chance.generator(*key))) for key in keys]
    assert len(set(states)) == len(keys)
    assert states == [tuple(map(int, chance.generator(*key))) for key in keys]
    assert states[0] == tuple(np.random.SeedSequence(7).generate_state(4, np.uint64).tolist())


def test_paths_of_a_seed_sequence():
    sequence = np.random.SeedSequence(7)
    assert (chance.generator(sequence, 1) == chance.generator(7, 1)).all()
    assert (chance.generator(sequence) == chance.generator(7)).all()
    assert (chance.generator(sequence.spawn(2)[1], 4) == chance.generator(7, 1, 4)).all()


def test_forks_differ_and_repeat():
    words = chance.generator(3)
    kept = words.copy()
    forks = {}
    for run, role in itertools.product((0, 1, 2, 10**9), range(8)):
        out = np.empty(4, np.uint64)
        chance.fork(words, run, role, out)
        forks[run, role] = tuple(map(int, out))
        again = np.empty(4, np.uint64)
        chance.fork(words, run, role, again)
        assert (again == out).all()
    assert len(set(forks.values())) == len(forks)
    assert (words == kept).all()


def test_first_draws_of_forks_are_uniform_and_unrelated():
    words, out = chance.generator(4), np.empty(4, np.uint64)
    first = np.empty((4_000, 2))
    for run in range(len(first)):
        for role in (0, 1):
            chance.fork(words, run, role, out)
            first[run, role] = chance.uniform(out)
    assert_uniform(first[:, 0])
    assert_uniform(first[:, 1])
    pairs = [(first[:, 0], first[:, 1]), (first[1:, 0], first[:-1, 0])]
    assert all(
        abs(np.corrcoef(x, y)[0, 1]) < 5 / math.sqrt(len(x)) for x, y in pairs
    )  # 5 sigma: 6e-7 each


def test_uniform():
    u = draws("uniform")
    assert (u > 0.0).all()
    assert (u < 1.0).all()
    assert_uniform(u)
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 5 / math.sqrt(u.size)


def test_uniform_never_reaches_the_ends():
    """The least and the largest word give draws strictly inside (0, 1)."""
    # the output is rotl(s0 + s3, 23) + s0: all zeros for s0 = s3 = 0, all ones for s0 = 0 and s3 =
    # 2⁶⁴ − 1
    assert chance.uniform(np.array([0, 1, 1, 0], np.uint64)) == 2.0**-53
    assert chance.uniform(np.array([0, 1, 1, MASK], np.uint64)) == 1.0 - 2.0**-53


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_below(count):
    result = np.bincount(draws("below", count).astype(int), minlength=count)
    assert result.size == count
    assert count == 1 or stats.chisquare(result).pvalue > ALARM


def test_below_largest_draw_stays_below():
    for count in (1, 2, 3, 5, 6, 7, 2**31 - 1, 2**31, 2**40 + 1):
        assert chance.below(np.array([0, 1, 1, MASK], np.uint64), count) == count - 1


def test_normal():
    x = draws("normal", size=200_000)
    assert_uniform(special.ndtr(x))
    assert (
        stats.binomtest(int((np.abs(x) > EDGE).sum()), x.size, 2 * stats.norm.sf(EDGE)).pvalue
        > ALARM
    )


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_tail_of_the_normal(side):
    """Beyond the last layer of the ziggurat other code draws, too rarely for the test above."""
    rng = chance.generator(6)
    x = np.array([chance._normal_tail(rng, side) for _ in range(DRAWS)])
    assert_uniform(stats.norm.sf(side * x) / stats.norm.sf(EDGE))


@pytest.mark.parametrize("shape", [0.3, 0.999, 1.0, 2.5, 1e3, 1e6, 1e9])
def test_gamma(shape):
    assert_uniform(special.gammainc(shape, draws("gamma", shape)))
    assert_uniform(special.gammainc(shape, np.exp(draws("log gamma", shape, seed=2))))


def test_gamma_of_a_tiny_shape_in_logarithms():
    """P(X ≤ x) = x^a/Γ(1 + a)·(1 − ax/(1 + a) + …): for a = 1e-3 most draws underflow, their
    logarithms do not.
    """
    a = 1e-3
    log_x = draws("log gamma", a)
    assert np.isfinite(log_x).all()
    assert log_x.min() < -2_000.0
    small = np.exp(a * log_x - special.gammaln(1 + a))
    assert_uniform(
        np.where(log_x < -40, small, special.gammainc(a, np.exp(np.maximum(log_x, -700))))
    )


@pytest.mark.parametrize(
    "pair", [(1.0, 1.0), (0.5, 0.5), (3.0, 7.0), (0.3, 40.0), (1e6, 2e6), (1e3, 0.2), (1e-2, 1.0)]
)
def test_beta(pair):
    x = draws("beta", *pair)
    assert ((x >= 0.0) & (x <= 1.0)).all()
    assert_uniform(special.betainc(*pair, x))


def test_beta_of_a_tiny_second_shape_is_mirrored():
    """What is closer to 1 than numbers can be is 1, with the chance of that."""
    x = draws("beta", 1.0, 0.01)
    assert (
        stats.binomtest(
            int((x > 1.0 - 1e-12).sum()), x.size, float(special.betainc(0.01, 1.0, 1e-12))
        ).pvalue
        > ALARM
    )


def test_beta_of_tiny_shapes():
    """Beta(0.001, 0.5): most draws underflow to 0, with the chance that the distribution gives to
    numbers under 1e-308.
    """
    a, b = 1e-3, 0.5
    x = draws("beta", a, b)
    least = 1e-300
    assert (
        stats.binomtest(int((x < least).sum()), x.size, float(special.betainc(a, b, least))).pvalue
        > ALARM
    )
    kept = x[x >= least]
    floor = special.betainc(a, b, least)
    assert_uniform((special.betainc(a, b, kept) - floor) / (1.0 - floor))

"""Randomness for compiled code, passed in always: a generator is an array of four 64-bit words.

The words are the state of xoshiro256++ (Blackman and Vigna), seeded through NumPy's SeedSequence.
NumPy's own Generator costs 10 µs to enter compiled code and 17 µs to make; four words cost 0.1 µs,
save as four integers, and give the same stream whatever the version of NumPy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.engine import inlined_kernel, kernel

Words = NDArray[np.uint64]

_17, _23, _45 = (np.uint64(n) for n in (17, 23, 45))
_12, _64 = np.uint64(12), np.uint64(64)
_0, _1, _8, _27, _30, _31 = (np.uint64(n) for n in (0, 1, 8, 27, 30, 31))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE, _MIX_TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LAYER = np.uint64(127)
_UNIT = 2.0**-52

_LAYERS = 128
_EDGE = 3.442619855899  # where the tail of the normal ziggurat begins
_AREA = 9.91256303526217e-3  # of each of its layers


def _ziggurat() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right edges of layers of equal area under exp(−x²/2), and their ratios to those above."""
    edges = np.zeros(_LAYERS + 1)
    height = math.exp(-0.5 * _EDGE * _EDGE)
    edges[0], edges[1] = _AREA / height, _EDGE
    for layer in range(2, _LAYERS):
        edges[layer] = math.sqrt(-2.0 * math.log(_AREA / edges[layer - 1] + height))
        height = math.exp(-0.5 * edges[layer] ** 2)
    return edges, edges[1:] / edges[:-1]


_EDGES, _RATIOS = _ziggurat()


def generator(seed: int | np.random.SeedSequence | None, *path: int) -> Words:
    """A fresh generator for a seed and a path of numbers (run, role, …); equal paths, equal draws.

    >>> [bool((generator(7, 1) == generator(7, path)).all()) for path in (1, 2)]
    [True, False]
    """
    if isinstance(seed, np.random.SeedSequence):
        key, size = (*seed.spawn_key, *path), seed.pool_size
        sequence = np.random.SeedSequence(seed.entropy, spawn_key=key, pool_size=size)
    else:
        sequence = np.random.SeedSequence(seed, spawn_key=path)
    return sequence.generate_state(4, np.uint64).astype(np.uint64)


@kernel
def _mix(word):
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the word."""
    word = (word ^ (word >> _30)) * _MIX_ONE
    word = (word ^ (word >> _27)) * _MIX_TWO
    return word ^ (word >> _31)


@kernel
def fork(words, run: int, role: int, out):
    """The generator of one role in one run, from the seed's words: the same whatever ran before."""
    path = np.uint64(run) * _8 + np.uint64(role)
    for i in range(4):
        out[i] = _mix(words[i] ^ _mix(path + _GOLDEN * np.uint64(i + 1)))


@kernel
def _rotate(word, left):
    return (word << left) | (word >> (_64 - left))


@inlined_kernel
def word(rng):
    """The next 64 random bits."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    result = _rotate(s0 + s3, _23) + s0
    s2 ^= s0
    s3 ^= s1
    rng[1] = s1 ^ s2
    rng[0] = s0 ^ s3
    rng[2] = s2 ^ (s1 << _17)
    rng[3] = _rotate(s3, _45)
    return result


@inlined_kernel
def uniform(rng):
    """A uniform draw from the open interval (0, 1), of 52 bits."""
    return (float(np.int64(word(rng) >> _12)) + 0.5) * _UNIT


@kernel
def below(rng, count: int):
    """A uniform draw from 0, …, count − 1."""
    return int(uniform(rng) * count)


@inlined_kernel
def normal(rng):
    """A standard normal draw (ziggurat, 128 layers, Doornik's); short, as 97 of 100 end here."""
    bits = word(rng)
    layer = bits & _LAYER  # unsigned, so that indexing need not look for negative numbers
    side = (float(np.int64(bits >> _12)) + 0.5) * (2.0 * _UNIT) - 1.0
    return side * _EDGES[layer] if abs(side) < _RATIOS[layer] else _normal_rest(rng, layer, side)


@kernel
def _normal_rest(rng, layer, side):
    """Go on where the first point missed the rectangle: the tail, the wedge, or another point."""
    while not abs(side) < _RATIOS[layer]:
        if layer == _0:
            return _normal_tail(rng, side)
        x = side * _EDGES[layer]
        low = math.exp(-0.5 * (_EDGES[layer] * _EDGES[layer] - x * x))
        high = math.exp(-0.5 * (_EDGES[layer + _1] * _EDGES[layer + _1] - x * x))
        if high + uniform(rng) * (low - high) < 1.0:
            return x
        bits = word(rng)
        layer = bits & _LAYER
        side = (float(np.int64(bits >> _12)) + 0.5) * (2.0 * _UNIT) - 1.0
    return side * _EDGES[layer]


@kernel
def _normal_tail(rng, side):
    while True:
        x = math.log(uniform(rng)) / _EDGE
        if -2.0 * math.log(uniform(rng)) >= x * x:
            return x - _EDGE if side < 0.0 else _EDGE - x


@inlined_kernel
def _gamma_from_one(rng, shape):
    """A Gamma(shape, 1) draw for shapes of 1 and more (Marsaglia and Tsang)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = uniform(rng)
            square = x * x
            if u < 1.0 - 0.0331 * square * square:
                return d * v
            if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return d * v


@inlined_kernel
def log_gamma_draw(rng, shape):
    """The logarithm of a Gamma(shape, 1) draw, so that shapes of 1e-3 do not underflow."""
    if shape >= 1.0:
        return math.log(_gamma_from_one(rng, shape))
    return math.log(_gamma_from_one(rng, shape + 1.0)) + math.log(uniform(rng)) / shape


@inlined_kernel
def gamma(rng, shape):
    """A Gamma(shape, 1) draw."""
    if shape >= 1.0:
        return _gamma_from_one(rng, shape)
    return math.exp(log_gamma_draw(rng, shape))


@inlined_kernel
def beta(rng, a, b):
    """A Beta(a, b) draw: the share of one of two gamma draws."""
    if min(a, b) >= 1.0:
        first = _gamma_from_one(rng, a)
        return first / (first + _gamma_from_one(rng, b))
    first = log_gamma_draw(rng, a)
    gap = log_gamma_draw(rng, b) - first
    return 1.0 / (1.0 + math.exp(gap)) if gap < 700.0 else math.exp(-gap)


@inlined_kernel
def exponential(rng):
    """A standard exponential draw."""
    return -math.log(uniform(rng))


@inlined_kernel
def gumbel(rng):
    """A standard Gumbel draw: the largest of log-weights with such noise is drawn by weight."""
    return -math.log(exponential(rng))

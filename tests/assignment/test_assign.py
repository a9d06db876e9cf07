"""Assigning units: by the vectors, by chance, and with as few moves as there can be."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import belman
from belman.assignment import Weights, WeightsError, assign, point
from belman.assignment.allotment import POINTS, counts_of, in_points, lay_out, move_as_few

VECTORS = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "assignment-vectors.json").read_text(
        "utf-8"
    )
)
THREE = Weights.of("checkout", {"blue": 0.5, "green": 0.3, "red": 0.2}, salt="0123456789abcdef")


def test_points_are_those_of_the_vectors():
    for case in VECTORS["points"]:
        assert point(case["salt"], case["unit"]) == case["point"]
        data = case["salt"].encode() + b"\0" + case["unit"].encode()
        assert case["point"] == int(hashlib.blake2s(data).hexdigest()[:8], 16)


def test_assignments_are_those_of_the_vectors():
    for case in VECTORS["documents"]:
        weights = Weights.from_described(case["document"])
        for wanted in case["assignments"]:
            result = assign(weights, wanted["unit"])
            assert result._asdict() == {name: wanted[name] for name in result._fields}


def test_many_units_are_assigned_as_they_are_one_by_one():
    texts = [f"user-{number}" for number in range(99)]
    texts += ["é" * size for size in range(40)] + ["x" * size for size in range(60)]
    texts += ["日本語", "😀" * 12, "nul\0inside"]
    arrays = [
        texts,
        [*texts, "ends in nul\0", 7],
        np.array(texts),
        np.array([text.encode() for text in texts]),
        np.arange(-99, 99),
        np.array([2**63 - 1, -(2**63), 0, 10**18]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([], dtype=np.int64),
        [],
    ]
    for salt in ("s", "0123456789abcdef", "a" * 50, "a" * 80):
        weights = Weights.of("checkout", {"a": 0.5, "b": 0.25, "c": 0.25}, salt=salt)
        for units in arrays:
            result = belman.assign_many(weights, units)
            names = [
                unit.decode() if isinstance(unit, bytes) else unit
                for unit in (units.tolist() if isinstance(units, np.ndarray) else units)
            ]
            wanted = [assign(weights, name).arm for name in names]
            assert [result.arms[position] for position in result.positions] == wanted
    assert result.chances == weights.weights
    assert result.version == 1


def test_chances_are_kept():
    """10⁷ units: the χ² of a fair assignment has a p-value below 1e-6 with that chance; the units
    are fixed, so that it never does if it does not today.
    """
    units = np.arange(10_000_000)
    result = belman.assign_many(THREE, units)
    counts = np.bincount(result.positions, minlength=3)
    wanted = np.array(THREE.weights) * len(units)
    assert stats.chisquare(counts, wanted).pvalue > 1e-6


def test_studies_do_not_share_their_luck():
    """200,000 units under two salts: independence is refused by χ² with a chance of 1e-6."""
    units = np.arange(200_000)
    other = Weights.of("other", {"a": 0.5, "b": 0.5}, salt="0123456789abcdeg")
    both = (
        2 * belman.assign_many(THREE, units).positions + belman.assign_many(other, units).positions
    )
    table = np.bincount(both, minlength=6).reshape(3, 2)
    assert stats.chi2_contingency(table).pvalue > 1e-6


shares = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8).filter(lambda made: sum(made) > 0.1)


def normal(numbers):
    return np.array(numbers) / np.sum(numbers)


def owners(cuts, positions):
    ends = [end for end, _ in cuts]
    return np.array([arm for _, arm in cuts])[np.searchsorted(ends, positions, side="right")]


@given(st.data())
def test_no_more_points_move_than_must(data):
    """Over versions of random weights: exactly ½ Σ|Δ| points change hands, stretch by stretch."""
    arms = data.draw(st.integers(2, 8))
    number = st.floats(0.0, 1.0)
    made = st.lists(number, min_size=arms, max_size=arms).filter(lambda made: sum(made) > 0.1)
    counts = in_points(normal(data.draw(made)))
    cuts = lay_out(counts)
    for _ in range(data.draw(st.integers(1, 12))):
        wanted = in_points(normal(data.draw(made)))
        new = move_as_few(cuts, wanted)
        assert counts_of(new, arms) == wanted
        assert all(first[1] != second[1] for first, second in pairwise(new))
        edges = sorted({0, *(end for end, _ in cuts), *(end for end, _ in new)})
        sizes = np.diff(edges)
        moved = int(sizes[owners(cuts, edges[:-1]) != owners(new, edges[:-1])].sum())
        assert moved == sum(abs(a - b) for a, b in zip(counts, wanted, strict=True)) // 2
        cuts, counts = new, wanted


def test_cuts_stay_few():
    """A thousand versions of ten arms whose weights wander."""
    rng = np.random.default_rng(1)
    level, cuts = np.zeros(10), lay_out(in_points(np.full(10, 0.1)))
    for _ in range(1_000):
        level = 0.995 * level + 0.1 * rng.normal(size=10)
        cuts = move_as_few(cuts, in_points(normal(np.exp(level))))
    assert len(cuts) <= 150


@given(shares)
def test_weights_become_whole_numbers_of_points(numbers):
    counts = in_points(normal(numbers))
    assert sum(counts) == POINTS
    assert min(counts) >= 0
    assert np.allclose(np.array(counts) / POINTS, normal(numbers), atol=2.0**-31)


def test_arms_come_and_go_with_few_moves():
    later = THREE.following({"red": 0.2, "grey": 0.3, "blue": 0.5})
    for number in range(2_000):
        before, after = assign(THREE, number), assign(later, number)
        assert after.arm == ("grey" if before.arm == "green" else before.arm)
    assert later.version == 2
    assert later.weights == pytest.approx((0.2, 0.3, 0.5), abs=1e-9)


@pytest.mark.parametrize("unit", [None, 1.5, True, b"bytes", ["a"], "\ud800"])
def test_units_that_cannot_be_named_are_refused(unit):
    with pytest.raises(WeightsError, match="cannot be assigned"):
        assign(THREE, unit)
    with pytest.raises(WeightsError, match="cannot be assigned"):
        belman.assign_many(THREE, [unit])

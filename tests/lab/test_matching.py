"""Matching: as good as SciPy's, infinite weights first, closed rows and columns left alone, ties
uniform, one row as `pick`.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from belman import chance
from belman.engine import entry
from belman.lab.matching import NOBODY, Workspace, match, match_favourites
from belman.policies.policy_kernels import pick

MIND = chance.generator(1)


def matched(weights, open_rows=None, open_columns=None, rng=MIND):
    weights = np.ascontiguousarray(weights, dtype=float)
    rows, columns = weights.shape
    out = np.zeros(rows, np.int64)
    open_rows = np.ones(rows, np.bool_) if open_rows is None else open_rows
    open_columns = np.ones(columns, np.bool_) if open_columns is None else open_columns
    count = entry(match)(
        weights=weights,
        open_rows=open_rows,
        open_columns=open_columns,
        rng=rng,
        workspace=Workspace.blank(rows, columns),
        matched=out,
    )
    pairs = {u: int(k) for u, k in enumerate(out) if k >= 0}
    assert len(pairs) == len(set(pairs.values())) == count
    return pairs


def total(weights, pairs):
    return sum(weights[u][k] for u, k in pairs.items())


def test_as_good_as_scipy_on_random_matrices():
    rng = np.random.default_rng(0)
    for trial in range(2_000):
        rows, columns = rng.integers(1, 9, 2)
        weights = rng.normal(size=(rows, columns)) * 10 ** rng.uniform(-6, 6)
        if trial % 3 == 0:
            weights = rng.integers(-2, 3, (rows, columns)).astype(float)
        pairs = matched(weights)
        best = weights[linear_sum_assignment(weights, maximize=True)].sum()
        assert len(pairs) == min(rows, columns)
        assert total(weights, pairs) == pytest.approx(
            best, rel=1e-12, abs=1e-12 * np.abs(weights).max()
        )


def best_by_brute_force(weights):
    """The most infinities, or the fewest negative ones, then the largest sum, over all matchings of
    as many pairs as can be.
    """
    rows, columns = weights.shape
    swapped = weights.T if rows > columns else weights
    keys = []
    for chosen in itertools.permutations(range(swapped.shape[1]), swapped.shape[0]):
        values = swapped[np.arange(swapped.shape[0]), list(chosen)]
        finite = values[np.isfinite(values)]
        keys.append((np.sum(values == np.inf), -np.sum(values == -np.inf), finite.sum()))
    return max(keys)


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinite_weights_come_first_and_negative_ones_last(infinity):
    rng = np.random.default_rng(1)
    for _ in range(300):
        rows, columns = rng.integers(1, 5, 2)
        weights = rng.normal(size=(rows, columns)) * 10 ** rng.uniform(-2, 8)
        weights[rng.random((rows, columns)) < 0.4] = infinity
        pairs = matched(weights)
        values = np.array([weights[u, k] for u, k in pairs.items()])
        many, few, rest = best_by_brute_force(weights)
        assert (np.sum(values == np.inf), -np.sum(values == -np.inf)) == (many, few)
        assert values[np.isfinite(values)].sum() == pytest.approx(rest, rel=1e-9, abs=1e-9 * 1e8)


def test_closed_rows_and_columns_stay_out():
    rng = np.random.default_rng(2)
    for _ in range(200):
        weights = rng.normal(size=(4, 6))
        rows, columns = rng.random(4) < 0.6, rng.random(6) < 0.6
        pairs = matched(weights, rows, columns)
        assert all(rows[u] and columns[k] for u, k in pairs.items())
        part = weights[np.ix_(rows, columns)]
        assert total(weights, pairs) == pytest.approx(
            part[linear_sum_assignment(part, maximize=True)].sum()
        )


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2)])
def test_equal_weights_are_matched_uniformly(rows, columns):
    """Six matchings, 6,000 draws: each within 5 sigma of 1,000 (false alarm 4e-6 in all)."""
    counts = Counter(
        tuple(sorted(matched(np.zeros((rows, columns))).items())) for _ in range(6_000)
    )
    assert len(counts) == 6
    assert max(abs(count - 1_000) for count in counts.values()) < 5 * np.sqrt(
        6_000 * (1 / 6) * (5 / 6)
    )


def test_one_row_is_chosen_as_pick_chooses_draw_by_draw():
    rng = np.random.default_rng(3)
    one, other = chance.generator(5), chance.generator(5)
    for _ in range(500):
        index = rng.integers(0, 3, rng.integers(1, 7)).astype(float)
        index[rng.random(index.size) < 0.2] = np.inf
        assert matched(index[None, :], rng=one)[0] == entry(pick)(index=index, rng=other)[0]
        assert (one == other).all()


def favourites(weights, open_rows, open_columns, rng, matched):
    given = {"open_rows": open_rows, "open_columns": open_columns}
    entry(match_favourites)(weights=weights, **given, rng=rng, matched=matched)


def slow_favourites(weights):
    """Each queue asks for its best server, the first gets it; losers take the last of the best."""
    best = [int(np.argmax(row)) for row in weights]
    matched = {u: k for u, k in enumerate(best) if k not in best[:u]}
    for u, row in enumerate(weights):
        if u not in matched:
            free = [k for k in range(len(row)) if k not in matched.values()]
            matched[u] = max(free, key=lambda k: (round(row[k], 4), k), default=NOBODY)
    return [matched[u] for u in range(len(weights))]


def test_favourites_by_a_slow_twin():
    """Coins that are next to equal: the first of equals is the favourite, losers take the last."""
    rng, generator = np.random.default_rng(4), chance.generator(1)
    for _ in range(300):
        rows, columns = rng.integers(1, 5), rng.integers(1, 6)
        weights = rng.integers(0, 2, (rows, columns)) - 1e-9 * np.arange(columns)
        matched = np.zeros(rows, np.int64)
        open_rows, open_columns = np.ones(rows, bool), np.ones(columns, bool)
        favourites(weights, open_rows, open_columns, generator, matched)
        assert matched.tolist() == slow_favourites(weights)


def test_favourites_leave_what_is_closed_and_draw_among_equals():
    generator, matched = chance.generator(1), np.zeros(2, np.int64)
    seen = set()
    for _ in range(200):
        open_columns = np.array([True, False, True])
        favourites(np.zeros((2, 3)), np.ones(2, bool), open_columns, generator, matched)
        seen.add(tuple(matched.tolist()))
    assert seen == {(0, 2), (2, 0)}
    favourites(np.zeros((2, 3)), np.array([False, True]), open_columns, generator, matched)
    assert matched[0] == NOBODY

"""Beliefs whose arms are independent, given what they share, against the same ones held whole."""

from __future__ import annotations

import numpy as np
import pytest

from belman import chance
from belman.engine import entry
from belman.models import Linear, Logistic, arrow
from belman.models.correcting import correct
from belman.models.merging import merge_all, without
from belman.models.model import blank, placed
from belman.models.rescaling import Step, rescale
from belman.models.shared import draw, marginal
from belman.models.square_root import observe, restore
from tests.models.learning import covariance, learn_all

#: Two coefficients of all arms, then three arms with 3, 4 and 2 of their own.
GROUPS = [-1, -1, 0, 0, 0, 1, 1, 1, 1, 2, 2]
MODELS = [Linear(noise=0.5), Linear(unknown=True), Logistic()]


def rows_of_arms(seed, count=60):
    """Features of one arm each, some of them 0, and rewards."""
    nature = np.random.default_rng(seed)
    groups, arms = np.array(GROUPS), nature.integers(0, 3, count)
    rows = nature.normal(size=(count, len(GROUPS))) * (nature.random((count, len(GROUPS))) < 0.8)
    rows *= (groups[None, :] < 0) | (groups[None, :] == arms[:, None])
    return rows, (nature.random(count) < 0.4).astype(float)


def taught(model, begin, rows, rewards, bank=2):
    """The belief after some rewards."""
    prior = np.outer([1.0, 0.3][:bank], np.linspace(0.5, 2.0, len(GROUPS)))
    belief = blank(prior, model.first_noise, begin)
    held = {"constants": model.constants, "belief": belief, "rows": rows, "rewards": rewards}
    entry(learn_all, model=model.kernels)(**held)
    return belief


def assert_same(one, other, tolerance=1e-8):
    for name in ("mean", "noise", "fit", "share", "clock"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=tolerance)
    for b in range(len(one.mean)):
        wide = covariance(one, member=b), covariance(other, member=b)
        np.testing.assert_allclose(*wide, rtol=0.0, atol=tolerance)
    assert arrow.is_lower(one.root, one.begin)


def both(model, seed):
    """The belief as an arrow, and whole."""
    rows, rewards = rows_of_arms(seed)
    held = (arrow.begins(GROUPS), arrow.whole(len(GROUPS)))
    return [taught(model, begin, rows, rewards) for begin in held], rows, rewards


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rewards_are_learnt_and_corrected_alike(model):
    (one, other), rows, rewards = both(model, 1)
    assert one.root.shape == (2, 11, 6)
    assert_same(one, other)
    for position, new in ((3, 1.0 - rewards[3]), (17, np.nan), (40, np.nan)):
        for belief in (one, other):
            numbers = {"old": float(rewards[position]), "new": float(new), "kept": 1.0}
            entry(correct, model=model.kernels)(
                constants=model.constants, belief=belief, features=rows[position], **numbers
            )
        assert_same(one, other, 1e-7)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_coefficients_are_merged_placed_and_left_out_alike(model):
    for pair in ((0, 1), (2, 4), (5, 8), (9, 10)):
        (one, other), _, _ = both(model, 2)
        for belief in (one, other):
            merge_all(model, belief, [pair])
        assert_same(one, other, 1e-7)
        groups = [group for position, group in enumerate(GROUPS) if position != pair[1]]
        rest = without(one, [pair[1]], arrow.begins(groups))
        assert_same(rest, without(other, [pair[1]], arrow.whole(10)), 1e-7)
        common = groups.count(-1)
        fresh_positions = [common, common + 1 + groups.count(0)]
        target = np.setdiff1d(np.arange(12), fresh_positions)
        fresh = blank(np.ones((2, 12)), model.first_noise, arrow.begins(sorted([*groups, -1, 0])))
        result = placed(rest, np.arange(10), target, fresh)
        wide = covariance(result)
        np.testing.assert_array_equal(wide[fresh_positions], np.eye(12)[fresh_positions])
        np.testing.assert_array_equal(wide[np.ix_(target, target)], covariance(rest))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_prior_is_stated_anew_alike(model):
    (one, other), _, _ = both(model, 3)
    two = np.array([3, 6])
    steps = [Step(two, np.array([2, 5]), 1.0, 0.7), Step(two, np.array([2, 5]), 0.4, 0.0)]
    steps += [Step(np.array([1]), np.array([0]), 3.0, -0.5)]
    for belief in (one, other):
        rescale(model, belief, steps)
    assert_same(one, other)


def test_what_is_said_of_features_is_the_same():
    """Of differences between arms too."""
    model = Linear(noise=0.5)
    (one, other), rows, _ = both(model, 4)
    apart = rows[0] - rows[1] - 0.5 * rows[2]
    seen, theta = [], np.zeros((2, len(GROUPS)))
    for belief, out in zip((one, other), theta, strict=True):
        held = {"constants": model.constants, "belief": belief}
        seen.append(entry(marginal, model=model.kernels)(**held, features=apart))
        drawing = {"rng": chance.generator(5), "inflation": 1.0, "theta": out}
        entry(draw, model=model.kernels)(**held, **drawing)
    assert seen[0] == pytest.approx(seen[1], rel=1e-9)
    np.testing.assert_allclose(theta[0], theta[1], rtol=1e-6, atol=1e-8)
    held, root = (one.root[0], one.begin), arrow.spread_out(one.root[0], one.begin)
    np.testing.assert_allclose(arrow.along(apart, *held), apart @ root, atol=1e-12)
    np.testing.assert_allclose(arrow.across(rows, *held), rows @ root.T, atol=1e-12)


def test_without_anything_common_there_are_blocks_alone():
    begin = arrow.begins([0, 0, 1])
    assert begin.tolist() == [0, 0, 2]
    assert arrow.blocks(begin) == [(0, 2), (2, 3)]
    assert arrow.width(begin) == 2
    belief = blank(np.ones((1, 3)), (0.0, 0.0), begin)
    np.testing.assert_array_equal(covariance(belief), np.eye(3))


@pytest.mark.parametrize("positions", [[0], [7], [12], [33], [1, 20], [5, 6, 31]])
def test_a_vector_that_is_mostly_0_goes_through_the_root(positions):
    """Column by column, where few numbers are not 0."""
    begin = arrow.begins([-1, -1, *np.repeat([0, 1, 2], 16).tolist()])
    root = np.random.default_rng(6).normal(size=(50, arrow.width(begin)))
    beyond = np.arange(root.shape[1])[None, :] > arrow.diagonal_positions(begin)[:, None]
    root[beyond] = 0.0
    scores, out = np.zeros(50), np.ones(50)
    scores[positions] = np.arange(1.0, len(positions) + 1.0)
    restore(root, begin, scores, out)
    np.testing.assert_allclose(out, arrow.spread_out(root, begin) @ scores, atol=1e-12)


@pytest.mark.parametrize("common", [0, 1, 6])
@pytest.mark.parametrize("share", [1.0, 0.6, 0.1])
def test_rows_side_by_side_are_those_one_by_one(common, share):
    """To the last bit, in blocks of one to nine rows, and for vectors with zeros in them; what is
    learnt is of one block after another.
    """
    groups = np.array([-1] * common + np.repeat(range(9), range(1, 10)).tolist())
    begin = arrow.begins(groups.tolist())
    size, luck = begin.size, np.random.default_rng(8)
    held = luck.normal(size=(size, arrow.width(begin)))
    held[np.arange(held.shape[1])[None, :] > arrow.diagonal_positions(begin)[:, None]] = 0.0
    root = arrow.spread_out(held, begin)
    for arm in range(9):
        vector = luck.normal(size=size) * (luck.random(size) < share)
        out, keep, lean = np.ones(size), np.ones(size), np.zeros(size)
        restore(held, begin, vector, out)
        assert out.tolist() == [_in_order(row, vector) for row in root]
        vector[(groups >= 0) & (groups != arm)] = 0.0
        observe(held, begin, vector, 0.7, keep, lean)
        gain = root @ vector
        learnt = root @ root.T - np.outer(gain, gain) / (0.7 + vector @ vector)
        _observed(root, vector, 0.7)
        np.testing.assert_array_equal(arrow.spread_out(held, begin), root)
        np.testing.assert_allclose(root @ root.T, learnt, atol=1e-10)


def _in_order(row, vector):
    """An inner product whose terms are added one after another."""
    total = 0.0
    for i in range(row.size):
        total += row[i] * vector[i]
    return total


def _observed(root, vector, noise):
    """What `observe` does, on a whole root, row by row."""
    keep, lean, before = np.ones(vector.size), np.zeros(vector.size), noise
    for j in reversed(np.flatnonzero(vector)):
        after = before + vector[j] * vector[j]
        keep[j] = np.sqrt(before / after)
        lean[j] = vector[j] / (np.sqrt(before) * np.sqrt(after))
        before = after
    for row in root:
        carried = 0.0
        for j in reversed(np.flatnonzero(vector)):
            old = row[j]
            row[j] = keep[j] * old - lean[j] * carried
            carried += vector[j] * old

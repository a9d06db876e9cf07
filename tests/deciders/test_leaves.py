"""Leaves say what the belief says, as well as a small tree can."""

from __future__ import annotations

import numpy as np
import pytest

from belman.deciders import FeaturedDecider
from belman.deciders.featured import leaves
from belman.deciders.featured.at_edge import chances_among
from belman.deciders.shares import Shares

ARMS = ["a", "b", "c"]


def context(rng):
    age = float(rng.integers(18, 70))
    return {"age": age if rng.random() < 0.9 else None, "country": str(rng.choice(["fr", "de"]))}


def mean(arm, given):
    if arm == "a":
        return 0.7 if given["country"] == "fr" else 0.3
    return 0.3 + 0.4 * ((given["age"] or 0.0) > 45.0) if arm == "b" else 0.4


def learnt(rewards=400):
    decider = FeaturedDecider(ARMS, context=["age", "country"])
    rng = np.random.default_rng(7)
    for turn in range(rewards):
        given, arm = context(rng), ARMS[turn % 3]
        reward = float(rng.random() < mean(arm, given))
        decider.record(decider.recall(arm, given), reward)
    return decider


@pytest.fixture(scope="module")
def known():
    return learnt()


def test_a_tree_keeps_most_of_what_is_earned(known):
    """Beside the study's own chances, over contexts that are new: it keeps nine tenths at least of
    what these earn above an even split.
    """
    floors = [0.05] * 3
    shares = Shares(floor=0.05)
    own = known.at_edge(shares)
    tree = known.in_leaves(shares, floors, 10_000)
    rng = np.random.default_rng(3)
    contexts = [context(rng) for _ in range(2_000)]
    means = np.array([[mean(arm, one) for arm in ARMS] for one in contexts])
    exact = np.array(chances_among(own, floors, contexts))
    fitted = np.array([tree.counts(one, floors) for one in contexts]) / 10_000
    earned = [(part * means).sum(1).mean() for part in (exact, fitted, np.full_like(exact, 1 / 3))]
    assert earned[0] - earned[2] > 0.05
    assert earned[1] - earned[2] > 0.9 * (earned[0] - earned[2])


def test_leaves_are_few_and_keep_floors(known):
    floors = [0.1, 0.05, 0.2]
    shares = Shares(floor=0.05)
    tree = known.in_leaves(shares, floors, 10_000)
    assert 1 < len(tree.leaves) <= leaves.MOST_LEAVES
    assert tree.leaves[-1].where == ()
    for leaf in tree.leaves:
        assert sum(leaf.points) == 10_000
        assert len(leaf.where) <= leaves.DEEPEST
        assert leaf.points[0] >= 1_000
        assert leaf.points[2] >= 2_000
    assert tree.described() == known.in_leaves(shares, floors, 10_000).described()


def test_before_anything_is_known_there_is_one_leaf():
    tree = FeaturedDecider(ARMS, context=["age", "country"]).in_leaves(Shares(), [0.0] * 3, 10_000)
    (leaf,) = tree.leaves
    assert max(leaf.points) < 4_500


def test_words_without_a_slot_and_numbers_that_never_change():
    decider = FeaturedDecider(["a", "b"], context=["x", "word"])
    for i in range(60):
        given = {"x": 5.0, "word": f"w{i}"}
        decider.record(decider.recall("ab"[i % 2], given), float(i % 2))
    tree = decider.in_leaves(Shares(), [0.0] * 2, 10_000)
    assert sum(tree.leaves[tree.position({"x": 5.0, "word": "new"})].points) == 10_000

"""Documents with leaves: read, checked, and decided by."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from belman.assignment import Eppo, GrowthBook, Weights, assign, schema
from belman.assignment.assign import point_in
from belman.assignment.assigners import Filter
from belman.assignment.leaves import Leaf, Leaves
from belman.errors import WeightsError
from tests.assignment.test_javascript import NODE, node

NAMES = {"age": "number", "country": "category", "new": None}
TREE = Leaves(
    NAMES,
    (
        Leaf((("age", "below", 30.0), ("country", "is", "fr")), (9_000, 1_000)),
        Leaf((("age", "not below", 50.0),), (0, 10_000)),
        Leaf((), (5_000, 5_000)),
    ),
)


HALF = Filter("half", 2, ((0.0, 0.5),))


def document(contexts=TREE, **settings):
    given = {"salt": "s", "assigner": GrowthBook(), "contexts": contexts} | settings
    return Weights.of("x", {"a": 0.5, "b": 0.5}, **given)


@pytest.mark.parametrize(
    ("context", "chances"),
    [
        ({"age": 20, "country": "fr"}, (0.9, 0.1)),
        ({"age": 20, "country": "de"}, (0.5, 0.5)),
        ({"age": 30, "country": "fr"}, (0.5, 0.5)),
        ({"age": 51.5}, (0.0, 1.0)),
        ({"age": None, "country": "fr"}, (0.0, 1.0)),
        ({}, (0.0, 1.0)),
        (None, (0.5, 0.5)),
    ],
)
def test_a_context_belongs_to_the_first_leaf_whose_tests_it_passes(context, chances):
    """A missing age is not below 50."""
    weights = document()
    assert weights.chances(context) == chances
    for i in range(200):
        result = assign(weights, f"u{i}", context)
        arm = int(point_in(weights, f"u{i}") >= chances[0] * 10_000)
        assert (result.arm, result.chance) == (weights.arms[arm], chances[arm])


def test_documents_are_read_as_they_were_written():
    weights = document()
    again = Weights.from_json(weights.to_json())
    assert again == weights
    assert again.contexts.leaves == TREE.leaves
    assert jsonschema_rs.is_valid(schema(), json.loads(weights.to_json()))


@pytest.mark.parametrize(
    "change",
    [
        {"leaves": []},
        {"leaves": [{"where": [["age", "below", 1]], "points": [5_000, 5_000]}]},
        {"leaves": [{"where": [], "points": [5_000, 4_000]}]},
        {"leaves": [{"where": [], "points": [10_000]}]},
        {"leaves": [{"where": [], "points": [10_001, -1]}]},
        {"leaves": [{"where": [], "points": [True, 9_999]}]},
        {"leaves": [{"points": [5_000, 5_000]}]},
        {"leaves": 7},
        {"names": ["age"]},
        {"names": {"age": "colour"}},
    ],
)  # fmt: skip
def test_leaves_that_decide_nothing_are_refused(change):
    result = document().described()
    result["contexts"] |= change
    with pytest.raises(WeightsError):
        Weights.from_described(result)


@pytest.mark.parametrize(
    "test",
    [["size", "below", 1], ["age", "over", 1], ["age", "below", "1"], ["age", "is", 1],
     ["age", "below", True], ["age", "below"], ["age", "below", float("nan")], "age", 7],
)  # fmt: skip
def test_tests_that_nothing_can_pass_are_refused(test):
    result, last = document().described(), {"where": [], "points": [1, 9_999]}
    result["contexts"]["leaves"] = [{"where": [test], "points": [0, 10_000]}, last]
    with pytest.raises(WeightsError):
        Weights.from_described(result)


@pytest.mark.parametrize("assigner", [None, Eppo()])
def test_leaves_are_for_clients_of_growthbook(assigner):
    with pytest.raises(WeightsError, match="leaves are for the clients of GrowthBook"):
        document(assigner=assigner)


def test_contexts_that_a_study_does_not_know_are_refused():
    with pytest.raises(WeightsError, match="context has 'size'"):
        assign(document(), "u", {"size": 1})
    with pytest.raises(WeightsError, match="age='old' is not allowed"):
        assign(document(), "u", {"age": "old"})


@pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
def test_javascript_decides_by_leaves_as_python():
    contexts = [
        {"age": 20, "country": "fr"}, {"age": 20, "country": "de"}, {"age": 30, "country": "fr"},
        {"age": 51.5}, {"age": None, "country": "fr"}, {"new": True}, {},
    ]  # fmt: skip
    units = [f"user-{i}" for i in range(100)]
    named = Leaves(NAMES, (Leaf((("new", "is", "True"),), (1, 9_999)), *TREE.leaves))
    documents = [document(), document(named), document(assigner=GrowthBook(2, (HALF,)))]
    script = """
    const one = (weights, unit, context) => {
      try { return assign(weights, unit, context); } catch (error) { return null; }
    };
    console.log(JSON.stringify(given.documents.map((weights) =>
      given.contexts.map((context) => given.units.map((unit) => one(weights, unit, context))))));
    """
    given = {"contexts": contexts, "units": units}
    result = node(script, given | {"documents": [one.described() for one in documents]})
    for weights, by_context in zip(documents, result, strict=True):
        for context, answers in zip(contexts, by_context, strict=True):
            for unit, answer in zip(units, answers, strict=True):
                if answer is None:
                    with pytest.raises(WeightsError, match="no part"):
                        assign(weights, unit, context)
                else:
                    assert assign(weights, unit, context)._asdict() == answer
    broken = document().described()
    broken["contexts"]["leaves"][0]["points"] = [1, 2]
    script = "try { assign(given, 'u', {}) } catch (e) { console.log(JSON.stringify(e.message)) }"
    assert "its leaves cannot be" in node(script, broken)

"""Units that are assigned by context: by the vectors, in Python and in JavaScript."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from belman.assignment import Weights, WeightsError, assign
from belman.assignment.allotment import POINTS
from belman.assignment.contexts import MOST_COEFFICIENTS, Contexts
from belman.studies.requests.rows_in_contexts import chances_in
from tests.assignment.test_assign import VECTORS
from tests.assignment.test_javascript import FRAGMENTS, NODE, judged_in_both, node

DOCUMENTS = [case["document"] for case in VECTORS["contexts"]]
needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")


def some_contexts(seed: int, count: int) -> list[dict[str, object]]:
    """Contexts of all kinds of values, some of them missing."""
    rng = np.random.default_rng(seed)
    values = {
        "age": lambda: float(rng.normal(40, 30)),
        "income": lambda: float(np.exp(rng.normal(10, 3))) * rng.choice([-1.0, 1.0]),
        "country": lambda: str(rng.choice(["fr", "é", "it", ""])),
        "plan": lambda: bool(rng.random() < 0.5),
    }
    return [
        {name: (value() if rng.random() < 0.9 else None) for name, value in values.items()}
        for _ in range(count)
    ]


def test_assignments_are_those_of_the_vectors():
    for case in VECTORS["contexts"]:
        weights = Weights.from_described(case["document"])
        for wanted in case["assignments"]:
            result = assign(weights, wanted["unit"], wanted["context"])
            assert result._asdict() == {name: wanted[name] for name in result._fields}


def test_a_document_is_read_as_it_was_written():
    for document in DOCUMENTS:
        weights = Weights.from_described(document)
        assert Weights.from_json(weights.to_json()) == weights
        assert json.loads(weights.to_json()) == document
        assert weights.chances({}) == weights.weights
        assert assign(weights, "user-1", {}) == assign(weights, "user-1")


def test_chances_are_shares_of_draws_beside_floors():
    """By an obvious twin: of every draw the arm with the largest sum, and floors beside it."""
    weights = Weights.from_described(DOCUMENTS[0])
    decides = weights.contexts
    numbers = np.frombuffer(base64.b64decode(decides.coefficients), "<i2").astype(float)
    table = numbers.reshape(len(decides.slots), decides.draws, 3)
    context = {"age": 53.75, "country": "it"}  # one deviation above the centre; no level of its own
    slots = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    best = np.einsum("s,sda->da", slots, table).argmax(axis=1)
    shares = np.bincount(best, minlength=3) / decides.draws
    assert weights.chances(context) == pytest.approx(shares, abs=1e-9)
    assert shares.min() > 0.0


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_chances_of_many_are_those_of_each(document):
    weights = Weights.from_described(document)
    contexts = some_contexts(1, 40)
    assert chances_in(weights, contexts) == [weights.chances(one) for one in contexts]
    assert all(sum(chances) == 1.0 for chances in chances_in(weights, contexts))
    floors = np.floor(np.array(weights.floors) * POINTS) / POINTS
    assert (np.array(chances_in(weights, contexts)) >= floors).all()


def test_equal_arms_take_turns():
    numbers = base64.b64encode(np.ones(2 * 8, "<i2").tobytes()).decode()
    decides = Contexts({}, (("constant",),), 8, numbers)
    assert decides.wins({}) == [4, 4]


@pytest.mark.parametrize("context", VECTORS["refused_contexts"])
def test_contexts_that_no_study_has_are_refused(context):
    with pytest.raises(WeightsError):
        assign(Weights.from_described(DOCUMENTS[0]), "user-1", context)


def test_a_document_has_a_largest_size():
    numbers = base64.b64encode(bytes(2 * MOST_COEFFICIENTS + 4)).decode()
    with pytest.raises(WeightsError, match="not one a slot"):
        Contexts({}, (("constant",),), 1, numbers)


def broken_contexts() -> list[object]:
    """A document whose contexts have every part replaced by every fragment, or left out."""
    document, result = DOCUMENTS[2], list[object]()
    parts = document["contexts"]
    more = [["constant"], ["number", "age", 0, 0], ["level", "age"], ["others", "x"], ["missing"]]
    more += [["log", "age", 1, 2, 3], [["constant"], ["constant"]], "AAA", "AAAA", "!", -0.5]
    for fragment in [*FRAGMENTS, *more]:
        result.append({**document, "contexts": fragment})
        result += [{**document, "contexts": {**parts, name: fragment}} for name in parts]
        slots = [fragment, *parts["slots"][1:]]
        result.append({**document, "contexts": {**parts, "slots": slots}})
        names = {**parts["names"], "age": fragment}
        result.append({**document, "contexts": {**parts, "names": names}})
    slots = parts["slots"]
    result.append({**document, "contexts": {**parts, "slots": [slots[0], *slots[:-1]]}})
    for name in parts:
        left = {key: value for key, value in parts.items() if key != name}
        result.append({**document, "contexts": left})
    result += [{**document, "floors": floors} for floors in ([0.5, 0.5, 0.5], [-0.1, 0.0, 0.0])]
    return result


@needs_node
def test_documents_are_refused_as_in_python():
    result = judged_in_both(broken_contexts())
    assert 3 < sum(here for _, here, _ in result) < len(result) / 5
    for document, here, there in result:
        assert here == (there is True), (here, there, document["contexts"], document["floors"])


@needs_node
def test_javascript_assigns_as_python_does():
    cases = [
        [document, f"user-{i}", context]
        for position, document in enumerate(DOCUMENTS)
        for i, context in enumerate(some_contexts(position, 150))
    ]
    cases += [
        [case["document"], one["unit"], one["context"]]
        for case in VECTORS["contexts"]
        for one in case["assignments"]
    ]
    script = """
    console.log(JSON.stringify(given.map(([document, unit, context]) =>
      assign(document, unit, context))));
    """
    wanted = [
        assign(Weights.from_described(document), unit, context)._asdict()
        for document, unit, context in cases
    ]
    assert node(script, cases) == json.loads(json.dumps(wanted))


@needs_node
def test_odd_documents_are_read_alike():
    """Others of a name of any kind are words; a settled control has no say."""
    document = DOCUMENTS[3]
    names = {**document["contexts"]["names"], "country": None}
    odd = {**document["contexts"], "names": names, "settled": 0, "control": 0, "most": 0.6}
    given = [{**document, "contexts": odd}, [{"country": 7}, {"country": "x"}, {}]]
    script = """
    console.log(JSON.stringify(given[1].map((context) => assign(given[0], "user-1", context))));
    """
    weights = Weights.from_described(given[0])
    wanted = [assign(weights, "user-1", one)._asdict() for one in given[1]]
    assert node(script, given) == wanted
    assert weights.chances({})[0] == pytest.approx(0.1, abs=1e-9)  # its floor and no more


@needs_node
def test_javascript_refuses_the_same_contexts():
    script = """
    console.log(JSON.stringify(given[1].map((context) => {
      try { assign(given[0], "user-1", context); return false; } catch { return true; }
    })));
    """
    assert all(node(script, [DOCUMENTS[0], VECTORS["refused_contexts"]]))

"""The rule of docs/reference/assignment.md, written from that page in Rust: the vectors, and what
Python does with random documents.
"""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from belman.assignment import Weights, WeightsError, assign
from belman.assignment.allotment import POINTS
from belman.assignment.assign import point_in
from belman.assignment.assigners import Elsewhere, Eppo, Filter, GrowthBook
from belman.assignment.contexts import Contexts
from belman.assignment.leaves import Leaf, Leaves
from tests.assignment.test_assign import VECTORS
from tests.assignment.test_contexts import broken_contexts
from tests.assignment.test_javascript import broken_documents
from tests.waiting import HANG

RUSTC = shutil.which("rustc")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(RUSTC is None, reason="rustc is not installed"),
]
SOURCE = Path(__file__).with_name("rust") / "assign.rs"
LETTERS = ["a", "Z", "7", "é", "日", "😀", "e\u0301", " ", '"', "\\", "\t", "\0", "-", "x" * 70]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the program says of lines."""
    program = tmp_path_factory.mktemp("rust") / "assign"
    built = [RUSTC, "--edition", "2021", "-O", "-D", "warnings", "-o", program, SOURCE]
    subprocess.run(built, check=True, timeout=HANG, capture_output=True, text=True)

    def of(lines):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([program], input=text.encode(), capture_output=True, timeout=HANG)
        assert done.returncode == 0, done.stderr[-400:]
        return [json.loads(line) for line in done.stdout.splitlines()]

    return of


def test_points_are_those_of_the_vectors(answers):
    """The cut is at the point, or behind it."""
    lines, wanted = [], []
    for case in VECTORS["points"]:
        for cut in (case["point"], case["point"] + 1):
            first, last = cut / POINTS, (POINTS - cut) / POINTS
            weights = Weights.of("s", {"a": first, "b": last}, salt=case["salt"])
            lines += [{"document": weights.described()}, {"unit": case["unit"]}]
            wanted.append("a" if case["point"] < cut else "b")
    assert [one["arm"] for one in answers(lines)] == wanted


def test_assignments_are_those_of_the_vectors(answers):
    lines, wanted = [], []
    for case in [*VECTORS["documents"], *VECTORS["contexts"]]:
        lines.append({"document": case["document"]})
        for one in case["assignments"]:
            asked = {name: one[name] for name in ("unit", "context") if name in one}
            lines.append(asked)
            wanted.append({name: one[name] for name in one if name not in asked})
    assert answers(lines) == wanted
    lines = [{"document": VECTORS["contexts"][0]["document"]}]
    lines += [{"unit": "user-1", "context": context} for context in VECTORS["refused_contexts"]]
    assert [sorted(one) for one in answers(lines)] == [["refused"]] * (len(lines) - 1)


def some_name(rng):
    return "".join(rng.choices(LETTERS, k=rng.randrange(9)))


def some_unit(rng):
    whole = rng.choice([0, -1, 7, 10 ** rng.randrange(40), -(2**63), rng.randrange(10**6)])
    wrong = rng.choice([None, True, 1.5, [], {"a": 1}, 10**1_001, "\ud800", "a\udc00"])
    return rng.choice([some_name(rng), f"user-{rng.randrange(10**6)}", whole] * 9 + [wrong])


def some_weights(rng):
    """Random weights of arms of all kinds, some of which get nothing."""
    arms = ["blue", 'gr"een', "é", 7, None, False, 2.5, ""][: rng.randrange(1, 9)]
    shares = [rng.choice([0.0, 1e-9, rng.random(), rng.random() ** 8]) for _ in arms]
    shares[rng.randrange(len(arms))] += 0.1
    return {arm: share / sum(shares) for arm, share in zip(arms, shares, strict=True)}


def some_ranges(rng, points):
    ends = (sorted(rng.uniform(0, points) for _ in range(2)) for _ in range(rng.randrange(1, 3)))
    return tuple((start, end) for start, end in ends)


def some_assigner(rng):
    filters = tuple(
        Filter(some_name(rng), rng.choice([1, 2]), some_ranges(rng, 1.0))
        for _ in range(rng.randrange(3))
    )
    shards = rng.choice([8, 100, 10_000, 1_000_000])
    traffic = tuple(
        (some_name(rng), tuple((int(a), int(b)) for a, b in some_ranges(rng, shards)))
        for _ in range(rng.randrange(2))
    )
    one = GrowthBook(rng.choice([1, 2]), filters), Eppo(shards, traffic), Elsewhere()
    return rng.choice([None, None, *one[:2], *one])


def some_contexts(rng, arms):
    names = {"age": "number", "pay": "number", "land": "category", "any": None}
    slots = [("constant",), ("missing", "age"), ("missing", "land"), ("others", "land")]
    slots += [("level", "land", word) for word in ("fr", "é", "", "True")]
    slots += [("others", "any"), ("level", "any", "fr")]
    for kind in ("number", "square", "log"):
        for name in ("age", "pay", "any"):
            centre = rng.choice([0.0, rng.gauss(0, 40)])
            slots.append((kind, name, centre, rng.choice([1e-12, 1.0, rng.random() * 90])))
    slots = rng.sample(slots, rng.randrange(1, 9))
    draws = rng.choice([1, 2, 3, 16, 64])
    numbers = np.random.default_rng(rng.randrange(2**32))
    largest = rng.choice([1, 2, 30, 32_767])
    table = numbers.integers(-largest, largest, size=len(slots) * draws * arms, endpoint=True)
    text = base64.b64encode(table.astype("<i2").tobytes()).decode()
    most = rng.choice([0.0, 0.3, 0.5, 0.75, 1.0, rng.random()])
    settled = rng.choice([None, rng.randrange(arms)]) if arms > 1 else None
    control = rng.choice([None, rng.randrange(arms)])
    return Contexts(names, tuple(slots), draws, text, settled, most, control)


def some_leaves(rng, arms, points):
    names = {"age": "number", "pay": "number", "land": "category", "any": None}
    result = []
    for _ in range(rng.randrange(1, 5)):
        tests = [
            ("age", rng.choice(["below", "not below"]), rng.gauss(20, 30)),
            ("land", rng.choice(["is", "is not"]), rng.choice(["fr", "é", "True"])),
            ("any", rng.choice(["below", "not below"]), 3),
            ("any", rng.choice(["is", "is not"]), "fr"),
        ]
        where = tuple(rng.sample(tests, rng.randrange(3)))
        ends = sorted([0, points, *(rng.randrange(points + 1) for _ in range(arms - 1))])
        result.append(Leaf(where, tuple(b - a for a, b in pairwise(ends))))
    result[-1] = Leaf((), result[-1].points)
    return Leaves(names, tuple(result))


def some_context(rng):
    numbers = [0, -0.0, 40, 1e-9, -3.25, 10**12, -1e12, rng.gauss(0, 50), rng.gauss(0, 1e6)]
    words = ["fr", "é", "", "it", "😀" * 200, True, False]
    pools = {"age": numbers, "pay": numbers, "land": words, "any": [*numbers, *words]}
    result = {name: rng.choice(pool) for name, pool in pools.items() if rng.random() < 0.8}
    if rng.random() < 0.1:
        result["age"] = rng.choice([None, "old", [1], 1.1e12, -(10**400), "x" * 201, True])
    if rng.random() < 0.02:
        result["name"] = 1
    wrong = rng.choice([[], "fr", 7, False])
    return rng.choice([result] * 60 + [None, {}, wrong])


def some_document(rng):
    weights, assigner = some_weights(rng), some_assigner(rng)
    arms = list(weights)
    floors = {arm: rng.choice([0.0, rng.random() / len(arms)]) for arm in arms}
    contexts = some_contexts(rng, len(arms)) if assigner is None and rng.random() < 0.7 else None
    if isinstance(assigner, GrowthBook) and rng.random() < 0.5:
        contexts = some_leaves(rng, len(arms), assigner.points)
    salt = some_name(rng).replace("\0", "") + "s"
    parts = {"salt": salt, "floors": floors, "contexts": contexts, "assigner": assigner}
    result = Weights.of("checkout", weights, version=rng.randrange(1, 2**53), **parts)
    if contexts is None and assigner is None and rng.random() < 0.5:
        result = result.following({arm: 1.0 / len(arms) for arm in arms})
    return result


def said(weights, unit, context):
    """What Python says, as the program does."""
    try:
        if point_in(weights, unit) < 0:
            return {"outside": True}
        return json.loads(json.dumps(assign(weights, unit, context)._asdict()))
    except WeightsError as error:
        return {"outside": True} if "takes no part" in str(error) else "refused"


def test_random_documents_assign_as_in_python(answers):
    """1,000 documents and 10,000 units."""
    rng, lines, wanted = random.Random(7), [], []
    for _ in range(1_000):
        weights = some_document(rng)
        lines.append({"document": weights.described()})
        for _ in range(10):
            unit, context = some_unit(rng), some_context(rng)
            lines.append({"unit": unit, "context": context})
            wanted.append((said(weights, unit, context), lines[-1], lines[-11:]))
    kinds = {"refused": 0, "outside": 0, "arm": 0}
    for result, (told, asked, _) in zip(answers(lines), wanted, strict=True):
        kinds[next(iter(result))] += 1
        assert ("refused" in result) if told == "refused" else result == told, asked
    assert all(count > 300 for count in kinds.values()), kinds


def test_documents_are_refused_as_in_python(answers):
    """But for those that the program cannot read as lines: it knows no half surrogate pairs."""
    tried = [*broken_documents(), *broken_contexts()]
    tried = [one for one in tried if "\\ud800" not in json.dumps(one)]
    rng = random.Random(8)
    for _ in range(40):  # parts of assigners too
        whole = some_document(rng).described()
        for name, part in (whole.get("assigner") or {}).items():
            for other in (None, 0, 3, "", [], [1], [[1, 0]], {}, part):
                tried.append({**whole, "assigner": {**whole["assigner"], name: other}})
    result = answers(line for one in tried for line in ({"document": one}, {"unit": "user-1"}))
    taken = 0
    for document, told in zip(tried, result, strict=True):
        try:
            said(Weights.from_described(document), "user-1", None)
        except WeightsError:
            assert "refused" in told, document
        else:
            taken += 1
            elsewhere = document.get("assigner") == {"by": "elsewhere"}
            assert elsewhere or "refused" not in told, (document, told)
    assert 20 < taken < len(tried) / 3

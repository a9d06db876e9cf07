"""Who assigned: the hashes of GrowthBook and Eppo, one by one, in bulk and in JavaScript."""

from __future__ import annotations

import hashlib
import random

import jsonschema_rs
import numpy as np
import pytest

from belman import assign_many
from belman.assignment import Elsewhere, Eppo, GrowthBook, Weights, assign, schema
from belman.assignment.allotment import in_points
from belman.assignment.assigners import (
    Filter,
    bucket,
    cuts_of_ranges,
    fnv1a,
)
from belman.bridges.growthbook import bucket_ranges
from belman.bulk_hashes import buckets
from belman.errors import WeightsError
from tests.assignment.test_javascript import NODE, node

#: Facts of the public specification of GrowthBook: value, seed, version of the hash, bucket.
VECTORS = [
    ("a", "", 1, 220), ("b", "", 1, 77), ("ab", "", 1, 946), ("def", "", 1, 652),
    ("8952klfjas09ujkasdf", "", 1, 549), ("123", "", 1, 11), ('___)((*":&', "", 1, 563),
    ("a", "seed", 2, 505), ("b", "seed", 2, 2696), ("ab", "foo", 2, 2575),
    ("def", "foo", 2, 2019), ("8952klfjas09ujkasdf", "89123klj", 2, 1240),
    ("123", "90850943850283058242805", 2, 7516), ('___)((*":&', "()**(%$##$%#$#", 2, 128),
]  # fmt: skip
#: The same of namespaces (user, name, whether from 0 to 0.4 or from 0.4 to 1), of the ranges of
#: variations (how many, coverage, weights), and of which range a number is in.
NAMESPACES = [
    ("1", "namespace1", False), ("1", "namespace2", False), ("2", "namespace1", False),
    ("2", "namespace2", False), ("3", "namespace1", False), ("3", "namespace2", True),
    ("4", "namespace1", False), ("4", "namespace2", True),
]  # fmt: skip
HALVES, QUARTERS = ((0.0, 0.5), (0.5, 1.0)), ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
RANGES = [
    (2, 1.0, None, HALVES), (2, 0.5, None, ((0.0, 0.25), (0.5, 0.75))), (2, 1.5, None, HALVES),
    (2, 0.0, None, ((0.0, 0.0), (0.5, 0.5))), (2, -0.2, None, ((0.0, 0.0), (0.5, 0.5))),
    (4, 1.0, None, QUARTERS), (4, 1.0, [0.4, 0.4, 0.2], QUARTERS),
    (2, 1.0, [0.4, 0.6], ((0.0, 0.4), (0.4, 1.0))), (2, 1.0, [0.4, 0.1], HALVES),
    (2, 1.0, [0.4, 0.5999], ((0.0, 0.4), (0.4, 0.9999))), (2, 1.0, [0.7, 0.6], HALVES),
    (3, 1.0, [0.2, 0.3, 0.5], ((0.0, 0.2), (0.2, 0.5), (0.5, 1.0))),
    (3, 0.2, [0.2, 0.3, 0.5], ((0.0, 0.04), (0.2, 0.26), (0.5, 0.6))),
]  # fmt: skip
REDUCED, ONE_EMPTY = ((0.0, 0.25), (0.5, 0.75)), ((0.0, 0.5), (0.5, 0.5), (0.5, 1.0))
IN_RANGE = [
    (HALVES, {0.0: 0, 0.2: 0, 0.4: 0, 0.5: 1, 0.6: 1, 0.8: 1}),
    (REDUCED, {0.2: 0, 0.25: -1, 0.4: -1, 0.5: 1, 0.6: 1, 0.8: -1}),
    (ONE_EMPTY, {0.5: 2}),
]
SHARES = {"blue": 0.7, "green": 0.2, "red": 0.1}
NAMES = ["user-1", "Zoë", "用户", "👍🏽 user", "", "a" * 300, "x\0y"]


def documents() -> list[Weights]:
    half = GrowthBook(1, (Filter.of_namespace("shop", 0.25, 0.75),))
    seen = Eppo(1_000, (("checkout-traffic", ((0, 500),)),))
    return [
        Weights.of("checkout", SHARES, salt="s1", assigner=one)
        for one in (GrowthBook(), GrowthBook(1), half, Eppo(), seen)
    ]


@pytest.mark.parametrize(("value", "seed", "version", "wanted"), VECTORS)
def test_buckets_are_those_of_the_specification(value, seed, version, wanted):
    assert bucket(seed, value, version) == wanted
    assert buckets(seed, version, [value]).tolist() == [wanted]


def test_fnv_sees_text_as_javascript_does():
    def plainly(text: str) -> int:
        data, result = text.encode("utf-16-be"), 2166136261
        for i in range(0, len(data), 2):
            result = (result ^ int.from_bytes(data[i : i + 2], "big")) * 16777619 % 2**32
        return result

    for name in NAMES:
        assert fnv1a(name) == plainly(name)


def test_namespaces_and_ranges_are_those_of_the_specification():
    for user, name, is_below in NAMESPACES:
        assert Filter.of_namespace(name, 0.0, 0.4).takes(user) is is_below
        assert Filter.of_namespace(name, 0.4, 1.0).takes(user) is not is_below
    for arms, coverage, weights, wanted in RANGES:
        result = np.array(bucket_ranges(arms, coverage, weights))
        assert result == pytest.approx(np.array(wanted))
    for ranges, wanted in IN_RANGE:
        cuts = cuts_of_ranges(ranges, 10_000)
        for at, position in wanted.items():
            assert next(arm for end, arm in cuts if end > round(at * 10_000)) == position


def test_a_shard_is_the_first_four_bytes_of_an_md5():
    for salt, name in (("s1", "user-1"), ("ü", "用户")):
        digest = hashlib.md5(f"{salt}-{name}".encode()).hexdigest()
        assert Eppo(10_000).shard(salt, name) == int(digest[:8], 16) % 10_000


@pytest.mark.parametrize("weights", documents(), ids=lambda one: repr(one.assigner)[:40])
def test_many_units_get_what_each_gets(weights):
    units = [*NAMES, "ends in NUL\0", *(f"user-{i}" for i in range(3_000))]
    result = assign_many(weights, units)
    taking = 0
    for unit, position in zip(units, result.positions, strict=True):
        if position < 0:
            with pytest.raises(WeightsError, match="no part"):
                assign(weights, unit)
        else:
            assert weights.arms[position] == assign(weights, unit).arm
            taking += 1
    assert 0.4 * len(units) < taking <= len(units)
    numbers = np.arange(500)
    by_name = assign_many(weights, [str(number) for number in numbers]).positions
    assert (assign_many(weights, numbers).positions == by_name).all()
    assert (assign_many(weights, by_name.astype("S8")).positions >= -1).all()


def test_weights_are_shares_of_the_points_that_have_an_arm():
    ranges = [(0.0, 0.25), (0.5, 0.75)]
    cuts = cuts_of_ranges(ranges, 1_000)
    assigner = GrowthBook(1)
    made = Weights("x", 1, "s", ("a", "b"), cuts, (0.0, 0.0), assigner=assigner)
    assert made.weights == (0.5, 0.5)
    assert Weights.from_json(made.to_json()) == made
    with pytest.raises(WeightsError, match="no part"):
        assign(made, next(name for name in map(str, range(100)) if bucket("s", name, 1) > 800))


def test_documents_come_back_and_follow_their_schema():
    validator = jsonschema_rs.validator_for(schema())
    for weights in (*documents(), Weights.of("x", SHARES, salt="s", assigner=Elsewhere())):
        assert Weights.from_json(weights.to_json()) == weights
        validator.validate(weights.described())


def test_few_points_leave_no_arm_out():
    rng = random.Random(1)
    for _ in range(200):
        raw = [rng.random() ** 9 for _ in range(rng.randint(2, 40))]
        counts = in_points([one / sum(raw) for one in raw], 1_000)
        assert sum(counts) == 1_000
        assert min(counts) >= 1


def test_an_eppo_document_moves_as_few_units_as_its_weights_require():
    first = Weights.of("x", SHARES, salt="s", assigner=Eppo())
    second = first.following({"blue": 0.5, "green": 0.3, "red": 0.2})
    units = [str(i) for i in range(20_000)]
    moved = (assign_many(first, units).positions != assign_many(second, units).positions).mean()
    assert abs(moved - 0.2) < 5 * (0.2 * 0.8 / 20_000) ** 0.5  # errs once in 10⁶
    book = Weights.of("x", SHARES, salt="s", assigner=GrowthBook()).following(SHARES)
    assert len(book.cuts) == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"assigner": {"by": "nobody"}}, "is not known"),
        ({"assigner": {"by": "growthbook", "hash_version": 3}}, "is not 1 or 2"),
        ({"assigner": {"by": "growthbook", "filters": [{"seed": "x"}]}}, "not valid"),
        ({"assigner": {"by": "eppo", "shards": 0}}, "whole number from 1"),
        ({"assigner": {"by": "eppo"}, "cuts": [[5_000, 0]]}, "must end at 10000"),
        ({"cuts": [[10_000, -1]]}, "no point"),
        ({"assigner": None, "cuts": [[2**32, -1]]}, "is not valid"),
    ],
)
def test_documents_that_cannot_be_are_refused(changes, words):
    document = Weights.of("x", SHARES, salt="s", assigner=GrowthBook()).described()
    with pytest.raises(WeightsError, match=words):
        Weights.from_described({**document, **changes})


def test_lots_that_nobody_can_draw_again_are_not_drawn():
    weights = Weights.of("x", SHARES, salt="s", assigner=Elsewhere())
    with pytest.raises(WeightsError, match="randomised elsewhere"):
        assign(weights, "user-1")


@pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
def test_javascript_assigns_by_growthbooks_hash_and_refuses_other_hashes():
    units = [name for name in NAMES if "\0" not in name] + [f"user-{i}" for i in range(300)]
    books = [one for one in documents() if one.by == "growthbook"]
    script = """
    const one = (document, unit) => {
      try { return assign(document, unit).arm; } catch (error) { return [error.message]; }
    };
    const all = (document) => given.units.map((unit) => one(document, unit));
    console.log(JSON.stringify(given.documents.map(all)));
    """
    given = {"documents": [one.described() for one in documents()], "units": units}
    result = node(script, given)
    for weights, arms in zip(documents(), result, strict=True):
        for unit, arm in zip(units, arms, strict=True):
            if weights not in books:
                assert "which this module cannot do" in arm[0]
            elif isinstance(arm, list):
                assert "takes no part" in arm[0]
                with pytest.raises(WeightsError, match="no part"):
                    assign(weights, unit)
            else:
                assert assign(weights, unit).arm == arm


def test_arms_that_points_are_too_few_for_are_refused():
    halves = {"a": 0.5, "b": 0.5}
    with pytest.raises(WeightsError, match="1 points are too few for 2 arms"):
        Weights.of("s", halves, salt="s", assigner=Eppo(shards=1))
    one = Weights.of("s", {"a": 1.0}, salt="s", assigner=Eppo(shards=1))
    with pytest.raises(WeightsError, match="too few"):
        one.following(halves)

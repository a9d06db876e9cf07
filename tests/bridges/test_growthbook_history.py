"""The time machine for GrowthBook: what its client assigned, and with which chances."""

from __future__ import annotations

import itertools
import json
import logging
import random

import numpy as np
import pytest

from belman.analysis import past
from belman.analysis.past import Log
from belman.bridges.growthbook_conditions import fits
from belman.bridges.growthbook_history import read_payloads
from belman.errors import SettingError
from belman.frames import Frame

UNITS = 10_000
#: Rules that share seeds, so that what one says of a bucket matters to the next.
RULES = [
    {"condition": {"country": {"$in": ["fr", "de"]}}, "key": "e1", "variations": ["blue", "green"],
     "weights": [0.7, 0.3], "coverage": 0.8, "hashVersion": 2, "seed": "s"},
    {"condition": {"age": {"$gte": 30}}, "force": "red", "coverage": 0.5, "seed": "s",
     "hashVersion": 2},
    {"key": "e2", "variations": ["blue", "green", "red"], "hashVersion": 2, "seed": "s",
     "namespace": ["shop", 0.1, 0.7]},
    {"key": "e3", "variations": ["green", "red"],
     "filters": [{"seed": "s", "hashVersion": 2, "ranges": [[0, 0.3], [0.5, 0.9]]}]},
    {"condition": {"$not": {"country": "it"}}, "key": "e4", "hashVersion": 2, "seed": "s",
     "variations": ["green", "blue", "red"], "coverage": 0.9},
]  # fmt: skip
PAYLOADS = {
    "rules that share seeds": RULES,
    "version 1": [{"key": "one", "variations": ["blue", "red"], "weights": [0.2, 0.8]}],
    "ranges": [{"key": "r", "variations": ["blue", "red", "green"], "hashVersion": 2,
                "ranges": [[0.0, 0.1], [0.4, 0.9], [0.05, 0.2]]}],
    "weights that add up to less": [{"variations": ["blue", "red"], "weights": [0.2, 0.2]}],
    "another attribute": [
        {"hashAttribute": "company", "variations": ["blue", "red"], "coverage": 0.7,
         "condition": {"$or": [{"age": {"$lt": 25}}, {"country": None}]}},
        {"variations": ["blue", "green"], "namespace": ["x", 0.5, 1.0]}],
    "conditions": [
        {"condition": {"version": {"$vgte": "1.2.0"}, "$nor": [{"country": "fr"}]},
         "variations": ["blue", "green"]},
        {"condition": {"name": {"$regex": "^a"}, "age": {"$ne": 31}}, "force": "green"},
        {"condition": {"country": {"$inGroup": "south", "$exists": True}},
         "variations": ["red", "blue"], "weights": [0.9, 0.1]},
        {"condition": {"paid": True}, "force": "blue", "range": [0.2, 0.4]},
        {"condition": {"country": {"$inGroup": ["south"]}}, "force": "red"},
        {"condition": {"country": {"$in": "it"}}, "force": "red"},
        {"condition": {"country": {"$notInGroup": "north", "$gt": "f", "$type": "string"}},
         "variations": ["blue", "red"], "coverage": 0.3},
        {"condition": {"name": {"$notRegexi": "A", "$nini": ["Bob"]}},
         "variations": ["red", "green"]}],
    "a contextual bandit": [
        {"contextualVariations": ["blue", "green"], "variations": None, "contextualBanditRef": "cb",
         "weights": [0.5, 0.5], "hashVersion": 2, "seed": "s", "coverage": 0.6}],
    "a holdout": [
        {"key": "out", "variations": ["green", "blue"], "hashVersion": 2, "seed": "s",
         "weights": [0.2, 0.8], "meta": [{}, {"passthrough": True}]},
        {"key": "in", "variations": ["blue", "red"], "hashVersion": 2, "seed": "s"}],
    "a holdout with two arms": [
        {"key": "out", "variations": ["green", "red", "blue"], "weights": [0.2, 0.2, 0.6],
         "meta": [{}, {}, {"passthrough": True}], "coverage": 0.9},
        {"key": "in", "variations": ["blue", "red"]}],
    "prerequisites": [
        {"parentConditions": [{"id": "open", "condition": {"value": {"$gte": 1}}, "gate": True}],
         "condition": {"country": "it"}},
        {"parentConditions": [{"id": "colours", "condition": {"value": "dark"}}],
         "key": "e1", "variations": ["blue", "green"], "hashVersion": 2, "seed": "s"},
        {"parentConditions": [{"id": "colours", "condition": {"value": {"$ne": None}}},
                              {"id": "no such feature", "condition": {"value": None}}],
         "key": "e2", "variations": ["red", "green", "blue"], "weights": [0.5, 0.25, 0.25]},
        {"parentConditions": [{"id": "no such feature", "condition": {"value": 1}}],
         "force": "red"}],
    "lists and objects": [
        {"condition": {"tags": {"$elemMatch": {"$gt": "b"}, "$size": {"$lt": 3}}},
         "variations": ["blue", "green"]},
        {"condition": {"pets": {"$elemMatch": {"name.first": {"$regex": "^r"}}}}, "force": "red"},
        {"condition": {"tags": {"$all": ["a", "b"]}, "tags.0": "a"}, "force": "green"},
        {"condition": {"$or": [{"tags": {"$in": ["c"]}}, {"tags": ["b"]},
                               {"where": {"city": "Rome"}}]}, "variations": ["red", "blue"]},
        {"condition": {"where.city": "Bonn", "tags": {"$type": "array", "$nin": ["b"]}},
         "variations": ["green", "blue"], "coverage": 0.5}],
    "one variation alone": [{"variations": ["red"]}, {"variations": ["blue", "green"]}],
    "no rules": [],
}  # fmt: skip
MORE = {
    "savedGroups": {"south": ["it", "es"]},
    "contextualBandits": {"cb": {"banditVersion": 3, "contexts": [
        {"leafId": 0, "condition": {"country": "fr"}, "weights": [0.9, 0.1]},
        {"leafId": 1, "condition": {"age": {"$lt": 30}}, "weights": [0.2, 0.8]}]}},
}  # fmt: skip


#: Features that rules need, one by one: their arms and ranges share a seed with those of others.
OTHERS = {
    "colours": {"defaultValue": "none", "rules": [
        {"parentConditions": [{"id": "open", "condition": {"value": 2}}], "force": "dark"},
        {"key": "c", "variations": ["dark", "light"], "weights": [0.7, 0.3], "hashVersion": 2,
         "seed": "s", "coverage": 0.7}]},
    "open": {"defaultValue": 1, "rules": [
        {"condition": {"age": {"$lt": 18}}, "force": 0},
        {"condition": {"age": {"$gt": 50}}, "force": 2, "coverage": 0.5, "seed": "s",
         "hashVersion": 2}]},
}  # fmt: skip


def payload(rules):
    feature = {"defaultValue": "blue", "rules": [_without_none(one) for one in rules]}
    others = OTHERS if any("parentConditions" in one for one in rules) else {}
    return {"features": {"f": feature, **others}, **MORE}


def _without_none(rule):
    return {name: value for name, value in rule.items() if value is not None}


def users(seed=1):
    rng = random.Random(seed)
    return {
        "id": [f"ü{i}" if i % 7 else i + 1 for i in range(UNITS)],
        "company": [rng.choice(["a", "b", "", None]) and f"c{i // 3}" for i in range(UNITS)],
        "country": rng.choices(["fr", "de", "it", "es", None], k=UNITS),
        "age": [rng.randrange(10, 60) for _ in range(UNITS)],
        "version": rng.choices(["1.10.1", "1.2.0", "1.2.0-beta", "0.9", None], k=UNITS),
        "name": rng.choices(["alice", "bob", "Bob", "carol", None], k=UNITS),
        "paid": rng.choices([True, False, None], k=UNITS),
        "tags": rng.choices([["a"], ["b"], ["a", "b"], ["b", "c", "a"], [], "a", None], k=UNITS),
        "pets": rng.choices([[{"name": {"first": "rex"}}, {"age": 3}], [{"name": "rex"}], None],
                            k=UNITS),
        "where": rng.choices([{"city": "Rome"}, {"city": "Bonn"}, {}, "Rome", None], k=UNITS),
    }  # fmt: skip


def assigned(rules, columns, spelling="value"):
    history = read_payloads({0.0: payload([*rules, {"key": "z", "variations": ["blue", "red"],
                                                    "coverage": 0}])}, "f")  # fmt: skip
    log = history.checked(Log(Frame("log", columns, typed=True), "id"))
    return history.assigned(0, log, np.arange(len(columns["id"])), spelling)


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_unit_gets_what_the_client_gives(name):
    """10⁴ units a payload, one by one."""
    pytest.importorskip("growthbook", reason="pip install growthbook")
    from growthbook import GrowthBook as Client

    logging.getLogger("growthbook.core").setLevel(logging.ERROR)
    rules, columns = PAYLOADS[name], users()
    result = assigned(rules, columns)
    served = payload(rules)
    client = Client(features=served["features"], savedGroups=MORE["savedGroups"])
    client._global_ctx.contextual_bandits = MORE["contextualBandits"]
    drawn = 0
    for i, values in enumerate(zip(*columns.values(), strict=True)):
        who = dict(zip(columns, values, strict=True))
        client.set_attributes({one: value for one, value in who.items() if value is not None})
        told = client.eval_feature("f")
        value = None if result.reasons[i] == past.PREREQUISITE else result.names[result.seen[i]]
        assert told.value == value, who
        in_experiment = result.reasons[i] in (past.LOT, past.HOLDOUT)
        assert (told.source == "experiment") == in_experiment, who
        assert (told.source == "force") == (result.reasons[i] == past.FORCED), who
        drawn += told.source == "experiment"
    client.destroy()
    assert drawn > 1_000 or not rules


@pytest.mark.parametrize("name", [name for name, rules in PAYLOADS.items() if rules])
def test_arms_come_as_often_as_their_chances_say(name):
    """Five standard deviations for every arm and kind of unit: errs once in 10⁶ each."""
    columns = users(2)
    result = assigned(PAYLOADS[name], columns)
    lot = result.reasons == past.LOT
    assert np.allclose(result.chances[lot].sum(1), 1.0)
    assert not result.chances[~lot].any()
    kinds = np.unique(result.chances[lot].round(6), axis=0, return_inverse=True)[1].ravel()
    if name == "another attribute":  # three rows have one company: these are not 10⁴ lots
        return
    for kind, arm in itertools.product(range(kinds.max() + 1), range(len(result.names))):
        own = np.flatnonzero(lot)[kinds == kind]
        chance = result.chances[own[0], arm]
        spread = (chance * (1.0 - chance) * own.size) ** 0.5
        assert abs((result.seen[own] == arm).sum() - chance * own.size) <= 5.0 * spread + 1e-9


def test_arms_may_be_called_by_key_and_number():
    columns = users(3)
    rules = [{"variations": [{"c": 1}, {"c": 2}], "meta": [{"key": "x"}, {"key": "y"}]}]
    by = {spelling: assigned(rules, columns, spelling) for spelling in ("value", "key", "index")}
    assert by["value"].names[:2] == ('{"c": 1}', '{"c": 2}')
    assert by["key"].names[:2] == ("x", "y")
    assert by["index"].names[:2] == ("0", "1")
    for one in by.values():
        assert (one.reasons == by["value"].reasons).all()
        assert (one.seen == by["value"].seen).all()


def test_files_have_texts_for_numbers_truths_lists_and_objects():
    columns = users(4)
    asked = {"age": {"$gte": 30}, "paid": True, "tags": {"$size": {"$gte": 1}},
             "where.city": {"$exists": True}}  # fmt: skip
    rules = [{"condition": asked, "variations": ["blue", "red"]}]

    def text(cell):
        if isinstance(cell, (list, dict, bool)):
            return json.dumps(cell)
        return "" if cell is None else str(cell)

    of_file = {name: [text(cell) for cell in cells] for name, cells in columns.items()}
    history = read_payloads({0.0: payload(rules)})
    log = history.checked(Log(Frame("log.csv", of_file), "id"))
    again = history.assigned(0, log, np.arange(UNITS), "value")
    expected = assigned(rules, columns)
    drawn = expected.reasons == past.LOT
    assert (again.reasons == past.LOT).tolist() == drawn.tolist()
    assert drawn.sum() > 300
    broken = Log(Frame("log.csv", {**of_file, "where": ["{"] * UNITS}), "id")
    with pytest.raises(SettingError, match=r"where '\{' is not JSON"):
        history.assigned(0, history.checked(broken), np.arange(UNITS), "value")
    without = {name: cells for name, cells in of_file.items() if name != "where"}
    moved = Log(Frame("log.csv", {**without, "at": of_file["where"]}), "id", {"where": "at"})
    other = history.assigned(0, history.checked(moved), np.arange(UNITS), "value")
    assert (other.reasons == again.reasons).all()
    with pytest.raises(SettingError, match=r"no column 'where\.city'"):
        history.checked(Log(Frame("log.csv", without), "id"))


def test_values_compare_as_the_published_cases_have_it():
    """Facts of the public specification: nothing is 0 beside a number, texts become numbers."""
    for asked, result, wanted in (
        ({"$lt": 5, "$gt": -1, "$lte": 0, "$ne": 1}, None, True),
        ({"$gte": 5}, None, False),
        ({"$gt": 5, "$lt": 10}, "8", True),
        ({"$gt": "5", "$lt": "10"}, 8, True),
        ({"$gt": 5}, "many", False),
        ({"$lt": "b"}, "a", True),
        ({"$lt": 5}, [4], True),
        ({"$lt": 5}, {}, False),
        ({"$vlt": "1.0.0"}, None, True),
        ({"$eq": 5}, "5", False),
        ({"$notRegex": "a"}, None, True),
        ({"$alli": ["A", "b"]}, ["a", "B"], True),
        ({"$all": ["a"]}, "a", False),
        ({"$in": [[1]]}, [[1]], False),
        ({"$type": "object"}, {}, True),
        ({}, {}, True),
        ({}, 1, False),
        ([1, {"a": True}], [1, {"a": True}], True),
        ([1, {"a": True}], [1, {"a": 1}], False),
    ):
        assert fits({"x": asked}, {"x": result}, {}) is wanted, (asked, result)
    assert fits({"$groups": {"$elemMatch": {"$eq": 0}}}, {"$groups": [0]}, {})
    assert fits({"a.0.b": 1}, {"a": [{"b": 1}]}, {})
    assert not fits({"a.b": None, "c": {"$exists": True}}, {"a": 3}, {})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"parentConditions": [{"id": "f"}]}, "form a circle"),
        ({"parentConditions": [{"id": "g", "condition": {"value": {"$x": 1}}}]}, "x in a cond"),
        ({"hashVersion": 3}, "hashVersion=3"),
        ({"weights": [1.2, -0.2]}, "not all from 0 up"),
        ({"condition": {"a": {"$elemMatch": {"$like": 1}}}}, "like in a condition"),
        ({"condition": {"a": {"$all": [{"$like": 1}]}}}, "like in a condition"),
        ({"condition": {"$not": {"a": {"$size": {"$like": 1}}}}}, "like in a condition"),
        ({"condition": {"$and": {}}}, "needs a list"),
        ({"condition": [1]}, "not an object"),
        ({"ranges": [[0, 1]] * 3}, "3 ranges for 2"),
        ({"filters": [{"ranges": 1}]}, "rule 1 of feature"),
        ({"weights": "x"}, "rule 1 of feature"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(rule, words):
    with pytest.raises(SettingError, match=words):
        read_payloads({0.0: payload([{"variations": ["a", "b"], **rule}])}, "f")


def test_features_that_are_meant():
    two = {"features": {one: {"rules": [{"variations": [1, 2]}]} for one in ("a", "b")}}
    assert read_payloads({0.0: two}, "b").feature == "b"
    with pytest.raises(SettingError, match="which feature"):
        read_payloads({0.0: two})
    with pytest.raises(SettingError, match="did you mean 'a'"):
        read_payloads({0.0: two}, "aa")
    with pytest.raises(SettingError, match="encrypted"):
        read_payloads({0.0: {"encryptedFeatures": "x"}})
    with pytest.raises(SettingError, match="no payload"):
        read_payloads({0.0: {"features": []}})
    odd = read_payloads({0.0: payload([{"condition": {"a": {"$in": 1}}, "variations": [1, 2]}])})
    assert odd.checked(Log(Frame("log", {"id": ["1"], "a": ["1"]}), "id"))
    mixed = [{"condition": {"a": 1}, "variations": [1, 2]}, {"condition": {"a": "x"}}]
    log = Log(Frame("log", {"id": [1], "a": [1]}), "id")
    with pytest.raises(SettingError, match="compared with"):
        read_payloads({0.0: payload(mixed)}).checked(log)

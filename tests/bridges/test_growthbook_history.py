"""The time machine for GrowthBook: what its client assigned, and with which chances."""

from __future__ import annotations

import itertools
import logging
import random

import numpy as np
import pytest

from belman.analysis import past
from belman.analysis.past import Log
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
    "one variation alone": [{"variations": ["red"]}, {"variations": ["blue", "green"]}],
    "no rules": [],
}  # fmt: skip
MORE = {
    "savedGroups": {"south": ["it", "es"]},
    "contextualBandits": {"cb": {"banditVersion": 3, "contexts": [
        {"leafId": 0, "condition": {"country": "fr"}, "weights": [0.9, 0.1]},
        {"leafId": 1, "condition": {"age": {"$lt": 30}}, "weights": [0.2, 0.8]}]}},
}  # fmt: skip


def payload(rules):
    feature = {"defaultValue": "blue", "rules": [_without_none(one) for one in rules]}
    return {"features": {"f": feature}, **MORE}


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
    }


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
    found = assigned(rules, columns)
    served = payload(rules)
    client = Client(features=served["features"], savedGroups=MORE["savedGroups"])
    client._global_ctx.contextual_bandits = MORE["contextualBandits"]
    drawn = 0
    for i, values in enumerate(zip(*columns.values(), strict=True)):
        who = dict(zip(columns, values, strict=True))
        client.set_attributes({one: value for one, value in who.items() if value is not None})
        told = client.eval_feature("f")
        assert told.value == found.names[found.seen[i]], who
        assert (told.source == "experiment") == (found.reasons[i] == past.LOT), who
        assert (told.source == "force") == (found.reasons[i] == past.FORCED), who
        drawn += told.source == "experiment"
    client.destroy()
    assert drawn > 1_000 or not rules


@pytest.mark.parametrize("name", [name for name, rules in PAYLOADS.items() if rules])
def test_arms_come_as_often_as_their_chances_say(name):
    """Five standard deviations for every arm and kind of unit: errs once in 10⁶ each."""
    columns = users(2)
    found = assigned(PAYLOADS[name], columns)
    lot = found.reasons == past.LOT
    assert np.allclose(found.chances[lot].sum(1), 1.0)
    assert not found.chances[~lot].any()
    kinds = np.unique(found.chances[lot].round(6), axis=0, return_inverse=True)[1].ravel()
    if name == "another attribute":  # three rows have one company: these are not 10⁴ lots
        return
    for kind, arm in itertools.product(range(kinds.max() + 1), range(len(found.names))):
        own = np.flatnonzero(lot)[kinds == kind]
        chance = found.chances[own[0], arm]
        spread = (chance * (1.0 - chance) * own.size) ** 0.5
        assert abs((found.seen[own] == arm).sum() - chance * own.size) <= 5.0 * spread + 1e-9


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


def test_files_have_texts_for_numbers_and_truths():
    columns = users(4)
    rules = [{"condition": {"age": {"$gte": 30}, "paid": True}, "variations": ["blue", "red"]}]
    of_file = {
        name: ["" if cell is None else str(cell).lower() for cell in cells]
        for name, cells in columns.items()
    }
    history = read_payloads({0.0: payload(rules)})
    log = history.checked(Log(Frame("log.csv", of_file), "id"))
    again = history.assigned(0, log, np.arange(UNITS), "value")
    expected = assigned(rules, columns)
    assert (again.reasons == past.LOT).tolist() == (expected.reasons == past.LOT).tolist()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"parentConditions": [{"id": "g"}]}, "a prerequisite"),
        ({"meta": [{"passthrough": True}, {}]}, "a holdout"),
        ({"hashVersion": 3}, "hashVersion=3"),
        ({"weights": [1.2, -0.2]}, "not all from 0 up"),
        ({"condition": {"a": {"$elemMatch": {}}}}, "elemMatch in a condition"),
        ({"condition": {"a": {"b": 1}}}, "lists and objects"),
        ({"condition": {"$where": 1}}, "where in a condition"),
        ({"condition": [1]}, "not an object"),
        ({"ranges": [[0, 1]] * 3}, "3 ranges for 2"),
        ({"filters": [{"ranges": 1}]}, "rule 1 of feature"),
        ({"weights": "x"}, "rule 1 of feature"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(rule, words):
    with pytest.raises(SettingError, match=words):
        read_payloads({0.0: payload([{"variations": ["a", "b"], **rule}])})


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
    mixed = [{"condition": {"a": 1}, "variations": [1, 2]}, {"condition": {"a": "x"}}]
    log = Log(Frame("log", {"id": [1], "a": [1]}), "id")
    with pytest.raises(SettingError, match="compared with"):
        read_payloads({0.0: payload(mixed)}).checked(log)

"""The time machine: chances are recomputed, rows that contradict are counted, and what another
policy would have earned is covered by its intervals, also where weights adapt to rewards.
"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import belman
from belman.analysis import time_machine
from belman.analysis.histories import time_in_name
from belman.analysis.weights_history import read_weights
from belman.assignment import Eppo, GrowthBook, Weights
from belman.bridges.growthbook_history import read_payloads
from belman.bulk_hashes import buckets
from belman.errors import ArmError, SettingError
from tests.analysis.past_logs import ARMS, adapting, arms_of, payload

pytestmark = pytest.mark.interpreted
LOGS = 250


@pytest.mark.slow
@pytest.mark.parametrize(
    ("means", "repeats"),
    [((0.3, 0.3, 0.3), False), ((0.2, 0.3, 0.4), False), ((0.3, 0.3, 0.3), True)],
    ids=["A/A", "effects", "units that come again"],
)
def test_intervals_cover_where_weights_adapt(means, repeats):
    """250 logs, eight payloads each: a 95 % interval covers in 88 to 100 % of them (five standard
    deviations), and IPS is unbiased (five standard errors).
    """
    rng = np.random.default_rng(5)
    result = []
    for i in range(LOGS):
        log, history = adapting(rng, 8, 250, means, repeats=repeats, name=f"{i}-")
        result.append(time_machine(log, read_payloads(history)))
    least = 0.95 - 5.0 * (0.95 * 0.05 / LOGS) ** 0.5
    for arm, mean in zip(ARMS, means, strict=True):
        of = [one[arm] for one in result]
        assert of[0]["IPS"].exact is not repeats
        values = np.array([one["IPS"].value for one in of])
        assert abs(values.mean() - mean) < 5.0 * values.std() / LOGS**0.5
        for name in ("IPS", "self-normalised", "doubly robust", "steady"):
            ends = np.array([one[name].one_look for one in of])
            assert np.mean((ends[:, 0] <= mean) & (mean <= ends[:, 1])) >= least, (arm, name)
            ends = np.array([one[name].any_look for one in of])
            assert np.mean((ends[:, 0] <= mean) & (mean <= ends[:, 1])) >= 0.97, (arm, name)
    widths = {
        name: np.mean([one["blue"][name].error for one in result]) for name in ("IPS", "steady")
    }
    assert widths["steady"] < widths["IPS"]


def one_log(**settings):
    given = {"means": (0.2, 0.3, 0.4), "periods": 3, "each": 400} | settings
    return adapting(np.random.default_rng(7), given["periods"], given["each"], given["means"])


def test_chances_are_those_of_the_payload_of_the_time():
    log, history = one_log()
    result = time_machine(log, read_payloads(history))
    assert result.account.sentence == "1,200 rows read, 1,200 used, 0 dropped."
    columns = result.columns()
    for row, arm, chance in zip(*columns.values(), strict=True):
        rule = history[400.0 * (row // 400)]["features"]["offer"]["rules"][0]
        assert arm == log["variation"][row]
        assert chance == pytest.approx(dict(zip(ARMS, rule["weights"], strict=True))[arm], abs=1e-4)
    log["chance"] = columns["chance"]
    same = belman.evaluate(log, "green", arm="variation")
    assert result["green"]["IPS"] == same["IPS"]
    assert result["green"]["doubly robust"].value == pytest.approx(
        same["doubly robust"].value, abs=1e-3
    )
    assert "would" not in result.sentence
    assert "1,200 assignments of 1,200 units" in str(result)
    assert {row["policy"] for row in result.to_dict()["policies"]} == set(ARMS)


def test_other_policies():
    log, history = one_log()
    log["country"] = np.random.default_rng(1).choice(["fr", "de"], 1_200).tolist()
    asked = {
        "even": {"blue": 0.5, "red": 0.5},
        "by country": lambda context: "red" if context["country"] == "fr" else "blue",
    }
    result = time_machine(log, read_payloads(history), asked, context=["country"])
    for name, value in (("even", 0.3), ("by country", 0.3)):
        low, high = result[name]["doubly robust"].any_look
        assert low < value < high
    with pytest.raises(SettingError, match="was not asked about"):
        result["odd"]
    with pytest.raises(ArmError, match="plays 'pink'"):
        time_machine(log, read_payloads(history), {"pink": "pink"})


def test_rows_that_contradict_are_counted_and_too_many_are_refused():
    log, history = one_log()
    past = read_payloads(history)
    for i in range(0, 60, 10):
        log["variation"][i] = "red" if log["variation"][i] == "blue" else "blue"
    result = time_machine(log, past)
    assert result.account.dropped == {"with another variation than the hash gives": 6}
    assert "83 % that of neither" in result.account.said[0]
    with pytest.raises(SettingError, match=r"6 of 1,200 rows \(0.5 %\) have another variation"):
        time_machine(log, past, contradicted=0.001)
    assert time_machine(log, past, contradicted=0.9).account.used == 1_194


def test_clients_that_fetch_late():
    log, history = one_log()
    times = sorted(history)
    weights = [history[time]["features"]["offer"]["rules"][0]["weights"] for time in times]
    late = arms_of(np.array(log["unit"][400:450]), weights[0])
    log["variation"][400:450] = [ARMS[position] for position in late]
    past = read_payloads(history)
    with pytest.raises(SettingError, match=r"100 % have that of the version before \(\d+ s after"):
        time_machine(log, past)
    result = time_machine(log, past, late=50.0)
    assert result.account.dropped == {"within 50 s of a change": 100}


def test_rows_that_are_held_out_or_lack_a_prerequisite_are_set_aside():
    out = {"key": "out", "variations": ["blue", "any"], "weights": [0.2, 0.8], "seed": "h",
           "hashVersion": 2, "meta": [{}, {"passthrough": True}]}  # fmt: skip
    gate = {"parentConditions": [{"id": "open", "condition": {"value": True}, "gate": True}]}
    arms = {"key": "in", "variations": ["blue", "red"], "seed": "e", "hashVersion": 2}
    rules = {"open": [{"condition": {"country": "it"}, "force": False}], "f": [gate, out, arms]}
    features = {name: {"defaultValue": True, "rules": own} for name, own in rules.items()}
    units = [f"u{i}" for i in range(2_000)]
    country = ["it" if i % 10 == 0 else "fr" for i in range(2_000)]
    held, drawn = buckets("h", 2, units) < 2_000, buckets("e", 2, units) < 5_000
    seen = np.where(held | drawn, "blue", "red")
    seen[::10] = "red"  # what the program falls back to
    log = {"unit": units, "time": list(range(2_000)), "variation": seen.tolist(),
           "country": country, "reward": [i % 3 == 0 for i in range(2_000)]}  # fmt: skip
    past = read_payloads({0.0: {"features": features}}, "f")
    result = time_machine(log, past)
    kept = int(held[np.arange(2_000) % 10 > 0].sum())
    dropped = {"held out of the experiments": kept, "without a prerequisite": 200}
    assert result.account.dropped == dropped
    assert result.account.used == 1_800 - kept
    assert set(np.round(result.columns()["chance"], 4)) == {0.5}
    log["experiment"] = ["out" if one else "in" for one in held]
    again = time_machine(log, past)
    assert again.account.dropped == {
        "of another experiment": int(held.sum()),
        "without a prerequisite": 200 - int(held[::10].sum()),
    }
    assert again["red"]["IPS"] == result["red"]["IPS"]


def test_rows_without_a_lot_are_set_aside():
    log, _ = one_log(periods=1, each=2_000)
    even = [1 / 3] * 3
    history = {
        0.0: payload(even, coverage=0.5, namespace=["n", 0.0, 0.8], condition={"country": "fr"})
    }
    log["country"] = ["fr" if i % 10 else "de" for i in range(2_000)]
    log["feature"] = ["offer" if i % 4 else "other" for i in range(2_000)]
    past = read_payloads(history)
    from belman.analysis.past import Log
    from belman.frames import Frame

    again = past.assigned(
        0, past.checked(Log(Frame("log", log, True), "unit")), np.arange(2_000), "value"
    )
    log["variation"] = [again.names[position] for position in again.seen]
    log["unit"][1], log["time"][2], log["reward"][3], log["variation"][5] = None, None, None, ""
    result = time_machine(log, past)
    dropped = Counter(result.account.dropped)
    assert result.account.used + sum(dropped.values()) == 2_000
    assert dropped.pop("of another feature") == 500
    for why in ("without a time", "without a reward", "without a variation", "without a unit"):
        assert dropped.pop(why) == 1
    assert sorted(dropped) == [
        "outside of a namespace or filter", "outside of the coverage", "that no rule targets",
    ]  # fmt: skip
    assert 550 < result.account.used < 2_000 * 0.75 * 0.9 * 0.8 * 0.5 + 100


def test_what_no_arm_could_have_had_is_left_out():
    first = payload([0.5, 0.5, 0.0])
    units = np.array([f"u{i}" for i in range(1_000)])
    arms = arms_of(units, [0.5, 0.5, 0.0])
    second = payload([0.2, 0.2, 0.6])
    arms[500:] = arms_of(units[500:], [0.2, 0.2, 0.6])
    log = {"unit": units, "time": np.arange(1_000), "variation": [ARMS[i] for i in arms]}
    log["reward"] = np.arange(1_000) % 2
    result = time_machine(log, read_payloads({0.0: first, 500.0: second}))
    assert (result["red"].rows, result["blue"].rows) == (500, 1_000)
    assert "500 of 1,000 rows an arm that it plays had no chance" in result["red"].warnings[-1]


def test_several_rewards_and_rows_that_lack_some_arms():
    log, history = one_log()
    log["revenue"] = [2.0 * one for one in log["reward"]]
    result = time_machine(log, read_payloads(history), reward=["reward", "revenue"])
    values = [result.evaluations["red", one]["IPS"].value for one in ("reward", "revenue")]
    assert values[1] == pytest.approx(2.0 * values[0])
    assert "reward" in result.table().columns
    kept = [i for i, arm in enumerate(log["variation"]) if arm != "blue" or i % 2]
    lacking = {name: [cells[i] for i in kept] for name, cells in log.items()}
    said = time_machine(lacking, read_payloads(history), reward="reward").said
    assert any("the log lacks rows of some arms" in words for words in said)


# Histories


@pytest.mark.parametrize(
    ("name", "time"),
    [("2026-03-01T12-30-00Z.json", 1772368200.0), ("2026-03-01T14:30:00+02:00.json", 1772368200.0),
     ("20260301T123000Z_prod.json", 1772368200.0), ("1772368200.json", 1772368200.0),
     ("1772368200500.json", 1772368200.5), ("2026-03-01 12.30.json", 1772368200.0),
     ("2026-03-01.json", 1772323200.0), ("2026-13-01.json", None), ("v2.json", None),
     ("12.json", None)],
)  # fmt: skip
def test_times_in_names(name, time):
    assert time_in_name(name) == time


def folder(path, files):
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_histories_are_folders(tmp_path):
    one, other = payload([0.5, 0.5, 0.0]), payload([0.1, 0.1, 0.8])
    named = {"2026-03-01.json": one, "2026-03-02T10-00.json": other, "notes.txt": "not read"}
    assert len(read_payloads(folder(tmp_path, named)).times) == 2
    inside = tmp_path / "inside"
    inside.mkdir()
    of = {"b.json": {**one, "dateUpdated": "2026-03-01T00:00:00.000Z"},
          "a.json": {**other, "dateUpdated": "2026-03-02T10:00:00.000Z"}}  # fmt: skip
    assert read_payloads(folder(inside, of)).times == read_payloads(tmp_path).times


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no .json files"),
        ({"2026-03-01.json": "{"}, "is not JSON"),
        ({"2026-03-01.json": 1}, "no payload"),
        ({"one.json": payload([1, 0, 0])}, "from when did 'one.json' hold"),
        ({"2026-03-01.json": payload([1, 0, 0]), "one.json": payload([1, 0, 0])}, "with no time"),
        ({"2026-03-01.json": payload([1, 0, 0]), "2026-03-01T00-00Z.json": payload([1, 0, 0])},
         "hold from the same time"),
        ({"2026-03-01.json": {**payload([1, 0, 0]), "dateUpdated": "2026-03-02"}},
         "after the time in its name"),
        ({"a.json": {**payload([1, 0, 0]), "dateUpdated": "soon"}}, "'soon' is not a time"),
    ],
)  # fmt: skip
def test_ambiguous_histories_are_refused(tmp_path, files, words):
    with pytest.raises(SettingError, match=words):
        read_payloads(folder(tmp_path, files))


def test_times_that_are_none():
    with pytest.raises(SettingError, match="which is no time"):
        read_payloads({float("nan"): payload([1, 0, 0])})


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        read_payloads(tmp_path / "none")


# Weights documents


@pytest.mark.parametrize(
    "assigner",
    [None, GrowthBook(), GrowthBook(1), Eppo(1_000, (("traffic", ((0, 600),)),))],
    ids=["belman", "growthbook", "growthbook 1", "eppo"],
)
def test_weights_documents_of_every_hash(tmp_path, assigner):
    """Units are assigned one by one, by the weights of their time."""
    first = Weights.of("x", {"a": 0.5, "b": 0.5}, salt="s", published=10.0, assigner=assigner)
    second = first.following({"a": 0.2, "b": 0.7, "c": 0.1}, published=500.0)
    rows = []
    for i in range(1_000):
        weights = first if i < 490 else second
        try:
            given = belman.assign(weights, f"u{i}")
        except ValueError:
            continue
        row = {
            "unit": f"u{i}",
            "time": 10 + i,
            "arm": given.arm,
            "reward": i % 3,
            "p": given.chance,
        }
        rows.append(row)
    folder(tmp_path, {"2.json": second.to_json(), "1.json": first.to_json()})
    for history in (read_weights(tmp_path, "x"), read_weights([second, first])):
        result = time_machine(rows, history, arm="arm")
        assert result.account.used == len(rows)
        assert result.columns()["chance"] == [row["p"] for row in rows]
        assert result["c"].rows < len(rows)


def test_weights_of_a_study_with_contexts(tmp_path):
    study = belman.open_study(
        "ctx", ["a", "b"], context={"x": "number"}, floor=0.1, storage=f"sqlite:///{tmp_path}/s.db"
    )
    rng = np.random.default_rng(1)
    for arm, x in zip(["a", "b"] * 30, rng.normal(size=60), strict=True):
        study.record([(arm, float((x > 0.0) == (arm == "a")), {"x": x})])
    weights = study.publish(100)
    rows = []
    for i, x in enumerate(np.round(rng.normal(size=300), 1).tolist()):
        given = belman.assign(weights, i + 1, {"x": x})
        rows.append({"unit": i + 1, "time": weights.published + 1 + i, "arm": given.arm, "x": x,
                     "reward": 1.0 * (i % 2), "p": given.chance})  # fmt: skip
    result = time_machine(rows, read_weights([weights]))
    assert result.columns()["chance"] == [row["p"] for row in rows]
    assert len(set(result.columns()["chance"])) > 5


def test_weights_that_are_no_history():
    one = Weights.of("x", {"a": 0.5, "b": 0.5}, salt="s")
    with pytest.raises(SettingError, match="held at no time"):
        read_weights([one])
    dated = Weights.of("x", {"a": 0.5, "b": 0.5}, salt="s", published=1.0)
    other = Weights.of("y", {"a": 0.5, "b": 0.5}, salt="s", published=2.0)
    with pytest.raises(SettingError, match="give the documents of one"):
        read_weights([dated, other])
    with pytest.raises(SettingError, match="and not of 'z'"):
        read_weights([dated], "z")
    drawn = Weights.of(
        "x", {"a": 1.0}, salt="s", published=2.0, assigner=belman.assignment.Elsewhere()
    )
    with pytest.raises(SettingError, match="cannot be drawn again"):
        read_weights([drawn])


# Logs


@pytest.mark.parametrize(
    ("change", "settings", "words"),
    [
        ({"variation": ["pink"] * 400}, {}, "has the variations 'pink'"),
        ({"unit": [1.5] * 400}, {}, "unit 1.5 cannot be hashed"),
        ({"time": [-5.0] * 400}, {}, "no row with a lot: .* before the first version"),
        ({"time": ["soon"] * 400}, {}, "is not a time"),
        ({}, {"attributes": {"id": "who"}}, "no column 'who'"),
        ({}, {"late": -1.0}, "late=-1.0"),
        ({}, {"contradicted": 1.0}, "contradicted=1.0"),
        ({}, {"level": 2.0}, "level=2.0"),
        ({}, {"spelling": "name"}, "spelling='name'"),
    ],
)
def test_logs_that_cannot_be(change, settings, words):
    log, history = one_log(periods=1)
    with pytest.raises(SettingError, match=words):
        time_machine({**log, **change}, read_payloads(history), **settings)


def test_variations_that_may_be_values_or_numbers():
    rule = {"variations": [1, 0], "hashVersion": 2}
    past = read_payloads({0.0: {"features": {"f": {"defaultValue": 0, "rules": [rule]}}}})
    log = {"unit": [1, 2], "time": [1, 2], "variation": [0, 1], "reward": [0, 1]}
    with pytest.raises(SettingError, match="may be meant by value or by key"):
        time_machine(log, past)


def test_an_attribute_that_a_rule_looks_at_must_be_there():
    log, _ = one_log(periods=1)
    past = read_payloads({0.0: payload([1 / 3] * 3, condition={"country": "fr"})})
    with pytest.raises(SettingError, match="no column 'country'"):
        time_machine(log, past)
    log["geo"] = ["fr"] * 400
    assert time_machine(log, past, attributes={"country": "geo"}).account.used == 400

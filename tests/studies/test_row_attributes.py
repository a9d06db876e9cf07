"""Attributes of rows in bulk: segments of a report as tickets have them, though no row is kept."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from belman import assign
from belman.errors import SettingError
from belman.studies import Study
from belman.studies.outcomes import bulk as row_attributes
from belman.studies.requests.rows import Rows, brought

pytestmark = pytest.mark.usefixtures("same_assignments")

FAMILIES = {
    "bernoulli": ({}, [0.0, 1.0]),
    "gaussian-unknown": ({}, [-1.5, 0.25, 3.0]),
    "scaled": ({"family": None, "range": (10.0, 30.0), "minimise": True}, [10.0, 17.0, 30.0]),
}


def rows_of(study, n, rewards, start=0):
    """Rows with a device for two in three of the units."""
    weights, rng = study.weights(), np.random.default_rng(start)
    return [
        (
            unit := f"user-{i}",
            weights.version,
            assign(weights, unit).arm,
            float(rng.choice(rewards)),
            None,
            {"device": ("phone", "desk")[i % 2], "age": 30 + i % 5} if i % 3 else None,
        )
        for i in range(start, start + n)
    ]


def table(study, by="device"):
    return str(study.report(by=by).segments.table())


@pytest.mark.parametrize("name", FAMILIES)
def test_segments_are_those_of_rewards_that_were_recorded_one_by_one(opened, name):
    given, rewards = FAMILIES[name]
    rule = {"arms": ["a", "b"], "family": name, **given}
    study, twin = opened(**rule), opened("twin", **rule)
    study.publish(100)
    first, second = rows_of(study, 150, rewards), rows_of(study, 150, rewards, start=150)
    for rows in (first, second):
        study.observe(rows)
    study.observe(first)  # once more changes nothing
    twin.record([(arm, reward, attributes) for _, _, arm, reward, _, attributes in first + second])
    assert study.report().attributes == ("age", "device")
    assert table(study) == table(twin)
    assert table(study, "age") == table(twin, "age")
    # rows that are corrected say in which segment they came
    news = [*rewards, None]
    changes = [(*row[:4], new, row[5] or {}) for row, new in zip(first, news, strict=False)]
    study.correct_rows(changes, "refund")
    kept = [
        (*row[:3], change[4], None, row[5]) for row, change in zip(first, changes, strict=False)
    ]
    other = opened("corrected", **rule)
    counted = [*kept, *first[len(kept) :], *second]
    other.record([(row[2], row[3], row[5]) for row in counted if row[3] is not None])
    assert table(study) == table(other) != table(twin)
    assert table(Study("study", study.storage)) == table(study)
    study.check()


def test_a_row_under_a_window_is_of_a_segment_when_that_is_over(opened, clock):
    study = opened(arms=["a", "b"], window=60.0, clock=clock, early=False)
    twin = opened("twin", arms=["a", "b"])
    study.publish(100)
    rows = rows_of(study, 120, [0.0, 1.0])
    at_once, later = rows[:80], rows[80:]
    begun, clock.now = clock.now, clock.now + 60.0
    study.observe([(*row[:4], begun, row[5]) for row in at_once])
    study.observe([(*row[:3], 1.0 - row[3], begun + 30.0, row[5]) for row in later])
    study.observe([(*row[:4], begun + 30.0) for row in later])  # of the same units: it stands
    twin.record([(row[2], row[3], row[5]) for row in at_once])
    assert table(study) == table(twin)
    clock.now += 30.0
    twin.record([(row[2], row[3], row[5]) for row in later])
    assert table(study) == table(twin)
    study.check()


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"device": ["phone"]}, "row 3: attribute 'device' cannot be"),
        ({"a device": "phone"}, "row 3: 'a device' cannot name"),
        ("phone", "row 3: attributes='phone'"),
        ({f"name{i}": "x" for i in range(8)}, "row 3: attributes .* at most 8"),
    ],
)
def test_bad_attributes_and_nothing_counts(opened, attributes, words):
    study = opened(arms=["a", "b"])
    study.publish(100)
    rows = rows_of(study, 3, [1.0])
    rows[2] = (*rows[2][:5], attributes)
    number = study.number
    with pytest.raises(SettingError, match=words):
        study.observe(rows)
    assert (study.number, study.report().attributes) == (number, ())


def test_rare_values_are_taken_together(opened, monkeypatch):
    monkeypatch.setattr(row_attributes, "MOST_VALUES", 2)
    study = opened(arms=["a", "b"])
    study.publish(100)
    rows = [
        (*row[:5], {"city": f"c{min(i % 7, 3)}"}) for i, row in enumerate(rows_of(study, 70, [1.0]))
    ]
    study.observe(rows)
    result = study.report(by="city").segments
    assert result.names == ("(others)", "c0", "c3")
    assert result.plays.tolist() == [20.0, 10.0, 40.0]


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet", "arrow"])
def test_files_carry_attributes(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    given = [{"device": "phone"}, None, {"age": "30", "device": "desk"}]
    rows = [
        {"unit": f"u{i}", "version": 2, "arm": "a", "reward": 1.0, "attributes": one}
        for i, one in enumerate(given)
    ]
    if ending == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                text = "" if row["attributes"] is None else json.dumps(row["attributes"])
                writer.writerow({**row, "attributes": text})
    elif ending == "ndjson":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        import pyarrow
        from pyarrow import feather, parquet

        kept = pyarrow.Table.from_pylist(rows)
        (parquet.write_table if ending == "parquet" else feather.write_feather)(kept, path)
    result = brought(path, lambda: ["a"])
    assert isinstance(result, Rows)
    assert list(result.attributes) == given

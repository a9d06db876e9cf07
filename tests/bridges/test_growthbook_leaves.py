"""Studies along features for GrowthBook: its client decides by the leaves of a tree, as the
document says, and the study learns from what came of it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from functools import partial

import numpy as np
import pytest

import belman
from belman.analysis import read_weights, time_machine
from belman.bridges import growthbook
from belman.bridges.flags import flag_of
from belman.bridges.growthbook_history import read_payloads
from belman.errors import ArmError, SettingError, StudyError
from belman.studies import Storage, Study, open_study

UNITS = 600


@pytest.fixture
def storage(tmp_path):
    result = Storage(f"sqlite:///{tmp_path}/studies.db")
    yield result
    result.close()


def contextual(storage, **settings):
    given = {"context": {"age": "number", "country": "category", "paid": None}, "floor": 0.1}
    study = open_study("offer", ["blue", "green"], storage=storage, seed=3, **given | settings)
    rng, rows = np.random.default_rng(1), []
    for _ in range(90):
        who = user(rng)
        arm = str(rng.choice(["blue", "green"]))
        likely = (who["country"] == "fr") == (arm == "blue")
        rows.append((arm, float(rng.random() < 0.2 + 0.6 * likely), who))
    study.record(rows)
    return study


def user(rng):
    return {
        "age": None if rng.random() < 0.1 else float(rng.integers(18, 70)),
        "country": str(rng.choice(["fr", "de", "it"])) if rng.random() < 0.9 else None,
        "paid": bool(rng.random() < 0.5),
    }


def viewed(told, experiment, result, **_):
    told.append((experiment, result))


def decided(payload, units):
    """What the client gives every unit, and its exposures as rows."""
    pytest.importorskip("growthbook", reason="pip install growthbook")
    from growthbook import GrowthBook as Client

    rows = []
    for name, who in units.items():
        told = []
        attributes = {"id": name, **{one: value for one, value in who.items() if value is not None}}
        book = Client(attributes=attributes, features=payload["features"],
                      on_experiment_viewed=partial(viewed, told))  # fmt: skip
        value = book.get_feature_value("offer", "none")
        (exposure,) = told
        rows.append(growthbook.row(*exposure, 1.0, context=who))
        assert rows[-1]["arm"] == value
        book.destroy()
    return rows


def test_the_python_client_decides_by_leaves(storage):
    """Five standard deviations for the frequencies of arms in every leaf: errs once in 10⁶ each."""
    study = contextual(storage)
    weights = study.publish(100, by="growthbook")
    assert len(weights.contexts.leaves) > 1
    payload = json.loads(json.dumps(growthbook.payload([flag_of(study)])))
    assert len(payload["features"]["offer"]["rules"]) == len(weights.contexts.leaves)
    rng = np.random.default_rng(2)
    units = {f"user-{i}": user(rng) for i in range(UNITS)}
    rows = decided(payload, units)
    fell, counts = Counter(), Counter()
    for row, (name, who) in zip(rows, units.items(), strict=True):
        assert row["arm"] == belman.assign(weights, name, who).arm
        leaf = weights.contexts.position(who)
        fell[leaf] += 1
        counts[leaf] += row["arm"] == "blue"
    for leaf, n in fell.items():
        chance = weights.contexts.leaves[leaf].points[0] / 10_000
        assert abs(counts[leaf] - chance * n) <= 5.0 * (n * chance * (1.0 - chance)) ** 0.5
    later = study.publish(100, by="growthbook")  # outcomes of an older version are taken too
    assert later.version > weights.version
    assert study.observe(rows) == UNITS
    assert study.status()["told"] == 90 + UNITS
    study.check()
    assert Study("offer", storage).weights() == later
    other = {**rows[0], "arm": "blue" if rows[0]["arm"] == "green" else "green"}
    with pytest.raises(ArmError, match="assigns"):
        study.observe([other])
    with pytest.raises(SettingError, match="context"):
        study.observe([{**rows[0], "context": {"colour": "red"}}])


def test_the_time_machine_knows_leaves(storage):
    """Both from the documents of the study, and from what its clients fetched."""
    study = contextual(storage)
    weights = study.publish(100, by="growthbook")
    payload = json.loads(json.dumps(growthbook.payload([flag_of(study)])))
    rng, log = np.random.default_rng(4), []
    for i in range(500):
        who = user(rng)
        result = belman.assign(weights, f"u{i}", who)
        log.append({"unit": f"u{i}", "time": weights.published + i, "variation": result.arm,
                    "reward": i % 2, "p": result.chance, **who})  # fmt: skip
    for past in (read_weights([weights]), read_payloads({weights.published: payload})):
        result = time_machine(log, past)
        assert result.account.used == 500
        assert result.columns()["chance"] == pytest.approx([row["p"] for row in log])


def test_a_window_two_services_and_a_new_arm(storage):
    """A row waits, is known again by another process, and counts when its window has closed; arms
    that are new get leaves of their own.
    """
    study = contextual(storage, window=3600.0)
    weights, now = study.publish(100, by="growthbook", every=60.0), time.time()
    rng, rows = np.random.default_rng(5), []
    for i in range(40):
        who = user(rng)
        arm = belman.assign(weights, f"u{i}", who).arm
        when = now if i % 2 else now - 7_200.0
        rows.append((f"u{i}", weights.version, arm, 1.0, when, None, who))
    other = Study("offer", storage)
    assert other.weights() == weights
    assert study.observe(rows) == 40
    assert other.observe(rows) == 40
    assert (other.status()["told"], other.status()["waiting"]) == (90 + 20, 20)
    study.add_arm("red")
    later = other.weights()
    assert later.arms == ("blue", "green", "red")
    assert all(len(leaf.points) == 3 for leaf in later.contexts.leaves)
    who = {"age": 30.0, "country": "fr"}
    assert flag_of(other).decided("u1", who | {"more": 1}) == belman.assign(later, "u1", who)
    study.check()


def test_floors_a_control_and_one_arm_alone(storage):
    study = contextual(storage, control="green")
    first = study.publish(100, by="growthbook")
    assert min(points for leaf in first.contexts.leaves for points in leaf.points) >= 1_000
    study.retire_arm("blue")
    study.publish(100, by="growthbook")
    (rule,) = growthbook.feature(flag_of(study))["rules"]
    assert rule == {"force": "green"}


def test_other_clients_still_decide_by_draws_and_eppo_is_refused(storage):
    study = contextual(storage)
    study.publish(100, by="growthbook", segment="web")
    own = study.publish(100)
    assert own.by == "belman"
    assert belman.assign(own, "u", {"age": 30, "country": "fr"}).arm in ("blue", "green")
    with pytest.raises(StudyError, match="cannot be published for eppo"):
        study.publish(100, by="eppo")

"""A study with contexts publishes what decides by context, and learns what came of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import belman
from belman.assignment import LocalDecider, Weights, sign, verify
from belman.errors import ArmError, RewardError, SettingError, StudyError, TicketError
from belman.policies.dependent import LinTS, LinUCB
from belman.studies import Study
from belman.studies.folding import close

pytestmark = pytest.mark.usefixtures("same_assignments")
NAMES = ["country", "age"]


def context(i: int) -> dict[str, Any]:
    return {"country": ("fr", "de", "it")[i % 3], "age": None if i % 7 == 3 else 20.0 + i % 50}


def reward(given: dict[str, Any], arm: Any, i: int) -> float:
    likely = 0.8 if (given["country"] == "fr") == (arm == "a") else 0.2
    return float((i * 0.618) % 1.0 < likely)


def rows(weights: Weights, count: int, first: int = 0, **more: Any) -> list[dict[str, Any]]:
    """What came of units that were assigned at an edge."""
    result = []
    for i in range(first, first + count):
        arm = belman.assign(weights, f"unit {i}", context(i)).arm
        own = {"unit": f"unit {i}", "version": weights.version, "arm": arm, "context": context(i)}
        result.append({**own, "reward": reward(context(i), arm, i), **more})
    return result


def believed(study: Study, i: int = 0) -> list[Any]:
    return list(study.beliefs(context=context(i)).columns.values())


def test_what_is_observed_is_learnt_as_past_data_in_its_context(opened):
    study, twin = (opened(name, context=NAMES) for name in ("one", "two"))
    weights = study.publish(100)
    given = rows(weights, 60)
    assert study.observe(given) == 60
    assert study.observe(given) == 60  # the same rows once more change nothing
    for one in given:
        twin.record([(one["arm"], one["reward"], one["context"])])
    means = [
        one._replica.look(lambda state: state.decider.knowledge.belief.mean)
        for one in (study, twin)
    ]
    assert means[0] == pytest.approx(means[1], abs=0.05)  # scales of numbers were known later
    assert study.status()["told"] == 60
    study.check()


def test_the_next_version_follows_what_was_learnt(opened):
    """French units get a, the others not: after 600 outcomes by more than 9 in 10."""
    study = opened(context=NAMES, floor=0.02)
    for turn in range(4):
        study.observe(rows(study.publish(100), 150, 150 * turn))
    weights = study.publish(100)
    french = weights.chances({"country": "fr", "age": 40})
    german = weights.chances({"country": "de", "age": 40})
    assert french[0] > 0.9
    assert german[0] < 0.1
    assert min(*french, *german) >= 0.02 - 1e-9
    assert weights.floors == (0.02, 0.02, 0.02)
    assert weights.salt == "0f" * 8
    study.check()


def test_every_world_knows_the_same(opened, clock):
    study = opened(context=NAMES, clock=clock, window=60, floor=0.05)
    weights = study.publish(100, every=30)
    study.observe(rows(weights, 40, time=clock.now))
    ask = study.ask(context=context(2))
    clock.now += 61.0
    study.tell(study.ask(context=context(1)), 1)
    again = Study(study.name, study.storage, clock=clock)
    assert study.status()["told"] == again.status()["told"] == 41
    assert believed(study) == believed(again)
    assert again.weights() == study.weights()
    assert again.weights().version > weights.version
    assert ask.arm in "abc"
    assert study.check() == again.check()


def test_rows_wait_for_their_window_with_their_context(opened, clock):
    study = opened(context=NAMES, clock=clock, window=60, accumulate=True, model="linear")
    weights = study.publish(100)
    first = rows(weights, 3, time=clock.now, reward=1.0)
    study.observe(first)
    study.observe([{**first[0], "reward": 2.5}])
    assert study.status()["told"] == 0
    clock.now += 61.0
    assert study.status()["told"] == 3
    sums = dict.fromkeys("abc", 0.0)
    for one, total in zip(first, (3.5, 1.0, 1.0), strict=True):
        sums[one["arm"]] += total
    told = study._replica.look(lambda state: state.copied())
    close(told, clock.now)
    assert {arm: told.learnt(position).sum for position, arm in enumerate("abc")} == sums
    with pytest.raises(TicketError, match="has counted"):
        study.observe([{**first[0], "reward": 9.0}])
    study.check()


def test_a_unit_with_another_arm_in_its_context_is_refused(opened):
    study = opened(context=NAMES)
    study.record([("a", 1.0, {"country": "fr"}), ("a", 0.0, {"country": "de"})] * 60)
    study.record([("b", 0.0, {"country": "fr"}), ("b", 1.0, {"country": "de"})] * 60)
    study.record([("c", 0.0, {"country": "fr"}), ("c", 0.0, {"country": "de"})] * 60)
    weights = study.publish(100)
    (row,) = rows(weights, 1)
    assert row["arm"] == "a"
    before = study.status()
    with pytest.raises(
        ArmError, match=r"row 1: unit 'unit 0' has arm 'a', and version \d+ assigns"
    ):
        study.observe([{**row, "context": {"country": "de", "age": 20.0}}])
    for wrong, error, words in (
        ({"context": {"country": 3}}, SettingError, "row 1: country=3"),
        ({"context": {"city": "x"}}, SettingError, "row 1: .*city"),
        ({"reward": 2.0}, RewardError, "row 1: reward 2.0"),
        ({"version": 1}, SettingError, "never published"),
    ):
        with pytest.raises(error, match=words):
            study.observe([{**row, **wrong}])
    mixed = [
        {"unit": None, "version": None, "arm": "a", "reward": 1.0, "context": {"age": one}}
        for one in ("x", 3)
    ]
    with pytest.raises(SettingError, match="age"):
        study.observe(mixed)
    assert study.status() == before


def test_shares_of_control_retired_arms_and_shipping_hold(opened):
    study = opened(context=NAMES, control="b", control_share=0.25, goal="earn")
    study.observe(rows(study.publish(100), 90))
    weights = study.publish(100)
    for i in range(6):
        chances = weights.chances(context(i))
        assert chances[1] == pytest.approx(0.25, abs=1e-9)
    study.retire_arm("c")
    later = study.weights()  # due at once
    assert later.arms == ("a", "b")
    assert later.chances(context(0)) == pytest.approx((0.75, 0.25), abs=1e-9)
    study.observe(rows(weights, 9, 500))  # units of the version before, c among them
    study.ship("a")
    shipped = study.weights()
    assert shipped.contexts is None
    assert shipped.chances(context(0)) == (1.0, 0.0)
    study.observe(rows(shipped, 5, 900))
    study.unship()
    assert study.weights().contexts is not None
    study.add_arm("d")
    assert study.weights().arms == ("a", "b", "d")
    assert study.report() is not None
    study.check()


def test_parts_of_the_units_have_versions_of_their_own(opened):
    study = opened(context=NAMES)
    one, other = study.publish(10, segment="web"), study.publish(10, segment="app")
    assert (one.segment, other.segment) == ("web", "app")
    study.observe([*rows(one, 5), *rows(other, 5, 50)])
    assert study.weights("web").version == one.version
    with pytest.raises(SettingError, match="segment"):
        study.publish(10, segment={"country": "fr"})


def test_a_log_of_an_edge_is_replayed_by_the_chances_in_each_context(opened):
    """The estimate of always asking LinUCB covers what units would have got."""
    study = opened(context=NAMES, floor=0.1, policy=LinTS())
    for turn in range(4):
        study.observe(rows(study.publish(100), 150, 150 * turn))
    result = study.replay(LinUCB(1.0))
    assert result.used == 600
    assert result.low < 0.8
    assert result.high > 0.5
    bare = opened("bare", context=NAMES)
    bare.observe(rows(bare.publish(100), 60))
    assert bare.report(by="country") is not None


def test_attributes_split_reports_of_rows_in_contexts(opened):
    study = opened(context=NAMES, control="b", floor=0.1)
    for device in ("phone", "desk"):
        first = 0 if device == "phone" else 200
        study.observe(rows(study.publish(100), 120, first, attributes={"device": device}))
    result = str(study.report(by="device").segments.table())
    assert "phone" in result
    assert "desk" in result


def test_what_a_study_cannot_learn_or_publish_is_refused(opened):
    sums = [{"version": None, "arm": "a", "n": 2, "sum": 1.0, "squares": 1.0}]
    study = opened(context=NAMES)
    with pytest.raises(StudyError, match="sums have none"):
        study.observe(sums, key="1")
    with pytest.raises(StudyError, match="arrays"):
        opened("arrays", context=["text[3]"]).publish(10)
    candidates = opened("candidates", None, features=["price"], seed=1)
    with pytest.raises(StudyError, match="candidates"):
        candidates.publish(10)
    with pytest.raises(StudyError, match="candidates"):
        candidates.observe([("u", None, "candidate", 1.0)])
    plain = opened("plain")
    with pytest.raises(SettingError, match="decides without"):
        plain.observe([("u", None, "a", 1.0, None, None, {"age": 3})])
    with pytest.raises(StudyError, match="corrects no rows"):
        study.correct_rows([("u", None, "a", 1.0, 0.0)], "refund")


def test_an_edge_decides_by_context_with_signed_weights(opened, monkeypatch):
    monkeypatch.setenv("BELMAN_SIGNING_KEY", "k" * 40)
    study = opened(context=NAMES, floor=0.05)
    study.observe(rows(study.publish(100), 60))
    weights = study.publish(100)
    signed = sign(weights, study.signing_key)
    assert verify(signed, study.public_keys) == weights
    with LocalDecider("http://127.0.0.1:9", study.name, fallback="a", start=False) as edge:
        edge._weights = weights
        decision = edge.decide("unit 1", context(1))
        assert decision[1:4] == belman.assign(weights, "unit 1", context(1))
        edge.observe(decision, 1.0)
        row = edge._outbox._waiting[0][2]
        assert row["context"] == context(1)
        edge._outbox._waiting.clear()
    study.observe([row])
    assert study.status()["told"] == 61


def test_evidence_beside_control_counts_the_chances_in_each_context(opened):
    """The bets of rows are those of their own chances: the interval covers the true lift."""
    study = opened(context=NAMES, control="b", floor=0.2)
    rng = np.random.default_rng(4)
    for turn in range(3):
        made = rows(study.publish(100), 200, 200 * turn)
        study.observe([{**one, "reward": float(rng.random() < 0.5)} for one in made])
    bets = study._replica.look(lambda state: state.tally.bets)
    assert bets is not None
    known = study._replica.look(lambda state: state.tally.arms)
    assert sum(arm.assigned for arm in known) == 600
    assert sum(arm.meant for arm in known) == pytest.approx(600)
    assert not any(result.alarm for result in study.report().findings)

"""Who assigned: outcomes of units that belman, GrowthBook, Eppo or somebody else assigned."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import belman
from belman.assignment import Elsewhere, Eppo, GrowthBook, Weights, assign
from belman.assignment.assigners import Filter, cuts_of_ranges
from belman.errors import ArmError, SettingError, StudyError
from belman.studies import Study

SHARES = {"a": 0.6, "b": 0.3, "c": 0.1}
LOGGED = {"a": 0.5, "b": 0.3, "c": 0.2}


def rows_of(weights: Weights, n: int, seed: int = 1) -> list[tuple]:
    rng = np.random.default_rng(seed)
    units = [f"user-{seed}-{i}" for i in range(n)]
    return [
        (unit, weights.version, assign(weights, unit).arm, float(rng.random() < 0.3))
        for unit in units
    ]


def alarms(study: Study) -> list[str]:
    """What a report finds wrong with how units fell."""
    return [one.sentence for one in study.report().findings if one.alarm]


def logged(n: int, seed: int = 1, chances=None, **more) -> list[dict]:
    rng, own = np.random.default_rng(seed), LOGGED if chances is None else chances
    arms = rng.choice(list(own), n, p=list(own.values()))
    return [
        {"unit": f"u{seed}-{i}", "version": None, "arm": str(arm), "chances": own, **more}
        | {"reward": float(rng.random() < 0.2 + 0.2 * (arm == "c"))}
        for i, arm in enumerate(arms)
    ]


@pytest.mark.parametrize("by", ["growthbook", "eppo"])
def test_units_are_looked_up_by_the_hash_of_who_assigned_them(opened, by):
    study = opened(control="a", floor=0.05)
    weights = study.publish(100, by=by)
    assert weights.by == by
    rows = rows_of(weights, 600)
    assert study.observe(rows) == 600
    mine = study.publish(100, segment="mine")  # by belman's own hash, beside it
    own = [(unit, mine.version, assign(mine, unit).arm, reward) for unit, *_, reward in rows]
    assert sum(one[2] != other[2] for one, other in zip(own, rows, strict=True)) > 200
    study.observe(own)
    wrong = next(
        i for i, (one, other) in enumerate(zip(own, rows, strict=True)) if one[2] != other[2]
    )
    number = study.number
    with pytest.raises(ArmError, match=rf"row {wrong + 1}: unit .* version {weights.version} assi"):
        study.observe([(one[0], weights.version, one[2], one[3]) for one in own])
    assert study.number == number
    study.check()
    assert not alarms(study)


@pytest.mark.parametrize("by", ["growthbook", "eppo"])
def test_versions_follow_in_the_same_hash(opened, by):
    study = opened(floor=0.05)
    first = study.publish(100, by=by)
    study.observe(
        [(unit, version, arm, float(arm == "c")) for unit, version, arm, _ in rows_of(first, 500)]
    )
    second = study.publish(100, by=by)
    assert (second.by, second.salt, second.version > first.version) == (by, first.salt, True)
    assert second.weights != first.weights
    assert min(second.weights) >= 0.05 - 1e-4
    study.observe(rows_of(second, 100, 2))
    back = study.publish(100)
    assert (back.by, sum(back.weights)) == ("belman", pytest.approx(1.0))
    assert Study("study", study.storage).weights() == back
    study.check()


def test_weights_of_others_are_declared_and_do_not_stand(opened):
    study = opened(control="a")
    namespace = Filter.of_namespace("shop", 0.0, 0.6)
    cuts = cuts_of_ranges([(0.0, 0.3), (0.6, 0.75), (0.9, 0.95)], 10_000)
    theirs = Weights(
        "old", 1, "old-test", ("a", "b", "c"), cuts, (0.0,) * 3,
        assigner=GrowthBook(2, (namespace,)),
    )  # fmt: skip
    known = study.declare(theirs, "last year", key="d1")
    assert known.weights == pytest.approx(tuple(SHARES.values()), abs=1e-4)
    assert study.declare(theirs, "last year", key="d1") == known
    with pytest.raises(StudyError, match="published no weights"):
        study.weights()
    rows, left = [], 0
    for i in range(1_500):
        try:
            rows.append((f"user-{i}", known.version, assign(known, f"user-{i}").arm, 1.0))
        except belman.errors.WeightsError:
            left += 1
    assert left > 900  # coverage 0.5 of a namespace of 0.6
    assert study.observe(rows) == len(rows)
    inside = {unit for unit, *_ in rows}
    out = next(f"user-{i}" for i in range(1_500) if f"user-{i}" not in inside)
    with pytest.raises(SettingError, match="takes no part"):
        study.observe([(out, known.version, "a", 1.0)])
    with pytest.raises(ArmError, match="unknown arm 'd'"):
        study.declare(Weights.of("x", {"a": 0.5, "d": 0.5}, salt="s", assigner=Eppo()))
    study.check()
    assert Study("study", study.storage).check() == study.check()


def test_units_that_were_randomised_elsewhere_are_taken_on_trust_but_their_shares_are_tested(
    opened,
):
    study = opened(control="a")
    known = study.declare(Weights.of("x", SHARES, salt="-", assigner=Elsewhere()))
    drawn = np.random.default_rng(3).choice(list(SHARES), 3_000, p=list(SHARES.values()))
    study.observe([(f"u{i}", known.version, str(arm), 1.0) for i, arm in enumerate(drawn)])
    assert not alarms(study)
    study.observe([(f"v{i}", known.version, "c", 1.0) for i in range(500)])
    assert alarms(study)
    study.observe(
        [{"version": known.version, "arm": "b", "n": 10, "sum": 4, "squares": 4}], key="sums"
    )


def test_logged_chances_are_evidence_and_replays_use_them(opened):
    study, twin = opened(control="a"), opened("twin", control="a")
    rows = logged(1_500)
    study.observe(rows)
    own = {arm: [row for row in rows if row["arm"] == arm] for arm in "abc"}
    known = twin.declare(Weights.of("x", LOGGED, salt="-", assigner=Elsewhere()))
    twin.observe([{**row, "version": known.version, "chances": None} for row in rows])
    mine, other = study.copied()[0].tally, twin.copied()[0].tally
    assert mine.log_odds == pytest.approx(other.log_odds, abs=1e-6)
    assert mine.bets.capitals == pytest.approx(other.bets.capitals, abs=1e-6)
    assert mine.bets.outcomes == len(rows)
    result, wanted = study.replay(belman.Thompson()), twin.replay(belman.Thompson())
    assert result.used == wanted.used == len(rows)
    assert abs(result.earned - wanted.earned) < 1e-12
    means = [np.mean([row["reward"] for row in own[arm]]) for arm in "abc"]
    assert 0.8 * min(means) < result.reward < 1.2 * max(means)
    study.check()
    assert Study("study", study.storage).check() == study.check()


def test_logged_chances_wait_with_their_rows(opened, clock):
    study = opened(control="a", window=60, silence=0, clock=clock)
    rows = logged(400, time=clock())
    study.observe(rows)
    assert study.status()["waiting"] == 400
    before = study.copied()[0].tally
    assert sum(arm.assigned for arm in before.arms) == 400
    clock.now += 61
    study.publish(10)
    tally = study.copied()[0].tally
    assert tally.bets.outcomes == 400
    assert study.replay(belman.Thompson()).used == 400
    study.observe(logged(50, 2, time=clock() - 100))
    assert study.copied()[0].tally.bets.outcomes == 450
    study.check()


def test_logged_chances_in_contexts(opened):
    study = opened(arms=["a", "b", "c"], context=["country"], control="a")
    rows = logged(60, context={"country": "fr"})
    study.observe(rows)
    assert study.copied()[0].tally.bets.outcomes == 60
    assert study.copied()[0].tally.log_odds != 0.0
    study.check()
    segments = opened("segments", segments=["country"])
    with pytest.raises(StudyError, match="learns by segment"):
        segments.observe(logged(3))


def test_corrections_of_logged_rows_take_their_bets_back(opened):
    study, twin = opened(control="a"), opened("twin", control="a")
    rows = logged(300)
    study.observe(rows)
    row = rows[7]
    twin.observe([*rows[:7], {**row, "reward": 1.0 - row["reward"]}, *rows[8:]])
    fixed = {"unit": row["unit"], "version": None, "arm": row["arm"], "was": row["reward"]}
    study.correct_rows([{**fixed, "reward": 1.0 - row["reward"], "chances": LOGGED}], "refund")
    mine, other = study.copied()[0].tally.bets, twin.copied()[0].tally.bets
    assert mine.capitals == pytest.approx(other.capitals, abs=1e-9)
    assert study.replay(belman.Thompson()).used == 300
    study.check()


def test_of_two_arms_the_chance_of_its_own_will_do(opened):
    study = opened(arms=["a", "b"], control="a")
    study.observe([("u1", None, "b", 1.0, None, None, None, 0.25), ("u2", None, "a", 0.0)])
    assert study.copied()[0].tally.bets.outcomes == 1
    assert [arm.meant for arm in study.copied()[0].tally.arms] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("chances", "more", "error", "words"),
    [
        (0.5, {}, SettingError, "not two"),
        ({"a": 0.5, "b": 0.3}, {}, SettingError, "add up to 0.8"),
        ({"a": 1.5, "b": -0.5}, {}, SettingError, "must add up to 1"),
        ({"a": 0.5, "b": 0.5}, {"arm": "c"}, SettingError, "could not be"),
        ({"a": 0.5, "z": 0.5}, {}, ArmError, "unknown arm 'z'"),
        ({"a": float("nan"), "b": 0.5}, {}, SettingError, "finite"),
        ({"a": "much"}, {}, SettingError, "finite"),
        (LOGGED, {"version": 2}, SettingError, "has its own"),
        (LOGGED, {"arm": "q"}, ArmError, "unknown arm 'q'"),
    ],
)
def test_chances_that_cannot_be_are_refused(opened, chances, more, error, words):
    study = opened()
    row = {"unit": "u", "version": None, "arm": "a", "reward": 1.0, "chances": chances, **more}
    number = study.number
    with pytest.raises(error, match=rf"row 1: .*{words}"):
        study.observe([row])
    assert study.number == number


def test_files_bring_chances_as_json(opened, tmp_path):
    study = opened(arms=["a", "b", "c"], control="a")
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["unit", "version", "arm", "reward", "chances"])
        for row in logged(20):
            writer.writerow([row["unit"], "", row["arm"], row["reward"], json.dumps(LOGGED)])
    assert study.observe(path) == 20
    assert study.copied()[0].tally.bets.outcomes == 20


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Filter("shop", True, ()), "hash_version=True is not 1 or 2"),
        (lambda: Filter(["shop"], 1, ()), "seed=.* is not valid: give text"),
        (lambda: Filter("\ud800", 1, ()), "seed=.* is not valid: give text"),
        (lambda: Filter("shop", 1, 7), "ranges=7 are not valid"),
        (lambda: Filter("shop", 1, ((0.5, 0.2),)), "ranges=.* are not valid"),
        (lambda: Filter("shop", 1, ((0.0, float("inf")),)), "ranges=.* are not valid"),
        (lambda: Filter("shop", 1, ((0.0, float("nan")),)), "ranges=.* are not valid"),
        (lambda: GrowthBook(3), "hash_version=3 is not 1 or 2"),
        (lambda: GrowthBook(2, ("shop",)), "filters=.* give Filters"),
        (lambda: Eppo(traffic=(("salt",),)), "traffic=.* give pairs"),
        (lambda: Eppo(traffic=((7, ((0, 5),)),)), "salt=7 is not valid: give text"),
        (lambda: Weights.of("x", SHARES, salt="s", assigner=True), "assigner=True is not known"),
    ],
)
def test_assigners_that_cannot_be_are_refused(make, words):
    with pytest.raises(belman.errors.WeightsError, match=words):
        make()


def test_what_no_foreign_hash_can_do_is_refused(opened):
    contexts = opened(arms=["a", "b"], context=["country"])
    with pytest.raises(StudyError, match="only belman's own clients and GrowthBook's"):
        contexts.publish(10, by="eppo")
    with pytest.raises(SettingError, match="unknown assigner 'growthbok'"):
        opened("other").publish(10, by="growthbok")

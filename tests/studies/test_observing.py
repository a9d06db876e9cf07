"""Outcomes in bulk: learnt as if told one by one, once under a key, all or none of them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belman import assign
from belman.errors import ArmError, BelmanError, RewardError, SettingError, StudyError, TicketError
from belman.studies import Storage, Study, open_study
from belman.studies.log.event_log import EventLog
from belman.studies.requests.rows import brought

FAMILIES = {
    "bernoulli": ({}, [0.0, 1.0]),
    "gaussian": ({}, [-1.5, 0.25, 3.0]),
    "gaussian-unknown": ({}, [-1.5, 0.25, 3.0]),
    "poisson": ({}, [0.0, 2.0, 7.0]),
    "exponential": ({}, [0.5, 2.0]),
    "log-normal": ({}, [0.5, 2.0]),
    "bounded": ({}, [0.0, 0.3, 1.0]),
    "costs": ({"family": "exponential", "minimise": True}, [0.5, 2.0]),
    "scaled": ({"family": None, "range": (10.0, 30.0)}, [10.0, 17.0, 30.0]),
}


def rows_of(study: Study, n: int, rewards, seed: int = 1, version=None, start: int = 0):
    """Units as the weights assign them, with rewards of all kinds."""
    weights, rng = study.weights() if version is None else version, np.random.default_rng(seed)
    names = [f"user-{i}" for i in range(start, start + n)]
    return [
        (name, weights.version, assign(weights, name).arm, float(rng.choice(rewards)))
        for name in names
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_it_learns_what_tells_would(opened, name):
    given, rewards = FAMILIES[name]
    rule = {"family": name, **given}
    study, twin = opened(**rule), opened("twin", **rule)
    study.publish(100)
    rows = rows_of(study, 300, rewards)
    assert study.observe(rows) == 300
    twin.record([(arm, reward) for _, _, arm, reward in rows])
    for arm in "abc":
        mine, other = study.copied()[0].decider.learnt(arm), twin.copied()[0].decider.learnt(arm)
        assert mine.belief == pytest.approx(other.belief, rel=1e-9)
        assert (mine.tells, mine.plays) == (other.tells, other.plays)
        assert (mine.sum, mine.squares) == pytest.approx((other.sum, other.squares))
    result, status = study.status(), twin.status()
    assert (result["told"], result["asked"], result["observed"]) == (300, 300, 300)
    assert result["reward"] == pytest.approx(status["reward"])
    study.check()
    assert Study("study", study.storage).check() == study.check()


def test_sums_do_where_the_family_says_so(opened):
    by_rows, by_sums = opened(), opened("sums")
    for study in (by_rows, by_sums):
        study.publish(100, segment="phones")
    weights = by_rows.weights("phones")
    rows = rows_of(by_rows, 200, [0.0, 1.0], version=weights)
    by_rows.observe(rows)
    sums = [
        {
            "version": by_sums.weights("phones").version,
            "segment": "phones",
            "arm": arm,
            "n": len(own := [reward for _, _, of, reward in rows if of == arm]),
            "sum": sum(own),
            "squares": sum(own),
        }
        for arm in "abc"
    ]
    with pytest.raises(SettingError, match="key of its own"):
        by_sums.observe(sums)
    assert by_sums.observe(sums, key="hour 1") == 200
    for arm in "abc":
        assert by_rows.copied()[0].decider.learnt(arm) == by_sums.copied()[0].decider.learnt(arm)
    with pytest.raises(SettingError, match="is of segment 'phones'"):
        by_sums.observe([{**sums[0], "segment": "desks"}], key="hour 2")
    with pytest.raises(RewardError, match="cannot have the squares"):
        by_sums.observe([{**sums[0], "n": 2, "sum": 2.0, "squares": 1.0}], key="hour 2")
    with pytest.raises(RewardError, match="cannot have the sum"):
        by_sums.observe([{**sums[0], "n": 2, "sum": 3.0, "squares": 9.0}], key="hour 2")
    spread = opened("spread", family="log-normal")
    version = spread.publish(10).version
    with pytest.raises(RewardError, match="does not say all"):
        spread.observe(
            [{"version": version, "arm": "a", "n": 1, "sum": 1.0, "squares": 1.0}], key="1"
        )


def test_the_same_batch_counts_once(opened):
    study = opened()
    study.publish(100)
    rows = rows_of(study, 50, [0.0, 1.0])
    assert study.observe(rows, key="one") == 50
    number, digest = study.number, study.check()
    assert study.observe(rows, key="one") == 50
    assert Study("study", study.storage).observe(rows, key="one") == 50
    with pytest.raises(SettingError, match="use a new key"):
        study.observe(rows[1:], key="one")
    with pytest.raises(SettingError, match="use a new key"):
        study.pause(key="one")
    assert (study.number, study.check()) == (number, digest)
    study.observe(rows)
    study.observe(rows)
    assert study.number == number + 1  # rows are their own key
    assert study.observe([]) == 0


def bad_rows(version):
    good = ("user-1", version, "a", 1.0)
    return {
        "an arm of nobody": (("user-1", version, "z", 1.0), ArmError, "unknown arm 'z'"),
        "another arm": (("user-1", version, "other", 1.0), ArmError, "assigns"),
        "no version": (("user-1", 1, "a", 1.0), SettingError, "never published"),
        "a later one": (("user-1", 99, "a", 1.0), SettingError, "never published"),
        "no number": (("user-1", "2", "a", 1.0), SettingError, "version='2'"),
        "a reward": (("user-1", version, "a", 2.0), RewardError, "reward 2.0"),
        "nan": ((*good[:3], float("nan")), RewardError, "nan"),
        "text": ((*good[:3], "1"), RewardError, "'1'"),
        "a list": ((*good[:3], [1]), SettingError, "unhashable"),
        "no unit": ((None, *good[1:]), SettingError, "unit=None"),
        "no time": ((*good, "noon"), SettingError, "time='noon'"),
        "too short": (good[:3], SettingError, "give"),
    }


@pytest.mark.parametrize("what", bad_rows(2))
def test_one_bad_row_and_nothing_counts(opened, what):
    study = opened()
    version = study.publish(100).version
    row, kind, words = bad_rows(version)[what]
    mine = assign(study.weights(), "user-1").arm
    if len(row) > 3 and row[2] in ("a", "other"):
        other = next(arm for arm in "abc" if arm != mine)
        row = (*row[:2], mine if row[2] == "a" else other, *row[3:])
    rows = rows_of(study, 20, [0.0, 1.0], start=10)
    before = study.check()
    with pytest.raises(kind, match=words) as raised:
        study.observe([*rows, row])
    assert "row 21" in str(raised.value)
    assert (study.number, study.check()) == (version, before)


def test_an_arm_without_a_share_cannot_have_been_assigned(opened):
    study = opened()
    study.publish(10)
    study.ship("b")
    version = study.weights().version
    with pytest.raises(ArmError, match="had no share"):
        study.observe([("user-1", version, "a", 1.0)])
    assert study.observe([("user-1", version, "b", 1.0)]) == 1


def test_rows_without_weights_are_learnt_and_not_tested(opened):
    study = opened()
    study.observe([(None, None, "a", 1.0)] * 500)
    assert study.copied()[0].decider.learnt("a").tells == 500
    assert not any(result.question == "sample ratio" for result in study.report().findings)


def test_traffic_that_does_not_fall_as_published_is_noticed(opened):
    study = opened(floor=0.2)
    version = study.publish(100).version

    def sums(counts):
        return [
            {"version": version, "arm": arm, "n": n, "sum": 0.0, "squares": 0.0}
            for arm, n in counts.items()
        ]

    share = dict(zip("abc", study.weights().weights, strict=True))
    fair = {arm: round(share[arm] * 9_000) for arm in "abc"}
    study.observe(sums(fair), key="fair")
    (result,) = (one for one in study.report().findings if one.question == "sample ratio")
    assert not result.alarm
    study.observe(sums({**fair, "a": fair["a"] // 2}), key="lost")
    (result,) = (one for one in study.report().findings if one.question == "sample ratio")
    assert result.alarm
    assert "a got" in result.sentence
    study.check()


def test_a_retired_arm_still_learns(opened):
    study = opened(floor=0.2)
    study.publish(100)
    rows = rows_of(study, 60, [0.0, 1.0])
    study.retire_arm("b")
    study.observe(rows)
    study.add_arm("b")
    assert (
        study.copied()[0].decider.learnt("b").tells == sum(arm == "b" for _, _, arm, _ in rows) > 0
    )
    study.check()


def test_under_a_window_a_row_counts_when_that_is_over(opened, clock):
    study = opened(window=60.0, clock=clock, early=False)
    tickets = study.ask(5)
    study.tell(tickets[0], 1.0)
    study.publish(100)
    rows = rows_of(study, 4, [0.0, 1.0])
    with pytest.raises(SettingError, match="time=None"):
        study.observe(rows)
    with pytest.raises(SettingError, match="ahead of the clock"):
        study.observe([(*row, clock.now + 61.0) for row in rows])
    clock.now += 59.0
    study.observe([(*row, clock.now - 59.0) for row in rows])
    assert study.status() | {"told": 0, "waiting": 4, "outstanding": 5} == study.status()
    clock.now += 1.0
    assert study.status()["told"] == 9  # the tickets have closed, too
    study.observe([(*row, clock.now - 60.0) for row in rows_of(study, 3, [1.0], start=4)])
    assert study.status() | {"told": 12, "observed": 7, "asked": 12} == study.status()
    assert sum(study.copied()[0].decider.learnt(arm).tells for arm in "abc") == 12
    assert "waiting" not in study.status()
    study.check()


LIVES = {
    "the last stands": ({}, [0.0, 1.0]),
    "they add up": ({"accumulate": True, "family": "poisson"}, [0.0, 1.0, 3.0]),
}


@pytest.mark.parametrize("life", LIVES)
def test_rows_under_a_window_are_their_slow_and_obvious_twin(opened, clock, monkeypatch, life):
    """Units are brought, brought again, and closed by time, by two processes with snapshots in
    between; a dictionary knows what each counts as.
    """
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 3)
    rule, rewards = LIVES[life]
    luck = np.random.default_rng(7)
    studies = [opened(window=10.0, clock=clock, **rule), opened(arms=None, clock=clock)]
    versions = [studies[0].publish(50)]
    known: dict[tuple[int, str], list] = {}  # (arm, time of the decision, what is known so far)
    for turn in range(60):
        study, batch = studies[turn % 2], []
        for _ in range(luck.integers(0, 6)):
            weights = versions[luck.integers(len(versions))]
            unit, reward = f"user-{luck.integers(60)}", float(luck.choice(rewards))
            arm, key = assign(weights, unit).arm, (weights.version, unit)
            if key in known and known[key][1] + 10.0 <= clock.now:
                continue  # it has counted, which the study does not remember
            if key not in known:
                known[key] = [arm, clock.now, reward]
            else:
                add = rule.get("accumulate", False)
                known[key][2] = known[key][2] + reward if add else reward
            batch.append((unit, weights.version, arm, reward, clock.now))
        study.observe(batch, key=f"turn {turn}")
        study.observe(batch, key=f"turn {turn}")
        if turn in (20, 40):
            versions.append(study.publish(50))
        if turn % 7 == 0:
            studies[turn % 2] = opened(arms=None, clock=clock)
        clock.now += float(luck.choice([0.0, 1.0, 4.0]))
        closed = [one for one in known.values() if one[1] + 10.0 <= clock.now]
        status = study.status()
        assert (status["told"], status.get("waiting", 0)) == (
            len(closed),
            len(known) - len(closed),
        )
        assert status["reward"] == pytest.approx(sum(one[2] for one in closed))
    clock.now += 10.0
    other = opened("twin", window=10.0, **rule)
    other.record([(arm, reward) for arm, _, reward in known.values()])
    for arm in "abc":
        mine, wanted = study.copied()[0].decider.learnt(arm), other.copied()[0].decider.learnt(arm)
        assert mine.tells == wanted.tells
        assert mine.belief == pytest.approx(wanted.belief, rel=1e-9)
    assert {one.check() for one in studies} == {opened(arms=None).check()}
    assigned = [arm.assigned for arm in studies[0].copied()[0].tally.arms]
    assert sum(assigned) == len(known)


@pytest.mark.parametrize("name", ["bernoulli", "poisson", "gaussian-unknown", "costs", "scaled"])
def test_rows_that_are_corrected_count_as_if_they_had_been_brought_so(opened, name):
    given, rewards = FAMILIES[name]
    rule = {"family": name, **given}
    study, twin = opened(**rule), opened("twin", **rule)
    study.publish(100)
    rows = rows_of(study, 60, rewards)
    study.observe(rows)
    changes = [(*row[:3], row[3], new) for row, new in zip(rows, [*rewards, None], strict=False)]
    assert study.correct_rows(changes, "refund", key="one") == len(changes)
    assert study.correct_rows(changes, "refund", key="one") == len(changes)
    new = {row[0]: row[4] for row in changes}
    kept = [(arm, new.get(unit, reward)) for unit, _, arm, reward in rows]
    twin.record([(arm, reward) for arm, reward in kept if reward is not None])
    for arm in "abc":
        mine, other = study.copied()[0].decider.learnt(arm), twin.copied()[0].decider.learnt(arm)
        assert mine.belief == pytest.approx(other.belief, rel=1e-9)
        assert mine.tells == other.tells
        assert (mine.sum, mine.squares) == pytest.approx((other.sum, other.squares))
    status, wanted = study.status(), twin.status()
    assert (status["told"], status["reward"]) == pytest.approx((wanted["told"], wanted["reward"]))
    assert status["observed"] == 59
    assert study.history(last=1)["event"] == ["rows corrected"]
    assert study.check() == Study("study", study.storage).check()
    study.report()


def test_rows_that_cannot_be_corrected_change_nothing(opened, clock):
    study = opened(window=60.0, clock=clock)
    weights = study.publish(100)
    unit, arm = "user-1", assign(weights, "user-1").arm
    row = (unit, weights.version, arm)
    study.observe([(*row, 1.0, clock.now)])
    number = study.number
    wrong = {
        "observe it once more": (*row, 1.0, 0.0),
        "no outcome of arm": ("user-1", None, "a", 1.0, 0.0),
        "was never published": (unit, 999, arm, 1.0, 0.0),
        "unknown arm": (unit, weights.version, "z", 1.0, 0.0),
        "is not allowed": (*row, 7.0, 0.0),
        "give \\(unit": row,
    }
    for words, change in wrong.items():
        if words == "is not allowed":
            clock.now += 60.0
        with pytest.raises(BelmanError, match=words):
            study.correct_rows([change], "refund")
    with pytest.raises(SettingError, match="needs a reason"):
        study.correct_rows([(*row, 1.0, 0.0)], " ")
    assert study.number == number
    study.correct_rows([(*row, 1.0, 0.0)], "refund")
    assert study.status()["reward"] == 0.0


def test_studies_that_need_rewards_one_by_one_refuse(opened):
    row = [("user-1", None, "a", 1.0)]
    for i, rule in enumerate(({"discount": 0.9}, {"reward": "margin"})):
        study = opened(f"one by one {i}", **rule)
        with pytest.raises(StudyError, match="takes no outcomes in bulk"):
            study.observe(row)


def test_a_correction_beside_sums_never_folds_them_away(opened):
    study = opened(family="gaussian-unknown")
    tickets = study.ask(3)
    for ticket in tickets:
        study.tell(ticket, 1e9)
    arm = tickets[0].arm
    study.observe([(None, None, arm, 1.0), (None, None, arm, 1.5)])
    before = study.check()
    with pytest.raises(TicketError, match="outcomes in bulk"):
        study.correct(tickets[0], 1.0, "a slip of the pen")
    assert study.check() == before


# Files


def written(path, rows):
    names = ("unit", "version", "arm", "reward", "time")
    table = [dict(zip(names, (*row, 5.0), strict=True)) for row in rows]
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(table)
    elif path.suffix == ".ndjson":
        path.write_text("\n".join(map(json.dumps, table)))
    else:
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        made = arrow.Table.from_pylist(table)
        write = parquet.write_table if path.suffix == ".parquet" else feather.write_feather
        write(made, str(path))
    return path


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet", "arrow"])
def test_a_file_twice_is_a_file_once(tmp_path, ending):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    study = open_study("file", ["1", 2, 0], storage=storage, seed=1)
    study.publish(10)
    rows = rows_of(study, 30, [0.0, 1.0])
    if ending in ("parquet", "arrow"):
        rows = [(unit, version, str(arm), reward) for unit, version, arm, reward in rows]
    path = written(tmp_path / f"rows.{ending}", rows)
    assert study.observe(path) == study.observe(path) == 30
    assert study.number == 3
    study.check()
    storage.close()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("rows.doc", "", "must end in"),
        ("gone.csv", None, "cannot be read"),
        ("rows.csv", "unit,version,arm\nu,2,a\n", "no column 'reward'"),
        ("rows.csv", "unit,version,arm,reward,what\nu,2,a,1,2\n", "column 'what'"),
        ("rows.csv", "unit,version,arm,reward\nu,2,a\n", r"row 1 \(line 2\): 3 cells"),
        ("rows.csv", "unit,version,arm,reward\nu,2,a,1\nu,2,a,x\n", "row 2: reward 'x'"),
        ("rows.ndjson", '{"unit": "u"}\n{', r"row 2 \(line 2\): '{' is not a JSON object"),
        ("rows.ndjson", "[1]", r"row 1 \(line 1\): '\[1\]' is not a JSON object"),
        ("rows.parquet", "nothing", "cannot be read"),
        (
            "rows.csv",
            'unit,version,arm,reward,attributes\nu,,a,1,"' + "[" * 100_000 + '"\n',
            "row 1: attributes .* is not JSON",
        ),
    ],
)
def test_a_file_that_is_none(tmp_path, name, text, words):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SettingError, match=words):
        brought(tmp_path / name, lambda: ["a"])


def test_arms_that_read_alike_are_not_taken_for_one_another(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("unit,version,arm,reward\nu,,blue,1\nv,,1,1\n")
    with pytest.raises(ArmError, match="row 2: '1' may be 1, '1': write 'int:1', 'str:1'"):
        brought(table, lambda: ["blue", 1, "1"])
    table.write_text("unit,version,arm,reward\nu,,int:1,1\nv,,str:1,1\nw,,'=b,1\n")
    assert brought(table, lambda: ["=b", 1, "1"]).arm == [1, "1", "=b"]
    lines = tmp_path / "rows.ndjson"
    lines.write_text('{"unit": "u", "version": null, "arm": "1", "reward": 1}\n')
    assert brought(lines, lambda: ["=b", 1, "1"]).arm == ["1"]


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.lists(st.one_of(st.tuples(), st.dictionaries(st.text(), st.integers()), st.none())),
        st.dictionaries(st.sampled_from(["n", "arm", "version", "sum"]), st.lists(st.floats())),
        st.integers(),
    )
)
def test_whatever_is_brought_is_outcomes_or_refused(given):
    try:
        result = brought(given, lambda: ["a"])
    except SettingError:
        return
    assert len({len(column) for column in result}) == 1


def test_what_fails_before_the_commit_has_not_happened(opened, monkeypatch):
    study = opened()
    study.publish(100)
    rows, before = rows_of(study, 50, [0.0, 1.0]), study.check()
    append = EventLog.append

    def die(self, transaction, new):
        append(self, transaction, new)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "append", die)
        with pytest.raises(KeyboardInterrupt):
            study.observe(rows, key="one")
    assert study.check() == Study("study", study.storage).check() == before
    assert study.observe(rows, key="one") == 50
    assert study.status()["told"] == 50

"""Studies in a world that changes: by turns and by the clock, noticed in the log, and to the last
bit the fold of that log, whoever folds it.
"""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest

from belman import BelMan, Thompson, open_study
from belman.errors import SettingError, StudyError
from belman.policies import Drift, Forced, Forgetting, GLRTest, Restarting
from belman.studies import Storage, Study, saving
from belman.studies.log.event_log import Kind

DAY = 86_400.0


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


def play(study, clock, turns, means, seed=1, apart=3_600.0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        clock.now += apart
        ticket = study.ask()
        study.tell(ticket.id, float(rng.random() < means[ticket.arm]))


@pytest.mark.parametrize(
    "given",
    [
        {"drift": "auto"},
        {"drift": Drift(half_life=timedelta(days=14))},
        {"policy": BelMan(drift=True)},
    ],
)
def test_a_change_is_an_event(url, clock, given) -> None:
    study = open_study("x", ["a", "b"], storage=url, clock=clock, seed=1, **given)
    play(study, clock, 300, {"a": 0.9, "b": 0.5})
    assert not study.changes()["arm"]
    play(study, clock, 300, {"a": 0.1, "b": 0.5}, seed=2)
    seen = study.changes()
    assert seen["arm"] == ["a"]
    (event,) = [event for event in study.events() if event.kind == Kind.CHANGE_NOTICED]
    body = json.loads(event.body)
    assert study.register[event.arm] == "a"
    assert body["turn"] == seen["turn"][0]
    assert body["from"] > 0.8 > 0.4 > body["to"]
    assert "a went from 0.9" in body["reason"]
    assert study.status()["changes_noticed"] == 1
    assert not any(finding.alarm for finding in study.report().findings)  # it follows
    state, _ = study.copied()
    assert [change.kind for change in state.tally.course.changes].count(Kind.CHANGE_NOTICED) == 1
    again = open_study("x", storage=url, clock=clock, **given)
    assert again.check() == study.check()
    assert str(again.beliefs()) == str(study.beliefs())
    assert again.ask().arm == study.agent().ask()
    study.storage.close(), again.storage.close()


def test_whoever_watches_a_study_is_told_how_many_changes_it_noticed(url, clock) -> None:
    told: list[int] = []
    settings = {"storage": Storage(url), "clock": clock}
    open_study("x", ["a", "b"], seed=1, drift="auto", **settings)
    study = Study("x", **settings, watch=told.append)
    play(study, clock, 300, {"a": 0.9, "b": 0.5})
    assert told == []
    play(study, clock, 300, {"a": 0.1, "b": 0.5}, seed=2)
    assert told == [1]
    study.storage.close()


@pytest.mark.parametrize("around", [lambda drift: drift, Forced], ids=["alone", "forced"])
def test_time_is_the_clocks_and_not_the_turns(url, clock, around) -> None:
    """After a year of silence the same rewards say less than after a minute."""
    policy = around(Drift(half_life=timedelta(days=7)))
    wide = {}
    for name, pause in (("soon", 60.0), ("late", 365 * DAY)):
        study = open_study(name, ["a", "b"], policy=policy, storage=url, clock=clock, seed=1)
        play(study, clock, 200, {"a": 0.9, "b": 0.2}, apart=60.0)
        clock.now += pause
        study.pause("a look at the time")
        row = study.beliefs().row("a")
        wide[name] = row["high"] - row["low"]
        study.storage.close()
    assert wide["soon"] < 0.2 < 0.6 < wide["late"]


@pytest.mark.parametrize(
    "given",
    [
        {"drift": "auto"},
        {"drift": Drift(per=timedelta(hours=1))},
        {"drift": "auto", "range": (0, 3)},
        {"last": 15},
    ],
)
def test_the_state_is_the_fold_of_the_log(url, clock, given) -> None:
    """Through windows, corrections, past rewards, arms that come and go, and snapshots."""
    waits = {"window": 7_200.0, "early": False}
    study = open_study("x", ["a", "b"], storage=url, clock=clock, seed=3, **waits, **given)
    rng = np.random.default_rng(4)
    tickets = []
    for turn in range(60):
        clock.now += 600.0
        tickets.append(study.ask())
        study.tell(tickets[-1].id, float(rng.random() < 0.6))
        if turn == 20:
            study.add_arm("c")
        if turn == 30:
            study.correct(tickets[0].id, None, "fraud")
            study.record([("a", 1), ("b", 0)])
        if turn == 40:
            study.retire_arm("a")
            assert study.check()
        if turn == 50:
            study.add_arm("a")
    other = open_study("x", storage=url, clock=clock)
    assert other.check() == study.check()
    assert other.ask().arm == study.agent().ask()
    state, _ = study.copied()
    text = saving.to_text(state)
    assert saving.to_text(saving.from_text(text)) == text
    study.storage.close(), other.storage.close()


def test_outcomes_in_bulk_change_what_is_believed_now(url, clock) -> None:
    study = open_study("x", ["a", "b"], storage=url, drift="auto", clock=clock, seed=3)
    for batch, (wins, losses) in enumerate([(90, 10), (91, 9), (10, 90), (9, 91)]):
        clock.now += DAY
        rows = {"version": [None], "arm": ["a"], "n": [wins + losses], "sum": [wins]}
        study.observe({**rows, "squares": [wins]}, key=f"batch-{batch}")
    assert study.beliefs().row("a")["expected reward"] < 0.2
    assert study.changes()["arm"] == ["a"]
    study.check()
    study.storage.close()


@pytest.mark.parametrize(
    "follows",
    [{}, {"last": 100}, {"policy": Restarting(Thompson(), GLRTest(), scope="local")}],
    ids=["nothing", "a window", "a detector"],
)
def test_a_change_is_an_alarm_where_nothing_follows_it(url, clock, follows) -> None:
    study = open_study("x", ["a"], storage=url, clock=clock, seed=1, **follows)
    rewards = [i % 4 > 0 for i in range(400)] + [i % 4 == 0 for i in range(400)]
    study.record([("a", reward) for reward in rewards])
    result = study.report()
    alarms = [finding.look_at for finding in result.findings if finding.alarm]
    if follows:
        assert not alarms
        assert "this study follows them" in result.findings[-1].sentence
        assert "There are no intervals at any look" in str(result)
    else:
        assert "`drift` lets beliefs follow" in alarms[0]
    study.storage.close()


def test_policies_that_hear_survive_snapshots_too(url, clock) -> None:
    """What a policy keeps beside beliefs is in the text of a state."""
    policy = Forgetting(Thompson(), last=5)
    study = open_study("x", ["a", "b"], policy=policy, storage=url, clock=clock, seed=1)
    play(study, clock, 30, {"a": 0.9, "b": 0.5})
    state, _ = study.copied()
    before = state.decider._memory.own.plays.copy()
    assert before.sum() == 5.0
    again = saving.from_text(saving.to_text(state))
    assert again.decider._memory.own.plays.tolist() == before.tolist()
    study.check()
    study.storage.close()


@pytest.mark.parametrize("rewards", ["coins", "in a range"])
def test_the_last_rewards_count(url, clock, rewards) -> None:
    distribution = {"range": (0, 5)} if rewards == "in a range" else {}
    study = open_study("x", ["a", "b"], storage=url, last=30, clock=clock, seed=1, **distribution)
    fresh = open_study("y", ["a", "b"], storage=url, clock=clock, seed=1, **distribution)
    rng = np.random.default_rng(3)
    told = [("ab"[i % 3 == 0], float(rng.random() < 0.4)) for i in range(100)]
    study.record(told)
    fresh.record(told[-30:])
    assert study.agent().belief("a") == pytest.approx(fresh.agent().belief("a"))
    assert study.beliefs()["expected reward"] == pytest.approx(fresh.beliefs()["expected reward"])
    study.check()
    sums = {"version": [None], "arm": ["a"], "n": [9], "sum": [3], "squares": [3]}
    with pytest.raises(StudyError, match="one by one; tell the rewards of tickets"):
        study.observe(sums, key="batch")
    study.storage.close(), fresh.storage.close()


def test_a_window_of_rewards_is_a_setting_of_the_study(url, clock) -> None:
    study = open_study("x", ["a", "b"], policy=Thompson(), last=40, storage=url, clock=clock)
    position = study.storage
    assert study.policy == Forgetting(Thompson(), last=40)
    open_study("x", last=40, storage=position, clock=clock)
    open_study("without", ["a", "b"], policy=Thompson(), storage=position, clock=clock)
    with pytest.raises(SettingError, match="was created with policy="):
        open_study("without", last=40, storage=position, clock=clock)
    with pytest.raises(SettingError, match="created with policy="):
        open_study("x", last=41, storage=position, clock=clock)
    with pytest.raises(SettingError, match="give one"):
        open_study("y", ["a"], last=40, drift="auto", storage=position)
    with pytest.raises(SettingError, match="not for studies by segments"):
        open_study("y", ["a"], last=40, segments=["country"], storage=position)
    assert sorted(position.names()) == ["without", "x"]
    position.close()


def test_doors(url, clock) -> None:
    study = open_study("x", ["a", "b"], storage=url, drift="auto", clock=clock)
    assert study.policy == Drift()
    with pytest.raises(SettingError, match="created with policy="):
        open_study("x", storage=study.storage, drift=Drift(half_life=60.0))
    with pytest.raises(SettingError, match="give drift=… alone"):
        open_study("y", ["a"], policy=Thompson(), storage=study.storage, drift="auto")
    assert study.storage.names() == ["x"]
    study.storage.close()

"""The verdict on a study: an agent's, of this moment, with its traffic and whether it is sound."""

from __future__ import annotations

import json

import numpy as np
import pytest

import belman
from belman import errors
from belman.measures.soundness import Drift, SampleRatio
from belman.studies import Kind
from belman.studies.state import State
from belman.studies.traffic.colours import (
    DARK_PAGE,
    LEAST_CONTRAST,
    LIGHT_PAGE,
    NAMED,
    PALETTE,
    colour_of,
    contrast,
)

RATES = {"a": 0.2, "b": 0.45, "c": 0.3}


def play(study, turns, seed=1, rates=RATES):
    nature = np.random.default_rng(seed)
    for _ in range(turns):
        ticket = study.ask()
        study.tell(ticket, float(nature.random() < rates[ticket.arm]))


def test_the_report_is_the_agents_and_nothing_is_written_by_looking(opened):
    """Beside another control than the study's, of which no bets are kept, as an agent has none."""
    rule = belman.measures.Separated(0.1)
    study = opened(control="a", stop_when=rule)
    play(study, 60)
    number, digest = study.number, study.check()
    agent = study.agent()
    agent.control, agent.stop_when = "b", rule
    mine, theirs = study.report(0.9, control="b"), agent.report(0.9)
    assert mine.arms == theirs.arms
    assert (mine.sentence, mine.verdict) == (theirs.sentence, theirs.verdict)
    assert study.report(control="b").verdict == agent.report().verdict
    assert study.verdict() == study.report().verdict
    assert (study.number, study.check()) == (number, digest)
    assert opened(arms=None).report(0.9, control="b").arms == theirs.arms
    assert (study.settings.control, study.settings.stop_when) == ("a", rule)


def test_the_settings_of_a_verdict_are_compared_and_checked(opened):
    opened(control="a", stop_when=belman.measures.Sure(0.9))
    opened(arms=None)
    opened(control="a", stop_when=belman.measures.Sure(0.9))
    with pytest.raises(errors.SettingError, match=r"created with control='a', and now 'b'"):
        opened(control="b")
    with pytest.raises(errors.SettingError, match=r"stop_when=Sure\(level=0.9\), and now"):
        opened(stop_when=belman.measures.Sure(0.99))
    with pytest.raises(errors.ArmError, match="control='x' is not one of the arms"):
        opened("other", control="x")
    with pytest.raises(errors.SettingError, match="not a stopping rule"):
        opened("other", stop_when=0.95)
    with pytest.raises(errors.ArmError, match="control='x' is not one of the arms"):
        opened(arms=None).report(control="x")


def test_a_control_may_have_any_name(opened):
    study = opened(arms=["say", 2, ("x", 1)], control="say", floor={2: 0.1, ("x", 1): 0.2})
    again = opened(arms=None)
    assert again.settings == study.settings
    assert again.settings.floor == {2: 0.1, ("x", 1): 0.2}
    assert json.loads(opened("pair", [("x", 1), 2], control=("x", 1)).report().to_json())[
        "control"
    ] == ["x", 1]


def test_traffic_is_counted_by_arm_and_what_was_earned_is_without_past_data(opened):
    study = opened()
    study.record([("a", 1), ("b", 0), ("a", 1)])
    tickets = study.ask(12)
    for i, ticket in enumerate(tickets[:9]):
        study.tell(ticket, i % 2)
    study.correct(tickets[1], None, "fraud")
    report = study.report()
    asked = {arm: sum(ticket.arm == arm for ticket in tickets) for arm in "abc"}
    told = {arm: sum(t.arm == arm for i, t in enumerate(tickets[:9]) if i != 1) for arm in "abc"}
    rows = report.traffic
    assert {arm: rows[arm].asked for arm in "abc"} == asked
    assert {arm: rows[arm].told for arm in "abc"} == told
    assert sum(rows[arm].out for arm in "abc") == 3
    assert sum(rows[arm].share for arm in "abc") == pytest.approx(1.0)
    assert (report.earned.rewards, report.earned.total) == (8, 3.0)
    means = [study.agent().beliefs()["expected reward"][i] for i in range(3)]
    assert report.earned.fixed_split == pytest.approx(8 * np.mean(means))
    study.retire_arm("c")
    result = study.report()
    assert (list(result.retired), len(result.arms)) == (["c"], 2)
    content = json.loads(result.to_json())
    assert content["retired"][0]["arm"] == "c"
    assert content["arms"][0]["colour"] == {"light": PALETTE[0][0], "dark": PALETTE[0][1]}
    assert content["state"] == "running"


def test_a_verdict_on_rewards_that_come_late_says_what_it_rests_on(opened, clock):
    """Without a window outcomes count as they are told: the report, its promise to stop and the
    verdict say so. With one they count in the order of decisions, and nothing is said.
    """
    study = opened(arms=["a", "b"], control="a", goal="decide")
    for ticket in study.ask(600)[:500]:
        study.tell(ticket, float(ticket.arm == "b"))
    report = study.report()
    (late,) = (one for one in report.findings if one.question == "late rewards")
    assert (late.alarm, late.sentence[:46]) == (
        False,
        "100 of 600 tickets are not told yet: a verdict",
    )
    assert "window" in late.look_at
    assert report.sentence.endswith(
        "you may stop, if rewards come as late for one arm as for another."
    )
    assert study.verdict().decided
    assert study.verdict().sentence.endswith(late.sentence)
    silent = opened("silent", arms=["a", "b"], control="a")
    for i, ticket in enumerate(silent.ask(300)):
        if i % 5 == 0:
            silent.tell(ticket, 1)  # and nothing for those who do not buy
    report = silent.report()
    assert report.state == "wrong"
    assert "Only successes were told, 60 of them, and 240 tickets are open" in str(report)
    waits = opened("waits", arms=["a", "b"], control="a", window=60, clock=clock)
    for i, ticket in enumerate(waits.ask(300)):
        if i % 5 == 0:
            waits.tell(ticket, 1)
    alone = opened("alone", arms=["a", "b"])
    for ticket in alone.ask(60)[:30]:
        alone.tell(ticket, 1)
    for other in (waits, alone):
        assert all(one.question != "late rewards" for one in other.report().findings)


def test_tickets_that_are_out_are_said_where_nothing_has_counted(opened):
    study = opened(arms=["a", "b"], control="a")
    assert study.report().sentence.startswith("No reward was told yet")
    ticket = study.ask()
    assert study.report().sentence == "Nothing has counted yet: 1 ticket is out."
    study.ask()
    assert study.report().to_dict()["sentence"] == "Nothing has counted yet: 2 tickets are out."
    study.tell(ticket, 1)
    assert "too early to stop" in study.report().sentence


def test_states_come_in_their_order(opened):
    study = opened(arms=["a", "b"], stop_when=belman.measures.Sure(0.9))
    assert study.report().state == "running"
    study.record([("a", 1)] * 30 + [("b", 0)] * 30)
    assert study.report().state == "decided"
    study.pause()
    assert study.report().state == "paused"
    study.record([("a", 0)] * 400)  # it earned always, and now never
    report = study.report()
    assert report.state == "wrong"
    assert any(result.alarm and "a changed" in result.sentence for result in report.findings)


def test_a_control_that_is_retired_is_said_to_be(opened):
    study = opened(control="a")
    study.retire_arm("a")
    report = study.report()
    assert report.control is None
    assert any("'a' is not played any more" in note for note in report.notes)
    study.add_arm("a")
    assert study.report().control == "a"


def test_soundness_is_that_of_the_log(opened, monkeypatch):
    """Counts that are kept with the state, through snapshots, arms that come and go and
    corrections, are those that a walk over the log finds.
    """
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 50)
    study = opened(uniform_share=0.5)
    play(study, 40)
    study.add_arm("d")
    play(study, 30, 2, {**RATES, "d": 0.5})
    study.retire_arm("b")
    play(study, 30, 3, {**RATES, "d": 0.5})
    again = opened(arms=None)
    state = again._replica.look(State.copied)
    ratio, played, drawn = SampleRatio(study.register), {0, 1, 2}, np.zeros(4)
    rewards = {position: [] for position in range(4)}

    def add_drawn():
        ratio.add(drawn, [1 / len(played) if i in played else 0.0 for i in range(4)])
        drawn[:] = 0.0

    for event in study.events():
        if event.kind in (Kind.ARM_ADDED, Kind.ARM_RETIRED):
            add_drawn()
            played ^= {event.arm}
        elif event.kind == Kind.ASKED and event.draw == 2:
            drawn[event.arm] += 1
        elif event.kind == Kind.TOLD:
            rewards[event.arm].append(event.reward)
    add_drawn()
    result = {one.question: one for one in again.report().findings}
    assert result["sample ratio"].odds == pytest.approx(ratio.finding().odds, rel=1e-9)
    for position in (0, 2, 3):
        arm, drift = study.register[position], Drift(study.register[position], state.decider.family)
        drift.add(rewards[position])
        assert result[f"drift of {arm}"].odds == pytest.approx(drift.finding().odds, rel=1e-9)
    assert "drift of b" not in result
    assert again.check() == study.check()


def test_rewards_that_never_come_are_missing_after_a_day(opened, clock):
    study = opened(arms=["a", "b"], clock=clock, policy=belman.Uniform())
    tickets = study.ask(400)
    for ticket in tickets:
        if ticket.arm == "a":
            study.tell(ticket, 1)
    assert not any(result.question == "told shares" for result in study.report().findings)
    clock.now += 86_400.0
    result = {one.question: one for one in study.report().findings}["told shares"]
    assert result.alarm
    assert "0.0 % of b were told, and 100.0 % of a" in result.sentence


def test_forgotten_tickets_are_missing_and_silence_that_counts_is_not(opened, clock):
    forgets = opened("one", ["a", "b"], clock=clock, window=10, silence="forget")
    counts = opened("two", ["a", "b"], clock=clock, window=10)
    for study in (forgets, counts):
        for ticket in study.ask(300):
            if ticket.arm == "a":
                study.tell(ticket, 1)
    clock.now += 10.0
    result = {one.question: one for one in forgets.report().findings}
    assert result["told shares"].alarm
    assert not any(one.question == "told shares" for one in counts.report().findings)
    assert forgets.report()["a"].plays == 150.0  # windows that closed count, and no event was


def test_every_colour_is_legible_and_an_arm_keeps_its_own(opened):
    for position, (light, dark) in enumerate(PALETTE):
        assert contrast(light, LIGHT_PAGE) >= LEAST_CONTRAST
        assert contrast(dark, DARK_PAGE) >= LEAST_CONTRAST
        assert colour_of(("x", position), position + len(PALETTE)) == (light, dark)
    assert len({light for light, _ in PALETTE}) == len({dark for _, dark in PALETTE}) == 12
    for name in NAMED:
        result = colour_of(name, 3)
        assert contrast(result.light, LIGHT_PAGE) >= LEAST_CONTRAST, name
        assert contrast(result.dark, DARK_PAGE) >= LEAST_CONTRAST, name
    study = opened(arms=["x", "y", "Green"])
    before = study.report().traffic["y"].colour
    study.retire_arm("x")
    assert study.report().traffic["y"].colour == before
    assert study.report().traffic["Green"].colour.light == "#008000"


def test_of_many_arms_the_likeliest_have_intervals_at_any_look(opened):
    study = opened(arms=[f"arm {i}" for i in range(6)], control="arm 5")
    study.record([("arm 2", 1), ("arm 3", 1), ("arm 2", 1)])
    report = study.report(most=2)
    given = {arm.arm for arm in report.arms if arm.anytime is not None}
    assert given == {"arm 2", "arm 3", "arm 5"}
    whole = study.report()
    assert all(arm.anytime is not None for arm in whole.arms)
    assert report.verdict == whole.verdict
    assert report["arm 2"] == whole["arm 2"]
    assert any("2 arms that are most likely" in note for note in report.notes)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, ""),
        ({"floor": 0.2, "control": "a"}, ""),
        ({"guard": {"refund": "< 0.9"}}, ""),
        ({"drift": "auto"}, "means may change"),
        ({"discount": 0.9}, "means may change"),
        ({"last": 50}, "means may change"),
        ({"window": 3600}, "a window still waits"),
        ({"minimise": True}, "rewards are costs"),
        ({"segments": ["country"]}, "depends on the context"),
        ({"context": ["country"]}, "depends on the context"),
    ],
)
def test_what_was_attainable_is_said_where_it_is_true(opened, given, why):
    study = opened(**given)
    context = {"context": {"country": "de"}} if {"segments", "context"} & set(given) else {}
    for i in range(40):
        study.tell(study.ask(**context), i % 2)
    if "window" in given:
        study.record([("a", 1), ("b", 0)])  # of which no more is awaited
    report = study.report()
    said = [note for note in report.notes if "what was attainable" in note.lower()]
    assert len(said) == 1
    content = json.loads(report.to_json())
    if why:
        assert report.attained is None
        assert content["attained"] is None
        assert why in said[0]
        return
    assert said == [report.attained.sentence]
    assert report.attained.low < report.attained.share < report.attained.high
    assert report.attained.share == pytest.approx(report.earned.total / report.attained.best)
    assert content["attained"]["share"] == report.attained.share
    assert said[0] in report.to_html()
    study.add_arm("new")
    study.tell(study.ask(), 1)
    assert study.report().attained is None


def test_of_an_untold_study_nothing_is_attainable(opened):
    report = opened().report()
    assert report.attained is None
    assert not any("attainable" in note for note in report.notes)


@pytest.mark.parametrize(("more", "risk"), [([], "5.0 %"), (["c"], "7.5 %"), (["c", "d"], "9.2 %")])
def test_the_risk_grows_with_arms_that_come_later(opened, more, risk):
    """The n-th arm has a bet of δ / (n − 1) of its own."""
    study = opened(arms=["a", "b"], control="a")
    for arm in more:
        study.add_arm(arm)
    words = study.report().promise
    assert f"Stops are wrong in at most {risk} of studies" in words
    assert (f"over all {1 + len(more)} comparisons" in words) == bool(more)

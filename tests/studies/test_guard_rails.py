"""Floors, a fixed share for control, limits on metrics, and shipping: each a fold of the log."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import belman
from belman import errors
from belman.agent.agent import agent_of
from belman.measures.martingales import BETS
from belman.studies import Draw, Kind, open_study, saving
from belman.studies.consequences import looks
from belman.studies.rules.guards import RISK, Limit, log_odds

RATES = {"a": 0.2, "b": 0.7, "c": 0.3}


def play(study, turns, seed=1, metrics=None):
    nature = np.random.default_rng(seed)
    for _ in range(turns):
        ticket = study.ask()
        told = None if metrics is None else metrics(ticket.arm, nature)
        study.tell(ticket, float(nature.random() < RATES[ticket.arm]), metrics=told)


def last_kinds(study, kinds):
    return [event for event in study.events() if event.kind in kinds]


# Floors


def test_every_arm_gets_its_floor_and_its_chance_is_logged(opened):
    """The chance of an arm given the wish of the policy: its floor, and the rest if it is wished.
    Each count is within five standard deviations of its floor: errs once in a million.
    """
    study = opened(floor={"a": 0.1, "b": 0.05, "c": 0.15})
    study.record([("a", 0), ("c", 0), ("b", 1)] * 50)  # so that b is wished always
    tickets = study.ask(2000)
    counts = {arm: sum(ticket.arm == arm for ticket in tickets) for arm in "abc"}
    for arm, share in {"a": 0.1, "b": 0.75, "c": 0.15}.items():
        assert abs(counts[arm] - 2000 * share) < 5 * np.sqrt(2000 * share * (1 - share))
        assert {round(t.probability, 12) for t in tickets if t.arm == arm} == {round(share, 12)}
    kinds = {event.draw for event in study.events() if event.kind == Kind.ASKED}
    assert kinds == {Draw.FLOOR, Draw.FLOORED}
    result = {one.question: one for one in study.report().findings}
    assert not result["sample ratio"].alarm
    assert sum(study._replica.look(lambda state: state.tally.draws.counts)) < 800
    assert study.report().floors == {"a": 0.1, "b": 0.05, "c": 0.15}
    assert study.check() == opened(arms=None).check()


def test_control_gets_its_share_exactly_and_the_policy_the_others(opened):
    study = opened(control="a", control_share=0.3, floor=0.05)
    study.record([("a", 1), ("b", 0), ("c", 0)] * 50)  # control is the best, and gets no more
    tickets = study.ask(1500)
    of_control = [ticket for ticket in tickets if ticket.arm == "a"]
    assert abs(len(of_control) - 450) < 5 * np.sqrt(1500 * 0.3 * 0.7)
    assert {ticket.probability for ticket in of_control} == {0.3}
    rest = {round(t.probability, 12) for t in tickets if t.arm != "a"}
    assert rest == {0.35}  # the others are alike, and share what is left
    study.retire_arm("b")
    study.retire_arm("c")
    assert study.ask().probability == 1.0  # nobody is left to share with
    assert study.check() == opened(arms=None).check()


def test_a_fixed_split_is_floors_that_are_all_traffic(opened):
    study = opened(floor={"a": 0.5, "b": 0.25, "c": 0.25})
    tickets = study.ask(800)
    assert {t.arm: t.probability for t in tickets} == {"a": 0.5, "b": 0.25, "c": 0.25}
    counts = [sum(t.arm == arm for t in tickets) for arm in "abc"]
    assert stats.chisquare(counts, [400, 200, 200]).pvalue > 1e-6
    assert study.outstanding == 800


def test_two_processes_draw_as_one(opened):
    """Asks of two replicas in turn are those of one that asks alone."""
    alone = opened("alone", floor=0.1)
    first, second = opened("both", floor=0.1), opened("both", None)
    for i in range(30):
        mine, theirs = alone.ask(), (first if i % 2 else second).ask()
        assert (mine.arm, mine.probability) == (theirs.arm, theirs.probability)
        alone.tell(mine, i % 3 == 0)
        (second if i % 2 else first).tell(theirs, i % 3 == 0)
    assert first.check() == second.check()


def test_floors_that_cannot_be_are_refused(opened):
    for wrong, words in [
        ({"floor": 0.4}, "add up to 1.2"),
        ({"floor": 0.0}, "not a share of traffic"),
        ({"floor": True}, "not a share of traffic"),
        ({"floor": {"a": 1.5}}, "not a share of traffic"),
        ({"control_share": 0.2}, "give control"),
        ({"control": "a", "control_share": 0.9, "floor": 0.1}, "add up to 1.1"),
        ({"floor": 0.1, "uniform_share": 0.1}, "leave out uniform_share"),
    ]:
        with pytest.raises(errors.SettingError, match=words):
            opened("wrong", **wrong)
    with pytest.raises(errors.ArmError, match="floor names an unknown arm 'x'"):
        opened("wrong", floor={"x": 0.1})
    study = opened(floor=0.3)
    with pytest.raises(errors.SettingError, match=r"4 arms add up to 1\.2"):
        study.add_arm("d")
    assert study.arms == ("a", "b", "c")
    with pytest.raises(errors.SettingError, match=r"created with floor=0\.3"):
        opened(floor=0.2)


# Limits on metrics


def test_the_test_of_a_limit_is_a_gamblers_capital():
    """A slow twin: Π(1 + c(x/μ − 1)), averaged over all stakes c, with 1 − x above a limit."""
    values = np.random.default_rng(1).random(200)
    for text, seen in (("< 0.3", values), ("> 0.7 up to 1", 1.0 - values)):
        limit = Limit.parse(text)
        mean = limit.limit if text[0] == "<" else 1.0 - limit.limit
        own = np.prod(1.0 + BETS[:, None] * (seen / mean - 1.0), axis=1).mean()
        capitals = np.sum([limit.gains(float(value)) for value in values], axis=0)
        assert log_odds(list(capitals)) == pytest.approx(np.log(own))
        assert Limit.parse(limit.text) == limit
    for wrong in ("0.05", "< x", "< -1", "> 2", "", None, "< 0.1 up to 1", "< inf"):
        with pytest.raises(errors.SettingError):
            Limit.parse(wrong)


def test_an_arm_within_its_limit_is_paused_at_most_once_in_a_hundred():
    """At the limit itself, looked at after each of 300 tickets: of 3,000 arms at most 1 % plus five
    standard errors; the test errs less than once in a million.
    """
    nature, limit = np.random.default_rng(5), Limit.parse("< 0.05")
    bad, good = np.array(limit.gains(1.0)), np.array(limit.gains(0.0))
    refunds = nature.random((3000, 300)) < 0.05
    capitals, crossed = np.zeros((3000, len(bad))), np.zeros(3000, dtype=bool)
    for turn in range(300):
        capitals += np.where(refunds[:, turn, None], bad, good)
        top = capitals.max(axis=1)
        odds = top + np.log(np.exp(capitals - top[:, None]).mean(axis=1))
        crossed |= odds >= -np.log(RISK)
    assert crossed.mean() <= RISK + 5 * np.sqrt(RISK * (1 - RISK) / 3000)


def test_a_limit_that_is_crossed_takes_an_arm_out_of_play(opened, monkeypatch):
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 20)
    study = opened(guard={"refund": "< 0.05"}, policy=belman.Uniform())
    play(study, 90, metrics=lambda arm, _: {"refund": float(arm == "b")})
    (event,) = last_kinds(study, [Kind.ARM_RETIRED])
    assert study.register[event.arm] == "b"
    assert json.loads(event.body)["reason"] == "guard: refund of b is not < 0.05"
    assert study.retired == ("b",)
    rows = {row["arm"]: row for row in study.report().guards}
    assert (rows["b"]["crossed"], rows["a"]["crossed"]) == (True, False)
    assert rows["b"]["mean"] == 1.0
    again = opened(arms=None)
    assert again.check() == study.check()
    text = study._replica.look(saving.to_text)
    assert saving.to_text(saving.from_text(text)) == text
    study.add_arm("b")  # comes back, and is watched anew
    assert not any(row["crossed"] for row in study.report().guards)
    ticket = next(t for t in iter(study.ask, None) if t.arm == "b")
    study.tell(ticket, 1, metrics={"refund": 1})
    assert "b" in study.arms
    while not study.paused:  # the last arm is not taken out: the study pauses
        study.tell(study.ask(), 1, metrics={"refund": 1.0})
    assert len(study.arms) == 1
    study.resume()
    study.tell(study.ask(), 1, metrics={"refund": 1.0})
    assert not study.paused
    crossed = {row["arm"] for row in study.report().guards if row["crossed"]}
    assert crossed == set(study.retired)
    assert study.check() == opened(arms=None).check()


def test_a_limit_is_crossed_when_windows_close_and_by_corrections(opened, clock):
    study = opened(arms=["a", "b"], guard={"refund": "< 0.05"}, window=60, clock=clock)
    for ticket in study.ask(40):
        study.tell(ticket, 1, metrics={"refund": float(ticket.arm == "b")})
    assert study.retired == ()
    clock.now += 60.0
    ticket = study.ask()
    assert study.retired == ("b",)
    assert ticket.arm == "a"
    other = opened("other", arms=["a", "b"], guard={"refund": "< 0.05"})
    tickets = [ticket for ticket in other.ask(40) if other.tell(ticket, 1, metrics={"refund": 0})]
    for ticket in [ticket for ticket in tickets if ticket.arm == "b"]:
        other.correct(ticket, 1, "refunded", metrics={"refund": 1})
    assert other.retired == ("b",)
    for one in (study, other):
        assert one.check() == opened(one.name, None, clock=clock).check()


def test_limits_change_while_a_study_runs(opened, clock):
    """A new limit is held against later tickets, whatever is corrected; others go on."""
    study = opened(
        guard={"refund": "< 0.05", "stars": "> 3 up to 5"}, window=60, clock=clock,
        policy=belman.Uniform(),
    )  # fmt: skip
    early = study.ask(60)
    for ticket in early:
        study.tell(ticket, 1, metrics={"refund": 0.0, "latency": 9.0, "stars": 5.0})
    clock.now += 60.0
    study.set_guard({"latency": "< 2", "stars": "> 3 up to 5"}, "slow pages", key="one")
    study.set_guard({"latency": "< 2", "stars": "> 3 up to 5"}, "slow pages", key="one")
    (event,) = last_kinds(study, [Kind.GUARD_CHANGED])
    assert json.loads(event.body)["guard"] == {"latency": "< 2.0", "stars": "> 3.0 up to 5.0"}
    rows = study.report().guards
    assert {row["metric"] for row in rows} == {"latency", "stars"}
    assert all(row["log_odds"] == 0.0 for row in rows if row["metric"] == "latency")
    assert any(row["log_odds"] != 0.0 for row in rows if row["metric"] == "stars")
    for ticket in early[:20]:  # which the new limit does not know
        study.correct(ticket, 1, "measured wrongly", metrics={"latency": 0.1})
    rows = study.report().guards
    assert all(row["log_odds"] == 0.0 for row in rows if row["metric"] == "latency")
    for ticket in study.ask(90):
        study.tell(ticket, 1, metrics={"refund": 1.0, "latency": 8.0 * (ticket.arm == "b")})
    clock.now += 60.0
    study.ask()
    assert study.retired == ("b",)
    with pytest.raises(errors.StudyError, match="these limits already"):
        study.set_guard({"latency": "< 2", "stars": "> 3 up to 5"})
    with pytest.raises(errors.SettingError, match="is not a limit"):
        study.set_guard({"latency": "2"})
    study.set_guard(None)
    assert study.report().guards == ()
    assert study.retired == ("b",)
    text = study._replica.look(saving.to_text)
    assert saving.to_text(saving.from_text(text)) == text
    assert study.check() == opened(arms=None, clock=clock).check()


def test_metrics_that_a_limit_does_not_bound_are_refused(opened):
    study = opened(guard={"refund": "< 0.05", "rating": "> 3 up to 5"})
    ticket = study.ask()
    with pytest.raises(errors.RewardError, match="holds for values from 0 up"):
        study.tell(ticket, 1, metrics={"refund": -1})
    with pytest.raises(errors.RewardError, match="holds for values up to 5"):
        study.tell(ticket, 1, metrics={"rating": 6})
    assert study.tell(ticket, 1, metrics={"refund": 0, "rating": 5})
    adds = opened("adds", guard={"share": "> 0.5"}, window=60, accumulate=True, family="poisson")
    ticket = adds.ask()
    assert adds.tell(ticket, 1, metrics={"share": 0.7})
    with pytest.raises(errors.RewardError, match=r"cannot be 1\.4: its guard"):
        adds.tell(ticket, 1, metrics={"share": 0.7})
    for limit in (Limit.parse("< 1e-300"), Limit.parse("> 0.5")):
        for value in (-1e100, 0.0, 1e100):  # a fold never fails
            assert np.isfinite(limit.gains(value)).all()
    for wrong in ({}, {"refund": "0.05"}, {"re fund": "< 1"}, 7):
        with pytest.raises(errors.SettingError):
            opened("wrong", guard=wrong)
    with pytest.raises(errors.SettingError, match="created with guard="):
        opened(guard={"refund": "< 0.1"})


# Shipping


def test_ship_is_one_event_and_unship_undoes_it(opened):
    study = opened(floor=0.1)
    study.record([("a", 0), ("b", 1), ("c", 0)] * 20)
    study.ship(reason="enough", key="k")
    study.ship(reason="enough", key="k")  # is safe to send again
    assert study.shipped == "b"
    assert len(last_kinds(study, [Kind.SHIPPED])) == 1
    tickets = study.ask(50)
    assert {(ticket.arm, ticket.probability) for ticket in tickets} == {("b", 1.0)}
    assert study.report().state == "decided"
    assert study.report().shipped == "b"
    with pytest.raises(errors.StudyError, match="has shipped 'b' already"):
        study.ship("a")
    assert study.tell(tickets[0], 1)
    assert opened(arms=None).check() == study.check()
    study.unship("a mistake")
    assert {ticket.arm for ticket in study.ask(200)} == {"a", "b", "c"}
    with pytest.raises(errors.StudyError, match="has shipped no arm"):
        study.unship()
    with pytest.raises(errors.ArmError, match="unknown arm 'x'"):
        study.ship("x")
    study.ship("c")
    study.retire_arm("c")  # which is not played any more
    assert study.shipped is None
    assert opened(arms=None).check() == study.check()


def test_a_study_ships_by_itself_when_its_rule_has_decided(opened, monkeypatch):
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 20)
    rule = belman.measures.Sure(0.95)
    study, other = opened(stop_when=rule, then="ship"), opened(arms=None)
    says = opened("says", stop_when=rule)
    for i, (mine, theirs) in enumerate([(study, other), (other, study)] * 60):
        ticket = mine.ask()
        theirs.tell(ticket, float(ticket.arm == "b" and i % 4 > 0))
        if study.shipped is not None:
            break
    (event,) = last_kinds(study, [Kind.SHIPPED])
    assert study.register[event.arm] == "b"
    assert json.loads(event.body)["by"] == "rule"
    assert study.verdict().decided
    before = agent_of(study._replica.folded(until=event.number - 2).decider)
    before.stop_when = rule
    assert not before.verdict().decided  # and it shipped as soon as it could
    play(says, 60)
    assert says.shipped is None
    study.unship()
    for ticket in study.ask(40):
        study.tell(ticket, float(ticket.arm == "b"))
    assert study.shipped is None  # whoever undoes it has decided
    assert study.check() == other.check() == opened(arms=None).check()


def test_looks_are_at_every_reward_at_first_and_then_at_every_fiftieth_part():
    result = [told for told in range(1, 5000) if looks(told) != looks(told - 1)]
    assert result[:50] == list(range(1, 51))
    steps = np.diff(result[50:])
    assert (steps <= np.ceil(0.02 * np.array(result[50:-1])) + 1).all()
    assert len(result) < 300


def test_what_follows_a_rule_is_checked(opened):
    with pytest.raises(errors.SettingError, match="follows a stopping rule"):
        opened("wrong", then="ship")
    with pytest.raises(errors.SettingError, match="neither 'say' nor 'ship'"):
        opened("wrong", stop_when=belman.measures.Sure(), then="shout")
    opened(stop_when=belman.measures.Sure(), then="ship")
    opened(then="ship")
    with pytest.raises(errors.SettingError, match="created with then='ship'"):
        opened(then="say")


def test_a_guard_on_a_metric_that_is_never_told_is_said(tmp_path):
    study = open_study(
        "study", ["a", "b"], guard={"refund": "< 0.05"}, storage=f"sqlite:///{tmp_path}/studies.db"
    )
    assert not any("never told" in note for note in study.report().notes)
    study.tell(study.ask(), 1.0, metrics={"refunds": 0.0})
    assert any("'refund' was never told" in note for note in study.report().notes)
    assert "'refund' was never told" in study.report().to_json()
    study.tell(study.ask(), 1.0, metrics={"refund": 0.0})
    assert not any("never told" in note for note in study.report().notes)
    study.storage.close()


def test_where_the_policy_needs_the_arm_the_study_is_paused(opened, clock):
    study = opened(clock=clock, policy=belman.policies.LUCB(m=2), guard={"refund": "< 0.3"})
    for _ in range(60):
        if study.report().paused:
            break
        study.tell(study.ask(), 1.0, metrics={"refund": 1.0})
    assert study.report().paused
    assert study.arms == ("a", "b", "c")
    assert "guard: refund of" in str(study.history().columns["reason"][-1])
    with pytest.raises(errors.PolicyError, match="asked for the 2 best of 2 arms"):
        study.retire_arm("a")
    assert opened(arms=None, clock=clock).check() == study.check()

"""Bets on the arm of every outcome: part of the tally, whichever way an outcome comes."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman import codec
from belman.errors import SettingError
from belman.measures.bets import ArmBets
from belman.studies.requests import observed_rows
from belman.studies.settings import StudySettings
from tests.studies.machine import quickly
from tests.studies.test_observing import rows_of
from tests.studies.worlds import evidence

ARRAYS = ("moments", "guesses", "wins", "capitals", "sums")


def same(one, other, apart=()) -> None:
    """Equal but for rounding."""
    mine, wanted = (codec.read(ArmBets, written, {}) for written in (one, other))
    for name in {*ARRAYS}.difference(apart):
        result = getattr(mine, name), getattr(wanted, name)
        np.testing.assert_allclose(*result, rtol=1e-9, atol=1e-12)


def played(study, turns=20, seed=1):
    """Tickets that were told, with their rewards."""
    rng, result = np.random.default_rng(seed), []
    with quickly():
        for _ in range(turns):
            ticket = study.ask()
            result.append((ticket, float(rng.random() < 0.4)))
            study.tell(*result[-1])
    return result


def test_an_outcome_counts_with_the_chances_of_its_decision(opened):
    study = opened(control="a")
    told = played(study, 40)
    expected = ArmBets(3, control=0)
    numbers = [int(ticket.id.partition("-")[0]) for ticket, _ in told]
    for number, (ticket, reward) in zip(numbers, told, strict=True):
        chances = study._replica.look(lambda state, at=number: state.tally.draws.at(at))
        assert chances["abc".index(ticket.arm)] == ticket.probability
        expected.add("abc".index(ticket.arm), chances, reward, number=number)
    assert evidence(study) == codec.write(expected)
    assert evidence(opened(arms=None)) == evidence(study)
    study.check()


@pytest.mark.parametrize("settings", [{}, {"window": 60.0}, {"segments": ["country"]}])
def test_a_correction_replaces_what_an_outcome_said(opened, clock, settings):
    """As if the reward had been told so: the first few, by which no guess was made yet."""
    result = []
    asked = {"context": {"country": "fr"}} if "segments" in settings else {}
    for name, first in (("one", 1.0), ("other", 0.0)):
        study = opened(name, control="a", goal="decide", clock=clock, **settings)
        with quickly():
            tickets = [study.ask(**asked) for _ in range(6)]
            for i, ticket in enumerate(tickets):
                study.tell(ticket, first if i == 2 else float(i % 2))
            clock.now += 100.0
            if first:
                study.correct(tickets[2], 0.0, "refund")
            study.pause()  # an event, so that windows close
        result.append(evidence(study))
        assert evidence(opened(name, None, clock=clock)) == result[-1]
    same(*result)


@pytest.mark.parametrize("window", [None, 60.0])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "scaled"])
def test_rows_count_with_the_weights_of_their_version(
    opened, clock, same_assignments, monkeypatch, family, window
):
    """One by one, or as the bets after all where they are many; and a corrected one otherwise."""
    settings, rewards = {
        "bernoulli": ({}, [0.0, 1.0]),
        "poisson": ({"family": "poisson"}, [0.0, 2.0, 7.0]),
        "scaled": (
            {"range": (10.0, 30.0), "silence": 10.0 if window else None},
            [10.0, 17.0, 30.0],
        ),
    }[family]
    kind = {"bernoulli": "rate", "poisson": "amount", "scaled": "range"}[family]
    for most in (64, 1):
        monkeypatch.setattr(observed_rows, "MOST_VALUES", most)
        study = opened(f"{family} {most}", control="a", clock=clock, window=window, **settings)
        weights = study.publish(100)
        rows = rows_of(study, 60, rewards)
        timed = [(*row, clock.now) for row in rows]
        study.observe(timed)
        clock.now += 100.0
        study.pause()
        low, high = settings.get("range", (0.0, 1.0))
        expected = ArmBets(3, 0, kind, low, high)
        for _, version, arm, reward in rows:
            position = weights.arms.index(arm)
            expected.add(position, weights.weights, reward, number=version)
        same(evidence(study), codec.write(expected), ["guesses"])
        assert evidence(opened(study.name, None, clock=clock)) == evidence(study)
        unit, version, arm, was = rows[0]
        new = rewards[0] if was != rewards[0] else rewards[1]
        study.correct_rows([(unit, version, arm, was, new)], "refund")
        position = weights.arms.index(arm)
        expected.add(position, weights.weights, was, -1.0, number=version)
        expected.add(position, weights.weights, new, number=version)
        same(evidence(study), codec.write(expected), ["guesses"])


def test_sums_of_coins_say_as_much_as_their_rows(opened, same_assignments):
    result = []
    for name in ("rows", "sums"):
        study = opened(name, control="a")
        study.publish(100)
        rows = rows_of(study, 60, [0.0, 1.0])
        given = rows
        if name == "sums":
            given = []
            for arm in "abc":
                own = [row[3] for row in rows if row[2] == arm]
                sums = {"n": len(own), "sum": sum(own), "squares": sum(own)}
                given.append({"version": rows[0][1], "arm": arm, **sums})
        study.observe(given, key="batch")
        result.append(evidence(study))
    same(*result)


def test_what_nobody_drew_says_nothing(opened):
    study = opened(control="a")
    study.record([("a", 1), ("b", 0)])
    study.observe([("u", None, "b", 1.0)])
    study.ship("b")
    study.tell(study.ask(), 1)
    assert evidence(study)["outcomes"] == 0.0
    study.unship()
    study.tell(study.ask(), 1)
    assert evidence(study)["outcomes"] == 1.0


def test_a_share_of_a_side_makes_a_rate_a_mean_in_a_range(opened):
    study = opened(control="a")
    for reward in (1, 0, 0.5, 1):
        study.tell(study.ask(), reward)
    result = evidence(study)
    assert result["kind"] == "range"
    assert evidence(opened(arms=None)) == result


def test_the_rule_beside_a_control_is_the_one_with_a_guarantee():
    assert StudySettings(["a", "b"], control="a").stop_when == belman.measures.Separated(0.05)
    assert StudySettings(["a", "b"]).stop_when is None
    small = StudySettings(["a", "b"], control="a", negligible=0.01)
    assert small.stop_when == belman.measures.Separated(0.05, within=0.01)
    assert StudySettings.from_json(small.to_json()) == small
    chosen = StudySettings(["a", "b"], control="a", stop_when=belman.measures.Sure(0.9))
    assert chosen.stop_when == belman.measures.Sure(0.9)
    for wrong in ({}, {"control": "a", "stop_when": belman.measures.Sure(0.9)}):
        with pytest.raises(SettingError, match=r"negligible=0\.01 cannot be kept"):
            StudySettings(["a", "b"], negligible=0.01, **wrong)


def test_a_study_ships_by_the_rule_with_a_guarantee_and_says_its_risk(opened):
    """Rates 0.2 and 0.8: decided within 300 rewards but once in 10^9, wrongly once in 20 at most;
    the seeds are fixed.
    """
    study = opened(arms=["a", "b"], control="a", then="ship")
    rng = np.random.default_rng(1)
    with quickly():
        while study.status().get("shipped") is None and study.status()["told"] < 300:
            ticket = study.ask()
            study.tell(ticket, float(rng.random() < {"a": 0.2, "b": 0.8}[ticket.arm]))
    result = study.report()
    assert result.shipped == "b"
    assert "up to a risk of 0.05" in result.verdict.sentence
    assert result.bets_on == "rate"


def test_an_arm_that_the_policy_has_left_leaves_the_guarantee_of_the_others(opened):
    """Of c nothing comes, so that it soon has no chance: b is set apart from a all the same, within
    600 rewards but once in 10^9; the seeds are fixed.
    """
    study = opened(control="a", then="ship")
    rng, rates = np.random.default_rng(1), {"a": 0.3, "b": 0.8, "c": 0.0}
    with quickly():
        while study.status().get("shipped") is None and study.status()["told"] < 600:
            for ticket in study.ask(5):
                study.tell(ticket, float(rng.random() < rates[ticket.arm]))
    result = study.report()
    assert study._replica.look(lambda state: state.tally.draws.stages[-2].chances[2]) == 0.0
    assert (result.shipped, result.bets_on) == ("b", "rate")


def test_a_study_stops_where_no_difference_matters(opened):
    """Both arms always bring 0.5: bets soon leave no lift beyond 40 % either way."""
    study = opened(arms=["a", "b"], control="a", family="bounded", negligible=0.4, then="ship")
    with quickly():
        while study.status().get("shipped") is None and study.status()["told"] < 400:
            study.tell(study.ask(), 0.5)
    assert study.status()["shipped"] == "a"
    assert "no arm differs from a by more than 40 %" in study.verdict().sentence

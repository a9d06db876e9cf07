"""Reports: sentences for every standing, tables, data and pages, stopping rules, segments."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

import belman
from belman import spec
from belman.errors import ArmError, SettingError
from belman.families import Bernoulli, Exponential, Gaussian
from belman.families.mirror import Mirror
from belman.families.tally import learnt
from belman.measures import Known, LossBelow, Separated, StopRule, Sure, Units, report
from belman.measures.segments import partial_pooling, segments
from belman.measures.sentences import percent, plain
from belman.measures.soundness import Finding


def coins(**counts):
    """What is known after so many conversions of so many impressions."""
    wins, plays = (np.array(column, float) for column in zip(*counts.values(), strict=True))
    beliefs = np.stack([1.0 + wins, 1.0 + plays - wins], axis=1)
    return Known(Bernoulli(), list(counts), np.ones_like(beliefs), beliefs, plays, wins, wins)


def told(family, rewards, units=Units()):  # noqa: B008
    values = [np.asarray(row, float) for row in rewards.values()]
    prior = np.array(family.prior)
    return Known(
        family,
        list(rewards),
        np.tile(prior, (len(values), 1)),
        np.array([learnt(family, prior, row) for row in values]),
        np.array([float(row.size) for row in values]),
        np.array([row.sum() for row in values]),
        np.array([(row**2).sum() for row in values]),
        units,
    )


@pytest.mark.parametrize(
    ("known", "control", "sentence"),
    [
        (
            coins(blue=(300, 10_000), green=(381, 10_000)),
            "blue",
            "green converts 27 % better than blue, between 9 % and 47 % better; the chance that "
            "anything else is better is below 0.1 %; given the prior, you may stop.",
        ),
        (
            coins(blue=(30, 1_000), green=(32, 1_000)),
            "blue",
            "green converts 7 % better than blue, between 34 % worse and 74 % better; the chance "
            "that anything else is better is 40 %; it is too early to stop.",
        ),
        (
            coins(blue=(400, 10_000), green=(300, 10_000)),
            "blue",
            "blue, the control, is ahead: green converts 25 % worse than blue, between 13 % and "
            "35 % worse; the chance that anything else is better is below 0.1 %; given the prior, "
            "you may stop.",
        ),
        (
            coins(blue=(40, 100), green=(20, 100)),
            None,
            "blue converts best so far; the chance that anything else is better is 0.1 %; "
            "choosing it now is expected to lose 1.83e-05 a turn; given the prior, you may stop.",
        ),
        (coins(blue=(0, 0), green=(0, 0)), "blue", "No reward was told yet: all that is known are "
         "the priors."),
        (coins(blue=(3, 9)), None, "blue is the only arm: there is nothing to decide."),
    ],
)  # fmt: skip
def test_sentences(known, control, sentence):
    assert report(known, control).sentence == sentence


def test_costs_and_differences_have_their_words():
    family = Mirror(Exponential())
    rows = {"blue": [-2.0] * 300, "green": [-1.5] * 300}
    costs = report(told(family, rows, Units(0.0, -1.0)), "blue")
    assert costs.sentence.startswith("green costs 25 % less than blue, between ")
    assert costs["green"].lift.relative.high < 0.0 < costs["green"].lift.beats
    assert costs["green"].expected == pytest.approx(1.5, rel=0.01)
    assert costs["green"].anytime_relative[0] < -0.25 < costs["green"].anytime_relative[1]
    gaps = report(told(Gaussian(), {"blue": [0.0, 0.1] * 30, "green": [1.0, 1.1] * 30}), "blue")
    assert gaps.sentence.startswith("green earns 0.9998 more than blue")
    assert "%" not in gaps.sentence.split(";")[0]
    assert gaps["green"].lift.relative is None
    assert gaps["green"].anytime_relative is None


def test_shares_are_no_conversions():
    known = told(Bernoulli(), {"blue": [0.5] * 50, "green": [0.25, 0.75] * 25})
    assert not known.conversions
    assert "earns" in report(known, "blue").sentence
    assert coins(blue=(3, 9)).conversions


def test_an_alarm_comes_before_the_leave_to_stop():
    known = coins(blue=(300, 10_000), green=(381, 10_000))
    alarm = Finding("sample ratio", True, 1_000.0, "Traffic shares are not as intended.")
    assert report(known, "blue").sentence.endswith("; given the prior, you may stop.")
    unsound = report(known, "blue", findings=[alarm]).sentence
    assert unsound.endswith("; but the data are not sound: look at them before you stop.")


def test_infinite_means_are_told_as_such():
    known = told(Exponential(), {"blue": [2.0], "green": []})
    result = report(known, "blue")
    data = json.loads(result.to_json())
    assert data["arms"][1]["expected"] == "inf"
    assert math.isfinite(result["green"].lift.absolute.middle)
    assert str(result)


def test_data_and_page_hold_everything_and_need_nothing():
    result = report(coins(**{"<b>": (300, 10_000), "green": (381, 10_000)}), "<b>")
    data = json.loads(result.to_json())
    assert data["sentence"] == result.sentence
    assert data["decided"] is True
    assert data["arms"][1]["lift"]["relative"]["credible"][0] == pytest.approx(0.095, abs=0.001)
    assert spec.build(data["rule"]) == result.rule
    page = result.to_html("A <page>")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "A &lt;page&gt;" in page
    assert not re.search(r"https?://|<script|<link|src=", page)
    assert len(result.table()) == 2


def test_faded_rewards_have_no_sequences():
    known = coins(blue=(30, 100), green=(60, 100))
    faded = Known(**{**vars(known), "faded": "it forgets"})
    result = report(faded, "blue", stop_when=Separated(0.05))
    assert result["blue"].anytime is None
    assert "it forgets" in result.notes[-1]
    assert not result.verdict.decided
    assert "it forgets" in result.verdict.sentence
    assert report(known, "blue", stop_when=Separated(0.05)).verdict.decided


def test_rules_read_what_they_say():
    result = report(coins(blue=(400, 1_000), green=(300, 1_000), red=(250, 1_000)))
    best = result.leader
    assert best.arm == "blue"
    for rule, decided in (
        (Sure(best.chance_best - 1e-9), True),
        (Sure(best.chance_best + 1e-9), False),
        (LossBelow(best.expected_loss * 1.001), True),
        (LossBelow(best.expected_loss * 0.999), False),
        (Separated(2.001 * math.exp(-result.log_separation)), True),
        (Separated(1.999 * math.exp(-result.log_separation)), False),
    ):
        verdict = rule.decided(result)
        assert (verdict.decided, verdict.arm) == (decided, "blue"), rule
        assert spec.build(spec.describe(rule), StopRule) == rule


@pytest.mark.parametrize("make", [lambda: Sure(1.0), lambda: LossBelow(0), lambda: Separated("a")])
def test_rules_that_cannot_be(make):
    with pytest.raises(SettingError, match="is not valid"):
        make()


def test_an_unknown_control_is_refused():
    with pytest.raises(ArmError, match="did you mean 'blue'"):
        report(coins(blue=(3, 9)), "blu")
    with pytest.raises(ArmError, match="unknown arm"):
        report(coins(blue=(3, 9)))["red"]


def test_numbers_as_people_write_them():
    assert percent(-math.inf) == plain(-math.inf) == "−∞"
    assert percent(0.0) == "+0.0 %"


def test_pooling_is_the_posterior_of_its_own_spread():
    """With the spread that was found, every estimate is the usual precision-weighted average."""
    estimates, errors = np.array([0.1, 0.5, -0.3, 0.2]), np.array([0.1, 0.2, 0.15, 0.05])
    result = partial_pooling(estimates, errors)
    assert result.spread > 0.0
    weights = np.stack([errors**-2, np.full(4, result.spread**-2)])
    wanted = (weights * np.stack([estimates, np.full(4, result.common)])).sum(0) / weights.sum(0)
    assert result.estimates == pytest.approx(wanted)
    assert (np.abs(result.estimates - result.common) < np.abs(estimates - result.common)).all()


def test_segments_of_costs_are_flagged_where_costs_are_larger():
    rows = {name: learnt(Gaussian(), Gaussian().prior, [mean] * 200)
            for name, mean in (("low", 1.0), ("middle", 1.5), ("high", 2.5))}  # fmt: skip
    beliefs = {"phone": (rows["low"], rows["middle"]), "tablet": (rows["high"], rows["middle"])}
    plays = {"phone": 400.0, "tablet": 400.0}
    result = segments("device", Mirror(Gaussian()), beliefs, plays, "a", "b", Units(0.0, -1.0))
    assert result.flagged == ["tablet"]
    assert result.table().row("tablet")["flag"] == "!"
    calm = segments("device", Gaussian(), {"phone": beliefs["phone"]}, plays, "b", "a")
    assert calm.flagged == ["phone"]
    assert "tablet" not in calm.sentence


def test_stop_rules_are_public():
    assert (belman.measures.Sure, belman.measures.LossBelow, belman.measures.Separated) == (
        Sure,
        LossBelow,
        Separated,
    )

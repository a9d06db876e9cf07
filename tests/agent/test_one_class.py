"""`Agent(…)`, whatever is behind it: settings that are None, policies that keep more than beliefs,
and features that are a number and a word.
"""

from __future__ import annotations

from collections import Counter

import pytest

import belman
from belman import errors, policies

LEARNING = {
    "exp3p": policies.EXP3P(horizon=300),
    "tsallis-inf": policies.TsallisINF(),
    "lb-sda": policies.LBSDA(),
    "besa": policies.BESA(),
}


@pytest.mark.parametrize("setting", ["features", "context", "segments", "space"])
def test_none_is_not_given(setting):
    plain, agent = (
        belman.Agent(["a", "b"], seed=7),
        belman.Agent(["a", "b"], seed=7, **{setting: None}),
    )
    assert type(agent) is type(plain)
    assert [agent.ask() for _ in range(3)] == [plain.ask() for _ in range(3)]


@pytest.mark.parametrize("name", LEARNING)
def test_a_policy_that_keeps_more_than_beliefs_is_refused_by_segments_or_plays(name):
    context = {"country": "fr"}
    try:
        agent = belman.Agent(["a", "b"], segments=["country"], policy=LEARNING[name], seed=1)
    except errors.PolicyError:
        return
    plays: Counter[str] = Counter()
    for turn in range(300):
        arm = agent.ask(context=context)
        plays[arm] += turn >= 200
        agent.tell(arm, float(arm == "a"), context=context)
    assert plays["a"] > 80, plays


def test_features_of_arms_are_all_numbers_or_all_words():
    with pytest.raises(errors.SettingError, match="price"):
        belman.Agent(["a", "b"], features={"a": {"price": 1.0}, "b": {"price": "cheap"}}, seed=1)


def test_features_of_candidates_are_all_numbers_or_all_words():
    agent = belman.Agent(features=["price"], model="linear", seed=1)
    with pytest.raises(errors.SettingError, match="price"):
        agent.ask(candidates=[{"price": 1.0}, {"price": "cheap"}])
    agent.ask(candidates=[{"price": 1.0}, {"price": 2.0}])
    again = type(agent).from_json(agent.to_json())
    shelf = [{"price": 1.5}, {"price": 2.5}]
    assert again.ask(candidates=shelf) == agent.ask(candidates=shelf)

"""One door: settings say which agent it is."""

from __future__ import annotations

import pytest

import belman
from belman.errors import SettingError, StateError


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, belman.Agent),
        ({"context": ["country"]}, belman.ContextualAgent),
        ({"features": {"blue": {"price": 1}, "red": {"price": 2}}}, belman.ContextualAgent),
        ({"segments": ("country", "device")}, belman.SegmentedAgent),
    ],
)
def test_settings_say_which_agent_it_is(options, kind):
    agent = belman.Agent(["blue", "red"], seed=7, **options)
    assert type(agent) is kind
    context = {"country": "FR", "device": "phone"}
    told = {name: context[name] for name in options.get("context", options.get("segments", ()))}
    assert (agent.ask(told) if told else agent.ask()) in ("blue", "red")


def test_a_family_of_segments_is_told_as_ever():
    agent = belman.Agent(["blue", "red"], "gaussian", segments=("country",), seed=7)
    agent.tell(agent.ask({"country": "FR"}), -2.5, {"country": "FR"})
    assert "1 reward told" in repr(agent)


def test_a_space_has_points_and_no_arms():
    agent = belman.Agent(space=belman.Box(price=(5, 20)), seed=7)
    assert 5.0 <= agent.ask()["price"] <= 20.0
    with pytest.raises(SettingError, match="not a box"):
        belman.Agent(space={"price": (5, 20)})


@pytest.mark.parametrize(
    "agent",
    [
        belman.Agent(["blue", "red"], context=["country"], seed=7),
        belman.Agent(["blue", "red"], segments=("country",), seed=7),
        belman.Agent(space=belman.Box(price=(5, 20)), seed=7),
    ],
    ids=lambda agent: type(agent).__name__,
)
def test_the_door_loads_what_it_made(agent, tmp_path):
    agent.save(tmp_path / "agent.json")
    again = belman.Agent.load(tmp_path / "agent.json")
    assert type(again) is type(agent)
    assert again.to_json() == agent.to_json()


def test_a_file_of_another_agent_is_refused_by_name(tmp_path):
    path, other = tmp_path / "segments.json", "it has 'belman segmented agent'"
    belman.Agent(["blue"], segments=("country",), seed=7).save(path)
    with pytest.raises(StateError, match=other):
        belman.ContextualAgent.load(path)
    with pytest.raises(StateError, match=other):
        belman.Agent.load(path, arms=["green"])
    with pytest.raises(StateError, match=other):
        belman.Agent(["blue"], start=path)

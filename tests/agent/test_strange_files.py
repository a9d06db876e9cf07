"""State files of strangers, for agents with contexts, of segments and of a box."""

from __future__ import annotations

import json
from typing import Any

import pytest

from belman import LBSDA, Agent, Box, BoxAgent, ContextualAgent, SegmentedAgent
from belman.engine.tiers import interpreted
from belman.errors import StateError
from tests.attack.sample import content_of, signed
from tests.attack.saved_states import _relatives


@pytest.fixture(scope="module")
def texts() -> dict[type, str]:
    with interpreted():
        found = {}
        for agent in _relatives():
            found.setdefault(type(agent), agent.to_json())
    return found


def changed(text: str, change: Any) -> str:
    """The text with its content changed, and its checksum made anew."""
    content = content_of(text)
    change(content)
    return signed(content)


def put(*path: Any, value: Any) -> Any:
    def change(content: Any) -> None:
        *parents, last = path
        for name in parents:
            content = content[name]
        content[last] = value

    return change


def doubled(content: Any) -> None:
    content["beliefs"]["segments"].append(content["beliefs"]["segments"][0])


def other_arms(content: Any) -> None:
    other = SegmentedAgent(["x", "y", "z"], segments=("country",), seed=1)
    content["agents"][0] = json.loads(other._blank.to_json())


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        (ContextualAgent, put("columns", 0, 1, value=0.0), "'columns' does not say"),
        (ContextualAgent, put("told", value=10**400), "told is 1000"),
        (ContextualAgent, put("columns", 0, value=["own", 9, 9]), "columns are not those"),
        (ContextualAgent, put("rows", 0, "x", value=None), "no column is for"),
        (ContextualAgent, put("context", "slots", 0, 2, value=7), "'context' does not say"),
        (ContextualAgent, put("interactions", value={}), "columns are not those"),
        (ContextualAgent, put("open", 0, 0, value=True), "ticket is True"),
        (ContextualAgent, put("model", value={"name": "linear", "unknown": []}), "unknown="),
        (SegmentedAgent, doubled, "is there twice"),
        (SegmentedAgent, other_arms, "plays otherwise"),
        (SegmentedAgent, put("beliefs", "segments", value=""), "not a list"),
        (SegmentedAgent, put("beliefs", "segments", 0, 1, 0, 2, value=1e300), "is damaged"),
        (SegmentedAgent, put("beliefs", "segments", 0, 1, 0, 5, value=2**70), "is damaged"),
        (SegmentedAgent, put("beliefs", "pooled", "counts", 0, 0, 0, value="nan"), "is damaged"),
        (SegmentedAgent, put("beliefs", "pooled", "evidence", 0, value=1.0), "is damaged"),
        (SegmentedAgent, put("beliefs", "pooled", "evidence", value=[0.0]), "is not there"),
        (BoxAgent, put("places", 0, 0, value=2.0), "not those of an agent of this box"),
        (BoxAgent, put("rewards", 0, value=True), "stands where a number belongs"),
        (BoxAgent, put("shift", value=[[0.5]]), "not those of an agent of this box"),
        (BoxAgent, put("more", value=1), "'more' does not say"),
    ],
)
def test_what_no_agent_would_have_written_is_refused(texts, kind, change, words):
    with pytest.raises(StateError, match=words):
        kind.from_json(changed(texts[kind], change))


@pytest.mark.parametrize("kind", [ContextualAgent, SegmentedAgent, BoxAgent])
def test_what_was_written_comes_back_to_the_last_bit(texts, kind):
    assert kind.from_json(texts[kind]).to_json() == texts[kind]


def test_a_file_cannot_ask_for_more_columns_than_there_may_be(texts):
    """The square of their number is what a belief holds."""
    levels = [["c", "level", str(i)] for i in range(5_000)]

    def change(content: Any) -> None:
        content["context"]["slots"] += levels

    with pytest.raises(StateError, match="too many"):
        ContextualAgent.from_json(changed(texts[ContextualAgent], change))


def test_a_box_keeps_its_text_in_a_file(tmp_path):
    agent = BoxAgent(Box(x=(0, 1)), seed=1)
    agent.tell(agent.ask(), 1.0)
    agent.save(tmp_path / "box.json")
    assert (tmp_path / "box.json").read_text() == agent.to_json()


@pytest.mark.parametrize("seen", [0.5, "inf", -1])
def test_counts_that_kernels_take_for_places_are_whole(seen):
    agent = Agent(["a", "b"], policy=LBSDA(), seed=1)
    for reward in (0.0, 1.0, 1.0):
        agent.tell(agent.ask(), reward)
    text = changed(agent.to_json(), put("memory", "seen", 0, value=seen))
    with pytest.raises(StateError, match=r"seen of the memory of lb-sda must be whole numbers"):
        Agent.from_json(text)

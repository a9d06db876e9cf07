"""State files of strangers, for agents with contexts, of segments and of a box."""

from __future__ import annotations

from typing import Any

import pytest

from belman import Agent, Box, spec
from belman.engine.tiers import interpreted
from belman.errors import StateError
from belman.policies import LBSDA
from tests.attack.sample import content_of, signed
from tests.attack.saved_states import _relatives


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    with interpreted():
        result: dict[str, str] = {}
        for agent in _relatives():
            result.setdefault(agent._decider.kind, agent.to_json())
    return result


def changed(text: str, change: Any) -> str:
    """The text with its content changed, and its checksum made anew."""
    content = content_of(text)
    change(content)
    return signed(content)


def state(*path: Any, value: Any) -> Any:
    return put("state", *path, value=value)


def put(*path: Any, value: Any) -> Any:
    def change(content: Any) -> None:
        *parents, last = path
        for name in parents:
            content = content[name]
        content[last] = value

    return change


def doubled(content: Any) -> None:
    segments = content["state"]["beliefs"]["segments"]
    segments.append(segments[0])


def other_asks(content: Any) -> None:
    """As many as there are, of another arm."""
    first = content["open"][0]
    first[1] = {"a": "b", "b": "a", 3: "a"}[first[1]]


def other_kind(content: Any) -> None:
    content["decider"] = {"featured": "segmented", "segmented": "featured"}[content["decider"]]


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("featured", state("forms", 0, "columns", 0, 1, value=0.0), "'forms' does not say"),
        ("featured", state("totals", "told", value=10**400), "told: '1000"),
        ("featured", state("forms", 0, "columns", 0, value=["own", 9, 9]), "columns are not those"),
        ("featured", state("rows", 0, "x", value=None), "no column is for"),
        ("featured", state("context", "slots", 0, 2, value=7), "slots: '7' stands where a text"),
        ("featured", state("context", "squared", value="yes"), "squared: 'yes' stands"),
        ("featured", state("context", "what", value="features"), "a slot of no name"),
        ("featured", state("context", "waiting", value={"c": [["x", -1]]}), "'-1' stands"),
        ("featured", state("context", "levels", "c", 0, 0, value="other"), "do not belong"),
        ("featured", state("context", "slots", 1, 1, value="squared"), "a slot of no name"),
        ("featured", state("interactions", value={}), "interactions: '{}' stands"),
        ("featured", put("open", 0, 0, value=True), "'True' stands where a whole number"),
        ("featured", put("open", value=[]), "waits for other rewards"),
        ("featured", other_asks, "waits for other rewards"),
        ("featured", other_kind, "does not hold a whole agent"),
        ("featured", state("totals", "arms", value=[]), "at least one arm"),
        ("featured", state("model", value={"name": "linear", "unknown": []}), "unknown="),
        ("segmented", doubled, "is there twice"),
        ("segmented", state("order", value=["x", "y", "z"]), "other arms in play"),
        ("segmented", state("beliefs", "segments", value=""), "segments: '' stands where a list"),
        ("segmented", state("beliefs", "segments", 0, 1, 0, 2, value=1e300), "not those of rewar"),
        ("segmented", state("beliefs", "segments", 0, 1, 0, 5, value=2**70), "segments: '1180"),
        (
            "segmented",
            state("beliefs", "pooled", "counts", 0, 0, 0, value="nan"),
            "counts: 'nan'",
        ),
        ("segmented", state("beliefs", "pooled", "evidence", 0, value=1.0), "is damaged"),
        ("segmented", state("beliefs", "pooled", "evidence", value=[0.0]), "1 values, and 10 are"),
        (
            "segmented",
            state("totals", "policy", value=spec.describe(LBSDA())),
            "'memory' does not say",
        ),
        ("segmented", put("open", value=[]), "waits for other rewards"),
        ("segmented", other_asks, "waits for other rewards"),
        ("segmented", put("more", value=1), "too many: more"),
        ("segmented", state("more", value=1), "too many: more"),
        (
            "box",
            state("positions", 0, 0, value=2.0),
            "'2.0' stands where a number from 0 to 1",
        ),
        ("box", state("means", 0, value=True), "stands where a number belongs"),
        ("box", state("shift", value=[0.5, 0.5]), "not those of an agent of this box"),
        ("box", state("more", value=1), "too many: more"),
    ],
)
def test_what_no_agent_would_have_written_is_refused(texts, kind, change, words):
    with pytest.raises(StateError, match=words):
        Agent.from_json(changed(texts[kind], change))


@pytest.mark.parametrize("kind", ["featured", "segmented", "box"])
def test_what_was_written_comes_back_to_the_last_bit(texts, kind):
    assert Agent.from_json(texts[kind]).to_json() == texts[kind]


def test_a_file_cannot_ask_for_more_columns_than_there_may_be(texts):
    """The square of their number is what a belief holds."""
    levels = [["c", "level", str(i)] for i in range(5_000)]

    def change(content: Any) -> None:
        content["state"]["context"]["slots"] += levels
        content["state"]["context"]["levels"]["c"] += [[level, 1] for *_, level in levels]

    with pytest.raises(StateError, match="more columns than there is room for"):
        Agent.from_json(changed(texts["featured"], change))


def test_a_box_keeps_its_text_in_a_file(tmp_path):
    agent = Agent(space=Box(x=(0, 1)), seed=1)
    agent.tell(agent.ask(), 1.0)
    agent.save(tmp_path / "box.json")
    assert (tmp_path / "box.json").read_text() == agent.to_json()


@pytest.mark.parametrize("seen", [0.5, "inf", -1.0])
def test_counts_that_kernels_take_for_positions_are_whole(seen):
    agent = Agent(["a", "b"], policy=LBSDA(), seed=1)
    for reward in (0.0, 1.0, 1.0):
        agent.tell(agent.ask(), reward)
    text = changed(agent.to_json(), state("memory", "seen", 0, value=seen))
    with pytest.raises(StateError, match=r"seen of the memory of lb-sda must be whole numbers"):
        Agent.from_json(text)

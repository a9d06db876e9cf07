"""One class: settings say what decides behind it, and which verbs make sense."""

from __future__ import annotations

import inspect

import pytest

import belman
from belman.errors import BelmanError, SettingError, StateError
from belman.policies import Drift
from belman.policies.dependent import LinTS

FEATURES = {"blue": {"price": 1.0}, "red": {"price": 2.0}}
PRICES = belman.Box(price=(5, 20))
KINDS = {
    "plain": {"arms": ["blue", "red"]},
    "segments": {"arms": ["blue", "red"], "segments": ("country", "device")},
    "context": {"arms": ["blue", "red"], "context": ["country"]},
    "features": {"arms": ["blue", "red"], "features": FEATURES},
    "candidates": {"features": ["price"]},
    "box": {"space": PRICES},
}
ASKED = {
    "segments": {"context": {"country": "FR", "device": "phone"}},
    "context": {"context": {"country": "FR"}},
    "candidates": {"candidates": [{"price": 1.0}, {"price": 2.0}]},
}


def made(kind: str, turns: int = 3) -> belman.Agent:
    agent = belman.Agent(**KINDS[kind], seed=7)
    for turn in range(turns):
        agent.tell(agent.ask(**ASKED.get(kind, {})), turn % 2)
    return agent


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_decides_it_is_one_class(kind, tmp_path):
    agent = made(kind)
    assert type(agent) is belman.Agent
    assert "3 rewards told" in repr(agent)
    agent.save(tmp_path / "agent.json")
    again = belman.Agent.load(tmp_path / "agent.json")
    assert type(again) is belman.Agent
    assert again.to_json() == agent.to_json()
    options = ASKED.get(kind, {})
    assert [again.ask(**options) for _ in range(5)] == [agent.ask(**options) for _ in range(5)]


#: What each verb is called with, and the kinds for which it makes sense.
VERBS = {
    "ask a batch": (lambda a, o: a.ask(3, **o), "plain segments context features candidates box"),
    "ask among": (lambda a, o: a.ask(among=["red"], **o), "plain segments context features"),
    "ask a list": (lambda a, o: a.ask(top=2, **o), "plain segments context features candidates"),
    "ask in a context": (lambda a, o: a.ask(context={"country": "FR"}), "segments context"),
    "ask for candidates": (lambda a, o: a.ask(candidates=[{"price": 1.0}]), "candidates"),
    "tell in a context": (
        lambda a, o: a.tell("red", 1, {"country": "FR"}), "segments context"
    ),
    "tell a ticket": (
        lambda a, o: a.tell(ticket=a.ticket, reward=1),
        "segments context features candidates box",
    ),
    "tickets": (lambda a, o: a.open_tickets, "segments context features candidates box"),
    "cancel": (
        lambda a, o: a.cancel(a.last[0].arm), "plain segments context features candidates box"
    ),
    "weights": (
        lambda a, o: a.weights(10, context=o.get("context")), "plain segments"
    ),
    "belief": (lambda a, o: a.belief("red"), "plain"),
    "beliefs": (lambda a, o: a.beliefs(**o), "plain segments context features candidates"),
    "beliefs at points": (lambda a, o: a.beliefs(points=[{"price": 6.0}]), "box"),
    "explain": (lambda a, o: a.explain(**o), "plain segments context features candidates box"),
    "report": (lambda a, o: a.report(), "plain segments context features candidates"),
    "report in a context": (
        lambda a, o: a.report(context={"country": "FR"}), "segments"
    ),
    "verdict": (lambda a, o: a.verdict(), "plain segments context features candidates"),
    "recommend": (
        lambda a, o: a.recommend(context=o.get("context")), "plain segments"
    ),
    "confidence": (lambda a, o: a.confidence(context=o.get("context")), "plain segments"),
    "should stop": (lambda a, o: a.should_stop(context=o.get("context")), "plain segments"),
    "changes": (lambda a, o: a.changes(), "plain"),
    "pseudobelief": (lambda a, o: a.pseudobelief, "plain"),
    "provisional": (lambda a, o: a.provisional, "plain"),
    "set provisional": (lambda a, o: setattr(a, "provisional", {}), "plain"),
    "reasons": (
        lambda a, o: a.reasons(0 if "candidates" in o else "red", **o),
        "context features candidates",
    ),
    "coefficients": (lambda a, o: a.coefficients(), "context features candidates"),
    "model": (lambda a, o: a.model, "context features candidates"),
    "family": (lambda a, o: a.family, "plain segments context features candidates"),
    "exposure": (lambda a, o: a.exposure, "plain segments"),
    "set policy": (
        lambda a, o: setattr(a, "policy", a.policy), "plain segments context features candidates"
    ),
    "segments": (lambda a, o: a.segments, "segments"),
    "strengths": (lambda a, o: a.strengths(), "segments"),
    "borrowed": (lambda a, o: a.borrowed({"country": "FR"}), "segments"),
    "space": (lambda a, o: a.space, "box"),
    "told": (lambda a, o: a.told, "box"),
    "best": (lambda a, o: a.best(), "box"),
    "retire an arm": (lambda a, o: a.retire_arm("red"), "plain segments context features"),
    "forget an arm": (lambda a, o: a.retire_arm("red", forget=True), "plain"),
    "add an arm": (lambda a, o: a.add_arm("green"), "plain segments context"),
    "control": (lambda a, o: setattr(a, "control", "red"), "plain segments context features"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_makes_sense_or_is_refused_with_a_reason(kind, verb):
    act, kinds = VERBS[verb]
    agent, options = made(kind), ASKED.get(kind, {})
    agent.ask(**options)
    if kind in kinds.split():
        act(agent, options)
        return
    before = agent.to_json()
    with pytest.raises(BelmanError) as refused:
        act(agent, options)
    assert len(str(refused.value)) > 20
    assert agent.to_json() == before


SETTINGS = [name for name in inspect.signature(belman.Agent).parameters if name != "arms"]


@pytest.mark.parametrize("name", SETTINGS)
def test_none_is_not_given(name):
    plain = belman.Agent(["blue", "red"], seed=7)
    agent = belman.Agent(["blue", "red"], **{"seed": 7, name: None})
    if name == "seed":  # then the system's, and all but that is the same
        agent._decider.rng[:] = plain._decider.rng
    assert agent.to_json() == plain.to_json()
    assert repr(agent) == repr(plain)


@pytest.mark.parametrize("kind", ["segments", "context", "features", "candidates", "box"])
@pytest.mark.parametrize("name", SETTINGS)
def test_none_is_not_given_to_the_others_either(kind, name):
    if name in KINDS[kind] or name == "seed":
        return
    agent = belman.Agent(**KINDS[kind], **{"seed": 7, name: None})
    assert agent.to_json() == belman.Agent(**KINDS[kind], seed=7).to_json()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"segments": ("a",), "context": ["b"]}, "segments are beliefs apart"),
        ({"segments": ("a",), "features": FEATURES}, "segments are beliefs apart"),
        ({"segments": ("a",), "discount": 0.9}, "discount=0.9 is not for an agent by segments"),
        ({"segments": ("a",), "drift": "auto"}, "drift='auto' is not for an agent by segments"),
        ({"segments": ("a",), "start": {"blue": (2, 1)}}, "learnt from its first reward"),
        ({"context": ["a"], "family": "poisson"}, "the model says what rewards are"),
        ({"context": ["a"], "prior": (1, 2)}, "scale= how large coefficients"),
        ({"context": ["a"], "last": 10}, "are not kept one by one"),
        ({"context": ["a"], "drift": Drift(half_life=9.0)}, 'give "auto", or discount='),
        ({"context": ["a"], "drift": "auto", "discount": 0.9}, "discount=0.9 forgets, and drift"),
        ({"context": ["a"], "discount": 1.5}, "discount=1.5 is not valid"),
        ({"context": ["a"], "start": {"blue": (2, 1)}}, "told with their contexts"),
        ({"space": PRICES}, "a box has points of its own and no arms"),
    ],
)
def test_settings_that_do_not_go_together(settings, words):
    with pytest.raises(SettingError, match=words):
        belman.Agent(["blue", "red"], **settings)


def test_a_family_of_segments_is_told_as_ever():
    agent = belman.Agent(["blue", "red"], "gaussian", segments=("country",), seed=7)
    agent.tell(agent.ask(context={"country": "FR"}), -2.5, {"country": "FR"})
    assert "1 reward told" in repr(agent)


def test_a_space_has_points_and_no_arms():
    agent = belman.Agent(space=PRICES, seed=7)
    assert 5.0 <= agent.ask()["price"] <= 20.0
    with pytest.raises(SettingError, match="not a box"):
        belman.Agent(space={"price": (5, 20)})


def test_a_start_has_beliefs_apart(tmp_path):
    path = tmp_path / "segments.json"
    belman.Agent(["blue"], segments=("country",), seed=7).save(path)
    with pytest.raises(BelmanError, match="does not believe its arms one by one"):
        belman.Agent(["blue"], start=path)


@pytest.mark.parametrize(
    ("kind", "given", "allowed"),
    [
        ("segments", {"policy": belman.Thompson()}, True),
        ("segments", {"arms": ["green", "pink"]}, False),
        ("context", {"policy": LinTS()}, True),
        ("context", {"family": belman.families.Bernoulli()}, False),
        ("candidates", {"arms": ["green"]}, False),
        ("box", {"policy": belman.Thompson()}, False),
    ],
)
def test_what_is_given_at_loading_replaces_what_was_saved_or_is_refused(kind, given, allowed):
    text = made(kind).to_json()
    if allowed:
        assert belman.Agent.from_json(text, **given).policy == given["policy"]
        return
    with pytest.raises(StateError, match="replaces nothing"):
        belman.Agent.from_json(text, **given)

"""Asking and telling with features and contexts: a person's view, and what it must not break."""

from __future__ import annotations

import json
import random
from copy import deepcopy

import numpy as np
import pytest

import belman
from belman import Agent
from belman.deciders import state_file
from belman.errors import (
    ArmError,
    FamilyError,
    PolicyError,
    RewardError,
    SettingError,
    StateError,
    TicketError,
    UnknownTicketError,
)
from belman.models import Linear
from belman.models.arrow import of_diagonal
from belman.policies.dependent import GLMUCB, LinTS

COLOURS = {"blue": {"price": 5.0, "tone": "cold"}, "red": {"price": 7.0, "tone": "warm"},
           "green": {"price": 6.0, "tone": "cold"}}  # fmt: skip


def visitor(rng):
    age = None if rng.random() < 0.1 else float(rng.normal(40.0, 12.0))
    return {"country": str(rng.choice(["FR", "DE"])), "age": age}


def played(turns=150, seed=3, **options):
    """An agent in a world where blue is for the French, and red for others."""
    agent = Agent(["blue", "red"], context=["country", "age"], seed=7, **options)
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        context = visitor(rng)
        arm = agent.ask(context=context)
        good = (arm == "blue") == (context["country"] == "FR")
        agent.tell(arm, int(rng.random() < (0.8 if good else 0.2)))
    return agent


def test_every_context_gets_the_arm_that_suits_it():
    """A gap of 0.6 after 150 turns: the arm of each country is the one with the larger mean."""
    agent = played()
    assert agent.beliefs(context={"country": "FR", "age": 40.0})["expected reward"][0] > 0.5
    french = agent.explain(context={"country": "FR", "age": 40.0})
    german = agent.explain(context={"country": "DE", "age": 40.0})
    assert french["arm"][0] == "blue"
    assert german["arm"][0] == "red"
    assert french["index"] == sorted(french["index"], reverse=True)
    reasons = agent.reasons("blue", context={"country": "FR", "age": 40.0})
    assert dict(zip(reasons["feature"], reasons["speaks for it"], strict=True))["country=FR"] > 0.0


def test_compiled_agents_are_in_the_same_state(monkeypatch):
    before = played(30).to_json()
    monkeypatch.setenv("BELMAN_COMPILE", "first")
    assert played(30).to_json() == before


def test_looking_changes_nothing():
    agent = played(40)
    before = agent.to_json()
    for context in ({"country": "FR", "age": 30.0}, {"country": "never met"}, {}):
        agent.beliefs(context=context)
        agent.explain(context=context)
        agent.reasons("red", context=context)
    agent.coefficients()
    assert agent.to_json() == before


def test_beliefs_are_those_of_a_batch_solve_whatever_the_scale_of_numbers_was():
    """The belief is expressed anew when numbers get another scale: with one prior in the units of
    the end, a batch over all rewards says the same of any age, but for that prior.
    """
    agent = Agent(
        ["a"], context=["age"], model=Linear(noise=0.5), scale=1e3, pooling="disjoint", seed=1
    )
    rng = np.random.default_rng(5)
    ages, rewards = rng.normal(40.0, 12.0, 100), np.zeros(100)
    for i, age in enumerate(ages):
        rewards[i] = 3.0 + 0.1 * age + 0.5 * rng.normal()
        agent.tell("a", rewards[i], {"age": age})
    line = np.column_stack([np.ones(100), ages])
    intercept, slope = np.linalg.lstsq(line[2:], rewards[2:], rcond=None)[0]
    for age in (20.0, 40.0, 70.0):
        expected = agent.beliefs(context={"age": age})["expected reward"][0]
        assert expected == pytest.approx(intercept + slope * age, abs=0.05)


def test_features_of_arms_tell_of_arms_that_were_never_tried():
    """Prices from 1 to 9, the dearer the worse: the cheap one that was never tried looks best."""
    arms = {f"p{price}": {"price": float(price)} for price in range(1, 10)}
    agent = Agent(arms, features=arms, model="linear", pooling="shared", seed=1)
    rng = np.random.default_rng(1)
    for price in (5, 6, 7, 8, 9) * 8:
        agent.tell(f"p{price}", -float(price) + 0.1 * rng.normal())
    means = agent.beliefs()["expected reward"]
    assert means == sorted(means, reverse=True)
    assert means[0] == pytest.approx(-1.0, abs=0.6)


def test_features_come_as_a_data_frame_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.from_dict(COLOURS, orient="index")
    made = Agent(COLOURS, features=frame, seed=1)
    assert made.to_json() == Agent(COLOURS, features=COLOURS, seed=1).to_json()


def test_what_pandas_has_for_missing_values_is_missing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"tone": ["a", None]}, index=["x", "y"]).astype("string")
    made = Agent(["x", "y"], features=frame, context=["age"], seed=1)
    assert "tone=missing" in made.coefficients()["feature"]
    for nothing in (pandas.NA, pandas.NaT, float("nan"), None):
        made.ask(context={"age": nothing})
    assert "age=missing" in made.coefficients()["feature"]


def test_candidates_come_and_go():
    agent = Agent(features=["price", "tone"], context=["age"], model="linear", seed=4)
    rng = np.random.default_rng(2)
    for _ in range(60):
        prices = rng.uniform(1.0, 9.0, 3)
        shown = [{"price": float(p), "tone": str(rng.choice(["a", "b"]))} for p in prices]
        position = agent.ask(context={"age": float(rng.normal())}, candidates=shown)
        agent.tell(ticket=agent.ticket, reward=-float(prices[position]) + 0.1 * float(rng.normal()))
    cheap = agent.ask(
        context={}, candidates=[{"price": 9.0, "tone": "a"}, {"price": 1.0, "tone": "a"}]
    )
    assert cheap == 1
    agent.tell({"price": 3.0, "tone": "new"}, -3.0, {"age": 0.0})  # nobody asked, a new level
    assert "tone=new" in agent.coefficients()["feature"]


def test_a_list_has_the_largest_indices_and_begins_with_what_would_be_asked():
    agent, twin = played(60), played(60)
    context = {"country": "FR", "age": 41.0}
    listed = agent.ask(context=context, top=2)
    assert listed[0] == twin.ask(context=context)
    assert sorted(listed) == ["blue", "red"]
    assert len(agent.open_tickets) == 2
    assert agent.ask(context=context, top=9) == listed


def test_the_order_of_available_arms_does_not_matter():
    context = {"country": "FR", "age": 41.0}
    for among in (["red", "blue"], ["blue", "red", "blue"]):
        assert played(60).ask(context=context, among=among) == played(60).ask(context=context)
    assert played(60).ask(context=context, among=["red"]) == "red"


def test_rewards_find_their_asks():
    agent = Agent(["blue", "red"], context=["country"], seed=7)
    first = agent.ask(context={"country": "FR"})
    ticket = agent.ticket
    agent.ask(context={"country": "DE"})
    agent.tell(ticket=ticket, reward=1)
    with pytest.raises(UnknownTicketError, match="is not open"):
        agent.tell(ticket=ticket, reward=1)
    with pytest.raises(TicketError, match="was for arm"):
        agent.tell({"blue": "red", "red": "blue"}[agent.open_tickets[agent.ticket].arm], 1,
                   ticket=agent.ticket)  # fmt: skip
    agent.cancel(ticket=agent.ticket)
    assert agent.open_tickets == {}
    with pytest.raises(UnknownTicketError, match="no open ask"):
        agent.tell(first, 1)
    agent.tell(first, 1, {"country": "FR"})
    assert agent.turn == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: played(40),
        lambda: played(20, model="linear"),
        lambda: played(20, pooling="hybrid"),
        lambda: played(20, policy=LinTS()),
        lambda: Agent(COLOURS, features=COLOURS, context=["age"], model="poisson", seed=1),
        lambda: Agent(features=["price"], seed=3),
    ],
)
def test_a_saved_agent_goes_on_as_if_it_had_never_stopped(make, tmp_path):
    agent = make()
    options = {} if agent.arms else {"candidates": [{"price": 1.0}, {"price": 2.0}]}
    agent.ask(**options)
    agent.save(tmp_path / "agent.json")
    twin = Agent.load(tmp_path / "agent.json")
    assert twin.to_json() == agent.to_json()
    for either in (agent, twin):
        for _ in range(5):
            chosen = either.ask(**options)
            either.tell(chosen, 1)
    assert twin.to_json() == agent.to_json()
    assert deepcopy(agent).to_json() == agent.to_json()


def rewritten(agent, change):
    """The state of an agent, changed by whoever can make a checksum."""
    content = json.loads(agent.to_json())
    for name in ("format", "version", "checksum"):
        del content[name]
    change(content)
    return state_file.write(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["state"]["forms"][0]["belief"].update(mean=[[0.0]]),
        lambda content: content["state"]["forms"][0]["belief"]["root"][0][0].__setitem__(0, -1.0),
        lambda content: content["state"]["forms"][0]["belief"]["root"][0][0].__setitem__(1, 1.0),
        lambda content: content["state"]["forms"][0]["belief"]["mean"][0].__setitem__(0, "inf"),
        lambda content: content["state"]["forms"][0]["belief"].update(share=[2.0]),
        lambda content: content["state"]["forms"][1]["columns"].pop(),
        lambda content: content["state"]["forms"][1]["columns"].__setitem__(0, ["shared", 99]),
        lambda content: content["state"]["context"]["slots"].pop(),
        lambda content: content["state"]["context"]["kinds"].update(age="colour"),
        lambda content: content["state"]["context"].update(values=[[1.0, 0.0, 0.0, 0.0, "x"]]),
        lambda content: content["state"].update(told=-1),
        lambda content: content.update(rng=[1, 2]),
        lambda content: content.update(open=[[50, "blue", 1, {}, None]]),
        lambda content: content["state"].update(policy={"name": "no such"}),
        lambda content: content["state"].pop("rows"),
    ],
)
def test_states_that_no_agent_had_are_refused(change):
    with pytest.raises(StateError):
        Agent.from_json(rewritten(played(10), change))


def test_damage_is_told():
    text = played(10).to_json()
    with pytest.raises(StateError, match="checksum"):
        Agent.from_json(text.replace('"told": 10', '"told": 11'))
    study = state_file.write({"told": 10}, "belman study")
    with pytest.raises(StateError, match=r"not the state of an agent: .*it has 'belman study'"):
        Agent.from_json(study)


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda a: a.ask(context={"contry": "FR"}), SettingError, "did you mean 'country'"),
        (lambda a: a.ask(context="FR"), SettingError, "is not a mapping"),
        (lambda a: a.ask(context={"age": "old"}), SettingError, "age is a number here"),
        (lambda a: a.ask(context={"country": 3}), SettingError, "country is a category here"),
        (lambda a: a.ask(context={"age": 1e300}), SettingError, "is not allowed"),
        (lambda a: a.ask(context={"age": [1]}), SettingError, "is not allowed"),
        (lambda a: a.ask(context={}, top=0), SettingError, "is not valid"),
        (lambda a: a.ask(context={}, among=["bleu"]), ArmError, "did you mean 'blue'"),
        (lambda a: a.ask(context={}, among=[]), ArmError, "among is empty"),
        (lambda a: a.ask(context={}, candidates=[{}]), SettingError, "made without arms"),
        (lambda a: a.tell("blue", 2, {}), RewardError, "logistic rewards are numbers"),
        (lambda a: a.tell("blue", None, {}), SettingError, "needs a reward"),
        (lambda a: a.tell("bleu", 1, {}), ArmError, "did you mean 'blue'"),
        (lambda a: a.tell("blue", 1, {"age": "old"}), SettingError, "age is a number"),
        (lambda a: a.tell(ticket=99, reward=1), UnknownTicketError, "is not open"),
        (lambda a: a.cancel(ticket=99), UnknownTicketError, "is not open"),
        (lambda a: a.beliefs(context={}, level=1.0), SettingError, "level=1.0"),
    ],
)
def test_what_is_refused_changes_nothing(act, error, words):
    agent = played(20)
    before = agent.to_json()
    with pytest.raises(error, match=words):
        act(agent)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"model": "lineer"}, FamilyError, "did you mean 'linear'"),
        (
            {"context": ["age"], "policy": belman.Thompson()},
            PolicyError,
            "not a policy for arms with features",
        ),
        ({"context": ["age"], "policy": GLMUCB()}, PolicyError, "simulations only"),
        ({"pooling": "shared"}, SettingError, "without features"),
        ({"pooling": "pooled"}, SettingError, "unknown pooling"),
        ({"pooling": "disjoint", "features": COLOURS}, SettingError, "does not use features"),
        ({"features": {"blue": {}}}, ArmError, "has no features"),
        ({"features": {"pink": {}}}, ArmError, "unknown arm in features"),
        ({"features": 3}, SettingError, "are not valid"),
        ({"context": "country"}, SettingError, "is one name"),
        ({"context": ["a", "a"]}, SettingError, "different words"),
        ({"context": ["constant"]}, SettingError, "different words"),
        ({"interactions": [("age", "price")]}, SettingError, "is not allowed"),
        ({"interactions": "age*price"}, SettingError, "is not allowed"),
        ({"scale": 0.0}, SettingError, "scale=0.0 is not valid"),
        ({"seed": -1}, SettingError, "seed=-1 is not valid"),
    ],
)
def test_agents_that_cannot_be(options, error, words):
    with pytest.raises(error, match=words):
        Agent(["blue", "red", "green"], **options)


@pytest.mark.parametrize("interactions", [[("country", "tone")], " country : tone"])
def test_interactions_by_a_list_or_a_formula(interactions):
    agent = Agent(
        COLOURS, features=COLOURS, context=["age", "country"], pooling="shared", seed=1,
        interactions=interactions,
    )  # fmt: skip
    agent.ask(context={"age": 4.0, "country": "FR"})
    labels = agent.coefficients()["feature"]
    assert "country=FR × tone=cold" in labels
    assert not any("age ×" in label for label in labels)


def test_costs_are_minimised():
    """Costs of 0 or 1: the arm that costs less is played most, and is said to cost little."""
    agent = Agent(["cheap", "dear"], context=["age"], minimise=True, seed=4)
    luck = np.random.default_rng(1)
    arms = []
    for _ in range(120):
        arms.append(agent.ask(context={"age": 40.0}))
        agent.tell(arms[-1], int(luck.random() < (0.1 if arms[-1] == "cheap" else 0.9)))
    result = agent.beliefs(context={"age": 40.0})
    assert arms[60:].count("cheap") > 50
    assert result["expected cost"][0] < 0.3 < result["expected cost"][1]
    assert all(low <= high for low, high in zip(result["low"], result["high"], strict=True))
    again = Agent.from_json(agent.to_json())
    assert again.beliefs(context={"age": 40.0}).columns == result.columns
    with pytest.raises(SettingError, match="poisson"):
        Agent(["a"], context=["age"], model="poisson", minimise=True)


def test_a_batch_spreads_and_leaves_the_belief_alone():
    agent = Agent([f"arm {i}" for i in range(6)], context=["age"], model="linear", seed=4)
    arms = agent.ask(6, context={"age": 40.0})
    assert len(set(arms)) == 6
    belief = agent._decider.knowledge.belief
    assert (belief.clock == 0.0).all()
    assert (belief.mean == 0.0).all()
    assert (belief.root == of_diagonal(belief.prior, belief.begin)).all()
    assert len(agent.open_tickets) == 6
    with pytest.raises(SettingError, match="not both"):
        agent.ask(2, context={"age": 40.0}, top=2)


def test_candidates_are_looked_at_by_their_positions():
    agent = Agent(features=["price"], context=["hour"], model="linear", seed=3)
    rng = np.random.default_rng(2)
    for price in rng.uniform(1.0, 9.0, 40):
        agent.ask(context={"hour": 9.0}, candidates=[{"price": float(price)}])
        agent.tell(ticket=agent.ticket, reward=float(-price + 0.1 * rng.normal()))
    shelf = [{"price": 8.0}, {"price": 2.0}, {"price": 5.0}]
    before = agent.to_json()
    believed = agent.beliefs(context={"hour": 9.0}, candidates=shelf)
    explained = agent.explain(context={"hour": 9.0}, candidates=shelf)
    assert agent.to_json() == before
    assert believed["arm"] == [0, 1, 2]
    assert "plays" not in believed.columns
    assert believed["expected reward"] == pytest.approx([-8.0, -2.0, -5.0], abs=0.3)
    assert sum(believed["P(best)"]) == pytest.approx(1.0)
    assert explained["for"][0] == explained["against"][2] == "price"
    assert explained["arm"][0] == agent.ask(context={"hour": 9.0}, candidates=shelf) == 1
    with pytest.raises(SettingError, match="give candidates"):
        agent.explain(context={"hour": 9.0})


def test_coefficients_are_per_deviation_of_their_numbers():
    """Rewards of 3·age·price: a coefficient over what it is per is what one of each counts."""
    prices = {"s": {"price": 2.0}, "l": {"price": 8.0}}
    agent = Agent(
        prices, features=prices, context=["age"], model="linear", pooling="shared", scale=100.0
    )
    rng = np.random.default_rng(5)
    for _ in range(256):
        arm, age = str(rng.choice(["s", "l"])), float(rng.uniform(20.0, 60.0))
        agent.tell(arm, 3.0 * age * prices[arm]["price"], {"age": age})
    table = agent.coefficients()
    position = table["feature"].index("age × price")
    spreads = [table["per"][table["feature"].index(name)] for name in ("age", "price")]
    assert table["per"][position] == pytest.approx(np.prod(spreads))
    assert table["coefficient"][position] / table["per"][position] == pytest.approx(3.0, rel=0.02)


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_contexts_of_any_size_leave_a_belief_that_can_be_saved(model):
    """Numbers that get another scale over and over: what is left of a coefficient rounds to 0."""
    luck, sizes = random.Random(3), (0.0, 1.0, 1e12, -1e12, 1e-12, None)
    for seed in range(6):
        agent = Agent(["a", "b"], context=["x", "c"], model=model, seed=seed)
        largest = 10.0 ** luck.uniform(0.0, 12.0)
        for _ in range(40):
            arm = agent.ask(context={"x": luck.choice(sizes), "c": luck.choice("uvw")})
            agent.tell(arm, luck.choice([0.0, 1.0]) * (largest if model == "linear" else 1.0))
        again = Agent.from_json(agent.to_json())
        assert again.to_json() == agent.to_json()
        result = agent.beliefs(context={"x": 1.0, "c": "u"})
        assert np.isfinite([result["low"], result["high"], result["P(best)"]]).all()

"""Levels of categories: which have coefficients of their own, and what becomes of the others."""

from __future__ import annotations

import numpy as np
import pytest

from belman import Agent
from belman.deciders.decider import Asking
from belman.deciders.featured import budget, slots
from belman.deciders.featured.featured import FeaturedDecider
from belman.errors import SettingError
from belman.models import Block, Linear
from belman.models.arrow import whole
from belman.models.merging import merge_all, without
from tests.models.learning import covariance, learnt

pytestmark = pytest.mark.compiled  # thousands of turns


@pytest.mark.parametrize(("first", "second"), [(1, 4), (0, 5), (2, 3)])
@pytest.mark.parametrize("model", [Linear(noise=0.7), Linear(unknown=True)])
def test_two_coefficients_become_one_as_if_they_always_were(model, first, second):
    rng = np.random.default_rng(first)
    rows = rng.normal(size=(60, 6)) * rng.integers(0, 2, size=(60, 6))
    rewards = rng.normal(size=60)
    blocks = [Block(3), Block(3, 0.5, pooled=True)]
    if second == 3:
        blocks = [Block(6, pooled=True)]
    result = learnt(model, blocks, rows, rewards)
    together = rows.copy()
    together[:, first] += together[:, second]
    together[:, second] = 0.0
    expected = learnt(model, blocks, together, rewards)
    merge_all(model, result, [(first, second)])
    for b in range(len(result.mean)):
        assert result.mean[b] == pytest.approx(expected.mean[b], abs=1e-9)
        assert covariance(result, member=b) == pytest.approx(
            covariance(expected, member=b), abs=1e-9
        )
    assert result.noise == pytest.approx(expected.noise, rel=1e-9)
    assert result.share == pytest.approx(expected.share, abs=1e-9)
    rest = without(result, [second], whole(5))
    assert rest.mean.shape[1] == 5
    kept = [position for position in range(6) if position != second]
    assert covariance(rest) == pytest.approx(covariance(expected)[np.ix_(kept, kept)], abs=1e-9)


def _allow(monkeypatch, columns):
    """Let levels have fewer columns."""
    monkeypatch.setattr(budget, "MOST_COLUMNS", columns)
    monkeypatch.setattr(budget, "_TIMES", 1)


def _played(agent, users, seed=1):
    rng = np.random.default_rng(seed)
    for user in users:
        context = {"user": user, "age": float(rng.normal())}
        agent.tell(agent.ask(context=context), float(rng.integers(2)), context=context)
    return agent


@pytest.mark.parametrize("pooling", ["disjoint", "hybrid"])
def test_no_level_is_refused_and_columns_are_bounded(monkeypatch, pooling):
    _allow(monkeypatch, 60)
    agent = Agent(["a", "b", "c"], context=["user", "age"], pooling=pooling, seed=1)
    _played(agent, [f"u{i}" for i in range(700)])
    assert agent._decider.columns <= 60
    waiting = agent._decider.knowledge.context.waiting["user"]
    assert len(waiting) == 500
    assert "u699" in waiting
    assert "u100" not in waiting
    assert "user=others" in agent.coefficients()["feature"]


def test_a_level_that_comes_often_takes_the_position_of_the_one_met_least(monkeypatch):
    _allow(monkeypatch, 21)  # 5 levels of two arms, beside 2 × 5 + 1
    agent = Agent(["a", "b"], context=["user", "age"], seed=1)
    _played(agent, [*"vwxyz", *"vwxz", *["late"] * 9])
    levels = agent._decider.knowledge.context.levels["user"]
    assert levels == dict.fromkeys("vwxyz", 2) | {"y": 1}
    _played(agent, ["late"])
    assert levels == dict.fromkeys("vwxz", 2) | {"late": 10}
    _played(agent, ["y"] * 3)
    assert agent._decider.knowledge.context.waiting["user"] == {"y": 3}


def test_a_level_that_joins_the_others_takes_along_what_was_learnt(monkeypatch):
    """The belief is that of a decider in which the level was among the others all along."""
    rewards = np.random.default_rng(4).normal(size=60)
    options = {"context": ["user"], "model": Linear(noise=0.5)}
    twin = FeaturedDecider(["a", "b"], **options)
    _allow(monkeypatch, 11)  # 7 for names, and 4 for two levels
    decider = FeaturedDecider(["a", "b"], **options)
    levels = decider.knowledge.context.levels
    for i, user in enumerate([*"uvuuvvuuvuw", *"uuuw" * 12]):
        decider.record(decider.recall("ab"[i % 2], {"user": user}), rewards[i])
        has_own = user == "u" or (user == "w" and "w" in levels["user"])
        twin.record(twin.recall("ab"[i % 2], {"user": user if has_own else "rest"}), rewards[i])
    assert {*levels["user"]} == {"u", "w"}
    for user, same in (("u", "u"), ("v", "rest"), ("never", "rest"), ("w", "w")):
        for arm in "ab":
            expected = twin.expected(twin.recall(arm, {"user": same}))
            result = decider.expected(decider.recall(arm, {"user": user}))
            assert result == pytest.approx(expected, abs=1e-9)


def test_arms_that_come_later_take_columns_from_levels(monkeypatch):
    _allow(monkeypatch, 40)
    agent = Agent(["a", "b"], context=["user", "age"], seed=1)
    _played(agent, [f"u{i}" for i in range(20)])
    before = len(agent._decider.knowledge.context.levels["user"])
    for arm in "cdef":
        agent.add_arm(arm)
        assert agent._decider.columns <= 40
        _played(agent, ["u1", "u2", "u1"])
    assert len(agent._decider.knowledge.context.levels["user"]) < before
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_a_file_in_between_changes_nothing(monkeypatch):
    _allow(monkeypatch, 25)
    monkeypatch.setattr(slots, "_HALVED", 16)
    monkeypatch.setattr(slots, "_OFTEN", 3)
    rng = np.random.default_rng(3)
    users = [f"u{i}" for i in rng.geometric(0.15, size=120)]
    straight = _played(Agent(["a", "b"], context=["user", "age"], seed=1), users)
    agent = Agent(["a", "b"], context=["user", "age"], seed=1)
    values = np.random.default_rng(1)
    for user in users:
        agent = Agent.from_json(agent.to_json())
        context = {"user": user, "age": float(values.normal())}
        agent.tell(agent.ask(context=context), float(values.integers(2)), context=context)
    assert agent.to_json() == straight.to_json()


def test_levels_of_candidates_are_pooled_too(monkeypatch):
    _allow(monkeypatch, 30)
    agent = Agent(features=["item", "price"], context=["user"], seed=1)
    for turn in range(60):
        offers = [{"item": f"i{turn * k % 41}", "price": k} for k in range(1, 5)]
        agent.ask(context={"user": f"u{turn}"}, candidates=offers)
    assert agent._decider.columns <= 30
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_names_that_need_too_many_columns_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(budget, "MOST_FEATURES", 20)
    with pytest.raises(SettingError, match="2 names and 4 arms need 21 coefficients: at most 20"):
        Agent(["a", "b", "c", "d"], context=["user", "age"])
    agent = Agent(["a", "b", "c"], context=["user", "age"])
    before = agent.to_json()
    with pytest.raises(SettingError, match="are too many"):
        agent.add_arm("d")
    assert agent.to_json() == before


def test_looking_at_a_level_gives_it_no_slot():
    agent = _played(Agent(["a", "b"], context=["user", "age"], seed=1), ["u", "v"])
    before = agent.to_json()
    agent.beliefs(context={"user": "new"})
    agent._decider.rank(Asking(agent._decider.knowledge.context.check({"user": "new"})))
    assert agent.to_json() == before

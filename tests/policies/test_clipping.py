"""Rewards clipped at quantiles of their arm: what the policy inside sees, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman.agent import Agent
from belman.errors import PolicyError
from belman.policies import Clipping, Forgetting
from belman.policies.wrappers.clipping import LAST

pytestmark = pytest.mark.interpreted


def seen(agent: Agent) -> tuple[float, float, float]:
    """Plays, sum and sum of squares of the first arm, as the policy inside knows them."""
    own = agent._decider._memory.own
    return float(own.plays[0]), float(own.sums[0]), float(own.squares[0])


def test_all_rewards_are_clipped_anew_while_all_are_there() -> None:
    rng = np.random.default_rng(1)
    rewards = np.round(rng.standard_t(1.0, LAST), 1)  # with ties
    agent = Agent(["a", "b"], "gaussian-unknown", Clipping(share=0.05), seed=1)
    for count, reward in enumerate(rewards, start=1):
        agent.tell("a", reward)
        told = np.sort(rewards[:count])
        if count >= 5:
            beyond = int(np.ceil(0.05 * count))
            told = np.clip(told, told[beyond], told[-1 - beyond])
        assert seen(agent) == pytest.approx((count, told.sum(), (told**2).sum()))
    assert agent.beliefs().row("a")["plays"] == LAST


def test_later_ones_are_clipped_as_they_come() -> None:
    agent = Agent(["a"], "gaussian-unknown", Clipping(), seed=1)
    for reward in [0.0, 1.0] * LAST:
        agent.tell("a", reward)
    plays, total, _ = seen(agent)
    agent.tell("a", 1e6)
    assert seen(agent)[:2] == (plays + 1.0, total + 1.0)
    assert agent.beliefs().row("a")["expected reward"] > 1e3  # what is shown is of all rewards


def test_arms_come_and_go_and_the_file_is_whole() -> None:
    agent = Agent(["a", "b"], "gaussian-unknown", Clipping(belman.Thompson()), seed=3)
    for i in range(30):
        agent.tell("ab"[i % 2], float(i))
    before = seen(agent)
    agent.add_arm("c")
    agent.tell("c", 2.0)
    again = Agent.from_json(agent.to_json())
    assert seen(again) == before
    assert [again.ask() for _ in range(10)] == [agent.ask() for _ in range(10)]
    agent.retire_arm("a")
    assert agent._decider._memory.told.tolist() == [15.0, 1.0]
    agent._decider.relearn("b", agent._decider.learnt("c"))
    assert agent._decider._memory.told.tolist() == [0.0, 1.0]


def test_doors() -> None:
    for wrong in ({"share": 0.0}, {"share": 0.3}, {"policy": Forgetting()}, {"policy": 3}):
        with pytest.raises(PolicyError):
            Clipping(**wrong)

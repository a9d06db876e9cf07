"""An agent whose asks are decided elsewhere, whose arms come and go, whose policy changes."""

from __future__ import annotations

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.deciders import Choice
from belman.errors import ArmError, PolicyError
from belman.policies import EpsilonGreedy, Greedy, Random, TopTwoThompson
from tests.members import CLOSED, member, random_rewards


def test_an_expected_ask_counts_like_one_that_was_asked_here():
    here, there = (Agent(["a", "b", "c"], seed=3) for _ in range(2))
    for agent in (here, there):
        for arm, reward in (("a", 1), ("b", 0), ("c", 1), ("a", 0)):
            agent.tell(arm, reward)
    arm = here.ask()
    there._decider.expect(Choice(arm))
    there._decider.rng[:] = here._decider.rng
    assert there.outstanding == here.outstanding == {arm: 1}
    assert [there.ask() for _ in range(20)] == [here.ask() for _ in range(20)]
    with pytest.raises(ArmError):
        there._decider.expect(Choice("z"))


@pytest.mark.parametrize("name", CLOSED)
def test_an_arm_that_was_away_is_as_if_it_had_stayed(name):
    family = member(name)
    rewards = random_rewards(family, np.random.default_rng(1), 12)
    stayed, left = (Agent(["a", "b"], family, seed=1) for _ in range(2))
    for agent in (stayed, left):
        agent._decider.expect(Choice("b"))
        for reward in rewards[:6]:
            agent.tell("a", reward)
            agent.tell("b", reward)
    left.retire_arm("b")
    for reward in rewards[6:]:
        stayed.tell("b", reward)
        left._decider.record(Choice("b"), reward)
    left.add_arm("b")
    assert left.belief("b") == stayed.belief("b")
    assert left.outstanding == stayed.outstanding
    assert left.beliefs().row("b")["plays"] == 12


def test_another_policy_goes_on_with_what_was_learnt():
    agent = Agent(["good", "bad"], policy=Random(), seed=1)
    for _ in range(100):
        agent.tell("good", 1)
        agent.tell("bad", 0)
    agent.policy = Greedy()
    assert {agent.ask() for _ in range(50)} == {"good"}
    with pytest.raises(PolicyError):
        agent.policy = "greed"
    assert agent.policy == Greedy()
    agent.policy = "thompson"
    assert agent.policy == Thompson()


@pytest.mark.parametrize(
    "policy",
    [
        Thompson(),
        TopTwoThompson(),
        EpsilonGreedy(0.3),
        EpsilonGreedy(0.0),
        Random(),
        BelMan(),
        Greedy(),
    ],
    ids=repr,
)
def test_a_policy_that_leaves_all_a_chance_plays_them_all(policy):
    """Arms that are hard to tell apart: each has a chance above 0.05, and is missed in 400 asks
    once in 10^9 runs.
    """
    agent = Agent(["a", "b", "c"], policy=policy, seed=1)
    assert not agent._decider.leaves_all_a_chance
    for arm, wins in (("a", 5), ("b", 6), ("c", 7)):
        for i in range(10):
            agent.tell(arm, i < wins)
    played = set()
    for _ in range(400):
        arm = agent.ask()
        played.add(arm)
        agent.cancel(arm)
    assert (
        (played == {"a", "b", "c"})
        == agent._decider.leaves_all_a_chance
        == policy.leaves_all_a_chance
    )

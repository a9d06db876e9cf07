"""The chance of each choice: what an agent says of it, and how often it is made."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from belman import Agent, Thompson
from belman.deciders import Choice
from belman.families import Bernoulli
from belman.measures import best_probabilities
from tests.agent.played import ARMS, played


def test_among_ties_each_has_an_equal_chance():
    agent = Agent(range(5), seed=3)
    arm = agent.ask()
    assert agent.last == [Choice(arm, 1, 0.2)]
    agent.ask(among=[0, 1, 2])
    assert agent.last[0].probability == pytest.approx(1.0 / (3 - (arm in (0, 1, 2))))


def test_ties_are_broken_uniformly():
    """4,000 first choices among 4 arms: a χ² above 27.9 has a chance of 4e-6 (the seeds are fixed
    all the same).
    """
    agent = Agent(range(4), seed=11)
    counts = Counter()
    for _ in range(4_000):
        arm = agent.ask()
        agent.cancel(arm)
        counts[arm] += 1
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 27.9


def test_a_single_best_arm_has_probability_one():
    agent = played(Agent(ARMS, seed=3), 30)
    arm = agent.ask()
    assert agent.last == [Choice(arm, 31, 1.0)]


def test_thompsons_chance_is_the_probability_of_being_best_at_that_time():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    for arm, reward in (("blue", 1), ("blue", 1), ("green", 0), ("red", 1)):
        agent.tell(arm, reward)
    beliefs = np.array([agent.belief(arm) for arm in ARMS])
    chances = dict(zip(ARMS, best_probabilities(Bernoulli(), beliefs), strict=True))
    arm = agent.ask()
    assert agent.last[0].probability == pytest.approx(chances[arm], abs=1e-12)
    for _ in range(9):
        agent.tell(arm, 0)  # what is learnt later does not change what was recorded
    assert agent.last[0].probability == pytest.approx(chances[arm], abs=1e-12)


def test_thompsons_chance_among_some_arms_and_in_a_batch():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    for arm, reward in (("blue", 1), ("green", 0), ("red", 1), ("red", 0)):
        agent.tell(arm, reward)
    arm = agent.ask(among=["blue", "green"])
    chances = best_probabilities(
        Bernoulli(), np.array([agent.belief("blue"), agent.belief("green")])
    )
    assert agent.last[0].probability == pytest.approx(
        chances[["blue", "green"].index(arm)], abs=1e-12
    )
    agent.cancel(arm)
    first, second = agent.ask(2)
    rows = np.array([agent.belief(name) for name in ARMS])
    assert agent.last[0].probability == pytest.approx(
        best_probabilities(Bernoulli(), rows)[ARMS.index(first)], abs=1e-12
    )
    position = ARMS.index(first)
    rows[position] += (
        rows[position] / rows[position].sum()
    )  # the first ask counts as observed at its expectation
    assert agent.last[1].probability == pytest.approx(
        best_probabilities(Bernoulli(), rows)[ARMS.index(second)], abs=1e-12
    )


def test_thompson_plays_each_arm_as_often_as_it_says():
    """20,000 draws of one decision: each share is within 4.9 standard errors of its chance, all
    three fail with 3e-6.
    """
    agent = Agent(ARMS, policy=Thompson(), seed=12)
    for arm, reward in (("blue", 1), ("green", 0), ("red", 1), ("red", 0)):
        agent.tell(arm, reward)
    counts = Counter()
    for _ in range(20_000):
        arm = agent.ask()
        agent.cancel(arm)
        counts[arm] += 1
    chances = best_probabilities(Bernoulli(), np.array([agent.belief(arm) for arm in ARMS]))
    for arm, chance in zip(ARMS, chances, strict=True):
        assert (
            abs(counts[arm] / 20_000 - chance)
            < 4.9 * math.sqrt(chance * (1.0 - chance) / 20_000) + 1e-3
        )

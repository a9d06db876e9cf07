"""The chance of a choice in a context: what an agent says of it, and how often it is made."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from belman import Agent
from belman.deciders.decider import Draw
from belman.policies.dependent import LinEpsilonGreedy, LinGreedy, LinMED, LinTS, SharedBelMan

_FEATURES = {"a": {"price": 1}, "b": {"price": 2}, "c": {"price": 4}, "d": {"price": 4}}


def _agent(policy, rewards=12, **settings):
    agent = Agent([*"abcd"], context=["x"], policy=policy, seed=4, **settings)
    rng = np.random.default_rng(2)
    for x, arm in zip(rng.normal(size=rewards), "abcd" * 9, strict=False):
        agent.tell(arm, float(rng.random() < 0.4), context={"x": x})
    return agent


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        (LinTS(), {}),
        (LinTS(inflation=2.0), {"model": "linear"}),
        (LinTS(), {"features": _FEATURES, "pooling": "hybrid"}),
        (LinTS(), {"features": _FEATURES, "pooling": "shared"}),
        (LinEpsilonGreedy(0.3), {}),
        (LinMED(), {}),
    ],
)
def test_arms_are_chosen_as_often_as_is_said(policy, settings):
    """4,000 draws of one decision: each share is within 4.9 standard errors of what is said of it,
    and 0.002; all 24 of them fail with 2e-5. The chances of all arms add up to one.
    """
    agent, counts, said = _agent(policy, **settings), Counter(), {}
    agent.ask(context={"x": 0.5})  # whose numbers are counted
    decider = agent._decider
    asking = decider.check({"x": 0.5})
    for _ in range(4_000):
        choice = decider._wish(asking, None)
        counts[choice.arm] += 1
        said.setdefault(choice.arm, choice.probability)
        assert choice.probability == said[choice.arm]
    for arm, chance in said.items():
        wide = 4.9 * math.sqrt(chance * (1.0 - chance) / 4_000) + 0.002
        assert abs(counts[arm] / 4_000 - chance) < wide
    assert sum(said.values()) == pytest.approx(1.0, abs=0.004 if len(said) == 4 else 0.02)


@pytest.mark.parametrize("policy", [SharedBelMan(), LinGreedy(), LinTS(), LinMED()])
def test_every_choice_has_its_chance(policy):
    agent = _agent(policy)
    agent.ask(context={"x": 1.0})
    assert 0.0 < agent.last[0].probability <= 1.0
    assert agent.last[0].draw == (Draw.RANDOM if policy.by_chance else Draw.POLICY)
    agent.ask(3, context={"x": -1.0})
    assert all(0.0 < choice.probability <= 1.0 for choice in agent.last)

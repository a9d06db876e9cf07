"""What an agent recommends and how sure it is, whoever chooses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import Agent, Uniform
from belman.errors import SettingError
from belman.policies import Gittins, SuccessiveAcceptsRejects
from tests.members import interpreted

EVERY = """
import json
from dataclasses import MISSING, fields
import numpy as np
from belman import Agent
from belman.policies import POLICIES
answers = {}
for name, kind in POLICIES.items():
    if not kind.sees_truth:
        needed = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
        quick = {"discount": 0.5} if name == "gittins" else {}
        policy = kind(**dict.fromkeys(needed, 20), **quick)
        agent = Agent(["a", "b", "c"], policy=policy, seed=5)
        rng = np.random.default_rng(2)
        answers[name] = [agent.confidence()]
        for arm, mean in (("a", 0.1), ("b", 0.9), ("c", 0.5)):
            for _ in range(20):
                agent.tell(arm, float(rng.random() < mean))
        agent.ask()
        before = agent.to_json()
        answers[name] += [agent.recommend(), agent.recommend(m=2), agent.confidence()]
        answers[name] += [agent.confidence(2), agent.should_stop(0.3)]
        assert agent.to_json() == before
print(json.dumps(answers))
"""


@pytest.mark.compiled
def test_every_policy_recommends_and_says_how_sure_it_is() -> None:
    Gittins(discount=0.5).index(1, 1)  # its table, which is kept: interpreted it takes 11 seconds
    answers = interpreted(EVERY)
    assert len(answers) > 25
    sure = {name: answer[3] for name, answer in answers.items()}
    for name, (at_first, best, two, _, _, stops) in answers.items():
        assert at_first == 0.0
        assert best == "b", name
        assert two == ["b", "c"], name
        assert stops == (sure[name] >= 0.7), name
    assert (
        len({round(value, 9) for value in sure.values()}) == 1
    )  # the same rewards, the same evidence
    assert 0.0 < sure["belman"] < 1.0


def test_confidence_is_chernoffs_rule_by_hand() -> None:
    agent = Agent(["a", "b"], policy=Uniform(), seed=1)
    for _ in range(10):
        agent.tell("a", 1)
        agent.tell("b", 0)
    evidence = 10 * math.log(1 / 0.5) * 2  # each arm's average against one half
    assert agent.confidence() == pytest.approx(1.0 - (1.0 + math.log(20)) * math.exp(-evidence))
    assert agent.should_stop(0.01)
    assert not agent.should_stop(1e-6)
    assert agent.confidence(threshold="proven") < agent.confidence()
    assert agent.confidence(m=2) == 1.0  # both of two arms: nothing can be wrong


def test_no_confidence_in_an_arm_that_the_averages_do_not_favour() -> None:
    """A strong prior recommends what the rewards alone do not."""
    agent = Agent(["a", "b"], policy=Uniform(), priors={"a": (900.0, 100.0)}, seed=1)
    agent.tell("a", 0)
    agent.tell("b", 1)
    assert agent.recommend() == "a"
    assert agent.confidence() == 0.0


def test_costs_are_recommended_for_being_small() -> None:
    agent = Agent(["slow", "fast"], "exponential", Uniform(), minimise=True, seed=1)
    for cost in (5.0, 6.0, 7.0, 4.0, 5.5) * 4:
        agent.tell("slow", cost)
        agent.tell("fast", cost / 6.0)
    assert agent.recommend() == "fast"
    assert agent.should_stop(0.05)


def test_what_was_accepted_is_recommended() -> None:
    agent = Agent(range(5), policy=SuccessiveAcceptsRejects(200, m=2), seed=3)
    rng = np.random.default_rng(4)
    for _ in range(200):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < (0.1, 0.9, 0.2, 0.8, 0.3)[arm]))
    agent.ask()
    assert sorted(agent.recommend(m=2)) == [1, 3]
    assert agent._decider._memory.standing[[1, 3]].tolist() == [1.0, 1.0]


def test_doors() -> None:
    agent = Agent(["a", "b"], seed=1)
    for m in (0, 3, 1.0, True, "two"):
        with pytest.raises(
            SettingError, match=r"m=.* is not valid: it must be a whole number from 1 to 2"
        ):
            agent.recommend(m)  # type: ignore[arg-type]
    for delta in (0.0, 1.0, True, None):
        with pytest.raises(SettingError, match=r"delta=.* is not valid"):
            agent.should_stop(delta)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="unknown threshold 'sure'"):
        agent.confidence(threshold="sure")

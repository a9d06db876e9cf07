"""State files from strangers: nothing that kernels would follow out of bounds, or for ever."""

from __future__ import annotations

import json
import math

import pytest

from belman import Agent
from belman.agent import state_file
from belman.errors import StateError
from belman.policies import (
    LUCB,
    BelMan,
    ExploreThenCommit,
    Forced,
    Phases,
    SuccessiveAcceptsRejects,
    Thompson,
)
from tests.attack import state_files


def edited(agent: Agent, *path: str, value: object) -> str:
    """The text of an agent with another value at a place, and a checksum that fits."""
    content = json.loads(agent.to_json())
    content.pop("checksum")
    *parents, last = path
    holder = content
    for name in parents:
        holder = holder[name]
    assert last in holder
    holder[last] = value
    return json.dumps(content | {"checksum": state_file._checksum(content)})


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["stale"], [1, 50_000_000], "stale is 50000000"),
        (["stale"], [1, -1], "stale is -1"),
        (["stale"], [50_000_000], "length of stale"),
        (["stale"], [2, 0, 0], "names an arm twice"),
        (["stale"], [1, 0.5], "stale is 0.5"),
        (["pending"], [10**15, 0], "pending is 1000000000000000"),
        (["pending"], [-1, 0], "pending is -1"),
        (["tells"], 3, "tells is no list"),
        (["told"], 10**400, "told is 1000"),
        (["told"], True, "told is True"),
        (["mind"], [1, 2, 3], "mind is no list of 4"),
        (["mind"], [1, 2, 3, 2**64], "mind is 18446744073709551616"),
        (["truth", "beliefs"], [[1.0, 1.0]], "shape"),
        (["truth", "beliefs"], [[1.0, -1.0], [1.0, 1.0]], "not proper"),
        (["truth", "beliefs"], [[1.0, 1e300], [1.0, 1.0]], "keeps its precision"),
        (["truth", "plays"], [-1.0, 0.0], "plays of truth"),
        (["truth", "sums"], [1e300, 0.0], "sums of truth"),
        (["working", "squares"], ["inf", 0.0], "squares of working"),
        (["priors"], [["nan", 1.0], [1.0, 1.0]], "not a number"),
        (["minimise"], "no", "whether it minimises"),
        (["arms"], [math.inf, "b"], "an arm inf"),
    ],
)
def test_what_kernels_use_as_places_and_bounds_is_checked(path, value, words):
    agent = Agent(["a", "b"], policy=Thompson(), seed=1)
    with pytest.raises(StateError, match=words):
        Agent.from_json(edited(agent, *path, value=value))


@pytest.mark.parametrize(
    ("policy", "part", "value"),
    [
        (ExploreThenCommit(explore=2), "committed", 3),
        (LUCB(), "partner", 10**9),
        (Phases(then=ExploreThenCommit(explore=2)), "doubt", -1),
        (Phases(then=ExploreThenCommit(explore=2)), "then_committed", 10**9),
        (Forced(ExploreThenCommit(explore=2)), "committed", 0.5),
        (SuccessiveAcceptsRejects(budget=20), "phase", 10**9),
        (BelMan(), "pool", "nan"),
    ],
)
def test_a_policy_says_what_its_memory_may_hold(policy, part, value):
    agent = Agent(["a", "b", "c"], policy=policy, seed=1)
    saved = json.loads(agent.to_json())["memory"][part]
    with pytest.raises(StateError, match=part):
        Agent.from_json(edited(agent, "memory", part, value=[value] * len(saved)))


def test_mutated_files_are_refused_or_loaded_as_they_are():
    """The short form of `tests.attack.state_files`."""
    found = state_files.main(1_000, seed=11, families=("bernoulli", "gaussian"))
    assert found["failures"] == []
    assert found["refused"] + found["equal"] == 1_000
    assert min(found["refused"], found["equal"]) > 50

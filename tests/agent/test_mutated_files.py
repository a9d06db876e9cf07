"""State files from strangers: nothing that kernels would follow out of bounds, or for ever."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from belman import Agent, chance
from belman.deciders import state_file
from belman.engine.tiers import interpreted
from belman.errors import ArmError, PriorError, SettingError, StateError
from belman.families import Bernoulli, Geometric
from belman.policies import (
    LUCB,
    BelMan,
    ExploreThenCommit,
    Forced,
    Gittins,
    Ledger,
    Phases,
    SuccessiveAcceptsRejects,
    Thompson,
    TrackAndStop,
)
from belman.policies.gittins import gittins, table
from tests.attack import state_files


def edited(agent: Agent, *path: str, value: object) -> str:
    """The text of an agent with another value at a place, and a checksum that fits."""
    content = json.loads(agent.to_json())
    content.pop("checksum")
    *parents, last = path
    holder = content if path[0] in content else content["state"]
    for name in parents:
        holder = holder[name]
    assert last in holder
    holder[last] = value
    return json.dumps(content | {"checksum": state_file._checksum(content)})


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["stale"], [50_000_000], "one that is not there"),
        (["stale"], [-1], "stale: '-1' stands where a whole number"),
        (["stale"], [0, 0], "names an arm twice"),
        (["stale"], [0.5], "stale: '0.5' stands where a whole number"),
        (["pending"], [10**15, 0], "pending: '1000000000000000' stands where a number from 0 to"),
        (["pending"], [-1, 0], "pending: '-1' stands where a number from 0 to"),
        (["tells"], 3, "tells: '3' stands where a column"),
        (["told"], 10**400, "told: '1000"),
        (["told"], True, "told: 'True' stands where a whole number"),
        (["rng"], [1, 2, 3], "not the state of a generator: 4 words are"),
        (["rng"], [1, 2, 3, 2**64], "rng: '18446744073709551616' stands where"),
        (["truth", "beliefs"], [[1.0, 1.0]], "shape"),
        (["truth", "beliefs"], [[1.0, -1.0], [1.0, 1.0]], "not proper"),
        (["truth", "beliefs"], [[1.0, 1e300], [1.0, 1.0]], "keeps its precision"),
        (["truth", "plays"], [-1.0, 0.0], "plays of truth"),
        (["truth", "sums"], [1e300, 0.0], "sums of truth"),
        (
            ["working", "squares"],
            ["inf", 0.0],
            "squares: 'inf' stands where a finite",
        ),
        (["priors"], [["nan", 1.0], [1.0, 1.0]], "priors: 'nan' stands where a finite"),
        (["minimise"], "no", "minimise: 'no' stands where true or false"),
        (["arms"], [math.inf, "b"], "an arm inf"),
        (["arms"], "ab", "arms: 'ab' stands where a list"),
        (["arms"], [{"tuple": "ab"}, "b"], "does not hold a whole"),
        (["truth", "plays"], ["0", 0.0], "'0' stands where a number belongs"),
        (["truth", "plays"], [True, 0.0], "'True' stands where a number belongs"),
        (["range"], [], "is not an interval"),
        (["range"], 0, "range: '0' stands where a list"),
        (["range"], "01", "range: '01' stands where a list"),
        (["discount"], True, "discount: 'True' stands where a finite number"),
        (["time"], 1.0, "time is 1, and thompson goes by no clock"),
        (["version"], -1, "has version -1"),
    ],
)
def test_what_kernels_use_as_positions_and_bounds_is_checked(path, value, words):
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
    saved = json.loads(agent.to_json())["state"]["memory"][part]
    with pytest.raises(StateError, match=part):
        Agent.from_json(edited(agent, "memory", part, value=[value] * len(saved)))


@pytest.mark.parametrize(
    ("family", "sums"), [("geometric", 0.0), ("bernoulli", 4.5), ("bernoulli", -0.5)]
)
def test_averages_that_no_rewards_of_a_family_have_are_refused(family, sums):
    agent = Agent(["a", "b"], family, seed=1)
    for _ in range(4):
        agent.tell("a", 1)
    with pytest.raises(StateError, match="sums of truth"):
        Agent.from_json(edited(agent, "truth", "sums", value=[sums, 0.0]))


def test_weights_of_nothing_are_no_logarithm_of_nothing():
    with interpreted():
        agent = Agent(["a", "b"], drift="auto", seed=1)
        agent.tell(agent.ask(), 1)
        weights = json.loads(agent.to_json())["state"]["memory"]["fading_weights"]
        emptied = [-0.5] * len(weights)
        result = Agent.from_json(edited(agent, "memory", "fading_weights", value=emptied))
        result.tell(result.ask(), 1)
        assert np.isfinite(result.beliefs()["expected reward"]).all()


def test_mutated_files_are_refused_or_loaded_as_they_are():
    """The short form of `tests.attack.state_files`."""
    result = state_files.main(1_000, seed=11, families=("bernoulli", "gaussian"))
    assert result["failures"] == []
    assert result["refused"] + result["equal"] == 1_000
    assert min(result["refused"], result["equal"]) > 50


def test_what_is_no_text_is_no_agent():
    with pytest.raises(StateError, match="is not text: '5' was given"):
        Agent.from_json(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("prior", [(1e-12, 1.0), (1.0, 1e-12), (3.0 + 1e-12, 1.0)])
def test_a_table_of_indices_ends_however_near_to_zero_a_prior_is(prior):
    starts = []

    def noted(discount, start):
        starts.append(start)
        return np.zeros(4)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gittins, "_params", noted)
        Gittins().params(Bernoulli(prior=prior))
    assert starts == [(1.0, 1.0)]


def test_a_discount_so_small_that_nothing_is_lifted_gives_a_finite_table(monkeypatch, tmp_path):
    monkeypatch.setattr(table, "cache_directory", lambda: tmp_path)
    nodes = (gittins.table.COUNTS + 1) * (gittins.table.COUNTS + 2) // 2
    monkeypatch.setattr(gittins.table, "lifts", lambda discount, starts: np.zeros(nodes))
    gittins._params.cache_clear()
    assert np.isfinite(gittins._params(1e-300, (1.0, 1.0))).all()
    gittins._params.cache_clear()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("\ud800", "surrogate"),
        (("a", "\udfff"), "surrogate"),
        ("x" * 1_001, "at most 1,000 characters"),
        (b"x" * 1_001, "at most 1,000 characters"),
        (tuple(range(17)), "at most 16 parts"),
        ((((((1,),),),),), "inside one another"),
        (10**400, "is below 1e"),
    ],
)
def test_a_name_that_no_file_can_hold_is_none(name, words):
    agent = Agent(["a", "b"], seed=1)
    before = agent.to_json()
    for bad in (lambda: Agent(["a", name]), lambda: agent.add_arm(name)):
        with pytest.raises(ArmError, match=words):
            bad()
    assert agent.to_json() == before


def test_arms_without_end_are_refused():
    with pytest.raises(ArmError, match="more than 1,000,000 arms"):
        Agent(itertools.count())


def test_what_is_learnt_anew_is_what_was_learnt():
    agent = Agent(["a", "b"], seed=1)
    with pytest.raises(SettingError, match="is not what"):
        agent._decider.relearn("a", (1.0, 1.0))  # type: ignore[arg-type]
    with pytest.raises(PriorError, match="not proper"):
        agent._decider.relearn("a", agent._decider.learnt("a")._replace(belief=(-1.0, 1.0)))


@pytest.mark.parametrize("family", ["gamma", "exponential"])
def test_confidence_is_a_number_where_an_arm_gave_nothing(family):
    with interpreted():
        agent = Agent(["a", "b"], family, seed=1)
        for rewards in ((0.0, 1.0), (0.0, 0.0)):
            for arm, reward in zip(("a", "b"), rewards, strict=True):
                agent.tell(arm, reward)
            assert 0.0 <= agent.confidence() <= 1.0
            assert agent.should_stop(0.05) in (True, False)


@pytest.mark.parametrize("n", [10_000_001, 2**63, 10**400])
def test_a_batch_without_end_is_refused(n):
    agent = Agent(["a", "b"], seed=1)
    before = agent.to_json()
    with pytest.raises(SettingError, match="at most 10,000,000"):
        agent.ask(n)
    assert agent.to_json() == before


def test_a_policy_that_has_decided_all_comes_back():
    """Of one arm that is left, too, which ends a phase more than there are arms."""
    agent = Agent(["a", "b"], policy=SuccessiveAcceptsRejects(budget=20), seed=1)
    agent.retire_arm("b")
    for _ in range(5):
        agent.tell(agent.ask(), 1)
    text = agent.to_json()
    assert json.loads(text)["state"]["memory"]["phase"] == [2.0]
    assert Agent.from_json(text).to_json() == text


def test_proportions_that_are_no_numbers_are_not_kept():
    """Of means that no arm of the family has."""
    policy, family = TrackAndStop(), Geometric()
    memory = policy.memory(3, 2)
    memory.mean[:] = 4.0, 0.0, 1.0
    ledger, index = Ledger(np.ones((3, 2)), np.ones(3), memory.mean, memory.mean), np.zeros(3)
    known = (family.kernels, family.constants, policy.params(family), ledger, memory)
    with np.errstate(all="ignore"):
        policy.kernels.indices(*known, 4, 2.0, chance.generator(1), index)
    assert np.isfinite([*memory.ratios, *memory.level, *index]).all()

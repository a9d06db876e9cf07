"""Random lives of an agent beside a naive bookkeeper that keeps counts and beliefs by hand."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from belman import Agent, BelMan, Thompson
from belman.errors import ArmError, BelmanError, PriorError, RewardError, SettingError

NAMES = st.one_of(
    st.sampled_from("abcdefgh"),
    st.integers(0, 5),
    st.tuples(st.sampled_from("xy"), st.integers(0, 2)),
)
REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1, True])
PRIORS = st.tuples(
    st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e9]), st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e9])
)
POLICIES = {"belman": BelMan(), "paper": BelMan.paper(), "thompson": Thompson()}

BAD_CALLS = [
    (lambda agent: agent.tell("nobody", 1), ArmError),
    (lambda agent: agent.tell(agent.arms[0], math.nan), RewardError),
    (lambda agent: agent.tell(agent.arms[-1], 1.5), RewardError),
    (lambda agent: agent.tell(agent.arms[0], "1"), RewardError),
    (lambda agent: agent.ask(0), SettingError),
    (lambda agent: agent.ask(among=[]), ArmError),
    (lambda agent: agent.ask(3, among=[agent.arms[0], "nobody"]), ArmError),
    (lambda agent: agent.add_arm(agent.arms[0]), ArmError),
    (lambda agent: agent.add_arm("somebody", prior=(1.0, -1.0)), PriorError),
    (lambda agent: agent.retire_arm("nobody"), ArmError),
    (lambda agent: agent.cancel("nobody"), ArmError),
    (lambda agent: Agent.from_json(agent.to_json()[:-30]), BelmanError),
]


class Life(RuleBasedStateMachine):
    """What the bookkeeper knows: each arm's prior and its rewards with their ages, the asks
    outstanding, the rewards told.
    """

    @initialize(
        names=st.lists(NAMES, min_size=1, max_size=6, unique=True),
        policy=st.sampled_from(sorted(POLICIES)),
        discount=st.sampled_from([1.0, 1.0, 0.75]),
        seed=st.integers(0, 1000),
    )
    def born(self, names, policy, discount, seed):
        self.agent = Agent(names, policy=POLICIES[policy], discount=discount, seed=seed)
        self.discount = discount
        self.priors = dict.fromkeys(names, (1.0, 1.0))
        self.rewards = {name: [] for name in names}
        self.outstanding = Counter()
        self.told = 0

    def enter(self, arm, reward):
        self.agent.tell(arm, reward)
        self.told += 1
        self.rewards[arm].append((self.told, float(reward)))
        if self.outstanding[arm]:
            self.outstanding[arm] -= 1

    def belief(self, arm):
        alpha, beta = self.priors[arm]
        for when, reward in self.rewards[arm]:
            weight = self.discount ** (self.told - when)
            alpha += weight * reward
            beta += weight * (1.0 - reward)
        return alpha, beta

    @rule()
    def ask(self):
        arm = self.agent.ask()
        assert arm in self.priors
        self.outstanding[arm] += 1
        (choice,) = self.agent.last
        assert choice.arm == arm
        assert choice.turn == self.told + 1
        assert 0.0 < choice.probability <= 1.0

    @rule(n=st.integers(1, 8))
    def ask_for_a_batch(self, n):
        untried = [
            arm for arm in self.priors if not self.rewards[arm] and not self.outstanding[arm]
        ]
        batch = self.agent.ask(n)
        assert len(batch) == n
        if n > 1:
            assert set(batch[: len(untried)]) == set(untried) or set(batch) <= set(untried)
        self.outstanding.update(batch)
        assert [choice.arm for choice in self.agent.last] == batch

    @rule(data=st.data())
    def ask_among(self, data):
        some = data.draw(st.lists(st.sampled_from(list(self.priors)), min_size=1, unique=True))
        arm = self.agent.ask(among=some)
        assert arm in some
        self.outstanding[arm] += 1

    @rule(data=st.data(), reward=REWARDS)
    def tell(self, data, reward):
        self.enter(data.draw(st.sampled_from(list(self.priors))), reward)

    @precondition(lambda self: self.outstanding.total())
    @rule(data=st.data(), reward=REWARDS)
    def tell_late(self, data, reward):
        self.enter(
            data.draw(st.sampled_from(sorted(self.outstanding.elements(), key=repr))), reward
        )

    @precondition(lambda self: self.outstanding.total())
    @rule(data=st.data())
    def cancel(self, data):
        arm = data.draw(st.sampled_from(sorted(self.outstanding.elements(), key=repr)))
        self.agent.cancel(arm)
        self.outstanding[arm] -= 1

    @rule(name=NAMES, prior=st.none() | PRIORS)
    def add(self, name, prior):
        if name in self.priors:
            before = self.agent.to_json()
            with pytest.raises(ArmError, match="is there already"):
                self.agent.add_arm(name, prior)
            assert self.agent.to_json() == before
        else:
            self.agent.add_arm(name, prior)
            self.priors[name] = prior or (1.0, 1.0)
            self.rewards[name] = []

    @precondition(lambda self: len(self.priors) > 1)
    @rule(data=st.data())
    def remove(self, data):
        arm = data.draw(st.sampled_from(list(self.priors)))
        self.agent.retire_arm(arm, forget=True)
        del self.priors[arm], self.rewards[arm], self.outstanding[arm]

    @precondition(lambda self: len(self.priors) > 1 and self.discount == 1.0)
    @rule(data=st.data(), reward=REWARDS)
    def retire_for_a_while(self, data, reward):
        """An arm that is away hears of its asks, and comes back as the last one."""
        arm = data.draw(st.sampled_from(list(self.priors)))
        self.agent.retire_arm(arm)
        if self.outstanding[arm]:
            self.enter(arm, reward)
        assert arm not in self.agent.arms
        assert arm not in self.agent.beliefs()["arm"]
        assert arm not in self.agent.weights(10)
        assert self.agent.ask() != arm
        self.outstanding[self.agent.last[0].arm] += 1
        self.agent = Agent.from_json(self.agent.to_json())
        self.agent.add_arm(arm)
        self.priors[arm] = self.priors.pop(arm)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "state.json")
            self.agent.save(path)
            loaded = Agent.load(path)
        assert loaded.to_json() == self.agent.to_json()
        assert loaded.ask(2) == Agent.from_json(self.agent.to_json()).ask(2)
        self.agent = Agent.from_json(self.agent.to_json())

    @rule(bad=st.sampled_from(BAD_CALLS))
    def err(self, bad):
        call, error = bad
        before = self.agent.to_json()
        with pytest.raises(error):
            call(self.agent)
        assert self.agent.to_json() == before

    @rule()
    def look(self):
        before = self.agent.to_json()
        beliefs, reasons = self.agent.beliefs(), self.agent.explain()
        assert len(beliefs) == len(reasons) == len(self.priors)
        for table in (beliefs, reasons):
            for name, column in table.columns.items():
                assert name == "arm" or not any(math.isnan(value) for value in column)
        assert all(0.0 <= row["low"] <= row["high"] <= 1.0 for row in beliefs)
        assert sum(beliefs["P(best)"]) == pytest.approx(1.0, abs=1e-4)
        assert all(map(math.isfinite, reasons["index"]))
        assert self.agent.to_json() == before

    @invariant()
    def counts_agree(self):
        assert self.agent.arms == tuple(self.priors)
        assert self.agent.turn == self.told + 1
        assert self.agent.outstanding == +self.outstanding

    @invariant()
    def beliefs_are_prior_and_statistics(self):
        for arm in self.priors:
            assert self.agent.belief(arm) == pytest.approx(self.belief(arm), rel=1e-12)

    @invariant()
    def the_state_is_whole(self):
        text = self.agent.to_json()
        assert "NaN" not in text
        assert '"nan"' not in text
        content = json.loads(text)["state"]
        assert content["tells"] == [len(self.rewards[arm]) for arm in self.priors]
        assert content["pending"] == [self.outstanding[arm] for arm in self.priors]


Life.TestCase.settings = settings(
    max_examples=30, stateful_step_count=40, deadline=None, derandomize=True, database=None
)
TestLife = Life.TestCase

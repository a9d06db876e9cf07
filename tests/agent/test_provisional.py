"""What counts and is not learnt; and outstanding asks in closed form beside asks one by one."""

from __future__ import annotations

import numpy as np
import pytest

from belman import Agent, BelMan, errors
from belman.deciders import Choice
from belman.engine import LATER, entry
from belman.families import FAMILIES, Bernoulli, family_named
from belman.policies import DMED, IMED, KLUCB, Ledger
from belman.policies.dealing import ONE_BY_ONE, renew_row


def seen(family, pending, prior=None):
    """The working row of an arm of which nothing was told and so many asks are out."""
    truth = Ledger.blank(np.array([family.prior if prior is None else prior]))
    working = Ledger(*(column.copy() for column in truth))
    entry(renew_row, family=family.kernels)(
        LATER,
        constants=family.constants,
        truth=truth,
        provisional=np.zeros((1, 2)),
        pending=np.array([pending]),
        working=working,
        scratch=np.zeros((2, family.dimension)),
        arm=0,
    )
    return working


def one_by_one(family, pending, prior=None):
    belief = np.array(family.prior if prior is None else prior, dtype=np.float64)
    for _ in range(pending):
        family._run(family.kernels.imagine, belief)
    return belief


CLOSED = [name for name in FAMILIES if family_named(name).closed_form]


@pytest.mark.parametrize("name", CLOSED)
def test_few_asks_out_are_imagined_one_by_one_to_the_last_bit(name):
    family = family_named(name)
    for pending in (1, 2, ONE_BY_ONE):
        assert (seen(family, pending).beliefs[0] == one_by_one(family, pending)).all()


@pytest.mark.parametrize("name", [name for name in CLOSED if family_named(name).summed])
def test_many_asks_out_at_once_are_the_same_as_one_by_one(name):
    family = family_named(name)
    result = seen(family, 3_000)
    assert result.beliefs[0] == pytest.approx(one_by_one(family, 3_000), rel=1e-9)
    assert result.plays[0] == 3_000.0


@pytest.mark.parametrize("prior", [(1e-3, 1e-3), (1e-3, 1e9), (1e9, 1e9)])
def test_many_asks_out_keep_what_is_expected_at_the_edges(prior):
    family = Bernoulli()
    (belief,) = seen(family, 100_000, prior).beliefs
    assert belief.sum() == pytest.approx(sum(prior) + 100_000, rel=1e-12)
    expected = family.expected_reward(prior)
    assert family.expected_reward(belief) == pytest.approx(expected, rel=1e-9)


def test_provisional_failures_count_as_told_ones_do_and_are_taken_back():
    told, agent = Agent(["a", "b"], seed=1), Agent(["a", "b"], seed=1)
    for each in (told, agent):
        each.tell("a", 1)
        each.tell("b", 1)
    before = agent.to_json()
    agent.provisional = {"a": (0.0, 2.0), "b": (1.0, 0.0)}
    told.tell("b", 1)
    told.tell("a", 0)
    told.tell("a", 0)
    for name in ("expected reward", "low", "high", "P(best)"):
        assert agent.beliefs()[name] == told.beliefs()[name]
    assert agent.beliefs()["plays"] == [1, 1]
    assert agent.recommend() == told.recommend()
    assert agent.belief("a") == told.belief("a") == (2.0, 3.0)
    assert agent._decider.learnt("a").belief == (2.0, 1.0)
    mean = "expected reward"
    assert agent.explain().row("a")[mean] == pytest.approx(told.explain().row("a")[mean])
    agent.provisional = {}
    assert agent.to_json() == before


def test_what_counts_provisionally_of_an_outstanding_ask_is_not_imagined():
    agent = Agent(["a", "b"], policy=BelMan.paper(), priors={"a": (3.0, 1.0)}, seed=1)
    agent._decider.expect(Choice("a"))
    agent._decider.expect(Choice("a"))
    agent.provisional = {"a": (0.0, 1.0)}
    assert agent.explain().row("a")["expected reward"] == pytest.approx(3.0 / 5.0)
    agent.ask()
    row = agent._decider._working.beliefs[0]
    assert row.tolist() == pytest.approx([3.6, 2.4])  # one failure, and one ask at 3/5


def test_doubt_widens_intervals_and_nothing_else():
    agent = Agent(["a", "b"], start={"a": (1000, 30), "b": (1000, 40)}, seed=1)
    plain = agent.beliefs()
    agent.provisional = {"a": (0.0, 0.0, 0.1), "b": (0.0, 0.0, 0.1)}
    wide = agent.beliefs()
    assert wide["P(best)"] == plain["P(best)"]
    assert wide["expected reward"] == plain["expected reward"]
    assert all(low < before for low, before in zip(wide["low"], plain["low"], strict=True))
    assert all(high > before for high, before in zip(wide["high"], plain["high"], strict=True))


def test_arms_come_and_go():
    agent = Agent(["a", "b"], seed=1)
    agent.provisional = {"a": (0.0, 2.0), "b": (0.0, 3.0)}
    agent.retire_arm("a")
    agent.add_arm("c")
    assert agent.provisional == {"b": (0.0, 3.0, 0.0)}
    agent.ask()


def test_an_arm_that_is_learnt_anew_has_nothing_provisional_and_may_be_untried():
    agent = Agent(["a", "b"], seed=1)
    agent.tell("a", 1)
    agent.tell("b", 1)
    agent.ask(2)
    agent.cancel("a")
    agent.provisional = {"a": (0.5, 2.0)}
    agent._decider.relearn("a", Agent(["a"])._decider.learnt("a"))
    assert agent.provisional == {}
    assert agent.belief("a") == (1.0, 1.0)
    assert agent.ask() == "a"  # never tried, while asks are out


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"a": (0.0,)}, "cannot count"),
        ({"a": (-1.0, 0.0)}, "cannot count"),
        ({"a": (float("nan"), 0.0)}, "cannot count"),
        ({"a": (0.0, 1.0, -1.0)}, "cannot count"),
        ({"z": (0.0, 1.0)}, "unknown arm"),
        ([1.0, 2.0], "not a mapping"),
    ],
)
def test_counts_that_are_none_change_nothing(counts, words):
    agent = Agent(["a", "b"], seed=1)
    agent.provisional = {"b": (0.0, 1.0)}
    with pytest.raises(errors.BelmanError, match=words):
        agent.provisional = counts
    assert agent.provisional == {"b": (0.0, 1.0, 0.0)}


def test_families_without_successes_refuse():
    agent = Agent(["a", "b"], "gaussian", seed=1)
    with pytest.raises(
        errors.SettingError, match="gaussian rewards are not successes and failures"
    ):
        agent.provisional = {"a": (0.0, 1.0)}
    agent.provisional = {}


@pytest.mark.parametrize("policy", [KLUCB(), IMED(), DMED()], ids=repr)
def test_an_ask_of_which_anything_is_expected_is_imagined_as_a_reward_that_can_be(policy):
    """A geometric belief Beta(1, 1) expects an infinite reward, and a finite one after it."""
    agent = Agent(["a", "b", "c"], "geometric", policy, seed=2)
    asked = [agent.ask() for _ in range(6)]
    assert np.isfinite(agent._decider._working.sums).all()
    assert (agent._decider._working.sums >= agent._decider._working.plays).all()
    assert set(asked) <= set(agent.arms)

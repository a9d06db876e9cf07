"""What an agent says of itself: beliefs, tables, and how its indices come about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman import Agent, BelMan, Thompson
from belman.exposure import Evidence, FadingEvidence, Infinite, two_phase
from belman.families import Bernoulli
from belman.manifold import divergence, least_kl_from_arms
from belman.measures import best_probabilities
from belman.policies import Forced
from belman.table import Table
from tests.agent.played import ARMS, played
from tests.naive_belman import naive_phi


def test_beliefs_by_hand():
    agent = Agent(ARMS, seed=1)
    for arm, reward in (("blue", 1), ("blue", 1), ("blue", 0), ("red", 0.5)):
        agent.tell(arm, reward)
    table = agent.beliefs(level=0.9)
    assert table["arm"] == ARMS
    assert table["plays"] == [3, 0, 1]
    assert table["expected reward"] == pytest.approx([3 / 5, 1 / 2, 1.5 / 3])
    distributions = [stats.beta(3, 2), stats.beta(1, 1), stats.beta(1.5, 1.5)]
    assert table["low"] == pytest.approx(
        [constants.ppf(0.05) for constants in distributions], rel=1e-9
    )
    assert table["high"] == pytest.approx(
        [constants.ppf(0.95) for constants in distributions], rel=1e-9
    )
    chances = best_probabilities(Bernoulli(), np.array([agent.belief(arm) for arm in ARMS]))
    assert table["P(best)"] == pytest.approx(chances.tolist(), abs=1e-6)
    assert sum(table["P(best)"]) == pytest.approx(1.0, abs=1e-5)


def test_beliefs_are_about_what_was_told_not_what_is_outstanding():
    agent = Agent(ARMS, seed=1)
    before = str(agent.beliefs())
    agent.ask(5)
    assert str(agent.beliefs()) == before


def test_tables_print_aligned_and_become_pandas_and_html():
    agent = Agent(["a", ("long", "name"), "<b>"], seed=1)
    agent.tell("a", 1)
    lines = str(agent.beliefs()).splitlines()
    assert len(lines) == 4
    ends = {
        line.rindex(cell) + len(cell)
        for line, cell in zip(lines, ["P(best)", "0.5", "0.25", "0.25"], strict=True)
    }
    assert len(ends) == 1
    frame = agent.beliefs().to_pandas()
    assert frame.index.name == "arm"
    assert list(frame.index) == ["a", ("long", "name"), "<b>"]
    assert frame.loc["a", "plays"] == 1
    assert frame["P(best)"].sum() == pytest.approx(1.0, abs=1e-5)
    assert "&lt;b&gt;" in agent.beliefs()._repr_html_()
    assert "<b>" not in agent.beliefs()._repr_html_()
    assert list(agent.explain().to_pandas().columns) == [
        "expected reward",
        "distance on rewards",
        "distance on beliefs",
        "surprise",
        "exposure",
        "index",
    ]


def test_rows_of_a_table():
    table = Table({"arm": ["x", "y"], "plays": [1, 2]}, "title")
    assert len(table) == 2
    assert table.row("y") == {"arm": "y", "plays": 2}
    assert [row["plays"] for row in table] == [1, 2]
    with pytest.raises(KeyError, match=r"no row 'z'.*'x', 'y'"):
        table.row("z")
    assert str(table).splitlines()[0] == "title"
    assert len(Table({})) == 0


def test_repr_says_what_matters():
    agent = Agent(ARMS, seed=1)
    agent.ask(2)
    agent.tell("blue", 1)
    text = repr(agent)
    assert text.startswith("Agent(3 arms, family='bernoulli', policy=BelMan(")
    assert "1 reward told" in text
    assert f"{sum(agent.outstanding.values())} outstanding" in text


def check_index(agent, index):
    table = agent.explain()
    assert table["index"] == sorted(table["index"], reverse=True)
    for arm in agent.arms:
        assert table.row(arm)["index"] == pytest.approx(index[arm], abs=1e-9)


def test_explained_index_under_fading_evidence_is_minus_evidence_minus_kl():
    """index = −c (n + p) d(μ, μ_L) − KL(b ‖ b̄), each from the public methods, and the exposure
    that goes with it.
    """
    agent = played(
        Agent(range(4), policy=BelMan(FadingEvidence(p=0.5)), seed=3),
        50,
        chances=(0.3, 0.6, 0.5, 0.8),
    )
    family, beliefs = Bernoulli(), {arm: agent.belief(arm) for arm in agent.arms}
    plays = dict(zip(agent.arms, agent.beliefs()["plays"], strict=True))
    centre = least_kl_from_arms(family, list(beliefs.values()))
    means = {arm: family.expected_reward(belief) for arm, belief in beliefs.items()}
    leader = max(means, key=means.__getitem__)
    weight = 0.5 + 0.8 * math.log(4) / (1.0 + 0.1 * math.log(1.0 + 51 / 4))
    evidence = {
        arm: weight * (plays[arm] + 0.5) * family.reward_divergence(means[arm], means[leader])
        for arm in beliefs
    }
    kl = {arm: divergence(family, belief, centre) for arm, belief in beliefs.items()}
    check_index(agent, {arm: -evidence[arm] - kl[arm] for arm in beliefs})
    for row in agent.explain():
        assert row["KL to pseudobelief"] == pytest.approx(kl[row["arm"]], rel=1e-7)
        gap = means[leader] - means[row["arm"]]
        tau = gap / evidence[row["arm"]] if gap > 0.0 else math.inf
        assert row["exposure"] == pytest.approx(tau, rel=1e-9)
    assert agent.explain()["arm"][0] == agent.ask()


def test_explained_index_under_evidence_is_surprise_minus_evidence():
    """index = φ(ln(t/ν)) − ν d(μ, μ_L) by hand, without the shift of the prior."""
    agent = played(
        Agent(range(4), policy=BelMan(Evidence(pool=math.inf)), seed=3),
        50,
        chances=(0.3, 0.6, 0.5, 0.8),
    )
    family = Bernoulli()
    worths = {arm: sum(agent.belief(arm)) for arm in agent.arms}
    means = {arm: agent.belief(arm)[0] / worths[arm] for arm in agent.arms}
    leading = max(means.values())
    against = {
        arm: worths[arm] * family.reward_divergence(means[arm], leading) for arm in agent.arms
    }
    check_index(
        agent,
        {arm: naive_phi(math.log(51.0 / worths[arm]), 4) - against[arm] for arm in agent.arms},
    )
    for row in agent.explain():
        assert row["distance on rewards"] == pytest.approx(against[row["arm"]], abs=1e-12)
        x = math.log(51.0 / worths[row["arm"]])
        assert row["distance on beliefs"] == pytest.approx(x - 1.0 + math.exp(-x), abs=1e-12)
        gap = leading - means[row["arm"]]
        assert row["exposure"] == pytest.approx(
            gap / against[row["arm"]] if gap > 0.0 else math.inf, rel=1e-9
        )
    assert agent.explain()["arm"][0] == agent.ask()


def test_explained_index_under_one_exposure_is_reward_over_tau_minus_kl():
    agent = played(Agent(range(4), policy=BelMan.paper(), seed=3), 50, chances=(0.3, 0.6, 0.5, 0.8))
    family, beliefs = Bernoulli(), {arm: agent.belief(arm) for arm in agent.arms}
    centre = least_kl_from_arms(family, list(beliefs.values()))
    pull = math.log(51) + 15.0 * math.log(math.log(51))
    index = {
        arm: pull * family.expected_reward(belief) - divergence(family, belief, centre)
        for arm, belief in beliefs.items()
    }
    check_index(agent, index)
    assert agent.explain()["exposure"] == pytest.approx([1.0 / pull] * 4, rel=1e-12)
    assert agent.explain()["arm"][0] == agent.ask()
    assert agent.explain().title == "turn 51: the arm with the largest index is played"


def test_pure_exploration_is_explained_by_an_infinite_exposure():
    agent = Agent(ARMS, policy=BelMan(Infinite()), seed=3)
    agent.tell("blue", 1)
    assert agent.explain()["exposure"] == [math.inf] * 3


@pytest.mark.parametrize("policy", [BelMan(), Thompson()], ids=["belman", "thompson"])
def test_looking_changes_nothing(policy):
    seen, unseen = (played(Agent(ARMS, policy=policy, seed=3), 20) for _ in range(2))
    for agent in (seen, unseen):
        agent.ask(2)
    before = seen.to_json()
    (
        repr(seen),
        seen.explain(),
        seen.beliefs(),
        seen.last,
        seen.outstanding,
        seen.pseudobelief,
        seen.turn,
        seen.belief("red"),
    )
    assert seen.to_json() == before
    for _ in range(50):
        seen.explain()
        arm = seen.ask()
        assert arm == unseen.ask()
        seen.tell(arm, 1.0)
        unseen.tell(arm, 1.0)


def test_the_pseudobelief_is_the_one_that_the_policy_compares_arms_with():
    """By default the pooled belief, worth the turns; else the barycentre of what was told."""
    agent = played(Agent(ARMS, seed=3), 20)
    beliefs = np.array([agent.belief(arm) for arm in ARMS])
    assert sum(agent.pseudobelief) == pytest.approx(agent.turn)
    assert agent.pseudobelief == pytest.approx(agent.turn * beliefs.sum(axis=0) / beliefs.sum())
    for policy, centre in (
        (BelMan.paper(), least_kl_from_arms(Bernoulli(), beliefs)),
        (BelMan.paper("natural"), beliefs.mean(axis=0)),
        (Forced(BelMan.paper("natural")), beliefs.mean(axis=0)),
        (BelMan(two_phase(100)), least_kl_from_arms(Bernoulli(), beliefs)),
        (Thompson(), least_kl_from_arms(Bernoulli(), beliefs)),
    ):
        agent.policy = policy
        assert agent.pseudobelief == pytest.approx(tuple(centre), rel=1e-9)
    agent.policy = BelMan(two_phase(10))
    assert sum(agent.pseudobelief) == pytest.approx(agent.turn)

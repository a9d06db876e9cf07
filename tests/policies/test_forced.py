"""Forced exploration, worn by any policy; Q-UCB, Q-ThS and QBelMan; Thompson as in the authors'
code.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import belman
from belman import Agent, BelMan, Thompson
from belman.cli import parse
from belman.errors import PolicyError
from belman.exposure import Paper
from belman.policies import Forced

MEANS = [0.5, 0.33, 0.33, 0.33, 0.25]


@pytest.mark.parametrize(
    ("turn", "exponent"), [(2, 2.0), (1_000, 2.0), (9_999, 2.0), (50_000, 3.0), (10**6, 3.0)]
)
def test_the_chance_of_exploring(turn, exponent):
    expected = min(1.0, 3 * 5 * math.log(turn) ** exponent / turn)
    assert Forced(Thompson(), exponent=exponent).chance(turn, arms=5) == pytest.approx(
        expected, rel=1e-12
    )
    assert Forced(Thompson(), exponent=exponent, arms=5).chance(turn, arms=15) == pytest.approx(
        expected, rel=1e-12
    )


def test_the_exponent_of_theory_explores_up_to_turn_ten_thousand():
    assert Forced(Thompson(), exponent=3.0).chance(10_000, arms=5) == 1.0


def test_so_many_turns_explore():
    """A greedy player that knows its arms plays others only when forced: 4/5 of those turns;
    5-sigma limits (6e-7).
    """
    horizon, runs = 4_000, 40
    sure = belman.problems.problem(
        belman.families.Bernoulli(prior=(1.0, 1.0)), [1.0, 0.0, 0.0, 0.0, 0.0]
    )
    result = belman.simulate([Forced(belman.policies.Greedy())], sure, horizon, runs, seed=3)
    chances = np.array([Forced().chance(turn, 5) for turn in range(1, horizon + 1)])
    missed = result.suboptimal_draws.isel(player=0)
    late = missed.sel(turn=horizon) - missed.sel(turn=500)
    expected, variance = (
        0.8 * chances[500:].sum(),
        (0.8 * chances * (1 - 0.8 * chances))[500:].sum(),
    )
    assert abs(float(late.mean()) - expected) < 5 * math.sqrt(variance / runs)


def test_the_published_policies():
    assert belman.policies.q_ucb().policy == belman.policies.LogUCB(exponent=2.0)
    assert belman.policies.q_ths(3.0) == Forced(Thompson(), 3.0, 3.0)
    assert belman.policies.qbelman().policy == BelMan(Paper(C=200.0), "natural")
    assert np.allclose(
        belman.policies.LogUCB().turn_values(np.array([1.0, 100.0]), 5),
        [0.0, math.log(100.0) / math.sqrt(2.0)],
    )


@pytest.mark.interpreted
def test_an_agent_may_wear_it_and_remembers_it(tmp_path):
    for policy in (belman.policies.qbelman(), Forced(belman.policies.KLUCB(c=1.0), exponent=1.0)):
        agent = Agent(["a", "b", "c"], policy=policy, seed=3)
        for reward in (1, 0, 1, 1, 0, 0, 1):
            agent.tell(agent.ask(), reward)
        assert math.isnan(agent.last[0].probability) or agent.last[0].probability == pytest.approx(
            1 / 3
        )
        agent.save(tmp_path / "state.json")
        again = Agent.load(tmp_path / "state.json")
        assert again.policy == policy
        assert [agent.ask(among=["a", "c"]) for _ in range(5)] == [
            again.ask(among=["a", "c"]) for _ in range(5)
        ]


def test_the_command_line_knows_them():
    assert parse.policy("q-ucb", 10) == belman.policies.q_ucb()
    assert parse.policy("q-ths:exponent=3", 10) == belman.policies.q_ths(3)
    assert parse.policy("qbelman", 10) == belman.policies.qbelman()
    assert parse.policy("thompson-authors", 10) == belman.policies.CoinThompson()
    assert parse.policy("forced:policy=ucb1,exponent=3", 10) == Forced(
        belman.policies.UCB1(), exponent=3
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Forced("thompson"),
        lambda: Forced(belman.policies.Oracle()),
        lambda: Forced(Forced()),
        lambda: Forced(factor=-1.0),
        lambda: Forced(exponent=math.nan),
        lambda: Forced(arms=0),
        lambda: belman.policies.LogUCB(0.0),
        lambda: Forced().chance(0, 5),
        lambda: Agent(["a", "b"], "poisson", belman.policies.CoinThompson()),
    ],
)
def test_bad_settings_are_refused(make):
    with pytest.raises(PolicyError):
        make()


def test_coins_tell_less_than_draws():
    """The authors' variant tosses a coin with each draw: among arms whose coins agree the choice is
    uniform. 20 runs suffice.
    """
    players = {"draws": Thompson(), "coins": belman.policies.CoinThompson()}
    result = belman.simulate(
        players, belman.problems.bernoulli(MEANS), horizon=3_000, runs=20, seed=1
    )
    draws, coins = result.regret.isel(turn=-1).mean("run").values
    assert coins > 3 * draws


def test_coin_indices_have_the_expected_reward_as_their_chance():
    """The chance that a coin shows 1 is the belief's mean; with one arm sure and one hopeless,
    plays are 1 : 0.
    """
    agent = Agent(
        ["sure", "hopeless"],
        policy=belman.policies.CoinThompson(),
        priors={"sure": (1e6, 1.0), "hopeless": (1.0, 1e6)},
        seed=1,
    )
    asked = agent.ask(2) + [agent.ask() for _ in range(50)]
    assert asked[2:].count("sure") == 50


def test_the_first_of_equal_coins_is_played_if_ties_go_to_the_lowest():
    """Two arms that always win show 1 both times: the first is played, and only then."""
    problem = belman.problems.bernoulli([1.0, 1.0], prior=(1e6, 1.0))
    players = {ties: belman.policies.CoinThompson(ties=ties) for ties in ("lowest", "random")}
    plays = belman.simulate(players, problem, 200, 2, 3, progress=False).plays
    assert plays.sel(player="lowest", arm=0).min() > 195
    assert 150 > plays.sel(player="random", arm=0).max() > 50
    with pytest.raises(belman.errors.PolicyError, match="ties='last' is not valid"):
        belman.policies.CoinThompson(ties="last")

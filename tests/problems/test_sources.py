"""Rewards that are falsified within a budget, and rewards from tables: by twins, at the door."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import belman
from belman import Thompson, simulate, spec
from belman.cli import app
from belman.errors import BelmanError, RewardError, SettingError
from belman.families import Bernoulli, Gaussian
from belman.lab.python_runner import _Arms
from belman.policies import UCB1
from belman.problems import Replayed, corrupted, from_rewards

COINS = belman.problems.bernoulli([0.8, 0.5])


def met(problem):
    """A world at its first turn."""
    world = _Arms(problem, np.zeros(4, dtype=np.uint64))
    world.begin()
    world.step(1)
    return world


@pytest.mark.interpreted
def test_the_adversary_keeps_to_its_budget_and_lies_against_the_best():
    world, rng, spent = met(corrupted(COINS, 3)), np.random.default_rng(1), 0.0
    for turn in range(1, 60):
        arm = int(rng.integers(2))
        told, true = world.earn(arm, turn, rng.random())
        assert told == true or told == float(arm == 1)
        spent += abs(told - true)
    assert spent == 3.0


def test_corruption_misleads_and_without_a_budget_nothing_is_changed():
    """A budget of 60 costs UCB1 more than 20, some five standard errors of 40 runs."""
    players = {"ucb1": UCB1()}
    false = simulate(players, corrupted(COINS, 60), 1_500, 40, 3, progress=False)
    true = simulate(players, corrupted(COINS, 0), 1_500, 40, 3, progress=False)
    plain = simulate(players, COINS, 1_500, 40, 3, progress=False)
    last = {name: result.regret.isel(turn=-1) for name, result in (("f", false), ("t", true))}
    assert (last["t"] == plain.regret.isel(turn=-1)).all()
    assert (true.reward == plain.reward).all()
    lost = last["f"].mean("run").to_series()
    assert lost["ucb1"] > 20 + float(last["t"].sel(player="ucb1").mean())


@pytest.mark.interpreted
def test_drawn_and_kept_rewards():
    rewards = {"a": [1.0, 2.0, 3.0], "b": [7.0, 8.0]}
    kept = met(from_rewards(rewards, order="kept"))
    assert [kept.earn(0, 9, 0.9)[0] for _ in range(5)] == [1.0, 2.0, 3.0, 1.0, 2.0]
    assert [kept.earn(1, 9, 0.9)[0] for _ in range(3)] == [7.0, 8.0, 7.0]
    together = met(from_rewards({"a": [1.0, 2.0], "b": [7.0, 8.0]}, arms=["a", "b"], order="kept"))
    assert together.earn(0, 9, 0.9)[0] == 1.0
    assert together.earn(1, 10, 0.9)[0] == 8.0
    drawn = met(from_rewards(rewards))
    assert drawn.earn(0, 9, 0.34)[0] == 2.0
    assert drawn.earn(1, 9, 0.9999)[0] == 8.0


def test_replayed_coins_are_coins():
    """An arm of 8 ones among 10 plays as a coin of 0.8 does, to the last bit of its luck."""
    rewards = {"a": [0, 0, *[1] * 8], "b": [*[0] * 5, *[1] * 5]}
    own = simulate([Thompson()], from_rewards(rewards), 300, 10, 4, progress=False)
    coins = simulate([Thompson()], COINS, 300, 10, 4, progress=False)
    assert (own.plays == coins.plays).all()
    assert own.regret.values == pytest.approx(coins.regret.values)


def test_rows_of_full_information():
    shop = from_rewards({"blue": [0, 1, 1], "red": [0, 1, 0]}, arms=["blue", "red"], order="kept")
    assert shop.together
    assert shop.true_means == pytest.approx((2 / 3, 1 / 3))
    result = simulate([Thompson()], shop, 2, 20, progress=False)
    assert (result.reward.isel(turn=-1) == 1.0).all()  # whatever is played, 0 and then 1


def test_files_and_frames(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text("arm,reward\nblue,0\nred,1\nblue,1\n", encoding="utf-8")
    shop = from_rewards(path)
    assert (shop.names, shop.rewards) == (("blue", "red"), ((0.0, 1.0), (1.0,)))
    pandas = pytest.importorskip("pandas")
    assert from_rewards(pandas.read_csv(path)) == shop
    pytest.importorskip("pyarrow")
    pandas.read_csv(path).to_parquet(tmp_path / "seen.parquet")
    assert from_rewards(tmp_path / "seen.parquet") == shop
    again = spec.build(json.loads(json.dumps(spec.describe(shop))))
    assert again == shop
    assert spec.build(spec.describe(corrupted(COINS, 5))) == corrupted(COINS, 5)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: corrupted(COINS, -1), SettingError, "budget=-1 is not valid"),
        (lambda: corrupted(belman.problems.gaussian([0, 1]), 5), SettingError, "give ends="),
        (
            lambda: corrupted(belman.problems.queue([0.5, 0.4], arrivals=0.2), 5),
            SettingError,
            "no arms to be corrupted",
        ),
        (lambda: from_rewards({"a": []}), SettingError, "needs at least one reward"),
        (lambda: from_rewards({"a": ["x"]}), SettingError, "row 1: a 'x' is not a number"),
        (lambda: from_rewards({"a": [2.0]}, Bernoulli()), RewardError, "bernoulli rewards are"),
        (lambda: from_rewards("none.csv"), SettingError, "cannot be read"),
        (lambda: from_rewards({"a": [1]}, order="backwards"), SettingError, "order='backwards'"),
        (
            lambda: from_rewards({"arm": ["a"], "reward": [1.0]}, reward="rewrad"),
            SettingError,
            "row 1: arm 'a' is not a number",
        ),
        (lambda: Replayed(Gaussian(), ((1.0,) * 90_001,), ("a",)), SettingError, "too many"),
    ],
)
def test_what_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_from_the_command_line(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text("blue,red\n0,1\n1,1\n0,0\n", encoding="utf-8")
    words = ["run", "--rewards", str(path), "--columns", "blue,red", "--policies", "thompson"]
    sizes = ["--horizon", "20", "--runs", "2", "--output", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, [*words, *sizes])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["turns"] == 40
    both = CliRunner().invoke(app, [*words, "--means", "0.1,0.2", *sizes])
    assert isinstance(both.exception, BelmanError)
    words = ["run", "--means", "0.8,0.5", "--corruption", "9", "--policies", "thompson"]
    assert CliRunner().invoke(app, [*words, *sizes]).exit_code == 0

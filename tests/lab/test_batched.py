"""Batches in the lab: weights for n turns, whose rewards count at their end."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import belman
from belman import Agent, BelMan, spec
from belman.errors import SettingError
from belman.problems import batched, bernoulli, delayed, queue

MEANS = [0.2, 0.5, 0.4]
PLAYERS = {"BelMan": BelMan(), "Thompson": belman.Thompson()}


def played(problem, players=PLAYERS, horizon=600, runs=20):
    return belman.simulate(players, problem, horizon, runs, seed=3, progress=False)


def test_batches_of_one_are_the_ordinary_lab_to_the_last_bit():
    ordinary, one = played(bernoulli(MEANS)), played(batched(bernoulli(MEANS), 1))
    for name in ordinary.data_vars:
        assert (ordinary[name] == one[name]).all()


def test_a_first_batch_knows_nothing():
    """300 turns drawn uniformly in 20 runs: an arm's share is 1/3 up to 0.03, five deviations."""
    plays = played(batched(bernoulli(MEANS), 300), horizon=300).plays
    assert (plays.sum("arm") == 300).all()
    assert float(abs(plays.mean("run") / 300 - 1.0 / 3.0).max()) < 0.03


def test_the_second_batch_follows_the_weights_of_an_agent_that_was_told_the_first():
    """Weights of n = 400 after 400 turns: shares of the second batch lie about them, each within
    five deviations of a draw.
    """
    n = 400
    result = played(batched(bernoulli(MEANS), n), {"BelMan": BelMan()}, horizon=2 * n, runs=12)
    first = played(batched(bernoulli(MEANS), n), {"BelMan": BelMan()}, horizon=n, runs=12)
    known = played(batched(bernoulli(MEANS), n), {"BelMan": BelMan()}, horizon=n + 1, runs=12)
    beliefs = known.belief.isel(player=0, look=-1).values
    before, after = (made.plays.isel(player=0).values for made in (first, result))
    for run in range(12):
        start = {
            arm: (int(before[run, arm]), float(beliefs[run, arm, 0] - 1.0)) for arm in range(3)
        }
        weights = np.array(list(Agent(range(3), start=start, seed=1).weights(n).values()))
        shares = (after[run] - before[run]) / n
        doubt = np.sqrt(weights * (1.0 - weights) / n)
        assert (np.abs(shares - weights) <= 5.0 * doubt + 1e-3).all()


def test_thompson_draws_from_the_beliefs_at_the_beginning_of_a_batch():
    """Frozen for two batches of 300: shares of the second are the chances of being best, within
    five deviations.
    """
    n, players = 300, {"Thompson": belman.Thompson()}
    result = played(batched(bernoulli(MEANS), n), players, horizon=2 * n, runs=8)
    first = played(batched(bernoulli(MEANS), n), players, horizon=n, runs=8)
    known = played(batched(bernoulli(MEANS), n), players, horizon=n + 1, runs=8)
    for run in range(8):
        rows = known.belief.isel(player=0, look=-1, run=run).values
        best = belman.measures.best_probabilities(belman.families.Bernoulli(), rows)
        shares = (result.plays - first.plays).isel(player=0, run=run).values / n
        assert (np.abs(shares - best) <= 5.0 * np.sqrt(best * (1.0 - best) / n) + 4e-3).all()


def test_larger_batches_cost_more():
    """Mean regrets of 60 runs, 10 against 300 of 600 turns: a factor of two or more."""
    small, large = (
        played(batched(bernoulli(MEANS), n), runs=60).regret.isel(turn=-1).mean("run")
        for n in (10, 300)
    )
    assert (large > 2.0 * small).all()


def test_late_rewards_come_in_batches_too():
    late = delayed(bernoulli(MEANS), stats.expon(scale=30.0), 120.0, arrivals=2.0, looks=4)
    result = played(batched(late, 50), runs=5)
    assert (result.plays.sum("arm") == 600).all()
    assert batched(late, 50).told == "early"


def test_a_look_shows_nothing_to_a_policy_in_the_midst_of_a_batch():
    """With rewards told at once to nobody but whoever looks, arms are drawn as without looks."""
    late = delayed(bernoulli(MEANS), stats.expon(scale=1.0), 2.0, told="window", looks=1)
    players = {"Thompson": belman.Thompson()}
    unseen, seen = (
        played(batched(replace(late, looks=looks), 200), players, horizon=400, runs=20).plays
        for looks in (1, 40)
    )
    assert (unseen == seen).all()


def test_a_batched_problem_is_plain_data():
    problem = batched(bernoulli(MEANS), 7)
    text = json.dumps(spec.describe(problem), allow_nan=False)
    assert spec.build(json.loads(text)) == problem


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "many"])
def test_bad_batches_are_refused(n):
    with pytest.raises(SettingError, match="batch="):
        batched(bernoulli(MEANS), n)


def test_problems_without_rewards_are_refused():
    with pytest.raises(SettingError, match="in batches"):
        batched(queue([0.5, 0.4], arrivals=0.2), 5)

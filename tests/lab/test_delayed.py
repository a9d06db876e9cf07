"""Late rewards in the lab."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import belman
from belman import spec
from belman.errors import SettingError
from belman.problems import bernoulli, delayed, gaussian, queue
from tests.members import interpreted

MEANS = [0.2, 0.5, 0.4]
PLAYERS = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}


def late(told, problem=None, **settings):
    constants = stats.expon(scale=30.0)
    given = {"window": 120.0, "arrivals": 2.0, "looks": 4, **settings}
    return delayed(problem or bernoulli(MEANS), constants, told=told, **given)


def played(problem, players=PLAYERS, horizon=1_500, runs=20):
    return belman.simulate(players, problem, horizon, runs, seed=3, progress=False)


def test_told_at_once_is_the_ordinary_lab_to_the_last_bit():
    ordinary, now = played(bernoulli(MEANS)), played(late("at once"))
    for name in ordinary.data_vars:
        assert (ordinary[name] == now[name]).all()


def test_a_window_of_one_turn_costs_next_to_nothing_and_a_long_one_uniform_play():
    ordinary = played(bernoulli(MEANS)).regret.isel(turn=-1).mean("run")
    short = played(late("window", window=0.5)).regret.isel(turn=-1).mean("run")
    assert float(abs(short / ordinary - 1.0).max()) < 0.35
    blind = played(late("window", window=1e6)).plays
    assert (blind.sum("arm") == 1_500).all()
    spread = blind.mean("run") / 1_500
    assert float(abs(spread - 1.0 / 3.0).max()) < 0.1


def test_beliefs_at_the_looks_are_those_of_the_rewards_told_by_then():
    """At the window's end: tickets up to 120 units before the look, 2 in each."""
    result = played(late("window")).belief
    worth = result.sum("coordinate").sum("arm") - 6.0
    ends = np.array([1.0, 2.0, 3.0, 4.0]) * 750.0 / 4.0
    assert (worth == [np.floor(2.0 * (end - 120.0)) for end in ends]).all()


def test_told_late_every_reward_is_known_after_its_delay():
    """A delay of 20 units, 2 tickets in each: also rewards of 0."""
    ends = np.array([1.0, 2.0, 3.0, 4.0]) * 750.0 / 4.0
    problem = delayed(bernoulli(MEANS), [20.0], 120.0, arrivals=2.0, looks=4, told="late")
    worth = played(problem).belief.sum("coordinate").sum("arm") - 6.0
    assert (worth == [np.floor(2.0 * (end - 20.0)) for end in ends]).all()


@pytest.mark.interpreted
def test_told_late_so_are_rewards_of_other_families():
    ends = np.array([1.0, 2.0, 3.0, 4.0]) * 750.0 / 4.0
    wide = delayed(gaussian([0.0, 1.0]), [20.0], 120.0, arrivals=2.0, looks=4, told="late")
    precisions = played(wide, runs=1).belief.isel(coordinate=1).sum("arm")
    assert float(abs(precisions - [np.floor(2.0 * (end - 20.0)) for end in ends]).max()) < 1.0


def test_the_naive_way_believes_too_much_and_the_early_way_does_not():
    """A mean of 0.05; what the naive way sees of young tickets are successes alone.

    Over 60 runs the standard error of a mean is below 0.002.
    """
    one = bernoulli([0.05])
    expected = {}
    for told in ("naive", "early"):
        result = played(
            late(told, one, arrivals=10.0), {"r": belman.policies.Random()}, 3_000, 60
        ).belief
        last = result.isel(arm=0, look=-1, player=0)
        expected[told] = float((last.isel(coordinate=0) / last.sum("coordinate")).mean())
    assert expected["naive"] > 0.06
    assert abs(expected["early"] - 0.05) < 0.008


def test_delays_that_differ_between_arms_raise_the_alarm():
    distributions = [stats.expon(scale=10.0), stats.expon(scale=60.0)]
    problem = delayed(bernoulli([0.5, 0.5]), distributions, 120.0, arrivals=5.0, looks=1)
    result = played(problem, {"r": belman.policies.Random()}, 4_000, 10)
    assert bool(result.alarm.all())
    same = delayed(bernoulli([0.5, 0.5]), distributions[0], 120.0, arrivals=5.0, looks=1)
    assert (
        int(played(same, {"r": belman.policies.Random()}, 4_000, 10).alarm.sum()) <= 2
    )  # 1 % each


def test_more_cores_make_no_difference():
    one, two = (
        belman.simulate(PLAYERS, late("early"), 600, 6, 1, workers=workers, progress=False)
        for workers in (1, 2)
    )
    assert one.equals(two)


def test_arrivals_that_grow():
    times = late("early", growth=0.01).times(5_000)
    expected = 2.0 * np.expm1(0.01 * times) / 0.01
    assert expected == pytest.approx(np.arange(1.0, 5_001.0))


DISTRIBUTIONS = {
    "scipy": stats.expon(scale=30.0),
    "quantile function": lambda u: 200.0 * u,
    "delays": [1.0, 2.0, 500.0],
    "per arm": [stats.uniform(0, 50), stats.expon(scale=9.0), [3.0, 4.0]],
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_problem_is_plain_data_and_back(name):
    problem = delayed(bernoulli(MEANS), DISTRIBUTIONS[name], 100.0, growth=0.1)
    text = json.dumps(spec.describe(problem), allow_nan=False)
    assert spec.build(json.loads(text)) == problem
    assert 0.0 <= np.min(problem.quantiles) <= np.max(problem.quantiles) <= 100.0


def test_a_distribution_is_cut_at_the_window():
    (row,) = delayed(bernoulli(MEANS), DISTRIBUTIONS["scipy"], 60.0).quantiles
    assert row[512] == pytest.approx(-30.0 * np.log1p(-0.5 * -np.expm1(-2.0)))
    (row,) = delayed(bernoulli(MEANS), DISTRIBUTIONS["quantile function"], 100.0).quantiles
    assert row[512] == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"told": "erly"}, "did you mean 'early'"),
        ({"window": 0.0}, "must be positive"),
        ({"arrivals": -1.0}, "arrivals=-1.0 is not valid for late rewards"),
        ({"growth": -0.1}, "growth=-0.1 is not valid for late rewards"),
        ({"looks": 0}, "looks=0 is not valid"),
        ({"delays": [500.0]}, "are not a distribution within a window"),
        ({"delays": "soon"}, "are not a distribution within a window"),
        ({"delays": [stats.expon()] * 2}, "2 distributions of delays do not fit 3 arms"),
        ({"problem": queue([0.5, 0.3], arrivals=0.2)}, "no rewards that could be late"),
        ({"problem": gaussian([0.0, 1.0])}, "told='early' needs rewards of 0 and 1"),
    ],
)
def test_settings_that_make_no_problem(settings, words):
    given = {"problem": bernoulli(MEANS), "delays": stats.expon(), "window": 9.0, **settings}
    with pytest.raises(SettingError, match=words):
        delayed(**given)


def test_any_family_may_wait_for_its_window():
    """Interpreted, so that one more family costs no compilation."""
    script = """
import json, belman
from belman.problems import delayed, gaussian
problem = delayed(gaussian([0.0, 1.0]), [5.0, 9.0], 20.0, told="window", looks=1)
found = belman.simulate({"b": belman.BelMan()}, problem, 100, 2, progress=False)
print(json.dumps(found.belief.values.tolist()))
"""
    rows = np.array(interpreted(script))
    told = rows[..., 1].sum(axis=-1).ravel()  # precisions: 80 rewards of precision 1, and priors
    assert told.tolist() == pytest.approx([told[0]] * 2)
    assert 80.0 < told[0] < 83.0

"""Arms with features in the lab: same seed, same numbers; the same nature; and who may play."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman import spec
from belman.errors import PolicyError, SettingError
from belman.models import Linear, Logistic, PoissonLog
from belman.policies.dependent import DEPENDENT_POLICIES, LinGreedy, LinTS, LinUCB, SharedBelMan
from belman.problems import (
    GivenArms,
    changing_arms,
    contextual,
    end_of_optimism,
    factors,
    from_table,
    intercepts,
    one_hot,
    russo_van_roy,
    unit_ball,
)

rng = np.random.default_rng(1)
PROBLEMS = {
    "unit ball": unit_ball(8, 3),
    "unit ball, misspecified": unit_ball(8, 3, misfit=0.3),
    "Russo and Van Roy": russo_van_roy(8),
    "end of optimism": end_of_optimism(),
    "changing": changing_arms(6, 3),
    "disjoint": contextual(3, 3),
    "hybrid": contextual(3, 3, pooling="hybrid", misfit=0.5),
    "one-hot": one_hot(4),
    "intercepts": intercepts(4),
    "factors": factors((3, 2, 2)),
    "logistic": unit_ball(8, 3, model=Logistic()),
    "Poisson": unit_ball(8, 3, model=PoissonLog()),
    "unknown noise": unit_ball(8, 3, model=Linear(unknown=True)),
    "table": from_table(rng.normal(size=(50, 2)), rng.integers(3, size=50)),
}


def play(players, problem, seed=5, runs=3, horizon=120, **options):
    return belman.simulate(players, problem, horizon, runs, seed, progress=False, **options)


#: One problem of each scene is played by compiled code; models are compiled for policies below.
SCENES = ("unit ball", "end of optimism", "disjoint", "table")
_OTHERS = [name for name in PROBLEMS if name not in SCENES]
_IN_PYTHON = [pytest.param(name, marks=pytest.mark.interpreted) for name in _OTHERS]


@pytest.mark.parametrize("name", [*SCENES, *_IN_PYTHON])
def test_regret_grows_and_rewards_are_counted(name):
    result = play({"belman": SharedBelMan()}, PROBLEMS[name])
    regret = result.regret.values
    assert np.isfinite(regret).all()
    assert (np.diff(regret, axis=-1) >= 0.0).all()
    assert (result.plays.sum("arm") == 120).all()
    assert np.isfinite(result.reward.values).all()


@pytest.mark.parametrize("name", DEPENDENT_POLICIES)
def test_every_policy_plays_the_same_with_the_same_seed(name):
    policy = DEPENDENT_POLICIES[name]()
    problem = PROBLEMS[{"laplace-ts": "logistic", "glm-ucb": "Poisson"}.get(name, "unit ball")]
    result = play({name: policy}, problem, horizon=40)
    again = play({"twin": policy, "other": LinGreedy()}, problem, horizon=40, workers=1)
    assert (result.regret.values[0] == again.regret.values[0]).all()
    assert (result.reward.values[0] == again.reward.values[0]).all()


def test_players_meet_the_same_world_and_the_same_luck():
    result = play({"a": LinUCB(0.0), "b": LinGreedy()}, PROBLEMS["changing"])
    assert (result.reward.values[0] == result.reward.values[1]).all()
    other = play({"a": LinUCB(0.0)}, PROBLEMS["changing"], seed=6)
    assert not (result.reward.values[0] == other.reward.values[0]).any()


def test_a_lone_arm_has_no_regret_and_the_rewards_that_are_believed():
    """4,000 rewards with mean 2 and deviation 0.5: the average within five deviations."""
    problem = GivenArms(rows=((1.0,),), theta=(2.0,), model=Linear(noise=0.5))
    result = play({"belman": SharedBelMan()}, problem, runs=1, horizon=4_000)
    assert result.regret.values.max() == 0.0
    assert abs(result.reward.values[0, 0, -1] / 4_000 - 2.0) < 5.0 * 0.5 / 4_000**0.5


def test_the_best_row_of_a_table_is_learnt():
    """One class is always right: after 500 turns its share of the plays is large in all runs."""
    problem = from_table(rng.normal(size=(60, 2)), rewards=np.tile([0.0, 1.0, 0.0], (60, 1)))
    result = play({"belman": SharedBelMan()}, problem, horizon=500)
    assert (result.plays.sel(arm=1) > 400).all()


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "table"])
def test_problems_and_policies_have_descriptions(name):
    problem = PROBLEMS[name]
    assert spec.build(spec.describe(problem)) == problem


@pytest.mark.parametrize("name", DEPENDENT_POLICIES)
def test_policies_have_descriptions(name):
    policy = DEPENDENT_POLICIES[name]()
    assert spec.build(spec.describe(policy)) == policy


def test_who_may_play_where():
    with pytest.raises(PolicyError, match=r"take one of belman\.policies\.dependent"):
        play({"a": belman.Thompson()}, PROBLEMS["unit ball"])
    with pytest.raises(PolicyError, match="plays at arms with features"):
        play({"a": LinTS()}, belman.problems.bernoulli([0.4, 0.5]))


def test_a_table_has_the_prior_that_is_asked_for():
    rows, labels = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert from_table(rows, labels, scale=0.5).blocks[0].scale == 0.5
    assert from_table(rows, labels).blocks[0].scale == 1.0


def test_tables_that_make_no_problem():
    for rows, labels, options, words in (
        ([[1.0], [2.0]], None, {}, "give labels"),
        ([["a"], ["b"]], [0, 1], {}, "rows are not valid"),
        ([[1.0], [float("nan")]], [0, 1], {}, "rows are not valid"),
        ([[1.0], [2.0]], [0, 1, 1], {}, "2 rows and 3 rewards"),
        ([[1.0], [2.0]], [0, 1], {"rewards": [[1.0], [1.0]]}, "and not both"),
        ([[1.0], [2.0]], [0, 1], {"scale": 0.0}, "scale=0.0 is not valid"),
    ):
        with pytest.raises(SettingError, match=words):
            from_table(rows, labels, **options)


def test_settings_that_make_no_problem():
    for make, words in (
        (lambda: unit_ball(0), "number=0 is not valid"),
        (lambda: unit_ball(5, 2, misfit=-1.0), "misfit"),
        (lambda: unit_ball(5, 2, model="linear"), "is not a model"),
        (lambda: contextual(3, 1), "size=1"),
        (lambda: contextual(3, 3, pooling="none"), "unknown pooling"),
        (lambda: GivenArms(rows=((1.0,), (1.0, 2.0))), "same number of features"),
        (lambda: GivenArms(rows=((1.0,),), theta=(1.0, 2.0)), "are not valid"),
        (lambda: end_of_optimism(0.0), "epsilon"),
    ):
        with pytest.raises(SettingError, match=words):
            make()

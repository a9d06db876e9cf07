"""The sampler for Optuna: Optuna's own tests of samplers, small spaces, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest

from belman.errors import PolicyError, SettingError

optuna = pytest.importorskip("optuna", reason="no optuna: pip install 'belman[optuna]'")
from optuna.testing.pytest_samplers import (  # noqa: E402
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from belman.bridges.optuna_sampler import BelmanSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
# Optuna warns that it is experimental, and of what a test of its own sets
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.slow
class TestSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """The tests that Optuna gives to those who write samplers."""

    @pytest.fixture
    def sampler(self):
        return lambda: BelmanSampler(n_startup_trials=1, n_candidates=20)


def mixed(trial):
    kind = trial.suggest_categorical("kind", ["tree", "forest", "linear", "net", "none"])
    loss = trial.suggest_categorical("loss", ["l1", "l2", None])
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    depth = trial.suggest_int("depth", 1, 20)
    result = {"tree": 0.3, "forest": 0.0, "linear": 0.6, "net": 0.2, "none": 1.0}[kind]
    result += 0.3 * (loss != "l2")
    return result + 0.1 * (np.log10(rate) + 2.0) ** 2 + 0.002 * (depth - 8) ** 2


def best(sampler, trials=60, direction="minimize"):
    study = optuna.create_study(direction=direction, sampler=sampler)
    sign = 1.0 if direction == "minimize" else -1.0
    study.optimize(lambda trial: sign * mixed(trial), n_trials=trials)
    return sign * study.best_value


@pytest.mark.slow
def test_it_finds_better_points_of_a_mixed_space_than_chance():
    """Over 16 seeds, by a sign test: were they alike, 13 of 16 would be seen in 1.1 % of tests."""
    seeds = range(16)
    ours = [best(BelmanSampler(seed=seed)) for seed in seeds]
    chance = [best(optuna.samplers.RandomSampler(seed)) for seed in seeds]
    assert sum(a < b for a, b in zip(ours, chance, strict=True)) >= 13


def test_the_direction_of_a_study_is_that_of_its_rewards():
    assert best(BelmanSampler(seed=3), 30) == pytest.approx(
        best(BelmanSampler(seed=3), 30, "maximize")
    )


def test_the_same_seed_suggests_the_same_points():
    assert best(BelmanSampler(seed=5), 25) == best(BelmanSampler(seed=5), 25)


def test_of_a_small_space_the_best_point_is_found_and_played():
    study = optuna.create_study(
        direction="maximize", sampler=BelmanSampler(seed=1, n_startup_trials=5)
    )
    study.optimize(
        lambda trial: (
            (trial.suggest_categorical("a", [1, 2, 3]) == 2)
            + (trial.suggest_categorical("b", ["x", "y"]) == "y")
            + trial.suggest_int("c", 0, 4) / 4
        ),
        n_trials=40,
    )
    assert study.best_params == {"a": 2, "b": "y", "c": 4}
    last = [trial.value for trial in study.trials[20:]]
    assert np.mean(last) > 2.0


def test_processes_share_a_study(tmp_path):
    url = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/optuna.db")
    optuna.create_study(study_name="shared", storage=url)
    for seed in range(4):  # each a sampler that knows nothing but the storage
        study = optuna.load_study(
            study_name="shared", storage=url, sampler=BelmanSampler(seed=seed)
        )
        study.optimize(mixed, n_trials=8)
    assert len(study.trials) == 32
    url.remove_session()
    url.engine.dispose()


@pytest.mark.parametrize("values", [[float("nan")] * 12, [float("inf")] * 12, [1.0] * 12])
def test_values_that_say_nothing_are_borne(values):
    study = optuna.create_study(sampler=BelmanSampler(n_startup_trials=2, seed=1))
    given = iter(values)

    def objective(trial):
        trial.suggest_categorical("a", ["x", "y"])
        trial.suggest_float("b", 0.0, 1.0)
        return next(given)

    study.optimize(objective, n_trials=len(values), catch=(ValueError,))
    assert len(study.trials) == 12


def test_what_is_no_setting_is_refused():
    with pytest.raises(SettingError, match="n_candidates"):
        BelmanSampler(n_candidates=1)
    with pytest.raises(PolicyError):
        BelmanSampler("thompson")

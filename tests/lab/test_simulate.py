"""The simulator: shapes, pairing, exactness whatever the workers, memory, doors."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import belman
from belman.errors import ArmError, FamilyError, PolicyError, SettingError
from belman.lab.bandit_runner import BanditResults
from belman.lab.design import blank, checkpoints
from belman.lab.simulation import Simulation
from tests.members import interpreted

PLAYERS = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}
PROBLEM = belman.problems.bernoulli([0.8, 0.9, 0.3])


@pytest.fixture(scope="module")
def result():
    return belman.simulate(PLAYERS, PROBLEM, horizon=150, runs=40, seed=7)


def test_dims_and_variables(result):
    assert dict(result.sizes) == {"player": 2, "run": 40, "turn": 150, "arm": 3}
    assert set(result.data_vars) == {"regret", "suboptimal_draws", "reward", "plays"}
    assert json.loads(result.attrs["problem"])["means"] == [0.8, 0.9, 0.3]
    assert result.attrs["seed"] == 7
    assert set(json.loads(result.attrs["versions"])) == {
        "belman",
        "python",
        "numpy",
        "scipy",
        "numba",
    }


def test_accounts_balance(result):
    gaps = 0.9 - np.array([0.8, 0.9, 0.3])
    assert (result.plays.sum("arm") == 150).all()
    assert np.allclose((result.plays * gaps).sum("arm"), result.regret.isel(turn=-1))
    assert (result.plays.sel(arm=[0, 2]).sum("arm") == result.suboptimal_draws.isel(turn=-1)).all()
    assert (result.regret.diff("turn") >= 0).all()
    assert (result.reward.diff("turn") <= 1).all()


def test_same_numbers_whatever_the_workers(result):
    for workers in (1, 2, 5):
        again = belman.simulate(PLAYERS, PROBLEM, horizon=150, runs=40, seed=7, workers=workers)
        assert again.identical(result)


def test_same_numbers_whatever_the_other_players_and_runs(result):
    alone = belman.simulate(
        {"Thompson": PLAYERS["Thompson"]}, PROBLEM, horizon=150, runs=25, seed=7
    )
    assert (
        alone.regret.sel(player="Thompson")
        == result.regret.sel(player="Thompson", run=slice(0, 24))
    ).all()
    swapped = belman.simulate(
        dict(reversed(PLAYERS.items())), PROBLEM, horizon=150, runs=40, seed=7
    )
    assert (swapped.reward.sel(player="BelMan") == result.reward.sel(player="BelMan")).all()


def test_chunking_does_not_matter(result, monkeypatch):
    monkeypatch.setattr("belman.lab.design._TASK_TURNS", 450)
    assert belman.simulate(PLAYERS, PROBLEM, horizon=150, runs=40, seed=7).identical(result)


def test_players_of_a_run_meet_the_same_nature():
    """With one arm there is nothing to choose: equal nature means equal rewards, turn by turn."""
    one = belman.simulate(PLAYERS, belman.problems.bernoulli([0.5]), horizon=60, runs=10, seed=3)
    assert (one.reward.sel(player="BelMan") == one.reward.sel(player="Thompson")).all()
    assert float(one.reward.isel(turn=-1).std()) > 0


def test_random_problems_draw_new_arms_from_the_prior():
    """Uniform play on one arm of Beta(2, 6): the average reward is 1/4; 5-sigma limits (false alarm
    6e-7).
    """
    runs = 4_000
    result = belman.simulate(
        {"T": belman.Thompson()},
        belman.problems.random_bernoulli(1, (2.0, 6.0)),
        horizon=1,
        runs=runs,
        seed=5,
    )
    mean = float(result.reward.isel(turn=-1).mean())
    assert abs(mean - 0.25) < 5 * np.sqrt(0.25 * 0.75 / runs)
    scaled = belman.problems.random_bernoulli(1, between=(0.25, 0.75))
    halves = belman.simulate({"T": belman.Thompson()}, scaled, horizon=200, runs=400, seed=5)
    shares = halves.reward.isel(turn=-1) / 200
    assert 0.1 < float(shares.min()) < 0.35
    assert 0.65 < float(shares.max()) < 0.9


class Alternate:
    """A player in plain Python: one arm after the other."""

    def __init__(self, arms, rng):
        self.arms, self.turn, self.seen = arms, 0, []

    def ask(self):
        return self.turn % self.arms

    def tell(self, arm, reward):
        self.turn += 1
        self.seen.append(reward)


def test_a_player_in_plain_python_meets_the_same_nature():
    result = belman.simulate({"mine": Alternate, **PLAYERS}, PROBLEM, horizon=30, runs=5, seed=7)
    assert (result.plays.sel(player="mine") == 10).all()
    assert np.allclose(result.regret.sel(player="mine").isel(turn=-1), 10 * (0.1 + 0.6))
    single = belman.simulate(
        {"mine": Alternate, **PLAYERS},
        belman.problems.exponential([2.0]),
        horizon=30,
        runs=5,
        seed=7,
    )
    assert np.allclose(
        single.reward.sel(player="mine"), single.reward.sel(player="Thompson"), rtol=1e-12
    )


@pytest.mark.parametrize("given", [3, -1, np.int64(7), 0.5, "0", None])
def test_an_arm_that_is_not_there_is_refused_with_the_name_of_who_gave_it(given):
    class Wild(Alternate):
        def ask(self):
            return given

    with pytest.raises(ArmError, match=f"player 'mine'.*{re.escape(repr(given))}.*from 0 to 2"):
        belman.simulate({"mine": Wild, **PLAYERS}, PROBLEM, horizon=3, runs=2)


def played():
    """Every player once and every family once: agents hold the kernels of all pairs together."""
    default, paper, thompson = belman.BelMan(), belman.BelMan.paper(), belman.Thompson()
    matches = []
    for problem, players in (
        (belman.problems.bernoulli([0.4, 0.6, 0.5]), [default, paper, thompson]),
        (belman.problems.gaussian([0.0, 1.0]), [thompson]),
        (belman.problems.exponential([1.0, 2.0]), [default]),
    ):
        named = {str(number): player for number, player in enumerate(players)}
        runs = belman.simulate(named, problem, horizon=60, runs=2, seed=11, progress=False)
        draws = float(runs.suboptimal_draws.values.sum())
        matches.append([runs.plays.values.ravel().tolist(), draws])
    return matches


def test_compiled_and_interpreted_runs_are_the_same():
    script = "import json; from tests.lab.test_simulate import played; print(json.dumps(played()))"
    compiled = played()
    assert compiled == interpreted(script)
    assert [len(plays) for plays, _ in compiled] == [18, 4, 4]


def bytes_of_a_run(horizon):
    sizes = {"turn": len(checkpoints(horizon)), "arm": 20}
    return sum(array.nbytes for array in blank(BanditResults, 1, sizes))


@pytest.mark.parametrize("horizon", [1, 999, 1000, 1001, 50_000, 10**6, 10**8])
def test_memory_depends_on_checkpoints_not_on_turns(horizon):
    marks = checkpoints(horizon)
    assert marks[-1] == horizon
    assert (np.diff(marks) > 0).all()
    assert bytes_of_a_run(horizon) <= 32 * 1024


def test_a_large_design_fits_in_a_gibibyte():
    assert 3 * 10_000 * bytes_of_a_run(10**6) < 2**30


def test_tasks_cover_every_run_once():
    design = Simulation(PLAYERS, PROBLEM, horizon=3_000, runs=101, seed=0)
    covered = [
        (task.player, run)
        for task in design.tasks()
        for run in range(task.first, task.first + task.runs)
    ]
    assert sorted(covered) == [(player, run) for player in range(2) for run in range(101)]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"horizon": 0}, SettingError, "horizon=0"),
        ({"runs": -3}, SettingError, "runs=-3"),
        ({"runs": 2.5}, SettingError, "runs=2.5"),
        ({"seed": -1}, SettingError, "seed=-1"),
        ({"problem": [0.8, 0.9]}, SettingError, "belman.problems.bernoulli"),
        ({"players": {}}, PolicyError, "at least one player"),
        ({"players": {"x": 3}}, PolicyError, "ask and tell"),
        ({"executor": "cluster"}, SettingError, "threads"),
        ({"workers": 0}, SettingError, "workers=0"),
        (
            {
                "players": {"J": belman.BelMan.paper("joint")},
                "problem": belman.problems.gaussian([0.0, 1.0]),
            },
            PolicyError,
            "cancels",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_runs(changes, error, words):
    call = {"players": PLAYERS, "problem": PROBLEM, "horizon": 10, "runs": 1, "seed": 0, **changes}
    with pytest.raises(error, match=words):
        belman.simulate(**call)


@pytest.mark.parametrize(
    "make",
    [
        lambda: belman.problems.bernoulli([0.5, 1.2]),
        lambda: belman.problems.exponential([1.0, 0.0]),
        lambda: belman.problems.poisson([-1.0]),
        lambda: belman.problems.geometric([0.5]),
        lambda: belman.problems.gaussian([0.0, np.nan]),
        lambda: belman.problems.bernoulli([]),
        lambda: belman.problems.gaussian([0.0], sigma=-1.0),
        lambda: belman.problems.bernoulli(["a"]),
    ],
)
def test_means_outside_the_family_are_refused(make):
    with pytest.raises(FamilyError):
        make()

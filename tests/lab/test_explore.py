"""Pure exploration in the lab: judged by definition, the same numbers however they are made, and
doors that say no.

The stopping rule's errors are tested at a level of 1e-6; `benchmarks/stopping.py` measures them
with 10,000 runs an instance.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xarray
from scipy import stats

import belman
from belman import BelMan, Thompson, Uniform, explore
from belman.errors import PolicyError, SettingError, StateError
from belman.measures import chance_of_error
from belman.policies import KLLUCB, SequentialHalving, SuccessiveRejects, TrackAndStop

PROBLEM = belman.problems.bernoulli([0.3, 0.6, 0.5, 0.6])
PLAYERS = {"uniform": Uniform(), "SR": SuccessiveRejects}
LEVEL = 1e-6


def identical(one: xarray.Dataset, two: xarray.Dataset) -> bool:
    return all((one[name] == two[name]).all() for name in one.data_vars)


@pytest.fixture(scope="module")
def result() -> xarray.Dataset:
    return explore(PLAYERS, PROBLEM, 60, 7, budget=150, m=2)


def test_dimensions(result: xarray.Dataset) -> None:
    assert dict(result.sizes) == {"player": 2, "run": 60, "turn": 150, "arm": 4}
    assert (result.plays.sum("arm") == 150).all()
    assert result.attrs["m"] == 2
    assert json.loads(result.attrs["players"])["SR"] == {
        "name": "successive-rejects",
        "budget": 150,
    }


def test_simple_regret_and_error_by_definition(result: xarray.Dataset) -> None:
    """The two best of 0.3, 0.6, 0.5, 0.6 have 1.2: what lacks is what other arms have less, and
    nothing lacks without an error.
    """
    lacks = np.unique(np.round(result.simple_regret.values, 9))
    assert set(lacks.tolist()) <= {0.0, 0.1, 0.3, 0.4}
    assert len(lacks) > 2
    assert ((result.simple_regret > 1e-9) == result.error).all()


def test_the_same_numbers_whatever_the_threads_the_chunks_and_the_others(
    result: xarray.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belman.lab.design._TASK_TURNS", 450)
    assert identical(explore(PLAYERS, PROBLEM, 60, 7, budget=150, m=2, workers=2), result)
    alone = explore({"SR": SuccessiveRejects(150)}, PROBLEM, 60, 7, budget=150, m=2)
    assert identical(alone.sel(player="SR"), result.sel(player="SR"))


def test_plays_are_those_of_a_simulation() -> None:
    """Asking for recommendations changes nothing of what a player does."""
    players = {"Thompson": Thompson(), "BelMan": BelMan()}
    explored = explore(players, PROBLEM, 20, 3, budget=120)
    assert (explored.plays == belman.simulate(players, PROBLEM, 120, 20, 3).plays).all()


def test_recommendation_is_the_largest_expected_reward() -> None:
    """A run of one turn: the arm that was played is recommended if it paid, and any of the others
    if not.
    """
    result = explore([Uniform()], belman.problems.bernoulli([1.0, 0.0]), 400, 5, budget=1)
    played_best = result.plays.sel(arm=0).isel(player=0) == 1
    assert not result.error.isel(player=0, turn=0).any()
    assert 100 < int(played_best.sum()) < 300
    ties = explore([Uniform()], belman.problems.bernoulli([1.0, 0.0, 0.0]), 400, 5, budget=1)
    wrong = ties.error.isel(player=0, turn=0) & (ties.plays.isel(player=0).sel(arm=0) == 0)
    assert 80 < int(wrong.sum()) < 190  # half of two thirds


def test_stopping_rule_errs_less_than_it_may() -> None:
    players = {"track": TrackAndStop(), "uniform": Uniform(), "KL-LUCB": KLLUCB}
    result = explore(players, belman.problems.bernoulli([0.5, 0.35, 0.3]), 300, 11, delta=0.1)
    assert bool(result.stopped.all())
    assert (result.error.sum("run") <= stats.binom.isf(LEVEL, 300, 0.1)).all()
    assert (result.turns == result.plays.sum("arm")).all()
    shortest = belman.problems.characteristic_time(
        belman.problems.bernoulli([0.5, 0.35, 0.3])
    ).turns * np.log(1 / 0.1)
    assert float(result.turns.sel(player="track").mean()) > shortest
    proven = explore(
        {"track": TrackAndStop()},
        belman.problems.bernoulli([0.5, 0.35, 0.3]),
        50,
        11,
        delta=0.1,
        threshold="proven",
    )
    assert (proven.turns.sel(player="track") > result.turns.sel(player="track")[:50]).all()
    table = belman.compare(result, against="uniform", variable="turns")
    assert table["player"][-1] == "uniform"
    assert table.title == "turns, 300 runs, differences paired with uniform"
    assert belman.compare(result, against="uniform", variable="error")["player"]


def test_a_run_that_does_not_stop_ends_all_the_same() -> None:
    result = explore([Uniform()], belman.problems.bernoulli([0.5, 0.5]), 5, 1, delta=0.01, most=200)
    assert not result.stopped.any()
    assert (result.turns == 200).all()


def test_chance_of_error_has_an_honest_interval() -> None:
    wrong = xarray.Dataset(
        {
            "error": (
                ("player", "run"),
                np.array([[False] * 50, [True] * 10 + [False] * 40, [True] * 50]),
            )
        }
    )
    result = chance_of_error(wrong)
    exact = [stats.binomtest(k, 50).proportion_ci(method="exact") for k in (0, 10, 50)]
    assert result.low.values == pytest.approx([interval.low for interval in exact], abs=1e-9)
    assert result.high.values == pytest.approx([interval.high for interval in exact])


def test_a_store_goes_on_where_it_stopped(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explore([Uniform()], PROBLEM, 200, 5, delta=0.2, most=300, store=tmp_path / "kept")
    monkeypatch.setattr("belman.lab.run.in_threads", None)  # whoever plays now would fail
    assert identical(
        explore([Uniform()], PROBLEM, 200, 5, delta=0.2, most=300, store=tmp_path / "kept"), whole
    )
    with pytest.raises(StateError, match="differs in question"):
        explore([Uniform()], PROBLEM, 200, 5, delta=0.1, most=300, store=tmp_path / "kept")
    with pytest.raises(StateError, match="belongs to another design: it differs in"):
        belman.simulate([Uniform()], PROBLEM, 300, 200, 5, store=tmp_path / "kept")


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, SettingError, "give either budget=… .turns. or delta="),
    ({"budget": 10, "delta": 0.1}, SettingError, "give either budget"),
    ({"budget": 0}, SettingError, "budget=0 is not valid"),
    ({"budget": 100, "m": 5}, SettingError, "m=5 is more than the 4 arms"),
    ({"delta": 1.0}, SettingError, "delta=1.0 is not valid"),
    ({"delta": 0.1, "threshold": "costumary"}, SettingError, "did you mean 'customary'"),
    ({"budget": 100, "threshold": "own"}, SettingError, "give delta="),
    (
        {"delta": 0.1, "threshold": "own"},
        PolicyError,
        "player 'uniform' has no stopping rule of its own",
    ),
    (
        {"budget": 4, "players": [SequentialHalving]},
        PolicyError,
        "budget=4 is too small for 4 arms",
    ),
    ({"delta": 0.1, "players": [SuccessiveRejects]}, PolicyError, "is made for a budget"),
    ({"budget": 100, "players": {"me": 3}}, PolicyError, "player 'me' is 3: give a policy"),
    ({"budget": 100, "players": []}, PolicyError, "the list of players is empty"),
    (
        {"budget": 100, "players": [belman.policies.Oracle()]},
        PolicyError,
        "it has nothing to explore",
    ),
    *(
        ({"budget": 100, "problem": problem}, SettingError, "of arms that stay.*, not a")
        for problem in (
            belman.problems.piecewise([[0.9, 0.1], [0.1, 0.9]], 50),
            belman.problems.renewing(3),
            belman.problems.batched(PROBLEM, 10),
            belman.problems.corrupted(PROBLEM, 5.0),
            belman.problems.from_rewards({"a": [0.0, 1.0], "b": [1.0, 1.0]}),
            belman.problems.queue([0.5, 0.4], 0.2),
        )
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD)
def test_doors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explore(**{"players": [Uniform()], "problem": PROBLEM, "runs": 5, **options})

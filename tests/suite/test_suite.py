"""The suite of problems: that it covers what it should, plays on the same luck, resumes, and adds
up right.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import belman
from belman.cli import app
from belman.cli.parse import policy
from belman.errors import PolicyError, SettingError, StateError
from belman.suite import SPLITS, cell_table, play, player_csv, suite, summary_table
from belman.suite.tables import geometric_mean, half_interval


def first(split):
    """A small cell with ten runs."""
    small = suite().quick()
    cell = next(cell for cell in small.cells if cell.split == split and cell.horizon <= 500)
    return type(cell)(cell.split, cell.kind, cell.arms, 50, 10, cell.problem)


def test_the_suite_covers_what_it_should():
    cells = suite().cells
    assert {cell.arms for cell in cells} == {2, 5, 10, 20, 50, 200}
    assert {100, 500, 1_000, 10_000, 100_000, 1_000_000} == {cell.horizon for cell in cells}
    assert {"bernoulli", "exponential", "poisson", "gaussian", "gaussian-unknown"} == {
        cell.problem.family.name for cell in cells
    }
    assert all(cell.problem.arms == cell.arms for cell in cells)
    assert len({(cell.kind, cell.arms, cell.horizon) for cell in cells}) == len(
        cells
    )  # no cell in both splits
    assert {cell.split for cell in cells} == set(SPLITS)


def test_every_rival_is_a_policy_in_one_group():
    names = [name for group in suite().rivals.values() for name in group]
    assert len(names) == len(set(names))
    for name in names:
        assert policy(name, 100)
    left_out = set(belman.policies.POLICIES) - {*names, "belman"}
    assert {
        "oracle",
        "explore-then-commit",
    } <= left_out  # one is told the truth, the other has no setting for all


def test_played_once_and_kept(tmp_path, monkeypatch):
    cell, said = first("validation"), []
    players = {name: policy(name, cell.horizon) for name in ("belman", "greedy")}
    records = play(cell, players, tmp_path, 3, 1, said.append)
    assert len(said) == 2
    result = belman.simulate(players, cell.problem, cell.horizon, cell.runs, 3, progress=False)
    assert records["greedy"] == pytest.approx(
        result.regret.sel(player="greedy").values[:, -1], rel=1e-8
    )
    again = play(cell, players, tmp_path, 3, 1, said.append)
    assert len(said) == 2
    assert np.array_equal(again["belman"], records["belman"])
    play(cell, players, tmp_path, 4, 1, said.append)  # another seed is another design
    assert len(said) == 4
    monkeypatch.setattr("belman.lab.design.source_digest", lambda *modules: "edited")
    play(cell, players, tmp_path, 4, 1, said.append)  # and so is other code
    assert len(said) == 6
    (tmp_path / f"{cell.key}.json").write_text("{")
    with pytest.raises(StateError, match="is damaged"):
        play(cell, players, tmp_path, 4, 1)


def test_ratios_ranks_and_summary_by_hand():
    cell = first("development")
    records = {
        "belman": np.array([1.0, 3.0]),
        "thompson": np.array([4.0, 4.0]),
        "imed": np.array([1.0, 2.0]),
        "greedy": np.array([1.0, 1.0]),
    }
    table = cell_table(suite(), {cell: records}, "development")
    row = table.row(cell.name)
    assert (row["regret"], row["rank"], row["/ Thompson"]) == (2.0, "2 of 3", 0.5)
    assert (row["best rival"], row["/ best"]) == ("imed", pytest.approx(4.0 / 3.0))
    assert (row["best of all"], row["/ of all"]) == ("greedy", 2.0)
    assert row["p99 / Thompson"] == pytest.approx(2.98 / 4.0)
    limit = belman.measures.attainable(cell.problem, cell.horizon, draws=400)
    assert row["of the attainable"] == pytest.approx((limit.best_arm - 2.0) / limit.rewards)
    summary = summary_table({"development": table}).row("development")
    assert (summary["/ Thompson"], summary["worst"], summary["p99 no worse"]) == (
        pytest.approx(0.5),
        0.5,
        "100 %",
    )
    lines = player_csv(suite(), {cell: records}).splitlines()
    assert lines[2].startswith(f"development,{cell.key},anytime,thompson,2,4,0,4,4,-2,")
    assert geometric_mean([4.0, 1.0, 2.0]) == pytest.approx(2.0)
    assert half_interval(np.array([1.0, 3.0])) == pytest.approx(12.706, abs=1e-3)


def test_the_command_refuses_what_is_not_there(tmp_path):
    for words, error, message in (
        (["--split", "test"], SettingError, "unknown split 'test'"),
        (
            ["--ours", "belmann"],
            PolicyError,
            "unknown policy 'belmann'.*did you mean 'belman'",
        ),
        (
            ["--players", "imad"],
            PolicyError,
            "'imad' is not a rival of the suite.*did you mean 'imed'",
        ),
    ):
        done = CliRunner().invoke(app, ["bench", "regret", "--output", str(tmp_path), *words])
        assert isinstance(done.exception, error)
        with pytest.raises(error, match=message):
            raise done.exception


def test_the_command_writes_a_table_and_data(tmp_path, monkeypatch):
    small = suite().quick()
    tiny = type(small)((first("development"),), small.rivals, small.at_most)
    monkeypatch.setattr(type(small), "quick", lambda self: tiny)
    words = [
        "bench",
        "regret",
        "--quick",
        "--split",
        "development",
        "--players",
        "thompson,greedy",
        "--output",
        str(tmp_path),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert tiny.cells[0].name in done.output  # not cut, however narrow the terminal
    kept = json.loads((tmp_path / "summary.json").read_text())
    assert kept["development"]["cell"] == [tiny.cells[0].name]
    assert (tmp_path / "regret.csv").read_text().count("\n") == 4
    assert CliRunner().invoke(app, [*words, "--ours", "belman-until"]).exit_code == 0
    told = json.loads((tmp_path / "summary-belman-until.json").read_text())
    assert told["development"]["cell"] == kept["development"]["cell"]
    assert told["development"]["regret"] != kept["development"]["regret"]
    own = tmp_path / "mine.py"
    own.write_text("from belman.policies import Random as Mine\n")
    assert CliRunner().invoke(app, [*words, "--ours", f"{own}:Mine"]).exit_code == 0
    own = json.loads((tmp_path / "summary-mine.py-Mine.json").read_text())
    assert own["development"]["regret"] > told["development"]["regret"]

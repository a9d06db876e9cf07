"""The contextual bake-off: its tables, what it judges by, and a page in step with its data."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.bakeoff import page, play, run, tables
from benchmarks.bakeoff.judge import BEST_OF, DEFAULT, Half, halves

DOCS = Path(__file__).parent.parent / "docs"
LINES = ["1.5, red, yes", "2.5, blue, no", "3.5, red, no", "4.5, green, yes"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with five small tables in place of the wheel's."""
    for name in "abcde":
        (tmp_path / f"{name}.dat").write_text("\n".join(LINES * 5) + "\n", encoding="latin-1")
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    return tmp_path


def test_the_page_is_drawn_from_its_data():
    data = json.loads((DOCS / "bakeoff.json").read_text(encoding="utf-8"))
    text = (DOCS / "bakeoff.md").read_text(encoding="utf-8")
    assert text == page.markdown(data), "python -m benchmarks.bakeoff.run --draw"
    assert text.index("## Where others win") < text.index("## The report tables")


@pytest.mark.usefixtures("folder")
def test_halves_alternate_by_name():
    assert tables.names() == ["a", "b", "c", "d", "e"]
    assert tables.names("development") == ["a", "c", "e"]
    assert tables.names("report") == ["b", "d"]


@pytest.mark.usefixtures("folder")
def test_a_table_has_numbers_words_and_classes():
    table = tables.read("a", seed=1, most=12)
    assert (table.arms, len(table.rows), table.columns) == (2, 12, ["c1", "c2"])
    known = {(1.5, "red"): 1, (2.5, "blue"): 0, (3.5, "red"): 0, (4.5, "green"): 1}
    for row, right in zip(table.rows, table.classes, strict=True):
        assert known[row["c1"], row["c2"]] == right
    assert table.dense.shape == (12, 4)
    assert abs(table.dense[:, 0].mean()) < 1e-12
    assert table.dense[:, 1:].sum(axis=1).tolist() == [1.0] * 12
    assert tables.read("a", 1, 12).rows == table.rows
    assert tables.read("a", 2, 12).rows != table.rows


class Knows:
    """A player that is right at every other row."""

    def __init__(self, table, seed):
        self.classes, self.told = table.classes, []

    def ask(self, place):
        right = self.classes[place]
        return right if place % 2 == 0 else 1 - right

    def tell(self, place, arm, reward):
        assert reward == (place % 2 == 0)


@pytest.mark.usefixtures("folder")
def test_passes_go_seed_by_seed_and_skip_what_is_known(monkeypatch):
    module = Namespace(PLAYERS={"knows": Knows})
    monkeypatch.setattr(play.importlib, "import_module", lambda name: module)
    options = Namespace(
        name="x", half="report", tables=None, rows=20, seeds=2, seconds=60.0, players=None
    )
    lines = list(play.passes(options, {("knows", "b", 1)}))
    assert [line[:4] for line in lines] == [
        ["knows", "d", 1, 0.5], ["knows", "b", 2, 0.5], ["knows", "d", 2, 0.5]
    ]  # fmt: skip
    options.seconds = -1.0  # the time is up before the first
    assert list(play.passes(options, set())) == []


def passes(*rewards):
    return {str(seed): [reward, 10.0] for seed, reward in enumerate(rewards, 1)}


def test_players_are_judged_in_pairs_of_seeds():
    """The first is ahead by 0.1 in every seed of one table, and level on the other, though seeds
    differ far more than players.
    """
    half = Half(
        ["t", "u"],
        {
            "one": {"t": passes(0.2, 0.5, 0.91), "u": passes(0.4, 0.6)},
            "two": {"t": passes(0.1, 0.4, 0.80), "u": passes(0.6, 0.4)},
        },
    )
    assert half.verdicts("one", "two") == (1, 1, 0)
    assert half.verdicts("two", "one") == (0, 1, 1)
    assert half.ranks == {"one": 1.25, "two": 1.75}  # equal means share their ranks
    mean, error = half.overall("one")
    assert mean == pytest.approx(np.mean([np.mean([0.2, 0.5, 0.91]), 0.5]))
    assert error > 0.0


def test_the_best_rate_is_that_of_each_table():
    players = {
        "cover": {"t": passes(0.5), "u": passes(0.5)},
        "cover, rate 2.5": {"t": passes(0.7), "u": passes(0.1)},
    }
    ours = {"default": {"t": passes(0.6), "u": passes(0.6)}}
    data = {"libraries": {"vw": {"players": players}, "belman": {"players": ours}}}
    _, report = halves(data)
    best = report.passes[f"VW, cover, {BEST_OF}"]
    assert (best["t"]["1"][0], best["u"]["1"][0]) == (0.7, 0.5)
    assert f"VW, cover, {BEST_OF}" not in report.ranked
    assert DEFAULT in report.ranked


def test_a_run_that_was_killed_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "KEPT", tmp_path / "kept.json")
    kept = run.Kept()
    kept.begin("river", "digest")
    kept.add("river", ["LinUCB", "t", 1, 0.5, 20.0])
    again = run.Kept()
    assert again.begin("river", "digest")["players"] == {"LinUCB": {"t": {"1": [0.5, 20.0]}}}
    assert again.begin("river", "another")["players"] == {}

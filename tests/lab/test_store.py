"""The store: resuming after kill -9, other designs, damage."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap

import pytest

import belman
from belman.errors import SettingError, StateError
from tests.waiting import process, wait_until

pytest.importorskip("zarr", reason="needs the extra 'store'")

PLAYERS = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}
PROBLEM = belman.problems.bernoulli([0.8, 0.9])
DESIGN = {"horizon": 2_000, "runs": 300, "seed": 7}


@pytest.fixture(scope="module")
def exact():
    return belman.simulate(PLAYERS, PROBLEM, **DESIGN)


def test_a_stored_simulation_is_the_same_and_is_read_back(tmp_path, exact, monkeypatch):
    store = tmp_path / "store"
    assert belman.simulate(PLAYERS, PROBLEM, **DESIGN, store=store).identical(exact)

    def nothing_left_to_do(*_: object) -> None:
        raise AssertionError("a finished store must not be played again")

    monkeypatch.setattr("belman.lab.run.in_threads", nothing_left_to_do)
    assert belman.simulate(PLAYERS, PROBLEM, **DESIGN, store=store).identical(exact)


def test_a_player_without_a_description_is_refused_before_anything_is_written(tmp_path):
    players = {"mine": belman.BelMan(lambda t: 1.0 / t)}
    with pytest.raises(SettingError, match=r"lambda.* is not found under its name in a module"):
        belman.simulate(players, PROBLEM, 10, 1, store=tmp_path / "store")
    assert not (tmp_path / "store").exists()
    played = belman.simulate(players, PROBLEM, 10, 1)
    assert "lambda" in json.loads(played.attrs["players"])["mine"]["repr"]


def test_it_resumes_after_kill_nine(tmp_path, exact):
    store = tmp_path / "store"
    script = textwrap.dedent(
        f"""
        import belman
        players = {{"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}}
        problem, store = belman.problems.bernoulli([0.8, 0.9]), {str(store)!r}
        belman.simulate(players, problem, 2_000, 300, 7, workers=1, store=store)
        """
    )
    marks = store / "belman-done"
    with process([sys.executable, "-c", script]) as playing:
        wait_until(lambda: len(list(marks.glob("[0-9]*"))) >= 2)
        playing.send_signal(signal.SIGKILL)
    before = len(list(marks.glob("[0-9]*")))
    assert belman.simulate(PLAYERS, PROBLEM, **DESIGN, store=store).identical(exact)
    assert before <= len(list(marks.glob("[0-9]*")))


def test_damaged_data_is_played_again(tmp_path, exact):
    store = tmp_path / "store"
    belman.simulate(PLAYERS, PROBLEM, **DESIGN, store=store)
    chunk = max(
        (
            path
            for path in (store / "regret").rglob("*")
            if path.is_file() and path.name != "zarr.json"
        ),
        key=os.path.getsize,
    )
    belman_mark = next((store / "belman-done").glob("[0-9]*"))
    belman_mark.write_text("0" * 64)
    chunk.unlink()
    assert belman.simulate(PLAYERS, PROBLEM, **DESIGN, store=store).identical(exact)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 8}, "seed"),
        ({"runs": 301}, "runs"),
        ({"horizon": 2_001}, "horizon"),
        ({"problem": belman.problems.bernoulli([0.8, 0.91])}, "problem"),
        ({"players": {"BelMan": belman.BelMan.paper(), "Thompson": belman.Thompson()}}, "players"),
    ],
)
def test_a_store_of_another_design_is_refused_and_untouched(tmp_path, changes, named):
    store = tmp_path / "store"
    small = {"players": PLAYERS, "problem": PROBLEM, "horizon": 50, "runs": 3, "seed": 7}
    belman.simulate(**small, store=store)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    with pytest.raises(StateError, match=named):
        belman.simulate(**{**small, **changes}, store=store)
    assert before == {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}


def test_a_store_made_by_other_code_is_refused_and_untouched(tmp_path, monkeypatch):
    store = tmp_path / "store"
    small = {"players": PLAYERS, "problem": PROBLEM, "horizon": 50, "runs": 3, "seed": 7}
    belman.simulate(**small, store=store)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    monkeypatch.setattr("belman.lab.design.source_digest", lambda *modules: "edited")
    with pytest.raises(StateError, match="made by other code"):
        belman.simulate(**small, store=store)
    assert before == {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}


def test_a_directory_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(StateError, match="nothing was overwritten"):
        belman.simulate(PLAYERS, PROBLEM, 10, 1, 0, store=tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "precious"

"""The store: resuming after kill -9, other designs, damage."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import belman
from belman.errors import SettingError, StateError
from belman.lab.store import Store
from tests.waiting import HANG, process, wait_until

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


@pytest.mark.slow
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


SMALL = {"players": PLAYERS, "problem": PROBLEM, "horizon": 50, "runs": 3, "seed": 7}


def chunks(store):
    return [path for path in store.rglob("c/**/*") if path.is_file()]


@pytest.mark.parametrize("damage", [b"", b"\0", b"(\xb5/\xfd garbage", bytes(10_000)])
def test_a_chunk_that_cannot_be_read_is_played_again(tmp_path, damage):
    exact = belman.simulate(**SMALL, store=tmp_path / "store")
    assert len(chunks(tmp_path / "store")) >= 2
    for path in chunks(tmp_path / "store"):
        path.write_bytes(damage)
    assert belman.simulate(**SMALL, store=tmp_path / "store").identical(exact)
    assert all(path.read_bytes() != damage for path in chunks(tmp_path / "store"))


def test_a_mark_that_cannot_be_read_is_played_again(tmp_path):
    exact = belman.simulate(**SMALL, store=tmp_path / "store")
    for mark in (tmp_path / "store" / "belman-done").iterdir():
        mark.write_bytes(b"\xff\xfe")
    assert belman.simulate(**SMALL, store=tmp_path / "store").identical(exact)


def test_metadata_that_cannot_be_read_is_an_error_of_ours(tmp_path):
    belman.simulate(**SMALL, store=tmp_path / "store")
    (tmp_path / "store" / "regret" / "zarr.json").write_text("{")
    with pytest.raises(StateError, match="cannot be opened"):
        belman.simulate(**SMALL, store=tmp_path / "store")


def test_a_store_whose_maker_was_killed_before_its_design_was_written(tmp_path):
    (tmp_path / "store" / "belman-done").mkdir(parents=True)
    (tmp_path / "store" / ".belman-design.json.abc").mkdir()
    exact = belman.simulate(**SMALL)
    assert belman.simulate(**SMALL, store=tmp_path / "store").identical(exact)


def test_the_first_design_stays(tmp_path, monkeypatch):
    """Two processes find no design: what the quicker one wrote is not overwritten."""
    store = tmp_path / "store"
    later = Store._result

    def slow(self, *given):
        monkeypatch.setattr(Store, "_result", later)
        belman.simulate(**{**SMALL, "seed": 8}, store=store)
        later(self, *given)

    monkeypatch.setattr(Store, "_result", slow)
    with pytest.raises(StateError, match="belongs to another design: it differs in seed"):
        belman.simulate(**SMALL, store=store)


@pytest.mark.slow
def test_several_processes_start_one_store(tmp_path):
    script = textwrap.dedent(
        f"""
        import belman
        players = {{"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}}
        problem, store = belman.problems.bernoulli([0.8, 0.9]), {str(tmp_path / "store")!r}
        input()
        played = belman.simulate(players, problem, 50, 3, 7, workers=1, store=store)
        print(float(played.regret.sum()))
        """
    )
    exact = belman.simulate(**SMALL)
    with contextlib.ExitStack() as stack:
        command = [sys.executable, "-c", script]
        started = [stack.enter_context(process(command, stdin=subprocess.PIPE)) for _ in range(4)]
        for one in started:
            one.stdin.write("go\n")
            one.stdin.flush()
        for one in started:
            out, errors = one.communicate(timeout=HANG)
            assert out.strip() == str(float(exact.regret.sum())), errors


def test_chunks_are_on_the_disk_before_they_are_marked(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr("belman.lab.store.sync", lambda path: order.append(("sync", str(path))))
    monkeypatch.setattr(
        "belman.lab.store.write_atomically", lambda path, _: order.append(("mark", path.name))
    )
    belman.simulate(**SMALL, workers=1, store=tmp_path / "store")
    marks = [i for i, (what, _) in enumerate(order) if what == "mark"]
    for path in chunks(tmp_path / "store"):
        player = path.relative_to(tmp_path / "store").parts[2]
        mark = next(i for i in marks if order[i][1].startswith(f"{player}-"))
        assert ("sync", str(path)) in order[:mark]

"""The pages that compare are in step with their data, and say first where others are better."""

from __future__ import annotations

import importlib
import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from belman import spec
from belman.policies import POLICIES

ROOT = Path(__file__).parent.parent
DOCS, TOOLS = ROOT / "docs", ROOT / "tools"


def module(name):
    """A tool, whose neighbours it imports."""
    sys.path.insert(0, str(TOOLS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def leaderboard():
    return module("leaderboard")


@pytest.fixture(scope="module")
def compare():
    return module("compare")


@pytest.fixture(scope="module")
def page():
    return module("compare_page")


@pytest.fixture(scope="module")
def better():
    return module("compare_better")


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_leaderboard_is_drawn_from_its_data(leaderboard):
    data = json.loads(read("leaderboard.json"))
    assert read("leaderboard.md") == leaderboard.markdown(data), (
        "python tools/leaderboard.py --draw"
    )
    assert {row["policy"] for row in data["rows"]} <= {*POLICIES, *spec.PRESETS}
    thompson = next(row for row in data["rows"] if row["policy"] == "thompson")
    assert thompson["mean"] == thompson["tail"] == 1.0


def test_what_is_claimed_is_of_policies_that_are_there(leaderboard):
    known = {*POLICIES, *spec.PRESETS}
    assert set(leaderboard.CLAIMS["proven"]) | set(leaderboard.CLAIMS["needs"]) <= known


def test_what_a_policy_needs(leaderboard):
    def needs(name):
        return leaderboard.needs(name, leaderboard.parse.policy(name, 100))

    assert [needs(name) for name in ("thompson", "ucb1", "mots", "lb-sda")] == [
        *("distribution", "range", "deviation", "nothing")
    ]
    assert leaderboard.knows_horizon("mots")
    assert leaderboard.knows_horizon("gittins")
    assert not leaderboard.knows_horizon("imed")
    assert leaderboard.explores("eb-tc", leaderboard.parse.policy("eb-tc", 100))


def test_rows_of_policies_that_are_not_played_stay(leaderboard):
    kept = leaderboard.known()
    design = {key: kept[key] for key in ("runs", "cells", "seed")}
    rows = leaderboard.others(["thompson"], design)
    assert len(rows) == len(kept["rows"]) - 1
    assert "thompson" not in {row["policy"] for row in rows}
    assert leaderboard.others([], design) == []
    with pytest.raises(SystemExit, match="play every policy"):
        leaderboard.others(["thompson"], design | {"runs": 7})


def test_a_cost_is_measured_once_for_the_same_code(leaderboard, tmp_path, monkeypatch):
    costs = iter([1.0, 2.0, 3.0])
    monkeypatch.setattr(leaderboard, "cost", lambda name, player, turns: next(costs))
    folder = tmp_path / "kept"
    assert [leaderboard.known_cost("thompson", folder) for _ in range(2)] == [1.0, 1.0]
    assert leaderboard.known_cost("imed", folder) == 2.0
    monkeypatch.setattr(leaderboard, "sources", lambda *played: "other code")
    assert leaderboard.known_cost("thompson", folder) == 3.0


def test_a_slow_policy_is_timed_over_what_it_can_play(leaderboard):
    assert leaderboard.timed("thompson")[1] == 1_000
    exact, turns = leaderboard.timed("gittins-exact")
    assert exact.horizon == turns == 300


def test_the_comparison_is_drawn_from_its_data(better, page):
    data = json.loads(read("compare.json"))
    text = read("compare.md")
    assert text == page.markdown(data), "python tools/compare.py --draw"
    assert text.index("## Where others are better") < text.index("## Decisions")
    assert set(data["libraries"]) == {"belman", *better.ABOUT["peers"]}


def test_features_name_every_library(better):
    features = better.ABOUT["features"]
    assert set(features["names"]) == {"belman", *better.ABOUT["peers"]}
    assert all(len(offered) == len(features["names"]) for offered in features.values())
    assert f"| policies without contexts | {better.COUNT} |" in read("compare.md")
    assert 60 < better.COUNT < len(POLICIES)


def compared():
    """What belman and a quicker, smaller and better library were measured to do."""

    def played(regret):
        return {"version": "1", "turns": {"two arms": 10}, "players": {"T": {"two arms": regret}}}

    def sat(pair, rate, size):
        about = {"cold": [1.0, 2.0], "megabytes": size, "packages": 1}
        return about | {"pair": {"T": pair}, "simulated": {"T": rate}}

    return {
        "libraries": {
            "belman": played([3.0, 4.0, 5.0]),
            "quick": played([1.0, 2.0, 3.0]),
            "broken": {"failed": "does not install", "words": "no such file"},
        },
        "speed": {
            "machine": "here",
            "libraries": {
                "belman": sat([5.0, 5.5], [10, 20], 100.0),
                "quick": sat([1.0, 1.0], [10, 30], 2.0),
            },
        },
    }


def test_a_better_peer_comes_first(better, page):
    data = compared()
    assert better.better(data)[:4] == [
        "Less regret than belman, T on “two arms”: quick, T, by 2.0 ± 0.0 in 3 runs.",
        "Fewer µs for an ask and its tell than the 5 of belman's T: quick, T 1.",
        "More simulated turns of T a CPU-second than belman's 20: quick 30.",
        "Fewer MB to install than belman's 100: quick 2.",
    ]
    text = page.markdown(data)
    assert "broken does not install: `no such file`." in text
    assert "in 2 rounds; the best round counts, the worst took up to 10% longer." in text
    assert better.interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, 2.4841), abs=1e-4)


def test_a_peer_that_is_no_better_is_not_said_to_be(better):
    data = compared()
    for what in ("libraries", "speed"):
        about = data[what] if what == "libraries" else data[what]["libraries"]
        about["quick"] = about["belman"]
    assert not any("quick" in sentence for sentence in better.better(data))


def test_what_has_not_changed_is_not_played_again(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "python_of", lambda *given: tmp_path / "python")
    files = ["decisions.py", "peer_river.py"]
    kept = {"digest": compare.digest(files, 1.0, "river==1.0")}
    assert compare.decided("river", "river==1.0", tmp_path, 1.0, kept) is kept
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    result = set()
    for text in ("one = 1", "one = 2"):
        (tmp_path / "src" / "own.py").write_text(text)
        result.add(compare.contents(str(tmp_path)))
    assert len(result) == 2


def test_speeds_are_measured_in_one_sitting_once_any_changed(compare, tmp_path, monkeypatch):
    sat = []
    monkeypatch.setattr(compare, "KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(compare, "decided", lambda name, *given: {"players": {}})
    monkeypatch.setattr(compare, "sitting", lambda names, *given: sat.append(names) or {})
    options = Namespace(folder=tmp_path, seconds=1.0, workers=2, speed=False, rounds=1)
    data = {}
    for _ in range(2):
        compare.measure(data, options)
    assert sat == [list(compare.LIBRARIES)]
    options.speed = True
    compare.measure(data, options)
    options.speed = False
    monkeypatch.setitem(compare.LIBRARIES, "river", "river==0")
    compare.measure(data, options)
    assert len(sat) == 3

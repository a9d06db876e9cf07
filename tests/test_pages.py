"""The pages that compare are in step with their data, and say first where others are better."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from belman import spec
from belman.policies import POLICIES

DOCS = Path(__file__).parent.parent / "docs"


def module(name):
    found = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    loaded = importlib.util.module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def leaderboard():
    return module("leaderboard")


@pytest.fixture(scope="module")
def compare():
    return module("compare")


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_leaderboard_is_drawn_from_its_data(leaderboard):
    data = json.loads(read("leaderboard.json"))
    assert read("leaderboard.md") == leaderboard.markdown(data), "python docs/leaderboard.py --draw"
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


def test_a_cost_is_measured_once_for_the_same_code(leaderboard, tmp_path, monkeypatch):
    costs = iter([1.0, 2.0, 3.0])
    monkeypatch.setattr(leaderboard, "cost", lambda name, player: next(costs))
    thompson, imed = (leaderboard.parse.policy(name, 100) for name in ("thompson", "imed"))
    folder = tmp_path / "kept"
    assert [leaderboard.known_cost("thompson", thompson, folder) for _ in range(2)] == [1.0, 1.0]
    assert leaderboard.known_cost("imed", imed, folder) == 2.0
    monkeypatch.setattr(leaderboard, "sources", lambda *played: "other code")
    assert leaderboard.known_cost("thompson", thompson, folder) == 3.0


def test_the_comparison_is_drawn_from_its_data(compare):
    data = json.loads(read("compare.json"))
    text = read("compare.md")
    assert text == compare.markdown(data), "python docs/compare.py --draw"
    assert text.index("## Where others are better") < text.index("## Features")
    for name in compare.ABOUT["peers"]:
        assert name in data["libraries"]


def test_features_name_every_library(compare):
    features = compare.ABOUT["features"]
    assert set(features["names"]) == {"belman", *compare.ABOUT["peers"]}
    assert all(len(offered) == len(features["names"]) for offered in features.values())


def test_a_better_peer_comes_first(compare):
    def library(pair, regret, size):
        player = {"pair": pair, "regret": {"two arms": regret}}
        about = {"version": "1", "megabytes": size, "packages": 1, "cold": 1.0}
        return about | {"players": {"T": player}}

    data = {
        "machine": "here",
        "turns": {"two arms": 10},
        "libraries": {
            "belman": library(5.0, [3.0, 4.0, 5.0], 100.0),
            "quick": library(1.0, [1.0, 2.0, 3.0], 2.0),
            "broken": {"failed": "does not install", "words": "no such file"},
        },
    }
    told = "\n".join(compare.better(data))
    assert "quick, T, 2.0; the best of belman's here, belman, T, 4.0" in told
    assert "Fewer MB to install than belman's 100: quick 2." in told
    assert "quick, T 1" in told
    assert "- broken does not install: `no such file`" in compare.markdown(data)
    assert compare.interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, 2.4841), abs=1e-4)


def test_what_has_not_changed_is_not_measured_again(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "_environment", lambda *given: tmp_path / "python")
    monkeypatch.setattr(compare, "_version", lambda *given: "1.0")
    kept = {"digest": compare._digest("river", 1.0, "river==1.0")}
    assert compare.measured("river", "river==1.0", tmp_path, 1.0, kept) is kept
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    digests = set()
    for text in ("one = 1", "one = 2"):
        (tmp_path / "src" / "own.py").write_text(text)
        digests.add(compare._digest("belman", 1.0, str(tmp_path)))
    assert len(digests | {kept["digest"]}) == 3

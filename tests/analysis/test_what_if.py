"""What a bandit would have earned on a past test: more where arms differ, nothing where not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import belman
from belman.cli import app
from belman.errors import SettingError

pytestmark = pytest.mark.interpreted


def visits(rng, n, old, new):
    arms = rng.choice(["old", "new"], n)
    return {"variant": arms, "converted": rng.random(n) < np.where(arms == "new", new, old)}


def test_a_bandit_earns_more_and_at_most_what_the_better_arm_does():
    table = visits(np.random.default_rng(1), 3_000, 0.2, 0.4)
    result = belman.analysis.what_if(table, replays=5, seed=1)
    split, bandit = result.earned.mean(1)
    assert split < bandit < 0.42 * result.decisions
    assert result.shown[1, result.arms.index("new")] > 0.8
    assert result.players == ("even split", "BelMan")
    assert "in nine of ten replays" in result.sentence
    assert result.account.sentence in str(result)


def test_nothing_is_gained_where_arms_are_alike():
    """Over 30 A/A tests the mean gain is 0 within 4 standard errors: no luck is taken for good."""
    rng = np.random.default_rng(2)
    gains = []
    for i in range(30):
        result = belman.analysis.what_if(visits(rng, 400, 0.3, 0.3), replays=3, seed=i)
        split, bandit = result.earned.mean(1)
        gains.append(bandit - split)
    assert abs(np.mean(gains)) < 4.0 * np.std(gains) / np.sqrt(len(gains))


def test_one_command(tmp_path):
    table = visits(np.random.default_rng(3), 600, 0.2, 0.5)
    rows = zip(table["variant"], table["converted"].astype(int), strict=True)
    path = tmp_path / "visits.csv"
    path.write_text("variant,converted\n" + "\n".join(f"{a},{x}" for a, x in rows))
    words = ["replay", str(path), "--policies", "belman,thompson", "--replays", "2"]
    said = CliRunner().invoke(app, words).output
    assert "belman would have earned" in said
    assert "600 rows read, 600 used, 0 dropped." in said
    result = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert [row["player"] for row in result["players"]] == ["even split", "belman", "thompson"]


def test_what_cannot_be_replayed():
    with pytest.raises(SettingError, match="has totals: a replay needs a row"):
        belman.analysis.what_if({"arm": ["a", "b"], "visitors": [90, 90], "conversions": [4, 5]})
    with pytest.raises(SettingError, match="needs two arms"):
        belman.analysis.what_if({"arm": ["a"] * 5, "reward": [0, 1, 0, 1, 1]})
    with pytest.raises(SettingError, match="replays=0"):
        belman.analysis.what_if({"arm": ["a", "b"] * 5, "reward": [0, 1] * 5}, replays=0)

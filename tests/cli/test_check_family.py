"""`belman check-family`: a table, JSON, a picture, and files that are wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from belman.cli import app
from belman.errors import SettingError


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "clicks.csv"
    lines = [f"{'ab'[k % 2]},{int(rng.random() < 0.2)}" for k in range(600)]
    path.write_text("\n".join(["page,click", *lines]) + "\n")
    return path


def run(*words):
    done = CliRunner().invoke(app, ["check-family", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_table_json_and_picture(data, tmp_path):
    picture = tmp_path / "families.png"
    words = run(data, "--column", "click", "--arm", "page", "--plot", picture)
    assert "600 rewards of clicks.csv" in words
    assert "Use belman.families.Bernoulli()" in words
    assert picture.read_bytes().startswith(b"\x89PNG")
    result = json.loads(run(data, "--column", "click", "--json"))
    assert result["fits"][0]["family"] == "bernoulli"
    assert result["rewards"] == 600


def test_files_that_are_wrong(data, tmp_path):
    with pytest.raises(SettingError, match=r"has no column 'clicks': .*did you mean 'click'"):
        run(data, "--column", "clicks")
    with pytest.raises(SettingError, match=r"row 1: page 'a' is not a number; .*; and 595 more"):
        run(data, "--column", "page")
    with pytest.raises(SettingError, match="cannot be read"):
        run(tmp_path / "none.csv")
    long = tmp_path / "long.csv"
    long.write_text(f"reward\n{'9' * 200_000}\n")
    with pytest.raises(SettingError, match="larger than field limit"):
        run(long)
    with pytest.raises(SettingError, match="its name must end in"):
        run(data, "--column", "click", "--plot", tmp_path / "x.doc")

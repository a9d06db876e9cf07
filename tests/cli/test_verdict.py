"""`belman report` and `belman plan`: what they print and write, and what they refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from belman.cli import app
from belman.errors import ArmError, SettingError


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """One report is no reason to compile."""
    monkeypatch.setenv("BELMAN_COMPILE", "never")


@pytest.fixture
def data(tmp_path):
    """Conversions by device: green is better, but not on tablets; some rewards never came."""
    rng = np.random.default_rng(7)
    lines = ["time,arm,reward,device"]
    for second in range(6_000):
        arm, device = rng.choice(["blue", "green"]), rng.choice(["phone", "tablet"])
        chance = {"blue": 0.2, "green": 0.35 if device == "phone" else 0.1}[arm]
        reward = "" if second % 500 == 0 else int(rng.random() < chance)
        lines.append(f"{second},{arm},{reward},{device}")
    path = tmp_path / "data.csv"
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    return path


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_from_a_file_to_a_verdict(data, tmp_path):
    page = tmp_path / "page.html"
    words = ("report", data, "--control", "blue", "--by", "device", "--split", "even")
    text = run(*words, "--output", page)
    assert "green converts" in text
    assert "you may stop" in text
    assert "green does worse than blue where device is tablet." in text
    assert "Traffic shares are as intended." in text
    assert f"wrote {page}" in text
    assert "By device" in page.read_text(encoding="utf-8")
    result = json.loads(run(*words, "--json", "--stop", "separated:delta=0.01"))
    assert result["rule"] == {"name": "separated", "delta": 0.01, "within": 0.0}
    assert [row["flag"] for row in result["segments"]["device"]["rows"]] == ["", "!"]
    plays = {arm["arm"]: arm["plays"] for arm in result["arms"]}
    assert sum(plays.values()) == 6_000 - 12
    assert len(result["findings"]) == 4
    assert not any(part["alarm"] for part in result["findings"][:2])


def test_amounts_and_costs(tmp_path):
    rng = np.random.default_rng(3)
    rows = [f"{arm},{rng.normal(mean, 2):.2f}" for arm, mean in [("a", 100), ("b", 90)] * 400]
    path = tmp_path / "amounts.csv"
    path.write_text("arm,reward\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert "a, the control, is ahead: b earns 10 % less than a" in run(
        "report", path, "--control", "a"
    )  # fmt: skip
    assert "b costs 10 % less than a" in run("report", path, "--control", "a", "--minimise")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--control", "blu"], ArmError, "did you mean 'blue'"),
        (["--reward", "rewards"], SettingError, "no column 'rewards'"),
        (["--by", "devic"], SettingError, "did you mean 'device'"),
        (["--split", "blue=0.5,gren=0.5"], ArmError, "did you mean 'green'"),
        (["--split", "blue=x"], SettingError, "no share"),
        (["--stop", "sur"], SettingError, "did you mean 'sure'"),
        (["--level", "2"], SettingError, "is not valid"),
    ],
)
def test_what_a_report_refuses(data, words, error, message):
    with pytest.raises(error, match=message):
        run("report", data, *words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,reward\n", "has no rows below its header"),
        ("arm,reward\na,much\n", "row 1: reward 'much' is not a number"),
        ("arm,reward,time\na,1,soon\n", "row 1: time 'soon' is not a time"),
        ("arm,reward\na,\n", "no row has a reward"),
    ],
)
def test_files_that_hold_no_data(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=message):
        run("report", path)
    with pytest.raises(SettingError, match="cannot be read"):
        run("report", tmp_path / "none.csv")


def test_a_plan(tmp_path, monkeypatch):
    monkeypatch.setenv("BELMAN_COMPILE", "first")  # some hundred thousand turns
    words = ("plan", "--baseline", 0.2, "--lift", 0.5, "--per-day", 500, "--quick")
    result = json.loads(run(*words, "--json", "--output", tmp_path))
    assert result["goals"]["decide"]["decided"] == 1.0
    assert result["false_stops"] < 0.15  # of 100, where 5 % are allowed: errs once in 10^5
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    assert "To find a lift of 50 % over 20 % among 2 arms" in " ".join(run(*words).split())

"""`belman replay … --from`: the time machine from the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from belman.assignment import Weights
from belman.cli.main import app
from belman.errors import SettingError
from tests.analysis.past_logs import adapting


@pytest.fixture
def past(tmp_path):
    log, history = adapting(np.random.default_rng(3), 3, 300, (0.2, 0.3, 0.4))
    table, folder = tmp_path / "log.csv", tmp_path / "payload-history"
    start = 1_767_225_600
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["unit", "timestamp", "variation", "converted"])
        for unit, time, arm, reward in zip(*log.values(), strict=True):
            rows.writerow([unit, start + time, arm, int(reward)])
    folder.mkdir()
    for time, payload in history.items():
        (folder / f"{start + int(time)}.json").write_text(json.dumps(payload), encoding="utf-8")
    return str(table), str(folder)


def replay(*words, ok=True):
    result = CliRunner().invoke(app, ["replay", *words])
    assert (result.exit_code == 0) is ok, result.output
    return result.output if ok else str(result.exception)


def test_what_every_arm_would_have_earned(past):
    said = replay(past[0], "--from", "growthbook", past[1])
    assert "900 assignments of 900 units were drawn again, by 3 versions" in said
    assert "900 rows read, 900 used, 0 dropped." in said
    told = json.loads(replay(past[0], past[1], "--from", "growthbook", "--json"))
    assert [one["policy"] for one in told["policies"]] == ["blue", "green", "red"]


def test_a_log_in_parquet(past, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'belman[parquet]'")
    from pyarrow import csv as reader
    from pyarrow import parquet

    assert pyarrow
    path = tmp_path / "log.parquet"
    parquet.write_table(reader.read_csv(past[0]), path)
    assert replay(str(path), "--from", "growthbook", past[1], "--json") == replay(
        past[0], "--from", "growthbook", past[1], "--json"
    ).replace("log.csv", "log.parquet")


def test_what_a_split_would_have_earned(past):
    words = ["--play", "blue=0.5,red=0.5", "--play", "green", "--level", "0.8", "--json"]
    told = json.loads(replay(past[0], "--from", "growthbook", past[1], *words))
    assert [one["policy"] for one in told["policies"]] == ["blue=0.5,red=0.5", "green"]
    assert told["policies"][0]["level"] == 0.8


def test_weights_documents(tmp_path):
    from belman.assignment import assign

    weights = Weights.of("checkout", {"a": 0.3, "b": 0.7}, salt="s", published=1.0)
    table = tmp_path / "log.csv"
    rows = [f"u{i},{i},{assign(weights, f'u{i}').arm},{i % 2}" for i in range(1, 400)]
    table.write_text("\n".join(["unit,time,arm,reward", *rows]), encoding="utf-8")
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "1.json").write_text(weights.to_json(), encoding="utf-8")
    for source in ("belman", "eppo"):
        said = replay(str(table), "--from", source, str(folder))
        assert "399 rows read, 399 used, 0 dropped." in said


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["--from", "growthbok", "."], "unknown source 'growthbok'"),
        (["--from", "growthbook"], "needs a folder"),
        (["."], "need --from"),
        (["--play", "a"], "need --from"),
        (["--from", "growthbook", "FOLDER", "--policies", "thompson"], "none that learn"),
        (["--from", "growthbook", "FOLDER", "--play", "blue=much"], "no number"),
        (["--from", "growthbook", "FOLDER", "--feature", "ofer"], "did you mean 'offer'"),
    ],
)
def test_what_is_refused(past, words, refused):
    given = [past[1] if word == "FOLDER" else word for word in words]
    result = CliRunner().invoke(app, ["replay", past[0], *given])
    assert isinstance(result.exception, SettingError)
    assert refused in str(result.exception)

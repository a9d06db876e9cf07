"""Logs out, past data in."""

from __future__ import annotations

import csv
from contextlib import closing
from pathlib import Path

import pytest

from belman import errors
from belman.studies import Storage, Study, open_study


@pytest.fixture
def study(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    study = open_study("study", ["a", "b", ("c", 1)], storage=storage, seed=1)
    for ticket in study.ask(6):
        study.tell(ticket, ticket.arm == "a")
    study.ask()
    study.pause('tea, "biscuits"\nand cake')
    yield study
    storage.close()


def test_an_export_is_the_log_and_is_past_data_for_another_study(study: Study, tmp_path: Path):
    for ending in ("csv", "parquet"):
        path = tmp_path / f"log.{ending}"
        assert study.export(path) == study.number
        other = open_study(ending, ["a", "b", ("c", 1)], storage=study.storage)
        assert other.record(path, "last year") == 6
        assert [other.agent().belief(arm) for arm in other.arms] == [
            study.agent().belief(arm) for arm in study.arms
        ]
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["event"] for row in rows] == study.history()["event"]
    assert rows[-1]["reason"] == 'tea, "biscuits"\nand cake'
    told = [row for row in rows if row["event"] == "told"]
    asked = {row["ticket"]: row for row in rows if row["event"] == "asked"}
    assert all(
        asked[row["ticket"]]["arm"] == row["arm"] and float(asked[row["ticket"]]["probability"]) > 0
        for row in told
    )


def test_parquet_holds_times_and_numbers(study: Study, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    study.export(tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet")
    assert table.column_names == list(study.history().columns)
    assert table.column("time").to_pylist() == study.history()["time"]


def test_history_shows_the_last_events(study: Study):
    assert study.history(last=2)["event"] == ["asked", "paused"]
    assert len(study.history()) == study.number


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("arm,reward\na,1\nz,1\n", errors.ArmError, "row 2: unknown arm 'z'"),
        ("arm,reward\na,one\n", errors.SettingError, "row 1: reward 'one' is not a number"),
        ("arm,reward\na,2\n", errors.RewardError, "row 1: reward 2"),
        ("arm,reward\na,1\na,\na,2\n", errors.RewardError, "row 3: reward 2"),
        ("arm,rewards\na,1\n", errors.SettingError, "no column 'reward'.*did you mean 'rewards'"),
        (None, errors.SettingError, "cannot be read"),
        (
            'arm,reward,attributes\na,1,"' + "[" * 100_000 + '"\n',
            errors.SettingError,
            "row 1: attributes .* is not JSON",
        ),
    ],
)
def test_bad_past_data_change_nothing(study: Study, tmp_path: Path, content, error, words):
    path = tmp_path / "past.csv"
    if content is not None:
        path.write_text(content)
    before = study.check()
    with pytest.raises(error, match=words):
        study.record(path)
    assert study.check() == before


def test_an_export_goes_to_a_file_of_a_known_kind_in_a_folder_that_is_there(
    study: Study, tmp_path: Path
):
    for path, words in (
        (tmp_path / "log.txt", "neither CSV nor Parquet"),
        (tmp_path / "no" / "log.csv", "cannot be written"),
    ):
        with pytest.raises(errors.SettingError, match=words):
            study.export(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_arms_that_read_alike_come_back_as_what_they_were(tmp_path: Path, ending: str):
    arms = [1, "1", "=1+1", "'=1+1", -5, "-5", ("a", 1), "('a', 1)", "None"]
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as storage:
        study = open_study("from", arms, storage=storage, seed=1)
        study.record([(arm, 1.0) for arm in arms for _ in range(arms.index(arm) + 1)])
        study.export(tmp_path / f"log.{ending}")
        other = open_study("to", arms, storage=storage, seed=1)
        assert other.record(tmp_path / f"log.{ending}") == 45
        assert other.beliefs()["plays"] == list(range(1, 10))
        same = [type(arm) for arm in other.arms]
        assert same == list(map(type, arms))
        unclear = open_study("unclear", [1, "1", "int:1"], storage=storage)
        with pytest.raises(errors.ArmError, match="arm 1 cannot be told from others in a file"):
            unclear.export(tmp_path / f"unclear.{ending}")
        assert not (tmp_path / f"unclear.{ending}").exists()


def test_a_text_that_may_be_two_arms_is_refused(tmp_path: Path):
    path = tmp_path / "past.csv"
    path.write_text("arm,reward\nstr:1,1\n1,1\n")
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as storage:
        study = open_study("study", [1, "1"], storage=storage)
        with pytest.raises(errors.ArmError, match=r"row 2: '1' may be 1, '1': write 'int:1'"):
            study.record(path)
        assert study.number == 1


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as storage:
        study = open_study("study", ["=HYPERLINK(0)", "@b", "c"], storage=storage, seed=1)
        study.record([("=HYPERLINK(0)", 1.0), ("@b", 0.0)], reason="+1-1")
        study.pause("\t=1")
        study.export(tmp_path / "log.csv")
        with (tmp_path / "log.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        assert not [cell for row in rows[1:] for cell in row if cell.startswith(("=", "+", "@"))]
        assert not [cell for row in rows[1:] for cell in row if cell.startswith(("-", "\t", "\r"))]
        other = open_study("other", ["=HYPERLINK(0)", "@b", "c"], storage=storage)
        assert other.record(tmp_path / "log.csv") == 2


def test_chances_of_past_data_are_not_dropped_without_a_word(tmp_path):
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{tmp_path}/studies.db")
    table = {"arm": ["a", "b"], "reward": [1, 0]}
    assert study.record(table) == 2
    for name in ("probability", "propensity", "chance"):
        with pytest.warns(UserWarning, match=f"column '{name}' is not kept.*belman.evaluate"):
            assert study.record({**table, name: [0.5, 0.5]}) == 2
    study.export(tmp_path / "log.csv")
    assert study.record(tmp_path / "log.csv") == 8
    study.storage.close()


def test_past_data_may_be_mappings(tmp_path):
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{tmp_path}/studies.db")
    rows = [{"arm": "a", "reward": 1}, {"arm": "b", "reward": 0}]
    assert study.record(rows) == study.record(iter(rows)) == 2
    assert study.status()["reward"] == 2.0
    with pytest.warns(UserWarning, match="column 'probability' is not kept"):
        study.record([{**rows[0], "probability": 0.5}])
    with pytest.raises(errors.SettingError, match="row 2"):
        study.record([rows[0], ("a", 1)])
    study.storage.close()

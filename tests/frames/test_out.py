"""Results go out as the kind of frame that the data came in, and hold what the table holds."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import belman
from belman import frames
from belman.errors import MissingExtraError, SettingError
from belman.families import check
from belman.studies import Storage
from belman.table import Table

polars = pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
narwhals = pytest.importorskip("narwhals")

TABLE = Table({"arm": ["a", "b", 3], "n": [1, 2, 3], "mean": [0.5, None, 2]}, "means")
WANTED = {"arm": ["a", "b", "3"], "n": [1, 2, 3], "mean": [0.5, None, 2.0]}

KINDS = {
    "pandas": (lambda: pandas.DataFrame({"x": [1]}), pandas.DataFrame),
    "polars": (lambda: polars.DataFrame({"x": [1]}), polars.DataFrame),
    "polars, lazy": (lambda: polars.LazyFrame({"x": [1]}), polars.LazyFrame),
    "arrow": (lambda: pyarrow.table({"x": [1]}), pyarrow.Table),
    "duckdb": (lambda: duckdb.connect().sql("select 1 as x"), duckdb.DuckDBPyRelation),
    "narwhals": (lambda: narwhals.from_native(pyarrow.table({"x": [1]})), narwhals.DataFrame),
    "by name": (lambda: "polars", polars.DataFrame),
    "duckdb by name": (lambda: "duckdb", duckdb.DuckDBPyRelation),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_goes_out_as_the_callers_kind(kind):
    like, wanted = KINDS[kind]
    matches = TABLE.to_frame(like())
    assert isinstance(matches, wanted)
    assert frames.read(matches).columns == WANTED


@pytest.mark.parametrize("like", [7, "excel", [1, 2], {"a": [1]}])
def test_what_is_no_frame_is_refused(like):
    with pytest.raises(SettingError, match=r"like=.* is not valid: give a data frame"):
        TABLE.to_frame(like)


def test_without_narwhals_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'belman\[frames\]'"):
        TABLE.to_frame("polars")


def test_every_library_reads_a_table_as_a_stream_of_arrow():
    assert pyarrow.table(TABLE).to_pydict() == WANTED
    assert polars.DataFrame(TABLE).to_dict(as_series=False) == WANTED
    assert duckdb.from_arrow(pyarrow.table(TABLE)).fetchall() == list(
        zip(*WANTED.values(), strict=True)
    )


def test_a_table_of_numpy_numbers_and_one_without_rows_go_out():
    mixed = Table({"n": [np.int64(3), 2], "x": [np.float64(0.5), np.nan], "no": [None, None]})
    matches = mixed.to_frame("pyarrow").to_pydict()
    assert matches["n"] == [3, 2]
    assert matches["no"] == [None, None]
    assert np.isnan(matches["x"][1])
    assert TABLE.to_frame(polars.DataFrame({})).columns == list(WANTED)
    assert Table({"arm": [], "n": []}).to_frame("polars").columns == ["arm", "n"]


def split(n=4_000):
    """A test of two arms, with its chances, in which b is better."""
    rng = np.random.default_rng(7)
    arm = np.where(rng.random(n) < 0.5, "a", "b")
    reward = (rng.random(n) < np.where(arm == "a", 0.2, 0.4)).astype(float)
    return {"arm": arm, "reward": reward, "chance": np.full(n, 0.5)}


RESULTS = {
    "report": lambda data: belman.analyse(data, control="a").table(),
    "evaluate": lambda data: belman.evaluate(data, "b").table(),
    "replay": lambda data: belman.analysis.what_if(data, replays=3).table(),
    "check-family": lambda data: check(data, "arm").table,
}


@pytest.mark.parametrize("result", RESULTS)
def test_what_polars_and_duckdb_bring_gives_the_results_of_plain_columns(result):
    plain = RESULTS[result](split())
    frame = polars.DataFrame(split())
    relation = duckdb.from_arrow(frame.to_arrow())
    for data, kind in ((frame, polars.DataFrame), (relation, duckdb.DuckDBPyRelation)):
        matches = RESULTS[result](data)
        assert str(matches) == str(plain)
        assert isinstance(matches.to_frame(data), kind)


def test_a_study_records_and_observes_relations(tmp_path):
    data = split(400)
    rows = polars.DataFrame({"arm": data["arm"], "reward": data["reward"]})
    units = rows.with_columns(
        unit=polars.int_range(len(rows)).cast(str), version=polars.lit(None, polars.Int64)
    )
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db")) as storage:
        one, other = (belman.open_study(name, ["a", "b"], storage=storage) for name in "xy")
        assert one.record(duckdb.from_arrow(rows.to_arrow())) == 400
        wanted = one.beliefs().to_frame(rows)
        assert other.observe(duckdb.from_arrow(units.to_arrow())) == 400
        assert other.observe(units) == 400  # the same batch, which counts once
        matches = other.beliefs().to_frame(rows)
    assert isinstance(matches, polars.DataFrame)
    assert matches["expected reward"].to_list() == pytest.approx(
        wanted["expected reward"].to_list()
    )


def test_column_of_what_is_no_table_is_refused():
    with pytest.raises(SettingError, match="the rewards are none"):
        check([0.0, 1.0] * 20, column="spent")


def test_reading_imports_none_of_them():
    listed = "import sys, belman.frames; print(*sys.modules)"
    matches = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True).stdout
    assert not {"narwhals", "polars", "pandas", "pyarrow", "duckdb"} & set(matches.split())

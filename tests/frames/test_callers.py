"""Whoever reads a table reads all of them alike: the same values, the same words for what is wrong.

Every caller (observe, record, report, check-family, from_rewards, run, candidates, features) is
given the same table in every form, and has to find what it finds in plain CSV.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

from belman.analysis.columns import roles
from belman.analysis.rows import read_rows
from belman.cli import check_data, parse, study_values
from belman.cli.problem import means
from belman.errors import BelmanError
from belman.problems import from_rewards
from belman.studies.requests.rows import brought
from belman.studies.views.import_export import past_data as recorded

ROWS = [("blue", 0.5), ("red, dark", 1.0), ("blue", -2.25)]
ARMS = ("blue", "red, dark", "green")


def observe(given):
    result = brought(given, lambda: ARMS)
    assert set(result.unit) == {"u"}
    assert set(result.version) == {None}
    return list(zip(result.arm, result.reward, strict=True))


def report(given):
    frame = parse.table(given)
    result, _ = read_rows(frame, roles(frame, "arm", "reward"), [], ["unit"], None, "missing")
    assert set(result.texts["unit"]) == {"u"}
    arms = [result.names[position] for position in result.arms.tolist()]
    return list(zip(arms, result.numbers["reward"].tolist(), strict=True))


def family(given):
    rewards, arms = check_data.columns(given, "reward", "arm")
    return list(zip(arms, rewards.tolist(), strict=True))


def problem(given):
    result = from_rewards(given)
    return [(arm, x) for arm, row in zip(result.names, result.rewards, strict=True) for x in row]


def candidates(given):
    rows = study_values.candidates(str(given))
    return [(row["arm"], row["reward"]) for row in rows]


def features(given):
    return [(arm, row["reward"]) for arm, row in study_values.features(str(given), ARMS).items()]


def run(given):
    return [(None, mean) for mean in means(str(given))]


def record(given):
    return recorded(given, ARMS)[0]


#: Callers, and whether a missing reward is allowed, and whether a data frame is.
CALLERS = {
    observe: (False, True),
    record: (True, True),
    report: (True, False),
    family: (False, False),
    problem: (False, True),
    candidates: (True, False),
    features: (True, False),
    run: (False, False),
}
callers = pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.__name__)


def table(caller, rows=ROWS):
    """Columns that this caller takes, the arm first."""
    reward = "mean" if caller is run else "reward"
    return [{"arm": arm, reward: x, "unit": "u", "version": None} for arm, x in rows]


def text(rows, mark=",", decimal=".", nothing="", quote=False):
    def cell(value):
        if value is None:
            return nothing
        words = str(value).replace(".", decimal) if isinstance(value, float) else value
        return f'"{words}"' if quote or mark in words or "," in words else words

    lines = [mark.join(rows[0]), *(mark.join(map(cell, row.values())) for row in rows)]
    return "\n".join(lines) + "\n"


def arrow(rows, folder, ending):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    path = folder / f"table.{ending}"
    write = parquet.write_table if ending == "parquet" else feather.write_feather
    write(pyarrow.Table.from_pylist(rows), str(path))
    return path


def kept(folder, ending, content):
    path = folder / f"table.{ending}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FORMS = {
    "plain": lambda rows, folder: kept(folder, "csv", text(rows)),
    "byte-order mark": lambda rows, folder: kept(folder, "csv", "\ufeff" + text(rows)),
    "semicolons, decimal commas": lambda rows, folder: kept(folder, "csv", text(rows, ";", ",")),
    "semicolons": lambda rows, folder: kept(folder, "csv", text(rows, ";")),
    "tabs, decimal commas": lambda rows, folder: kept(folder, "tsv", text(rows, "\t", ",")),
    "tabs in UTF-16": lambda rows, folder: kept(folder, "txt", text(rows, "\t").encode("utf-16")),
    "bars": lambda rows, folder: kept(folder, "txt", text(rows, "|")),
    "gzip": lambda rows, folder: kept(folder, "csv.gz", gzip.compress(text(rows).encode())),
    "quotes": lambda rows, folder: kept(folder, "csv", text(rows, quote=True)),
    "other line ends": lambda rows, folder: kept(folder, "csv", text(rows).replace("\n", "\r\n")),
    "blank lines": lambda rows, folder: kept(
        folder, "CSV", "\n" + text(rows).replace("\n", "\n\n , ,,\n")
    ),
    "spaces about names": lambda rows, folder: kept(
        folder, "csv", text(rows).replace("arm,", " arm , ", 1).replace("blue,", "blue , ")
    ),
    "NA for nothing": lambda rows, folder: kept(folder, "csv", text(rows, nothing="n/A")),
    "ndjson": lambda rows, folder: kept(folder, "ndjson", "\n\n".join(map(json.dumps, rows))),
    "jsonl, gzip": lambda rows, folder: kept(
        folder, "jsonl.gz", gzip.compress("\n".join(map(json.dumps, rows)).encode())
    ),
    "parquet": lambda rows, folder: arrow(rows, folder, "parquet"),
    "arrow": lambda rows, folder: arrow(rows, folder, "arrow"),
    "feather": lambda rows, folder: arrow(rows, folder, "feather"),
}


def wanted(caller, rows=ROWS):
    if caller is run:
        return [(None, reward) for _, reward in rows]
    if caller is features:
        return list(dict(rows).items())
    return sorted(rows, key=lambda row: row[0]) if caller is problem else rows


@callers
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_file_is_read_alike(caller, form, tmp_path):
    assert caller(FORMS[form](table(caller), tmp_path)) == wanted(caller)


class Polars:
    """What of polars is used: names of columns, and columns with to_list."""

    def __init__(self, rows):
        self.columns, self._rows = list(rows[0]), rows

    def __getitem__(self, name):
        cells = [row[name] for row in self._rows]
        return type("Series", (), {"to_list": lambda self: cells})()


def pandas_frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows, index=range(7, 7 + len(rows)))


def polars_frame(rows):
    return pytest.importorskip("polars").DataFrame(rows)


def arrow_table(rows):
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


#: Connections of DuckDB whose relations are read.
OPEN: list[object] = []


def relation(rows):
    """Of a connection of its own, which only newer relations keep."""
    connection = pytest.importorskip("duckdb").connect()
    OPEN.append(connection)
    return connection.from_arrow(arrow_table(rows))


def decimals(rows):
    """Numbers as databases give what they sum up."""
    columns = ", ".join(
        f"{name}::decimal(38, 3) as {name}" if name in ("reward", "mean") else name
        for name in rows[0]
    )
    return relation(rows).select(columns)


def narwhal(native):
    return pytest.importorskip("narwhals").from_native(native)


class Capsule:
    """What gives a stream of Arrow, and nothing else."""

    def __init__(self, rows):
        self._table = arrow_table(rows)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": pandas_frame,
    "pandas on Arrow": lambda rows: pandas_frame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": Polars,
    "polars itself": polars_frame,
    "polars, lazy": lambda rows: polars_frame(rows).lazy(),
    "arrow": arrow_table,
    "record batches of arrow": lambda rows: arrow_table(rows).to_reader(),
    "a stream of arrow": Capsule,
    "duckdb": relation,
    "duckdb, decimals": decimals,
    "narwhals of polars": lambda rows: narwhal(polars_frame(rows)),
    "narwhals of duckdb": lambda rows: narwhal(relation(rows)),
    "an open file": lambda rows: io.StringIO(text(rows)),
    "standard input": lambda rows: io.BytesIO(b"\xef\xbb\xbf" + text(rows, ";", ",").encode()),
    "standard input, gzip": lambda rows: io.BytesIO(gzip.compress(text(rows).encode())),
    "standard input, ndjson": lambda rows: io.BytesIO("\n".join(map(json.dumps, rows)).encode()),
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "arrays": lambda rows: {name: np.array([row[name] for row in rows]) for name in rows[0]},
}


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("caller", [c for c, (_, frames) in CALLERS.items() if frames])
def test_every_form_in_memory_is_read_alike(caller, form):
    assert caller(FRAMES[form](table(caller))) == wanted(caller)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_an_open_file_is_known_by_its_content(ending, tmp_path):
    path = arrow(table(record), tmp_path, ending)
    with path.open("rb") as file:
        assert record(file) == ROWS


@pytest.mark.parametrize("caller", [report, family])
def test_a_dash_is_standard_input(caller, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(text(table(caller)).encode()))
    monkeypatch.setattr("sys.stdin", piped)
    assert caller(Path("-")) == ROWS


# Missing values

LACKING = [("blue", 0.5), ("red, dark", None), ("green", 1.0)]
NOTHING = ["", " ", "NA", "n/a", "NaN", "NULL", "None"]


@callers
@pytest.mark.parametrize("nothing", NOTHING)
def test_a_missing_value_is_missing_or_no_number_everywhere(caller, nothing, tmp_path):
    path = kept(tmp_path, "csv", text(table(caller, LACKING), nothing=nothing))
    if not CALLERS[caller][0]:
        column = "mean" if caller is run else "reward"
        with pytest.raises(BelmanError) as raised:
            caller(path)
        assert str(raised.value) == f"{path}, row 2: {column} {nothing!r} is not a number"
        return
    _check_lacking(caller, caller(path))


@callers
@pytest.mark.parametrize("form", ["ndjson", "parquet", "pandas", "polars"])
def test_a_missing_value_of_other_forms(caller, form, tmp_path):
    may_lack, takes_frames = CALLERS[caller]
    make = FORMS.get(form) or (lambda rows, _: FRAMES[form](rows))
    if form not in FORMS and not takes_frames:
        pytest.skip("it reads files only")
    given = make(table(caller, LACKING), tmp_path)
    if may_lack:
        _check_lacking(caller, caller(given))
    else:
        with pytest.raises(BelmanError, match=r"row 2: (reward|mean) None is not a number"):
            caller(given)


def _check_lacking(caller, result):
    if caller is record:
        assert result == [LACKING[0], LACKING[2]]
    elif caller is report:
        assert [arm for arm, _ in result] == [arm for arm, _ in LACKING]
        assert [math.isnan(x) for _, x in result] == [False, True, False]
    else:
        assert result == LACKING


# What is refused

LONG = [("blue", "x")] * 17
WRONG = {
    "a word": (text, LONG[:1], "{path}, row 1: {reward} 'x' is not a number"),
    "many words": (
        text,
        LONG,
        "{path}, "
        + "; ".join(f"row {i}: {{reward}} 'x' is not a number" for i in range(1, 6))
        + "; and 12 more",
    ),
    "infinity": (text, [("blue", "inf")], "{path}, row 1: {reward} 'inf' is not a number"),
    "a short row": (
        lambda rows: text(rows).replace("\n", "\n\n", 1) + "blue\n",
        ROWS[:2],
        "{path}, row 3 (line 5): 1 cell, and 4 columns",
    ),
    "a long row": (
        lambda rows: text(rows).replace(",u,", ',"u\nv",') + "blue,1,u,,9\n",
        ROWS[:2],
        "{path}, row 3 (line 6): 5 cells, and 4 columns",
    ),
    "a column twice": (
        lambda rows: text(rows).replace("unit", "version"),
        ROWS,
        "{path} has two columns 'version': each needs its own name",
    ),
    "nothing": (lambda rows: "\n", ROWS, "{path} is empty: give a header, and rows below it"),
    "no text": (
        lambda rows: text(rows).encode() + b"caf\xe9\x01,1,u,\n",
        ROWS,
        "{path} cannot be read: 'utf-8' codec can't decode byte 0xe9 in position",
    ),
    "a huge cell": (
        lambda rows: text(rows) + f"{'9' * 200_000},1,u,\n",
        ROWS,
        "{path} cannot be read: field larger than field limit (131072)",
    ),
}
NO_WORDS = {candidates, features}  # a column may hold texts there


@callers
@pytest.mark.parametrize("kind", WRONG)
def test_every_caller_has_the_same_words_for_what_is_wrong(caller, kind, tmp_path):
    write, rows, words = WRONG[kind]
    if caller in NO_WORDS and "is not a number" in words:
        pytest.skip("a column may hold texts there")
    path = kept(tmp_path, "csv", write(table(caller, rows)))
    with pytest.raises(BelmanError) as raised:
        caller(path)
    expected = words.format(path=path, reward="mean" if caller is run else "reward")
    assert str(raised.value).startswith(expected)
    assert len(str(raised.value)) < len(expected) + 40


@callers
def test_a_file_that_is_not_there_or_no_table(caller, tmp_path):
    with pytest.raises(BelmanError) as raised:
        caller(tmp_path / "none.csv")
    assert str(raised.value) == f"{tmp_path / 'none.csv'} cannot be read: No such file or directory"
    for ending in ("csv.gz", "parquet", "arrow"):
        path = kept(tmp_path, ending, b"\x1f\x8b no such thing")
        with pytest.raises(BelmanError) as raised:
            caller(path)
        assert str(raised.value).startswith(f"{path} cannot be read: ")


@pytest.mark.parametrize("caller", [c for c in CALLERS if c not in (candidates, features)])
@pytest.mark.parametrize("form", ["plain", "semicolons", "ndjson", "parquet", "gzip"])
def test_a_column_that_is_not_there(caller, form, tmp_path):
    rows = [
        {name.replace("reward", "rewards").replace("mean", "means"): x for name, x in row.items()}
        for row in table(caller)
    ]
    path = FORMS[form](rows, tmp_path)
    with pytest.raises(BelmanError) as raised:
        caller(path)
    name = "mean" if caller is run else "reward"
    has = f"it has 'arm', '{name}s', 'unit', 'version' (did you mean '{name}s'?)"
    assert str(raised.value) == f"{path} has no column {name!r}: {has}"


@pytest.mark.parametrize("caller", [observe, record, features])
@pytest.mark.parametrize("form", ["plain", "tabs, decimal commas", "ndjson", "parquet"])
def test_an_arm_that_is_not_there(caller, form, tmp_path):
    path = FORMS[form](table(caller, [("blue", 1.0), ("gren", 1.0)]), tmp_path)
    with pytest.raises(BelmanError) as raised:
        caller(path)
    known = "this study knows 'blue', 'red, dark', 'green' (did you mean 'green'?)"
    assert str(raised.value) == f"{path}, row 2: unknown arm 'gren': {known}"


@pytest.mark.parametrize("caller", [family, problem])
def test_an_arm_without_a_name_is_refused_and_one_that_is_called_none_is_not(caller, tmp_path):
    path = kept(tmp_path, "csv", text(table(caller, [("none", 1.0), ("NA", 0.0)])))
    assert caller(path) == [("none", 1.0), ("NA", 0.0)]
    path = kept(tmp_path, "csv", text(table(caller, [("a", 1.0), ("", 0.0), ("  ", 0.0)])))
    with pytest.raises(BelmanError, match="row 2: arm '' is not a name; row 3: arm '  ' is not"):
        caller(path)

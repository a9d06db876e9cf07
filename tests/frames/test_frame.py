"""Tables in every detail: separators, numbers, times, keys, JSON, and what is refused."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import random
import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belman import frames
from belman.errors import MissingExtraError, SettingError
from belman.frames import Frame, cells
from belman.frames.delimited import delimited, ndjson


def column(*given, decimal_comma=False):
    return Frame("x.csv", {"x": list(given)}, decimal_comma=decimal_comma)


def of(text):
    return delimited(text.encode(), "x.csv")


WORDS = st.text("abcxyz", min_size=1, max_size=4)
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\x1f"), max_size=6)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=4, unique=True),
    st.data(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_written_is_read_whatever_the_cells_hold(names, data, mark, code, quoting, end):
    rows = data.draw(st.lists(st.tuples(*[CELLS] * len(names)), max_size=30))
    rows = [row for row in rows if "".join(row).strip()]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=mark, quoting=quoting, lineterminator=end)
    writer.writerows([names, *rows])
    result = delimited(file.getvalue().encode(code), "x.csv")
    assert list(result.columns) == names
    assert list(zip(*result.columns.values(), strict=True)) == rows


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("reward\n0,5\n", ["reward"]),
        ("reward\n", ["reward"]),
        ('"spent, EUR"\n1\n', ["spent, EUR"]),
        ('"spent, EUR";arm\n1;a\n', ["spent, EUR", "arm"]),
        ("spent, EUR;arm\n1,5;a\n", ["spent, EUR", "arm"]),
        ("arm;spent, net, EUR\na;1,5\nb;2\n", ["arm", "spent, net, EUR"]),
        ("a|b,c,d\n1|2,3,4\n", ["a|b", "c", "d"]),
        ("arm\treward, in EUR\na\t1,5\n", ["arm", "reward, in EUR"]),
        ("arm,note\na,x;y|z\n", ["arm", "note"]),
        (",arm,reward\n0,a,1\n1,b,0\n", ["arm", "reward"]),  # the index of a data frame
        ("arm,reward,\na,1,\n", ["arm", "reward"]),
    ],
)
def test_separators(text, names):
    assert list(of(text).columns) == names


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (["1", " 2.5 ", "-1e3", "+.5"], [1.0, 2.5, -1000.0, 0.5]),
        (["TRUE", "no", "Yes", "false", "1"], [1.0, 0.0, 1.0, 0.0, 1.0]),
        ([1, True, Decimal("0.5"), np.float32(2), "3"], [1.0, 1.0, 0.5, 2.0, 3.0]),
    ],
)
def test_numbers(given, result):
    assert column(*given).numbers("x").tolist() == result


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (["0,5", "1"], [0.5, 1.0]),
        (["1.234,5", "1.234", "12.345.678,9"], [1234.5, 1234.0, 12345678.9]),
        (["1.234", "0.5"], [1.234, 0.5]),  # no comma in the column: a point is decimal
        (["-0,5e-3", ",5", "5,"], [-0.0005, 0.5, 5.0]),
    ],
)
def test_decimal_commas(given, result):
    assert column(*given, decimal_comma=True).numbers("x").tolist() == result


@pytest.mark.parametrize(
    "given", [("0,5", "1.5"), ("1,234.5", "0,5"), ("1,2,3",), ("0,5", "12.34,5"), ("1,5", ",")]
)
def test_numbers_that_are_of_two_minds_are_refused(given):
    for decimal_comma in (True, False):
        with pytest.raises(SettingError, match="is not a number"):
            column(*given, decimal_comma=decimal_comma).numbers("x")


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (["€1,299.00", "€5", "-$0.50", "$-3"], [1299.0, 5.0, -0.5, -3.0]),
        (["1.299,00 €", "5,5 €", "12 EUR"], [1299.0, 5.5, 12.0]),
        (["1,299", "12,000,000", "7"], [1299.0, 12e6, 7.0]),
        (["1'299.50", "1 299", "1\u202f299"], [1299.5, 1299.0, 1299.0]),
        (["0,5", "12,25"], [0.5, 12.25]),
        (["CHF 10", "US$ 3.50", "3 kr"], [10.0, 3.5, 3.0]),
    ],
)
def test_amounts_as_people_write_them(given, result):
    assert column(*given).numbers("x").tolist() == result


def test_a_column_tells_its_decimal_mark_whatever_the_separator():
    assert column("1,299", decimal_comma=True).numbers("x").tolist() == [1.299]
    assert column("1,299", "1,299.00", decimal_comma=True).numbers("x").tolist() == [1299.0] * 2
    assert column("1,299", "0,50").numbers("x").tolist() == [1.299, 0.5]


@pytest.mark.parametrize("cell", ["$", "5 apples", "€", "1 2", "1,29,9", "ABC 5", "1.2.3,4"])
def test_amounts_that_are_none(cell):
    with pytest.raises(SettingError, match="is not a number"):
        column(cell).numbers("x")


@pytest.mark.parametrize(
    ("given", "days"),
    [
        (["31/01/2024", "1/2/2024"], ["2024-01-31", "2024-02-01"]),
        (["01/31/2024", "02/01/2024"], ["2024-01-31", "2024-02-01"]),
        (["03/01/2024", "03/09/2024"], ["2024-03-01", "2024-03-09"]),  # days, not months, apart
        (["01/03/2024", "09/03/2024"], ["2024-03-01", "2024-03-09"]),
        (["01.03.2024", "02.04.2024"], ["2024-03-01", "2024-04-02"]),
        (["2024/03/01"], ["2024-03-01"]),
        (["5/6/2024"], ["2024-06-05"]),
    ],
)
def test_dates_as_people_write_them(given, days):
    assert column(*given).times("x").tolist() == column(*days).times("x").tolist()
    later = column(*(f"{day} 2:30 PM" for day in given if day[2:3] != "2")).times("x")
    if later.size == len(days) and not given[0].startswith("2024"):
        assert (later - column(*days).times("x")).tolist() == [14.5 * 3600.0] * len(days)


def test_dates_that_are_none():
    with pytest.raises(SettingError, match="row 2: x '13/13/2024' is not a time"):
        column("31/12/2024", "13/13/2024").times("x")


@pytest.mark.parametrize("cell", ["x", "inf", "", "nan", None, [1], {"a": 1}, b"", 1j])
def test_cells_that_are_no_numbers(cell):
    for read in (Frame.numbers, Frame.whole, Frame.times):
        with pytest.raises(SettingError, match=r"^x\.csv, row 2: x .* is not a"):
            read(column("1", cell), "x")


def test_whole_numbers():
    assert column("2", "3.0", 4.0, 5, "NA").whole("x", missing=True) == [2, 3, 4, 5, None]
    assert column("9007199254740993").whole("x") == [9007199254740993]
    with pytest.raises(SettingError, match="is not a number"):
        column(10**400).numbers("x")
    for cell in ("2.5", 2.5, "1e300"):
        with pytest.raises(SettingError, match="is not a whole number"):
            column(cell).whole("x")


def test_times():
    given = ["2024-05-01", "2024-05-01 00:00:00", "2024-05-01T02:00:00+02:00", "2024-05-01T00:00Z"]
    given += [date(2024, 5, 1), datetime(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC), 1714521600]
    assert set(column(*given, "1714521600").times("x").tolist()) == {1714521600.0}
    assert np.isnan(column("1", "none").times("x", missing=True)).tolist() == [False, True]
    with pytest.raises(SettingError, match="row 1: x 'soon' is not a time: give seconds"):
        column("soon").times("x")


def test_texts_keys_and_values():
    assert column("a", "NA", 3, float("nan")).texts("x") == ["a", None, "3", None]
    assert column("a", " null ", 3, None).keys("x") == ["a", None, 3, None]
    assert column("5", " 8 ", "", "n/a").values("x") == [5.0, 8.0, None, None]
    assert column("5", " M ", "").values("x") == ["5", "M", None]
    assert column("TRUE", "no").values("x") == ["TRUE", "no"]
    assert column("1-2", "3").values("x") == ["1-2", "3"]
    assert Frame("x", {"x": [5, "5", None]}, typed=True).values("x") == [5, "5", None]


def test_json():
    assert column('{"a": 1}', "", [1], {"b": 2}, "null").json("x") == [
        {"a": 1}, None, [1], {"b": 2}, None
    ]  # fmt: skip
    with pytest.raises(SettingError, match=r"row 1: x '\{' is not JSON; row 2: x 7 is not JSON"):
        column("{", 7).json("x")


def test_names_that_come_and_go_in_a_long_file():
    rows = [{"i": i} | ({"late": -i} if i > 700 else {}) for i in range(1_500)]
    rows[600:1_200] = [{"late": -i} for i in range(600, 1_200)]
    result = ndjson("\n".join(map(json.dumps, rows)).encode(), "x.ndjson")
    assert result.columns == frames.read(rows).columns
    assert result.columns == {n: [row.get(n) for row in rows] for n in ("i", "late")}
    lines = "".join(f"{i};{-i}\n" for i in range(1_500))
    result = of("i;j\n" + lines)
    assert result.numbers("j").tolist() == [-i for i in range(1_500)]
    with pytest.raises(SettingError, match=r"row 1501 \(line 1502\): 1 cell, and 2 columns"):
        of("i;j\n" + lines + "7\n")


def test_a_struct_of_arrow_has_the_names_that_a_row_has():
    pyarrow = pytest.importorskip("pyarrow")
    pairs = pyarrow.array([[("a", 1)], None], pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    table = pyarrow.table({"s": [{"a": 1}, {"b": 2}], "m": pairs, "l": [[1], [2, 3]]})
    result = frames.read(table)
    assert result.json("s") == [{"a": 1}, {"b": 2}]
    assert result.json("m") == [{"a": 1}, None]
    assert result.json("l") == [[1], [2, 3]]


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "number": pandas.array([1, None], "Int64"),
            "float": [0.5, np.nan],
            "text": pandas.array(["a", None], "string"),
            "kind": pandas.Categorical(["a", None]),
            "time": [pandas.Timestamp("2024-05-01"), pandas.NaT],
        }
    )
    result = frames.read(frame)
    assert result.whole("number", missing=True) == [1, None]
    assert np.isnan(result.numbers("float", missing=True)).tolist() == [False, True]
    assert result.texts("text") == result.keys("kind") == ["a", None]
    assert frames.none_for_nan(result.times("time", missing=True)) == [1714521600.0, None]
    assert cells.is_missing(pandas.NA)
    twice = pandas.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(SettingError, match="the data frame has two columns 'x'"):
        frames.read(twice)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": [1], "b": [1, 2]}, "not of one length: 'a' has 1, 'b' has 2"),
        ({"a": 5}, "5 is not a column"),
        ({"a": "text"}, "'text' is not a column"),
        ([{"a": 1}, 2], "row 2 of the table is 2"),
        (5, "row 1 of the table is 5"),
        ({"a": []}, "the table has no rows below its header"),
        ("x.doc", r"x\.doc is not a table: its name must end in '\.csv', '\.tsv'"),
        (io.BytesIO(b""), "the file is empty"),
    ],
)
def test_objects_that_are_no_tables(given, words):
    with pytest.raises(SettingError, match=words):
        frames.read(given)


SEEDS = {
    "csv": b'arm;reward;"x ""y"\na;1,5;"q\nr"\n\nb;;\n' * 3,
    "txt": "a\tb\n1\t\xe9\n".encode("utf-16"),
    "csv.gz": gzip.compress(b"arm,reward\na,1\n"),
    "ndjson": b'{"a":1,"b":null}\n[]\n{"a":{"c":[1]}}\n',
    "parquet": None,
    "arrow": None,
}


@pytest.mark.parametrize("ending", SEEDS)
def test_a_damaged_file_is_read_or_refused(ending, tmp_path):
    path, rng = tmp_path / f"x.{ending}", random.Random(1)
    if (seed := SEEDS[ending]) is None:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        times = pyarrow.array([1, 2], pyarrow.timestamp("us", "UTC"))
        table = pyarrow.table({"a": ["x", None], "t": times, "s": [{"a": 1}, None]})
        write = parquet.write_table if ending == "parquet" else feather.write_feather
        write(table, str(path))
        seed = path.read_bytes()
    for _ in range(300):
        content = bytearray(seed)
        for _ in range(rng.randint(1, 6)):
            where = rng.randrange(len(content) + 1)
            content[where : where + rng.randint(0, 8)] = rng.randbytes(rng.randint(0, 2))
        path.write_bytes(content)
        for file in (path, io.BytesIO(content)):
            with contextlib.suppress(SettingError):
                result = frames.read(file, empty=True)
                assert len({len(column) for column in result.columns.values()}) <= 1


def test_all_columns_that_are_not_there_are_named():
    words = r"x\.csv has no column 'arm', 'reward': it has 'x'$"
    with pytest.raises(SettingError, match=words):
        column(1).require("x", "arm", "reward")


def test_parquet_needs_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'belman\[parquet\]'"):
        frames.read(tmp_path / "x.parquet")

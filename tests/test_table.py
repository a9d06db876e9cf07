"""Tables as data and for papers: what is written is read back, to the last digit."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from belman.escaping import for_csv
from belman.table import Table, number

names = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)


@given(st.floats(-1e300, 1e300))  # four digits of the very largest are more than a float holds
@example(9999.9)
def test_numbers_keep_their_digits_and_large_ones_have_no_exponent(value):
    text = number(value)
    read = float(text.replace(",", ""))
    assert math.isclose(read, value, rel_tol=5.1e-4)
    assert not (1e-4 <= abs(value) < 1e15 and "e" in text)


@given(st.lists(st.tuples(names, st.floats(allow_nan=False)), min_size=1, max_size=5))
def test_csv_and_json_give_back_every_digit(rows):
    table = Table({"arm": [name for name, _ in rows], "mean": [mean for _, mean in rows]}, "t")
    read = list(csv.reader(table.to_csv().splitlines(keepends=False)))
    if not any(set(name) & set("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029") for name, _ in rows):
        told = [(for_csv(name), mean) for name, mean in rows]
        assert [(name, float(mean)) for name, mean in read[1:]] == told
    back = json.loads(table.to_json())
    assert [(row["arm"], float(row["mean"])) for row in back["rows"]] == rows
    assert back["title"] == "t"


def test_what_is_missing_is_empty():
    table = Table({"x": [math.nan, None, np.float64(0.25), np.int64(3)]})
    assert table.to_csv().splitlines() == ["x", '""', '""', "0.25", "3"]
    assert [row["x"] for row in json.loads(table.to_json())["rows"]] == [None, None, 0.25, 3]


@pytest.mark.parametrize(
    ("cell", "tex"),
    [
        ("a_b & 50 %", r"a\_b \& 50 \%"),
        ("{x}^2~\\", r"\{x\}\textasciicircum{}2\textasciitilde{}\textbackslash{}"),
        (-0.5, "$-$0.5"),
        (128_712.4, "128,712"),
        (-math.inf, r"$-$$\infty$"),
        (math.nan, "--"),
        (2.5e-9, r"$2.5 \times 10^{-9}$"),
        (3, "3"),
    ],
)
def test_latex_escapes_what_it_must(cell, tex):
    lines = Table({"±": [cell]}, "title").to_latex().splitlines()
    assert lines[0] == "% title"
    assert lines[3] == r"$\pm$ \\"
    assert lines[5] == rf"{tex} \\"


def test_no_cell_of_a_csv_is_a_formula():
    told = {"segment": ["=cmd()", "-inf", "a"], "@mean": [-1.0, -math.inf, 0.5]}
    written = list(csv.reader(io.StringIO(Table(told).to_csv())))
    assert written == [["segment", "'@mean"], ["'=cmd()", "-1.0"], ["'-inf", "-inf"], ["a", "0.5"]]

"""A file of every kind that people have: the right verdict, or one message that says what to do."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks import analyst
from typer.testing import CliRunner

import belman
from belman.cli import app
from belman.errors import SettingError


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """One report is no reason to compile."""
    monkeypatch.setenv("BELMAN_COMPILE", "never")


@pytest.mark.parametrize("file", analyst.FILES, ids=lambda file: file.name)
def test_one_command_tells_what_is_true(file, tmp_path):
    said = analyst.shown(file, tmp_path)
    assert analyst.right(file, said), said


def test_a_file_of_a_spreadsheet_in_windows_1252_is_read_and_said_so(tmp_path):
    rows = "".join(
        f"{arm};{i % n == 0:d}\n" for arm, n in (("Größe", 9), ("alt", 20)) for i in range(900)
    )
    (tmp_path / "sales.csv").write_bytes(f"Variante;converted\n{rows}".encode("cp1252"))
    result = belman.analyse(tmp_path / "sales.csv", arm="Variante", control="alt")
    assert result.account.said[0] == "The file is not UTF-8: it was read as Windows-1252 (Latin-1)."
    assert result.leader.arm == "Größe"
    assert "Windows-1252" in result.to_html()


@pytest.mark.parametrize("name", ["totals.csv", "novelty.csv", "metrics.csv", "same_revenue.csv"])
def test_every_form_says_the_same(name, tmp_path):
    file = next(one for one in analyst.FILES if one.name == name)
    said = analyst.shown(file, tmp_path)
    sentence = said.splitlines()[0]
    for ending in ("html", "md", "json", "pdf"):
        path = tmp_path / f"report.{ending}"
        words = ["report", str(tmp_path / name), *file.words, "--output", str(path)]
        assert f"wrote {path}" in CliRunner().invoke(app, words).output.replace("\n", "")
        if ending == "pdf":
            assert path.read_bytes().startswith(b"%PDF-")
        elif ending == "json":
            assert json.loads(path.read_text(encoding="utf-8"))["sentence"] == sentence
        else:
            text = path.read_text(encoding="utf-8")
            assert sentence in text
            assert "rows read" in text
    words = ["report", str(tmp_path / name), "--output", str(tmp_path / "x.docx")]
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, SettingError)
    assert "must end in '.html', '.pdf', '.md', '.json'" in str(refused)


def test_a_notebook_shows_the_page():
    result = belman.analyse(
        {"arm": ["a", "b"], "visitors": [900, 900], "conversions": [40, 70]}, control="a"
    )
    assert result.sentence in result._repr_html_()
    assert result.account.sentence in result._repr_html_()
    assert result.account.sentence in str(result)
    assert result.account.sentence in result.to_markdown()


def test_totals_say_what_rows_say():
    rng = np.random.default_rng(1)
    arms = rng.choice(["a", "b"], 4_000)
    won = (rng.random(4_000) < np.where(arms == "a", 0.1, 0.14)).astype(int)
    spent = won * rng.exponential(20.0, 4_000)
    names = ["a", "b"]
    counts = [int((arms == name).sum()) for name in names]
    for values, squares in ((won, None), (spent, spent**2)):
        rows = belman.analyse({"arm": arms, "reward": values}, control="a")
        columns = {
            "arm": names,
            "visitors": counts,
            "reward": [values[arms == name].sum() for name in names],
        }
        if squares is not None:
            columns["squares"] = [squares[arms == name].sum() for name in names]
        totals = belman.analyse(columns, control="a", reward="reward")
        for one, other in zip(rows.arms, totals.arms, strict=True):
            assert one.plays == other.plays
            assert one.credible == pytest.approx(other.credible)
            assert (one.lift is None) == (other.lift is None)
            if one.lift is not None:
                assert one.lift.relative == pytest.approx(other.lift.relative)
        for name, value in rows.comparison._asdict().items():
            by_bets = squares is not None and "any_look" in name  # which need every row
            assert by_bets or value == pytest.approx(getattr(totals.comparison, name))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"visitors": [100, 100], "conversions": [101, 5]}, r"row 1: .* cannot be together"),
        ({"visitors": [100, 100.5], "conversions": [1, 5]}, "rows for 2 arms: if they are totals"),
        ({"users": [90, 90], "revenue": [500, 400]}, r"need --squares"),
        ({"users": [90, 90], "revenue": [5.0, 4.0], "squares": [0.1, 5.0]}, "row 1: .* cannot be"),
    ],
)
def test_totals_that_cannot_be(columns, message):
    with pytest.raises(SettingError, match=message):
        belman.analyse({"arm": ["a", "b"], **columns})


def test_what_totals_cannot_tell():
    columns = {"arm": ["a", "b"], "visitors": [900, 900], "conversions": [40, 70]}
    for more in ({"unit": "arm"}, {"metrics": ["p90:conversions"]}, {"before": "visitors"}):
        with pytest.raises(SettingError, match="has totals: units, covariates"):
            belman.analyse(columns, **more)


def test_rows_are_accounted_for():
    columns = {
        "variant": ["A", "a ", "b", "B", "", "null", "A", "b"] * 10,
        "reward": [1, 0, 1, 0, 1, 1, "", 0] * 10,
        "user": ["u1", "u1", "u2", "u3", "u4", "u5", "u6", "u7"] * 10,
    }
    result = belman.analyse(columns)
    assert result.account.sentence == (
        "80 rows read, 50 used, 30 dropped: 20 without a variant, 10 without a reward."
    )
    assert sorted(str(arm.arm) for arm in result.arms) == ["A", "b"]
    assert result.account.said[0].startswith(
        "Spellings of one arm were taken together: 'A' and 'a'"
    )
    assert sum(arm.plays for arm in result.arms) == 50
    by_user = belman.analyse(columns, unit="user")
    assert by_user.per == "user"
    assert [(arm.arm, arm.plays) for arm in by_user.arms] == [("b", 3.0)]
    assert by_user.account.dropped["of A, which has a single user"] == 20


def test_users_of_several_arms_are_left_out():
    arms = ["a", "b", "a", "b", "a", "a"] * 5
    users = [f"{i}-{name}" for i in range(5) for name in ("x", "y", "z", "z", "w", "v")]
    table = {"arm": arms, "reward": [0, 1, 1, 1, 0, 1] * 5, "user": users}
    result = belman.analyse(table, unit="user")
    assert result.account.dropped == {"of 5 user with several arms": 10}


@pytest.mark.parametrize(
    ("rewards", "empty", "plays", "total"),
    [
        (["1", "", "", "1"], None, 4, 2.0),
        (["1", "", "0", "1"], None, 3, 2.0),
        (["5.5", "", "", ""], None, 4, 5.5),
        (["5.5", "7", "6", ""], None, 3, 18.5),
        (["5.5", "7", "6", ""], "zero", 4, 18.5),
        (["1", "", "", "1"], "missing", 2, 2.0),
    ],
)
def test_empty_rewards(rewards, empty, plays, total):
    result = belman.analyse({"arm": ["a", "b"] * 40, "reward": rewards * 20}, empty=empty)
    assert sum(arm.plays for arm in result.arms) == 20 * plays
    assert sum(arm.plays * arm.average for arm in result.arms) == pytest.approx(20 * total)
    said = " ".join(result.account.said)
    assert ("count as 0" in said) == (plays == 4)


def test_uneven_traffic_is_mentioned_unasked_and_not_where_it_was_meant():
    counts = {"a": 9_000, "b": 1_000}
    arms = [name for name, n in counts.items() for _ in range(n)]
    table = {"arm": arms, "reward": [i % 2 for i in range(10_000)]}
    result = belman.analyse(table)
    alarm = next(one for one in result.findings if one.question == "sample ratio")
    assert alarm.alarm
    assert alarm.look_at.endswith("--split a=0.9,b=0.1")
    meant = belman.analyse(table, split={"a": 0.9, "b": 0.1})
    assert not meant.findings[0].alarm
    for wrong, message in (({"c": 1.0}, "not one of the arms"), ({"a": -1}, "no share")):
        with pytest.raises(belman.BelmanError, match=message):
            belman.analyse(table, split=wrong)


def test_bets_are_not_made_on_shares_that_the_rows_contradict():
    """Even shares are assumed; 3 % and 4 % convert of two thirds and of one third of the rows."""
    won = {"a": (12_000, 360), "b": (6_000, 240)}
    rows = [(arm, i < wins) for arm, (count, wins) in won.items() for i in range(count)]
    table = {"arm": [arm for arm, _ in rows], "reward": [int(one) for _, one in rows]}
    result = belman.analyse(table, control="a")
    (one,) = (arm for arm in result.arms if arm.arm == "b")
    low, high = one.anytime_relative
    assert low < -0.05 < 1 / 3 < 0.7 < high
    assert not result.bets_on

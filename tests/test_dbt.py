"""The macros of deploy/dbt: what comes of units in a warehouse, as rows and as the sums that
`observe` takes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import belman

duckdb = pytest.importorskip("duckdb")
jinja2 = pytest.importorskip("jinja2")

PACKAGE = Path(__file__).parents[1] / "deploy" / "dbt"
NOON = "timestamp '2026-11-17 12:00:00'"
DAY = {"window": 3600, "since": "timestamp '2026-11-17 00:00:00'", "until": NOON}


class Dbt:
    """What the macros use of dbt, as its adapter for DuckDB has it."""

    @staticmethod
    def dateadd(part, number, column):
        return f"date_add({column}, interval ({number}) {part})"

    @staticmethod
    def type_float():
        return "float8"


class Exceptions:
    @staticmethod
    def raise_compiler_error(words):
        raise ValueError(words)


def macro(name, *given, **named):
    """The SQL that a macro emits."""
    source = (PACKAGE / "macros" / f"{name}.sql").read_text(encoding="utf-8")
    template = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(source)
    names = {"dbt": Dbt, "exceptions": Exceptions}
    return str(getattr(template.make_module(names), name)(*given, **named))


@pytest.fixture
def database():
    with closing(duckdb.connect()) as connection:
        yield connection


@pytest.fixture
def studies(tmp_path):
    """Two equal studies."""
    opened = [
        belman.open_study(name, ["a", "b"], storage=f"sqlite:///{tmp_path}/{name}.db", **settings)
        for name, settings in (("rows", {}), ("sums", {}))
    ]
    yield opened
    for study in opened:
        study.storage.close()


def test_sums_teach_what_their_rows_teach(database, studies):
    rng = np.random.default_rng(5)
    n = 500
    version = studies[0].publish(1_000).version
    assert studies[1].publish(1_000).version == version
    weights = studies[0].weights()
    rows = []
    for i in range(n):
        arm = belman.assign(weights, f"u{i}").arm
        rows.append((f"u{i}", version, arm, float(rng.random() < 0.3)))
    database.execute("create table outcome (unit text, version int, arm text, reward int)")
    database.executemany("insert into outcome values (?, ?, ?, ?)", rows)
    result = database.sql(macro("belman_sums", "outcome"))
    studies[0].observe(database.table("outcome"))
    assert studies[1].observe(result, key="2026-11-17") == n
    one, other = (study.beliefs() for study in studies)
    assert str(one) == str(other)


def filled(database):
    database.execute(
        """
        create table assignment as select * from (values
          ('late', 1, 'a', 'fr', timestamp '2026-11-17 11:30:00'),
          ('told', 1, 'a', 'fr', timestamp '2026-11-17 09:00:00'),
          ('told', 1, 'a', 'fr', timestamp '2026-11-17 10:30:00'),
          ('mute', 1, 'b', 'de', timestamp '2026-11-17 09:00:00'),
          ('once', 1, 'b', 'de', timestamp '2026-11-17 09:00:00'),
          ('old',  1, 'b', 'de', timestamp '2026-11-16 22:59:59')
        ) as t(unit, version, arm, country, time);
        create table event as select * from (values
          ('late', 9.0, timestamp '2026-11-17 11:40:00'),
          ('told', 2.5, timestamp '2026-11-17 09:00:00'),
          ('told', 1.5, timestamp '2026-11-17 09:59:59'),
          ('told', 7.0, timestamp '2026-11-17 10:00:00'),
          ('once', 3.0, timestamp '2026-11-17 09:10:00'),
          ('once', 8.0, timestamp '2026-11-17 08:59:59'),
          ('stranger', 1.0, timestamp '2026-11-17 09:00:00')
        ) as t(unit, reward, time)
        """
    )


def test_outcomes_are_those_of_windows_that_closed_within_the_batch(database):
    filled(database)
    result = database.sql(macro("belman_outcomes", "assignment", "event", **DAY)).fetchall()
    assert {(row[0], float(row[3])) for row in result} == {
        ("told", 4.0),
        ("mute", 0),
        ("once", 3.0),
    }
    counted = database.sql(macro("belman_outcomes", "assignment", "event", count="any", **DAY))
    assert {(row[0], row[3]) for row in counted.fetchall()} == {
        ("told", 1),
        ("mute", 0),
        ("once", 1),
    }


def test_segments_go_through_both(database):
    filled(database)
    rows = macro("belman_outcomes", "assignment", "event", segment="country", **DAY)
    sums = macro("belman_sums", f"({rows})", segment="segment")
    result = {row[:4]: row[4:] for row in database.sql(sums).fetchall()}
    assert result == {(1, "a", "fr", 1): (4.0, 16.0), (1, "b", "de", 2): (3.0, 9.0)}


def test_another_count_is_refused():
    with pytest.raises(ValueError, match="count is 'mean': give 'sum' or 'any'"):
        macro("belman_outcomes", "assignment", "event", count="mean", **DAY)


PROJECT = """
name: shop
version: 0.1.0
profile: shop
model-paths: [models]
"""
PROFILE = """
shop:
  target: here
  outputs:
    here: {type: duckdb, path: shop.duckdb, threads: 1}
"""
MODEL = """
{{ config(materialized='table') }}
{{ belman_dbt.belman_sums('(' ~ belman_dbt.belman_outcomes(
    'assignment', 'event', 3600,
    "timestamp '2026-11-17 00:00:00'", "timestamp '2026-11-17 12:00:00'"
) ~ ')') }}
"""


@pytest.mark.slow
def test_dbt_itself_builds_the_sums(tmp_path):
    dbt = os.environ.get("DBT") or shutil.which("dbt")
    if dbt is None:
        pytest.skip("there is no dbt: pip install 'dbt-core<2' dbt-duckdb, or name it by $DBT")
    with closing(duckdb.connect(str(tmp_path / "shop.duckdb"))) as connection:
        filled(connection)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "sums.sql").write_text(MODEL)
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(PROFILE)
    (tmp_path / "packages.yml").write_text(f"packages: [{{local: {PACKAGE}}}]\n")
    for words in (["deps"], ["run"]):
        command = [dbt, "--no-send-anonymous-usage-stats", *words, "--profiles-dir", "."]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    with closing(duckdb.connect(str(tmp_path / "shop.duckdb"))) as connection:
        result = {row[:3]: row[3:] for row in connection.table("sums").fetchall()}
    assert result == {(1, "a", 1): (4.0, 16.0), (1, "b", 2): (3.0, 9.0)}

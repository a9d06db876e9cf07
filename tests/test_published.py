"""Published tables: the page is drawn from its data, and says first where others are ahead."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("published")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_the_page_is_drawn_from_its_data(tool):
    kept = json.loads((ROOT / "docs" / "published.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    assert text == tool.markdown(kept), "python tools/published.py --draw"


def test_every_table_is_played_and_told(tool):
    assert set(tool.TABLES) == set(tool.PLAYS)
    for table in tool.TABLES.values():
        assert set(table.rivals) <= set(table.theirs)
        assert table.better in ("less", "more")


def test_where_others_are_ahead_is_said(tool):
    theirs = {"best": {"a": 10.0, "b": 2.0}, "oracle": {"a": 1.0}}
    table = tool.Published("T", "s", "d", theirs, ["best"])
    rows = {"ours": {"a": [11.0, 0.1], "b": [1.0, 0.1]}, "told every change": {"a": [1.0, 0.1]}}
    assert tool.behind(table, rows) == ["a: 11.0 (ours), published 10.0"]
    more = tool.Published("T", "s", "d", theirs, ["best"], better="more")
    assert tool.behind(more, rows) == ["b: 1.00 (ours), published 2.00"]
    text = "\n".join(tool.section(table, rows))
    assert "| *oracle* | 1.00 | – |" in text


def test_what_was_played_is_not_played_again(tool, monkeypatch):
    plays = []
    monkeypatch.setitem(tool.PLAYS, "besson", lambda: plays.append(1) or {})
    kept = tool.played("besson", {}, False)
    assert tool.played("besson", kept, False) is kept
    tool.played("besson", kept, True)
    tool.played("besson", {**kept, "digest": "older"}, False)
    assert len(plays) == 3

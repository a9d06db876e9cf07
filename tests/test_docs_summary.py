"""README and docs/ are in step with what is played: the designs, the first runs, the numbers they
quote.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REMEDY = "run `make images`"


@pytest.fixture(scope="module")
def summary():
    spec = importlib.util.spec_from_file_location("summary", ROOT / "tools" / "summary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known(summary):
    return json.loads(summary.FACTS.read_text(encoding="utf-8"))


def test_the_report_would_play_the_same_designs(summary, known):
    assert known["designs"] == summary.designs(), REMEDY


def test_the_first_runs_would_end_the_same(summary, known):
    assert known["first_runs"] == summary.first_runs(), REMEDY


def test_pages_quote_what_is_known(summary, known):
    for path, names in summary.PAGES.items():
        text = path.read_text(encoding="utf-8")
        assert text == summary.with_blocks(text, names, known), REMEDY


def test_pictures_are_there(summary):
    assert all((ROOT / "docs" / "images" / f"{name}.png").is_file() for name in summary.PICTURES)

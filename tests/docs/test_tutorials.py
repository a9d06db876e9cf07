"""Tutorials run as a reader would run them, commands and pictures included."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
DOCS = Path(__file__).parents[2] / "docs"
_SPEC = importlib.util.spec_from_file_location("tutorials", DOCS.parent / "tools" / "tutorials.py")
player = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(player)


@pytest.mark.slow
@pytest.mark.parametrize("page", player.pages(), ids=lambda page: page.stem)
def test_a_tutorial_runs(page):
    with player.elsewhere():
        assert player.play(page) == []


def test_pictures_of_tutorials_are_there():
    shown = [
        image
        for page in player.pages()
        for image in re.findall(r"\]\(\.\./(images/[^)]*)\)", page.read_text(encoding="utf-8"))
    ]
    assert len(shown) >= len(player.pages())
    assert [image for image in shown if not (DOCS / image).is_file()] == []


@pytest.mark.slow
def test_what_is_wrong_with_a_page_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> 1 + 1\n3\n\n```\n\n```sh\nbelman run --means 2\n```\n\n"
        "```sh\nbelman --version\n```\n\n```text\n0\n```\n\n![nothing](../images/none.png)\n",
        encoding="utf-8",
    )
    with player.elsewhere():
        faults = player.play(page)
    assert ["Got:" in faults[0], ":7: " in faults[1], "printed" in faults[2]] == [True] * 3
    assert faults[3] == "page.md: nothing drew ../images/none.png"

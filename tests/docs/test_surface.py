"""The top of the package, the reference and the pages name the same things."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import belman

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: A dotted name of the package: not a file (`belman.db`), nor part of a longer word.
NAME = re.compile(r"(?<![\w./@-])belman((?:\.[A-Za-z_]\w*)+)")
FILES = {"md"}


def found(path):
    """What a dotted name stands for; raises AttributeError where it is nothing."""
    thing = belman
    for name in path:
        try:
            thing = getattr(thing, name)
        except AttributeError:
            try:
                thing = importlib.import_module(f"{thing.__name__}.{name}")
            except ModuleNotFoundError:
                raise AttributeError(name) from None
    return thing


def test_the_top_is_small_and_the_reference_says_what_is_there():
    assert len(belman.__all__) <= 30
    index = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    section = index.split("## Where a name is")[1].split("\n#")[0].split("```")[0]
    top = {name for path in NAME.findall(section) if "." not in (name := path[1:])}
    assert top == set(belman.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_name_of_a_page_is_one(page):
    lost = []
    for dotted in sorted(set(NAME.findall(page.read_text(encoding="utf-8")))):
        path = dotted[1:].split(".")
        if path[0] in FILES and len(path) == 1:
            continue
        try:
            found(path)
        except AttributeError:
            lost.append(f"belman{dotted}")
    assert lost == []


def test_a_name_that_is_not_at_the_top_says_where_it_is():
    with pytest.raises(AttributeError, match=r"'UCB1': it is belman\.policies\.UCB1"):
        belman.UCB1  # noqa: B018
    with pytest.raises(AttributeError, match=r"'Nothing'$"):
        belman.Nothing  # noqa: B018

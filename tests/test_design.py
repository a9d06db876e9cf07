"""The map in docs/ideas/design.md is the tree: every room, in the order of its layers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "ideas" / "design.md"


def rooms_on_the_page():
    """The names in the first column of its first table, a package with a slash."""
    table = PAGE.read_text(encoding="utf-8").split("|---|---|\n")[1].split("\n\n")[0]
    columns = [row.split("|")[1] for row in table.splitlines()]
    return [name for column in columns for name in re.findall(r"`(\w+/?)`", column)]


def rooms_in_the_tree():
    """The modules and packages that stand directly in the package."""
    package = ROOT / "src" / "belman"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    return modules | {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}


def layers():
    """The layers that import-linter knows, the lowest first, each a set of names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract, *_ = settings["tool"]["importlinter"]["contracts"]  # the rooms come first
    return [set(re.findall(r"belman\.(\w+)", layer)) for layer in reversed(contract["layers"])]


def test_every_room_is_on_the_page_once():
    assert sorted(rooms_on_the_page()) == sorted(rooms_in_the_tree())


def test_every_room_has_a_layer():
    named = {name.rstrip("/") for name in rooms_in_the_tree()}
    assert named == set().union(*layers())


def test_rooms_come_in_the_order_of_their_layers():
    height = {name: position for position, layer in enumerate(layers()) for name in layer}
    heights = [height[name.rstrip("/")] for name in rooms_on_the_page()]
    assert heights == sorted(heights)

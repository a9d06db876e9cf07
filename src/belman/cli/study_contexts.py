"""What options of `belman study` say of contexts, features and candidates."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from belman.cli import parse
from belman.errors import SettingError, listing

Values = dict[str, Any]


def context(pairs: list[str] | None) -> Values | None:
    """A context, `country=FR` each; numbers are numbers, and nothing is a missing value.

    >>> context(["country=FR", "age=31", "device="])
    {'country': 'FR', 'age': 31.0, 'device': None}
    """
    if not pairs:
        return None
    found = {name: _cell(text) for name, text in map(parse.setting, pairs)}
    if len(found) < len(pairs):
        raise SettingError(f"a value of the context was given twice: {listing(pairs)}")
    return found


def candidates(words: str | None) -> list[Values] | None:
    """Candidates from a file, or as JSON.

    >>> candidates('[{"price": 5}, {"price": 8}]')
    [{'price': 5}, {'price': 8}]
    """
    if words is None:
        return None
    if words.endswith(".csv"):
        return [{name: _cell(text) for name, text in row} for row in _rows(Path(words))]
    found = _json(_text(Path(words)) if words.endswith(".json") else words, "candidates")
    if not isinstance(found, list):
        raise SettingError(f"candidates={words[:80]!r} are no list: write [{{…}}, {{…}}]")
    return found


def features(words: str | None, arms: list[str] | None) -> Any:
    """Names, where arms are candidates; else a file with a row per arm, which its first column
    names.

    >>> features("price,colour", None)
    ['price', 'colour']
    """
    if words is None or arms is None:
        return None if words is None else parse.split(words)
    if words.endswith(".json"):
        return _json(_text(Path(words)), "features")
    if not words.endswith(".csv"):
        remedy = "give a .csv or .json file with what is known of every arm"
        raise SettingError(f"features={words!r} say nothing of the arms: {remedy}")
    rows = _rows(Path(words))
    return {arm: {name: _cell(text) for name, text in rest} for (_, arm), *rest in rows}


def _cell(text: str) -> float | str | None:
    word = text.strip()
    try:
        return float(word)
    except ValueError:
        return word or None


def _rows(path: Path) -> list[list[tuple[str, str]]]:
    """The rows of a CSV: its columns' names and the texts below them."""
    names, *lines = list(csv.reader(_text(path).splitlines())) or [[]]
    if not lines or any(len(line) != len(names) for line in lines):
        raise SettingError(f"{path} is not a table: give a header, and rows as long as it")
    return [list(zip(names, line, strict=True)) for line in lines]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} cannot be read: {error}") from None


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SettingError(f"{what} are not JSON: {error}") from None

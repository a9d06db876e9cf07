"""What options of `belman study` say of contexts, features and candidates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from belman import frames
from belman.cli import parse
from belman.errors import SettingError, listing
from belman.frames import Frame
from belman.studies.rules.arm_texts import ArmTexts

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
    if frames.is_path(words):
        return _rows(frames.read(words))
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
    if not frames.is_path(words):
        remedy = "give a .csv or .json file with what is known of every arm"
        raise SettingError(f"features={words!r} say nothing of the arms: {remedy}")
    frame = frames.read(words)
    first, *_ = frame.columns
    named = ArmTexts(arms).column(frame, first)
    return {
        arm: {name: value for name, value in row.items() if name != first}
        for arm, row in zip(named, _rows(frame), strict=True)
    }


def _cell(text: str) -> float | str | None:
    word = text.strip()
    try:
        return float(word)
    except ValueError:
        return word or None


def _rows(frame: Frame) -> list[Values]:
    """The rows of a table as mappings: a column of numbers holds numbers, any other texts."""
    columns = [frame.values(name) for name in frame.columns]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


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

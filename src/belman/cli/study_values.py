"""What options of `belman study` stand for: contexts, candidates, features, metrics, attributes,
priors, floors and guard-rails.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from belman import frames
from belman.cli.parse import numbers, pairs, setting, split
from belman.errors import SettingError, listing
from belman.frames import Frame
from belman.studies.rules.written import ArmTexts

Values = dict[str, Any]


def context(pairs: list[str] | None) -> Values | None:
    """A context, `country=FR` each; numbers are numbers, and nothing is a missing value.

    >>> context(["country=FR", "age=31", "device="])
    {'country': 'FR', 'age': 31.0, 'device': None}
    """
    if not pairs:
        return None
    return {name: _cell(text) for name, text in _once(pairs, "a value of the context").items()}


def candidates(words: str | None) -> list[Values] | None:
    """Candidates from a file, or as JSON.

    >>> candidates('[{"price": 5}, {"price": 8}]')
    [{'price': 5}, {'price': 8}]
    """
    if words is None:
        return None
    if frames.is_path(words):
        return _rows(frames.read(words))
    result = _json(_text(Path(words)) if words.endswith(".json") else words, "candidates")
    if not isinstance(result, list):
        raise SettingError(f"candidates={words[:80]!r} are no list: write [{{…}}, {{…}}]")
    return result


def looked_at(given: list[str] | None, words: str | None) -> Values:
    """The context and the candidates that a study is asked about."""
    return {"context": context(given), "candidates": candidates(words)}


def features(words: str | None, arms: list[str] | None) -> Any:
    """Names, where arms are candidates; else a file with a row per arm, which its first column
    names.

    >>> features("price,colour", None)
    ['price', 'colour']
    """
    if words is None or arms is None:
        return None if words is None else split(words)
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


def metrics(pairs: list[str] | None) -> dict[str, float] | None:
    """Metrics of a ticket, `latency=0.8` each.

    >>> metrics(["latency=0.8", "refund=0"])
    {'latency': 0.8, 'refund': 0.0}
    """
    if not pairs:
        return None
    result: dict[str, float] = {}
    for name, text in _once(pairs, "a metric").items():
        try:
            result[name] = float(text)
        except ValueError:
            remedy = "write, for instance, latency=0.8"
            raise SettingError(f"metric {name}={text!r} is not a number: {remedy}") from None
    return result


def attributes(pairs: list[str] | None) -> dict[str, str] | None:
    """Attributes of a ticket, `device=phone` each.

    >>> attributes(["device=phone", "country=NL"])
    {'device': 'phone', 'country': 'NL'}
    """
    return _once(pairs, "an attribute") if pairs else None


def silence(words: str) -> float | str:
    """What a silent ticket counts as.

    >>> silence("0.5"), silence("forget")
    (0.5, 'forget')
    """
    return words if words == "forget" else numbers(words, "silence")[0]


def priors(pairs: list[str]) -> dict[Hashable, tuple[float, ...]]:
    """Priors of single arms, `blue=2,3` each.

    >>> priors(["blue=2,3"])
    {'blue': (2.0, 3.0)}
    """
    return {arm: numbers(text, "priors") for arm, text in map(setting, pairs)}


def floor(words: str) -> float | dict[Hashable, float]:
    """The least share of every arm, or of some by name.

    >>> floor("0.05"), floor("blue=0.2,red=0.1")
    (0.05, {'blue': 0.2, 'red': 0.1})
    """
    if "=" in words:
        return {arm: numbers(str(share), "floor")[0] for arm, share in pairs(words).items()}
    return numbers(words, "floor")[0]


def guard(limits: list[str]) -> dict[str, str]:
    """Limits on metrics, a name and a limit each.

    >>> guard(["refund < 0.05", "rating>3 up to 5"])
    {'refund': '< 0.05', 'rating': '> 3 up to 5'}
    """
    result = {}
    for words in limits:
        sign = next((sign for sign in "<>" if sign in words), None)
        if sign is None:
            raise SettingError(
                f"guard={words!r} is not a limit: write, for instance, refund < 0.05"
            )
        name, _, limit = words.partition(sign)
        result[name.strip()] = f"{sign} {limit.strip()}"
    return result


def budget(words: str) -> dict[str, str]:
    """The budget of a metric, its name and how much of it.

    >>> budget("dollars 25 a day")
    {'dollars': '25 a day'}
    """
    name, _, amount = words.strip().partition(" ")
    return {name: amount.strip()}


def _once(pairs: list[str], what: str) -> dict[str, str]:
    """Return texts by name; none may be given twice."""
    result = dict(map(setting, pairs))
    if len(result) < len(pairs):
        raise SettingError(f"{what} was given twice: {listing(pairs)}")
    return result


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

"""GrowthBook's targeting conditions, evaluated for all rows of a log at once.

A condition on one attribute is evaluated once for each value that its column has. What cannot be
evaluated from columns with one value a row is refused: lists, objects, elements of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from belman.analysis.past import Log, Truths, Whole
from belman.errors import SettingError, listing

_ORDER = {
    "$lt": lambda sign: sign < 0, "$lte": lambda sign: sign <= 0,
    "$gt": lambda sign: sign > 0, "$gte": lambda sign: sign >= 0,
}  # fmt: skip
_VERSIONS = {
    **{f"$v{name[1:]}": holds for name, holds in _ORDER.items()},
    "$veq": lambda sign: sign == 0, "$vne": lambda sign: sign != 0,
}  # fmt: skip
_PATTERNS = {"$regex": (0, True), "$regexi": (re.IGNORECASE, True),
             "$notRegex": (0, False), "$notRegexi": (re.IGNORECASE, False)}  # fmt: skip
_LISTS = {"$in": (False, True), "$nin": (False, False),
          "$ini": (True, True), "$nini": (True, False)}  # fmt: skip
_GROUPS = {"$inGroup": True, "$notInGroup": False}
_KNOWN = (*_ORDER, *_VERSIONS, *_PATTERNS, *_LISTS, *_GROUPS, "$eq", "$ne", "$exists", "$type",
          "$not")  # fmt: skip
_MANY = {"$and", "$or", "$nor"}

Groups = Mapping[str, Any]


class Leaf(NamedTuple):
    """What a condition asks of one attribute."""

    attribute: str
    asked: Any


def leaves(condition: Any) -> Iterator[Leaf]:
    """All that a condition asks of attributes; SettingError if it cannot be evaluated here."""
    if not isinstance(condition, Mapping):
        raise SettingError(f"condition {json.dumps(condition)[:80]} is not an object")
    for name, value in condition.items():
        if name in _MANY:
            if not isinstance(value, list):
                raise SettingError(f"{name} in a condition needs a list")
            for one in value:
                yield from leaves(one)
        elif name == "$not":
            yield from leaves(value)
        elif name.startswith("$"):
            raise SettingError(f"{name} in a condition cannot be evaluated here")
        else:
            _check(value)
            yield Leaf(name, value)


def _check(asked: Any) -> None:
    if isinstance(asked, list) or (isinstance(asked, Mapping) and not _is_operators(asked)):
        words = "conditions on lists and objects cannot be evaluated from a log"
        raise SettingError(f"{json.dumps(asked)[:80]}: {words}")
    for name, value in asked.items() if isinstance(asked, Mapping) else ():
        if name not in _KNOWN:
            words = f"cannot be evaluated here: there are {listing(sorted(_KNOWN), 30)}"
            raise SettingError(f"{name} in a condition {words}")
        if name == "$not":
            _check(value)


def kinds(asked: Any, groups: Groups) -> set[type]:
    """The kinds of values that an attribute is compared with: text, number or truth."""
    if not isinstance(asked, Mapping):
        return {_kind(asked)} - {type(None)}
    found: set[type] = set()
    for name, value in asked.items():
        if name == "$not":
            found |= kinds(value, groups)
        elif name in _LISTS or name in _GROUPS:
            several = _group(groups, value) if name in _GROUPS else value
            found |= {_kind(one) for one in several or ()}
        elif name in _PATTERNS:
            found.add(str)
        elif name not in ("$exists", "$type"):
            found.add(_kind(value))
    return found - {type(None)}


def holds(condition: Any, log: Log, rows: Whole, groups: Groups, of: Mapping[str, type]) -> Truths:
    """For which rows of a log a condition holds.

    Parameters
    ----------
    condition
        A condition, as `leaves` allows it.
    log, rows
        The log, and the places of its rows.
    groups
        Saved groups by id.
    of
        As what kind the texts of a file are read, by attribute.
    """
    found = np.ones(rows.size, dtype=bool)
    for name, value in condition.items():
        if name in ("$or", "$nor"):
            parts = [holds(one, log, rows, groups, of) for one in value]
            any_of = np.any(parts, axis=0) if parts else np.ones(rows.size, dtype=bool)
            found &= any_of if name == "$or" else ~any_of
        elif name == "$and":
            for one in value:
                found &= holds(one, log, rows, groups, of)
        elif name == "$not":
            found &= ~holds(value, log, rows, groups, of)
        else:
            column = log.column(name, of.get(name))
            known = np.array([_asked(value, one, groups) for one in column.values], dtype=bool)
            found &= known[column.places[rows]]
    return found


def _asked(asked: Any, value: Any, groups: Groups) -> bool:
    """Whether one value is as asked."""
    if not isinstance(asked, Mapping):
        return _is_equal(asked, value)
    return all(_operator(name, of, value, groups) for name, of in asked.items())


def _operator(name: str, of: Any, value: Any, groups: Groups) -> bool:
    if name in ("$eq", "$ne"):
        return _is_equal(of, value) is (name == "$eq")
    if name in _ORDER:
        sign = _sign(value, of)
        return sign is not None and bool(_ORDER[name](sign))
    if name in _VERSIONS:
        ordered = _kind(value) is _kind(of) and _kind(of) in (str, float)
        pair = (_padded(value), _padded(of)) if ordered else ("", "")
        return bool(_VERSIONS[name](_compared(*pair))) if ordered else name == "$vne"
    if name in _PATTERNS:
        flags, wanted = _PATTERNS[name]
        try:
            return bool(re.search(of, value, flags)) is wanted
        except (re.error, TypeError):
            return not wanted
    if name in _LISTS or name in _GROUPS:
        among = _group(groups, of) if name in _GROUPS else of
        if not isinstance(among, list):
            return False
        folded, wanted = _LISTS.get(name, (False, True))
        wanted = _GROUPS.get(name, wanted)
        return any(_is_equal(_fold(one, folded), _fold(value, folded)) for one in among) is wanted
    if name == "$exists":
        return (value is not None) is bool(of)
    if name == "$type":
        words = {type(None): "null", bool: "boolean", float: "number", str: "string"}
        return words.get(_kind(value), "unknown") == of
    return not _asked(of, value, groups)  # $not


def _kind(value: Any) -> type:
    """Text, number, truth or nothing, as JSON has them."""
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, (int, float)) else type(value)


def _is_equal(one: Any, other: Any) -> bool:
    return _kind(one) is _kind(other) and bool(one == other)


def _is_operators(asked: Mapping[str, Any]) -> bool:
    return all(name.startswith("$") for name in asked)


def _sign(one: Any, other: Any) -> int | None:
    """How two numbers or two texts compare; None for others."""
    if _kind(one) is not _kind(other) or _kind(one) not in (str, float):
        return None
    if one != one or other != other:
        return None
    return _compared(one, other)


def _compared(one: Any, other: Any) -> int:
    if isinstance(one, str):  # by UTF-16 code units, as JavaScript does
        one, other = (text.encode("utf-16-be", "surrogatepass") for text in (one, other))
    return int(one > other) - int(one < other)


def _fold(value: Any, folded: bool) -> Any:
    return value.lower() if folded and isinstance(value, str) else value


def _padded(version: Any) -> str:
    """A version as text that compares as versions do."""
    text = version if isinstance(version, str) else f"{version:.15g}"
    parts = re.split(r"[-.]", re.sub(r"(^v|\+.*$)", "", text or "0"))
    if len(parts) == 3:
        parts.append("~")
    return "-".join(part.rjust(5) if part.isdigit() else part for part in parts)


def _group(groups: Groups, name: Any) -> list[Any] | None:
    """The values of a saved group: none if there is no such group, None if it is no list."""
    found = groups.get(name, []) if isinstance(name, str) else None
    if isinstance(found, Mapping) and found.get("type") == "list":
        found = found.get("values")
    return found if isinstance(found, list) else None

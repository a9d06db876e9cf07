"""GrowthBook's targeting conditions, evaluated for all rows of a log at once.

A condition on one attribute is evaluated once for each value that its column has. Values compare
as JavaScript compares them, where the published cases of its clients say so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from belman.analysis.past import Log, Truths, Whole, within
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
_ALL = {"$all": False, "$alli": True}
_INTO = (*_ALL, "$elemMatch", "$size")
_KNOWN = (*_ORDER, *_VERSIONS, *_PATTERNS, *_LISTS, *_GROUPS, *_INTO, "$eq", "$ne", "$exists",
          "$type", "$not")  # fmt: skip
_MANY = {"$and", "$or", "$nor"}
_NUMERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

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
        else:
            _check(value)
            yield Leaf(name, value)


def _check(asked: Any) -> None:
    for name, value in asked.items() if _is_operators(asked) else ():
        if name not in _KNOWN:
            words = f"cannot be evaluated here: there are {listing(sorted(_KNOWN), 30)}"
            raise SettingError(f"{name} in a condition {words}")
        if name == "$elemMatch" and not _is_operators(value):
            list(leaves(value))
        elif name in ("$not", "$size", "$elemMatch"):
            _check(value)
        elif name in _ALL and isinstance(value, list):
            for one in value:
                _check(one)


def kinds(asked: Any, groups: Groups) -> set[type]:
    """The kinds of values that an attribute is compared with: text, number or truth, or list for
    lists and objects.
    """
    if not _is_operators(asked):
        return {list if isinstance(asked, (list, Mapping)) else _kind(asked)} - {type(None)}
    result: set[type] = set()
    for name, value in asked.items():
        if name == "$not":
            result |= kinds(value, groups)
        elif name in _INTO:
            result.add(list)
        elif name in _LISTS or name in _GROUPS:
            several = _group(groups, value) if name in _GROUPS else value
            result |= {_kind(one) for one in several} if isinstance(several, list) else set()
        elif name in _PATTERNS:
            result.add(str)
        elif name not in ("$exists", "$type"):
            result.add(_kind(value))
    return result - {type(None)}


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

    def of_rows(name: str, asked: Any) -> Truths:
        column = log.column(name, of.get(name), deep=True)
        known = np.array([_meets(asked, one, groups) for one in column.values], dtype=bool)
        result: Truths = known[column.positions[rows]]
        return result

    return np.ones(rows.size, dtype=bool) & _combined(condition, of_rows)


def fits(condition: Any, result: Any, groups: Groups) -> bool:
    """Whether one object fits a condition.

    >>> fits({"value": {"$in": [1, 2]}, "of.size": {"$gt": 3}}, {"value": 2, "of": {"size": 4}}, {})
    True
    """
    return bool(
        _combined(condition, lambda name, asked: _meets(asked, within(result, name), groups))
    )


def _combined(condition: Any, leaf: Callable[[str, Any], Any]) -> Any:
    """Combine what the leaves of a condition say, for one object or for many rows."""
    result: Any = np.True_
    for name, value in condition.items():
        if name in ("$or", "$nor"):
            parts = [_combined(one, leaf) for one in value]
            any_of = np.logical_or.reduce(np.broadcast_arrays(*parts)) if parts else np.True_
            result = result & (any_of if name == "$or" else ~any_of)
        elif name == "$and":
            for one in value:
                result = result & _combined(one, leaf)
        elif name == "$not":
            result = result & ~_combined(value, leaf)
        else:
            result = result & np.asarray(leaf(name, value))
    return result


def _meets(asked: Any, value: Any, groups: Groups, folded: bool = False) -> bool:
    """Whether one value is as asked; `folded` if capitals do not matter."""
    if not _is_operators(asked):
        return _is_same(_fold(asked, folded), _fold(value, folded))
    return all(_operator(name, of, value, groups) for name, of in asked.items())


def _operator(name: str, of: Any, value: Any, groups: Groups) -> bool:
    if name in ("$eq", "$ne"):
        return _is_equal(of, value) is (name == "$eq")
    if name in _ORDER:
        sign = _sign(value, of)
        return sign is not None and bool(_ORDER[name](sign))
    if name in _VERSIONS:
        return bool(_VERSIONS[name](_compared(_padded(value), _padded(of))))
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
        several = value if isinstance(value, list) else [value]
        is_in = any(
            _is_equal(_fold(one, folded), _fold(item, folded)) for one in among for item in several
        )
        return is_in is wanted
    if name in _INTO:
        return isinstance(value, list) and _of_list(name, of, value, groups)
    if name == "$exists":
        return (value is not None) is bool(of)
    if name == "$type":
        words = {type(None): "null", bool: "boolean", float: "number", str: "string",
                 list: "array", dict: "object"}  # fmt: skip
        return words.get(_kind(value), "unknown") == of
    return not _meets(of, value, groups)  # $not


def _of_list(name: str, of: Any, items: list[Any], groups: Groups) -> bool:
    """Whether a list is as asked."""
    if name == "$size":
        return _meets(of, len(items), groups)
    if name == "$elemMatch" and _is_operators(of):
        return any(_meets(of, item, groups) for item in items)
    if name == "$elemMatch":
        return any(fits(of, item, groups) for item in items)
    folded = _ALL[name]
    return isinstance(of, list) and all(
        any(_meets(one, item, groups, folded) for item in items) for one in of
    )


def _kind(value: Any) -> type:
    """Text, number, truth, nothing, list or object, as JSON has them."""
    if isinstance(value, bool):
        return bool
    if isinstance(value, Mapping):
        return dict
    return float if isinstance(value, (int, float)) else type(value)


def _is_equal(one: Any, other: Any) -> bool:
    """Whether two values are equal and neither a list nor an object."""
    return _kind(one) is _kind(other) and _kind(one) not in (list, dict) and bool(one == other)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return _is_equal(one, other)


def _is_operators(asked: Any) -> bool:
    return (
        isinstance(asked, Mapping) and bool(asked) and all(name.startswith("$") for name in asked)
    )


def _sign(one: Any, other: Any) -> int | None:
    """How two values compare: two texts as texts, all others as numbers; None where they do not."""
    one, other = (_text(of) if isinstance(of, (list, Mapping)) else of for of in (one, other))
    if not (isinstance(one, str) and isinstance(other, str)):
        one, other = _number(one), _number(other)
        if one != one or other != other:
            return None
    return _compared(one, other)


def _number(value: Any) -> float:
    """A value as JavaScript makes a number of it: 0 of nothing, NaN of what is no number."""
    if not isinstance(value, str):
        return float(value or 0.0)
    text = value.strip()
    return 0.0 if not text else float(text) if _NUMERAL.fullmatch(text) else math.nan


def _text(value: Any) -> str:
    """A value as JavaScript makes a text of it."""
    if isinstance(value, list):
        return ",".join("" if one is None else _text(one) for one in value)
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, (bool, type(None))):
        return json.dumps(value)
    return value if isinstance(value, str) else f"{value:.15g}"


def _compared(one: Any, other: Any) -> int:
    if isinstance(one, str):  # by UTF-16 code units, as JavaScript does
        one, other = (text.encode("utf-16-be", "surrogatepass") for text in (one, other))
    return int(one > other) - int(one < other)


def _fold(value: Any, folded: bool) -> Any:
    return value.lower() if folded and isinstance(value, str) else value


def _padded(version: Any) -> str:
    """A version as text that compares as versions do."""
    text = _text(version) if _kind(version) in (str, float) else ""
    parts = re.split(r"[-.]", re.sub(r"(^v|\+.*$)", "", text or "0"))
    if len(parts) == 3:
        parts.append("~")
    return "-".join(part.rjust(5) if re.fullmatch("[0-9]+", part) else part for part in parts)


def _group(groups: Groups, name: Any) -> list[Any] | None:
    """The values of a saved group: none if there is no such group, None if it is no list."""
    result = groups.get(name, []) if isinstance(name, str) else None
    if isinstance(result, Mapping) and result.get("type") == "list":
        result = result.get("values")
    return result if isinstance(result, list) else None

"""How values of every type are written as plain data, read and copied.

What a part of a state holds is said once, by the types of its fields. From them follow how it is
written, which values are refused when it is read (a whole number beyond its bounds, a number that
is not finite, a place that no arm has, an array of another shape), and how it is copied.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from belman.errors import StateError
from belman.packed import LONGEST_ROW, lengthened, read_array, shortened, write_array

T = TypeVar("T")
#: What bounds depend on, by name: how many arms there are, and the number of the last event.
Scope = Mapping[str, int]

MOST = 2**53
_LARGEST = sys.float_info.max
_FRACTION = re.compile(r"-?[0-9]{1,4000}(/[1-9][0-9]{0,4000})?")


class Form(NamedTuple):
    """How values of a type are written, read and copied; None copies what cannot change."""

    write: Callable[[Any], Any]
    read: Callable[[Any, Scope], Any]
    copy: Callable[[Any], Any] | None = None


class Whole(NamedTuple):
    """Bounds of a whole number; a name stands for the bound of that name in the scope."""

    least: int = 0
    most: int | str = MOST


class Array(NamedTuple):
    """The sides of an array, None for those of any length, and the bounds of its numbers; of any
    shape, if no sides are given.
    """

    sides: tuple[int | None, ...] | None
    least: float = -_LARGEST
    most: float = _LARGEST


Count = Annotated[int, Whole()]
Place = Annotated[int, Whole(0, "last arm")]
Number = Annotated[int, Whole(1, "number")]
#: The name of an arm; and one as a file has it, to be read when it is known which are given again.
Arm = Annotated[Hashable, "arm"]
Name = Annotated[Any, "name"]
#: Marks a dict of named tuples that is written column by column.
COLUMNS = "columns"
#: Marks a named tuple that is written with the names of its fields.
NAMED = "named"
#: Metadata of a field that follows from the others, and is not written.
DERIVED = {"derived": True}


def write(value: Any, hint: Any = None) -> Any:
    """Return a value as plain data."""
    kind: Any = type(value) if hint is None else hint
    return form(kind).write(value)


def read(hint: type[T], content: Any, scope: Scope) -> T:
    """Return the value of a type that plain data stand for; StateError where there is none."""
    kind: Any = hint
    result: T = form(kind).read(content, scope)
    return result


def copied(value: T, hint: Any = None) -> T:
    """Return an equal value that shares nothing that can change."""
    kind: Any = type(value) if hint is None else hint
    copy = form(kind).copy
    return value if copy is None else copy(value)


@cache
def form(hint: Any) -> Form:
    """Return how values of a type are written, read and copied."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _annotated(inside[0], inside[1])
    if origin in (typing.Union, types.UnionType):
        (own,) = (one for one in inside if one is not type(None))
        return _optional(form(own))
    if origin in (list, set):
        return _listed(origin, form(inside[0]))
    if origin is dict:
        return _mapped(form(inside[0]), form(inside[1]), inside[0] is str)
    if origin is np.ndarray:
        return _array(hint, Array(None))
    if origin is tuple and inside[1:] == (...,):
        return _listed(tuple, form(inside[0]))
    if origin is tuple:
        return _row(tuple, tuple(map(form, inside)))
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint, include_extras=True)
        return _row(hint._make, tuple(form(hints[name]) for name in hint._fields))  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(hint):
        fields = dataclasses.fields(hint)
        kept = [field.name for field in fields if not field.metadata.get("derived")]
        return _part(hint, [field.name for field in fields], kept)
    return _PLAIN.get(hint, _SHARED)


# Single values


def _as_it_is(value: Any, scope: Scope = types.MappingProxyType({})) -> Any:
    return value


def _exactly(kind: type, words: str) -> Callable[[Any, Scope], Any]:
    def read(content: Any, scope: Scope) -> Any:
        if type(content) is not kind:
            raise StateError(f"{str(content)[:40]!r} stands where {words} belongs")
        return content

    return read


def _read_number(content: Any, scope: Scope) -> float:
    if type(content) is not float or not math.isfinite(content):
        raise StateError(f"{str(content)[:40]!r} stands where a finite number belongs")
    return content


def _read_real(content: Any, scope: Scope) -> float:
    return content if type(content) is int else _read_number(content, scope)


def _read_fraction(content: Any, scope: Scope) -> Fraction:
    if not isinstance(content, str) or not _FRACTION.fullmatch(content):
        raise StateError(f"{str(content)[:40]!r} is not a sum of metrics")
    return Fraction(content)  # 1e999999999, which would fill the memory, is none


def _annotated(hint: Any, mark: Any) -> Form:
    """Return the form of a type with bounds, of a name of an arm, of columns, or of its own."""
    if isinstance(mark, Form):
        return mark
    if isinstance(mark, Whole):
        return _whole(*mark)
    if isinstance(mark, Array):
        return _array(hint, mark)
    if mark == "arm":
        return Form(encode_arm, lambda text, _: decode_arm(text))
    if mark == "name":
        return Form(encode_arm, _as_it_is)
    if mark == COLUMNS:
        key, kind = typing.get_args(hint)
        return _columns(form(key), kind)
    if mark == NAMED:
        return _part(hint, hint._fields, hint._fields)
    check = mark

    def read_checked(content: Any, scope: Scope) -> Any:
        result = own.read(content, scope)
        if not check(result):
            raise StateError(f"{str(content)[:40]!r} is not allowed where it stands")
        return result

    own = form(hint)
    return own._replace(read=read_checked)


def _whole(least: int, most: int | str) -> Form:
    def read(content: Any, scope: Scope) -> int:
        highest = scope[most] if isinstance(most, str) else most
        if type(content) is not int or not least <= content <= highest:
            allowed = f"a whole number from {least} to {highest}"
            raise StateError(f"{str(content)[:40]!r} stands where {allowed} belongs")
        return content

    return Form(_as_it_is, read)


# Values of several


def _optional(own: Form) -> Form:
    copy = own.copy
    return Form(
        lambda value: None if value is None else own.write(value),
        lambda content, scope: None if content is None else own.read(content, scope),
        None if copy is None else lambda value: None if value is None else copy(value),
    )


def _listed(kind: type, own: Form) -> Form:
    write, read, copy = own
    ordered: Callable[[Iterable[Any]], Iterable[Any]] = sorted if kind is set else iter
    check = _exactly(list, "a list")
    copying: Callable[[Any], Any] | None = kind if kind is not tuple else None
    return Form(
        lambda values: [write(value) for value in ordered(values)],
        lambda content, scope: kind([read(one, scope) for one in check(content, scope)]),
        copying if copy is None else lambda values: kind(map(copy, values)),
    )


def _mapped(key: Form, value: Form, of_texts: bool) -> Form:
    """Return the form of a dict: an object where its keys are texts, and a list of pairs."""
    check = _exactly(dict, "an object") if of_texts else _exactly(list, "a list of pairs")
    copy = value.copy

    def write(result: dict[Any, Any]) -> Any:
        pairs = ([key.write(one), value.write(of)] for one, of in result.items())
        return dict(pairs) if of_texts else list(pairs)

    def read(content: Any, scope: Scope) -> dict[Any, Any]:
        pairs = check(content, scope).items() if of_texts else check(content, scope)
        result = {key.read(one, scope): _read_part(str(one), value, of, scope) for one, of in pairs}
        if len(result) < len(pairs):
            raise StateError("a key is there twice")
        return result

    return Form(
        write,
        read,
        dict.copy if copy is None else lambda result: {one: copy(of) for one, of in result.items()},
    )


def _read_part(name: str, own: Form, content: Any, scope: Scope) -> Any:
    """Return a part that was read, or say in which one the error is."""
    try:
        return own.read(content, scope)
    except StateError as error:
        raise StateError(f"{name}: {error}") from None


def _row(make: Callable[[Iterable[Any]], Any], forms: tuple[Form, ...]) -> Form:
    check = _exactly(list, "a list")

    def read(content: Any, scope: Scope) -> Any:
        rows = zip(forms, check(content, scope), strict=True)
        return make([own.read(one, scope) for own, one in rows])

    def copy(row: Sequence[Any]) -> Any:
        return make(
            [
                one if own.copy is None else own.copy(one)
                for own, one in zip(forms, row, strict=True)
            ]
        )

    changes = any(own.copy is not None for own in forms)
    return Form(
        lambda row: [own.write(one) for own, one in zip(forms, row, strict=True)],
        read,
        copy if changes else None,
    )


def _part(kind: Any, fields: Sequence[str], kept: Sequence[str]) -> Form:
    """Return the form of a record: an object with its fields, but for those that follow."""
    hints = typing.get_type_hints(kind, include_extras=True)
    every = {name: form(hints[name]) for name in fields}

    def read(content: Any, scope: Scope) -> Any:
        if not isinstance(content, dict) or content.keys() != {*kept}:
            names = sorted({*kept}.symmetric_difference(content if type(content) is dict else ()))
            raise StateError(f"parts are missing, or too many: {', '.join(names)[:80]}")
        parts = {name: _read_part(name, every[name], content[name], scope) for name in kept}
        return kind(**parts)

    def copy(value: Any) -> Any:
        parts = {
            name: part if own.copy is None else own.copy(part)
            for name, own in every.items()
            for part in (getattr(value, name),)
        }
        if hasattr(kind, "_fields"):
            return kind(**parts)
        other = object.__new__(kind)
        for name, part in parts.items():
            object.__setattr__(other, name, part)
        return other

    shared = all(own.copy is None for own in every.values())
    frozen = hasattr(kind, "_fields") or kind.__dataclass_params__.frozen
    return Form(
        lambda value: {name: every[name].write(getattr(value, name)) for name in kept},
        read,
        None if frozen and shared else copy,
    )


def _array(hint: Any, allowed: Array) -> Form:
    """Return the form of an array: nested lists of numbers within their bounds."""
    (kind,) = typing.get_args(typing.get_args(hint)[1])
    sides, least, most = allowed

    def read(content: Any, scope: Scope) -> Any:
        result = read_array(content, kind, sides)
        within = (result >= least) & (result <= most)
        if not within.all():
            wild = np.asarray(result)[~within][0]
            bounds = "finite number" if most == _LARGEST else f"number from {least:g} to {most:g}"
            raise StateError(f"{str(wild)!r} stands where a {bounds} belongs")
        return result

    return Form(write_array, read, np.copy)


# Columns, which keep what is alike short


def _columns(key: Form, kind: Any) -> Form:
    hints = typing.get_type_hints(kind, include_extras=True)
    forms = [key, *(form(hints[name]) for name in kind._fields)]
    names = ("key", *kind._fields)

    def write(result: dict[Any, Any]) -> dict[str, Any]:
        fields = map(operator.itemgetter, range(len(kind._fields)))  # zip would make many objects
        columns = [list(result), *(list(map(one, result.values())) for one in fields)]
        # neighbours are alike if each key is less its place
        columns[0] = [one - i if type(one) is int else one for i, one in enumerate(columns[0])]
        parts = zip(names, columns, forms, strict=True)
        return {
            "rows": len(result),
            **{name: shortened(column, own.write) for name, column, own in parts},
        }

    def read(content: Any, scope: Scope) -> dict[Any, Any]:
        rows = _whole(0, LONGEST_ROW).read(content["rows"], scope)  # memory is held for each
        if content.keys() != {"rows", *names}:
            raise StateError(f"columns {', '.join(names)} are needed")
        steps = lengthened(content["key"], rows)
        keys = [one + i if type(one) is int else one for i, one in enumerate(steps)]
        columns = [
            [key.read(one, scope) for one in keys],
            *(
                lengthened(content[name], rows, _reader(own, scope))
                for name, own in zip(kind._fields, forms[1:], strict=True)
            ),
        ]
        result = dict(zip(columns[0], map(kind._make, zip(*columns[1:], strict=True)), strict=True))
        if len(result) != rows:
            raise StateError("a key of a snapshot is there twice")
        return result

    return Form(write, read, dict.copy)


def _reader(own: Form, scope: Scope) -> Callable[[Any], Any]:
    return lambda content: own.read(content, scope)


_SHARED = Form(_as_it_is, _as_it_is)
_PLAIN: dict[Any, Form] = {
    int: _whole(-MOST, MOST),
    float: Form(_as_it_is, _read_number),
    bool: Form(_as_it_is, _exactly(bool, "true or false")),
    str: Form(_as_it_is, _exactly(str, "a text")),
    bytes: Form(bytes.hex, lambda content, _: bytes.fromhex(content)),
    Fraction: Form(str, _read_fraction),
}


#: A number that a person gave, whole or not.
Real = Annotated[float, Form(_as_it_is, _read_real)]


# Names of arms


def encode_arm(arm: Hashable) -> Any:
    """Return an arm's name for JSON; a kind that JSON lacks is kept as its repr, to be given anew.

    >>> encode_arm(("red", 3))
    {'tuple': ['red', 3]}
    """
    if isinstance(arm, np.generic):
        arm = arm.item()
    is_number = isinstance(arm, int) or (isinstance(arm, float) and math.isfinite(arm))
    if arm is None or isinstance(arm, str) or is_number:
        return arm
    if isinstance(arm, tuple):
        return {"tuple": [encode_arm(part) for part in arm]}
    return {"repr": repr(arm)}


def decode_arm(text: Any) -> Hashable:
    """Return the arm of that name; StateError where only its repr was kept."""
    if isinstance(text, dict):
        if "tuple" in text and isinstance(text["tuple"], list):
            return tuple(map(decode_arm, text["tuple"]))
        remedy = "give them again, load(path, arms=[…])"
        raise StateError(f"it has arms of a kind that JSON lacks, such as {text['repr']}: {remedy}")
    if isinstance(text, float) and not math.isfinite(text):
        raise StateError(f"it has an arm {text}, which JSON lacks")
    return text

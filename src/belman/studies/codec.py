"""One codec for the parts of a state: dataclasses as plain data, checked when read, and copied.

What a part holds is said once, by the types of its fields. From them follow how it is written,
which values are refused when it is read (a whole number beyond its bounds, a number that is not
finite, a place that no arm has), and how it is copied.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import groupby, islice
from typing import Annotated, Any, NamedTuple, TypeVar

from belman.deciders import state_file
from belman.errors import StateError

T = TypeVar("T")
#: What bounds depend on, by name: how many arms there are, and the number of the last event.
Scope = Mapping[str, int]

MOST = 2**53
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


Count = Annotated[int, Whole()]
Place = Annotated[int, Whole(0, "last arm")]
Number = Annotated[int, Whole(1, "number")]
#: The name of an arm.
Arm = Annotated[Hashable, "arm"]
#: Marks a dict of named tuples that is written column by column.
COLUMNS = "columns"
#: Metadata of a field that follows from the others, and is not written.
DERIVED = {"derived": True}


def write(value: Any, hint: Any = None) -> Any:
    """Return a value as plain data."""
    kind: Any = type(value) if hint is None else hint
    return form(kind).write(value)


def read(hint: type[T], content: Any, scope: Scope) -> T:
    """Return the value of a type that plain data stand for; StateError where there is none."""
    kind: Any = hint
    found: T = form(kind).read(content, scope)
    return found


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
        return _mapped(form(inside[0]), form(inside[1]))
    if origin is tuple and inside[1:] == (...,):
        return _listed(tuple, form(inside[0]))
    if origin is tuple:
        return _row(tuple, tuple(map(form, inside)))
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint, include_extras=True)
        return _row(hint._make, tuple(form(hints[name]) for name in hint._fields))  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(hint):
        return _part(hint)
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
    if mark == "arm":
        return Form(
            state_file.encode_arm, lambda text, _: state_file.decode_arm(text, "a snapshot")
        )
    if mark == COLUMNS:
        key, kind = typing.get_args(hint)
        return _columns(form(key), kind)
    check = mark

    def read_checked(content: Any, scope: Scope) -> Any:
        found = own.read(content, scope)
        if not check(found):
            raise StateError(f"{str(content)[:40]!r} is not allowed where it stands")
        return found

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


def _mapped(key: Form, value: Form) -> Form:
    check, copy = _exactly(list, "a list of pairs"), value.copy

    def read(content: Any, scope: Scope) -> dict[Any, Any]:
        pairs = ((key.read(one, scope), value.read(of, scope)) for one, of in check(content, scope))
        return dict(pairs)

    return Form(
        lambda found: [[key.write(one), value.write(of)] for one, of in found.items()],
        read,
        dict.copy if copy is None else lambda found: {one: copy(of) for one, of in found.items()},
    )


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


def _part(kind: Any) -> Form:
    """Return the form of a dataclass: an object with its fields, but for those that follow."""
    hints = typing.get_type_hints(kind, include_extras=True)
    every = {field.name: form(hints[field.name]) for field in dataclasses.fields(kind)}
    kept = {
        field.name: every[field.name]
        for field in dataclasses.fields(kind)
        if not field.metadata.get("derived")
    }

    def read(content: Any, scope: Scope) -> Any:
        if not isinstance(content, dict) or content.keys() != kept.keys():
            raise StateError(f"{kind.__name__.lower()} does not hold {', '.join(kept)}")
        return kind(**{name: own.read(content[name], scope) for name, own in kept.items()})

    def copy(value: Any) -> Any:
        other = object.__new__(kind)
        for name, own in every.items():
            found = getattr(value, name)
            object.__setattr__(other, name, found if own.copy is None else own.copy(found))
        return other

    return Form(
        lambda value: {name: own.write(getattr(value, name)) for name, own in kept.items()},
        read,
        None if kind.__dataclass_params__.frozen else copy,
    )


# Columns, which keep what is alike short


def _columns(key: Form, kind: Any) -> Form:
    hints = typing.get_type_hints(kind, include_extras=True)
    forms = [key, *(form(hints[name]) for name in kind._fields)]
    names = ("key", *kind._fields)

    def write(found: dict[Any, Any]) -> dict[str, Any]:
        columns = [list(found), *map(list, zip(*found.values(), strict=True))]
        columns += [[] for _ in range(len(names) - len(columns))]
        # neighbours are alike if each key is less its place
        columns[0] = [one - i if type(one) is int else one for i, one in enumerate(columns[0])]
        parts = zip(names, columns, forms, strict=True)
        return {
            "rows": len(found),
            **{name: shortened(column, own.write) for name, column, own in parts},
        }

    def read(content: Any, scope: Scope) -> dict[Any, Any]:
        rows = form(Count).read(content["rows"], scope)
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
        found = dict(zip(columns[0], map(kind._make, zip(*columns[1:], strict=True)), strict=True))
        if len(found) != rows:
            raise StateError("a key of a snapshot is there twice")
        return found

    return Form(write, read, dict.copy)


def _reader(own: Form, scope: Scope) -> Callable[[Any], Any]:
    return lambda content: own.read(content, scope)


def shortened(values: list[Any], write: Callable[[Any], Any]) -> list[Any]:
    """Return values as [value, how often it follows itself], with "runs" first, where that is
    shorter.

    >>> shortened(list("aaaaab"), str), shortened(["a", "b"], str)
    (['runs', ['a', 5], ['b', 1]], ['a', 'b'])
    """
    runs = 1 + sum(map(operator.ne, values, islice(values, 1, None)))
    if 2 * runs >= len(values):
        return list(map(write, values))
    return ["runs", *([write(value), len(list(run))] for value, run in groupby(values))]


def lengthened(
    content: Any, length: int, read: Callable[[Any], Any] = lambda value: value
) -> list[Any]:
    """Return the values that were shortened, of which there have to be `length`.

    >>> "".join(lengthened(["runs", ["a", 5], ["b", 1]], 6))
    'aaaaab'
    """
    values = _exactly(list, "a column")(content, {})
    if values[:1] != ["runs"]:
        found = list(map(read, values))
    else:
        count = form(Annotated[int, Whole(1)])
        if sum(count.read(times, {}) for _, times in values[1:]) != length:
            raise StateError("the runs of a snapshot are not as long as its other columns")
        found = [one for value, times in values[1:] for one in [read(value)] * times]
    if len(found) != length:
        raise StateError("the columns of a snapshot are not of one length")
    return found


_SHARED = Form(_as_it_is, _as_it_is)
_PLAIN: dict[Any, Form] = {
    int: _whole(-MOST, MOST),
    float: Form(_as_it_is, _read_number),
    bool: Form(_as_it_is, _exactly(bool, "true or false")),
    str: Form(_as_it_is, _exactly(str, "a text")),
    bytes: Form(bytes.hex, lambda content, _: bytes.fromhex(content)),
    Fraction: Form(str, _read_fraction),
}

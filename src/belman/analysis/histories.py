"""Histories as folders: files of JSON, each in force from its time until that of the next.

The time is what a file's name begins with, or is told by a field inside. All files of a folder have
it in the same place.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from belman.errors import SettingError, listing
from belman.frames import cells

T = TypeVar("T")

_DATE = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T_ ](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d)(?:[.,](\d{1,6}))?)?(Z|[+-]\d\d:?\d\d)?)?(?!\d)"
)
_SECONDS = re.compile(r"\d{9,11}(?:\.\d+)?(?!\d)|\d{12,14}(?!\d)")
_MILLI = 1e11  # from which a number is milliseconds
_LATER = 1.0  # seconds by which what a file says may be after its name, which may lack them


class Held(NamedTuple, Generic[T]):
    """What held from a time (seconds since 1970), and the name of its file."""

    since: float
    name: str
    what: T


def time_in_name(name: str) -> float | None:
    """Return the time that the name of a file begins with, in UTC where it names no zone; None
    where it begins with none.

    >>> time_in_name("2026-03-01T12-30-00Z.json") == time_in_name("1772368200-checkout.json")
    True
    >>> time_in_name("2026-03-01.json"), time_in_name("checkout-7.json")
    (1772323200.0, None)
    """
    if result := _DATE.match(name):
        year, month, day, hour, minute, second, part, zone = result.groups()
        text = f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}"
        text += f".{part.ljust(6, '0')}" if part else ""
        away = "+00:00" if zone in (None, "Z") else f"{zone[:3]}:{zone[-2:]}"
        try:
            return datetime.fromisoformat(text + away).astimezone(UTC).timestamp()
        except ValueError:
            pass
    if result := _SECONDS.match(name):
        number = float(result[0])
        return number / 1_000.0 if number > _MILLI else number
    return None


def read_history(
    folder: str | os.PathLike[str], read: Callable[[Any], T], inside: Callable[[Any], Any]
) -> list[Held[T]]:
    """Read a folder of JSON files in the order of time.

    Parameters
    ----------
    folder
        Where the files are; those that do not end in .json are not read.
    read
        Makes of a file's JSON what is kept; its errors get the name of the file.
    inside
        Finds the time in a file's JSON (None if there is none), for files without one in the name.

    Raises
    ------
    SettingError
        If there are no files, one cannot be read, some have times in their names and some have
        not, two have the same time, or a file says that it was made after the time in its name.
    """
    path = Path(folder).expanduser()
    try:
        files = sorted(one for one in path.iterdir() if one.suffix == ".json" and one.is_file())
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    if not files:
        raise SettingError(f"{path} has no .json files: give a folder with one for each change")
    result = [(one.name, _json(one)) for one in files]
    named = [time_in_name(name) for name, _ in result]
    told = [_told(path / name, inside(data)) for name, data in result]
    if any(time is None for time in named):
        if any(time is not None for time in named):
            without = [one for (one, _), time in zip(result, named, strict=True) if time is None]
            raise SettingError(
                f"{path}: {listing(without)} begin with no time, and other files do: begin every "
                "name with the time from which it held, or none"
            )
        lacking = [one for (one, _), time in zip(result, told, strict=True) if time is None]
        if lacking:
            raise SettingError(
                f"{path}: from when did {listing(lacking)} hold? Begin the name with the time, "
                "such as 2026-03-01T12-30-00Z.json"
            )
        times = [time for time in told if time is not None]
    else:
        times = [time for time in named if time is not None]
        for (name, _), since, made in zip(result, times, told, strict=True):
            if made is not None and made > since + _LATER:
                after = datetime.fromtimestamp(made, UTC).isoformat()
                raise SettingError(f"{path / name} was made at {after}, after the time in its name")
    kept = [
        Held(since, name, _kept(path / name, data, read))
        for since, (name, data) in zip(times, result, strict=True)
    ]
    return in_order(kept, str(path))


def in_order(held: Sequence[Held[T]], source: str) -> list[Held[T]]:
    """What held, by time; SettingError where two things held from the same time."""
    if not held:
        raise SettingError(f"{source} is empty: give what held, with the time from which it did")
    for one in held:
        if not math.isfinite(one.since):
            raise SettingError(f"{source}: {one.name} holds from {one.since}, which is no time")
    result = sorted(held, key=lambda one: one.since)
    for one, other in pairwise(result):
        if one.since == other.since:
            both = listing([one.name, other.name])
            raise SettingError(f"{source}: {both} hold from the same time: keep one of them")
    return result


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{path} is not JSON: {error}") from None


def _told(path: Path, given: Any) -> float | None:
    """The time in a file as seconds."""
    if given is None:
        return None
    try:
        if isinstance(given, bool):
            raise ValueError
        return cells.seconds(given)
    except (ValueError, TypeError, OverflowError):
        raise SettingError(f"{path}: {given!r} is not a time") from None


def _kept(path: Path, data: Any, read: Callable[[Any], T]) -> T:
    try:
        return read(data)
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from None
    except ValueError as error:
        raise SettingError(f"{path}: {error}") from None

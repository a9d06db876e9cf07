"""Attributes of a ticket's visitor or request, such as the device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from belman.errors import SettingError, listing, nearest, shown
from belman.studies.log.event_log import Event

MOST = 8  # names of attributes in a study
LONGEST_NAME = 40
LONGEST = 100  # characters of a value
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}")

#: What a segment is called that has no value of an attribute, or many rare ones.
NONE, OTHERS = "(none)", "(others)"

Attributes = dict[str, str]


def check_attributes(given: object, known: Set[str] = frozenset()) -> Attributes:
    """Attributes as a log keeps them, in the order of their names; of a study that knows others.

    >>> check_attributes({"device": "phone", "age": 31})
    {'age': '31', 'device': 'phone'}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        write = "write attributes={'device': 'phone'}"
        raise SettingError(f"attributes={shown(given)} are not valid: {write}")
    names = {name: check_name(name, "an attribute") for name in given}
    result = {names[name]: _check_value(name, value) for name, value in given.items()}
    check_few(known, result, "attributes", MOST)
    return dict(sorted(result.items()))


def is_name(name: object) -> bool:
    """Whether an attribute, or a metric, may have this name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def check_name(name: object, what: str) -> str:
    """A name of an attribute, or of a metric."""
    if not is_name(name):
        allowed = f"letters, digits and _, at most {LONGEST_NAME}, and no digit first"
        raise SettingError(f"{shown(name)} cannot name {what}: it must be made of {allowed}")
    return str(name)


def check_few(known: Set[str], given: Iterable[str], what: str, most: int) -> None:
    """Refuse more names than a study may have, with those that it knows."""
    new = sorted(set(given) - known)
    if len(known) + len(new) > most:
        has = f" beside {listing(sorted(known), most)}{nearest(new[0], known)}" if known else ""
        raise SettingError(f"{what} {listing(new)}{has}: a study has at most {most}")


def _check_value(name: object, value: Any) -> str:
    text = value if isinstance(value, str) else None
    if isinstance(value, (bool, int, float, np.integer, np.floating)):
        text = shown(value) if isinstance(value, int) else str(value)
    if text is None or not text.isprintable() or len(text) > LONGEST:
        allowed = f"it must be a printable string of at most {LONGEST} characters, or a number"
        raise SettingError(f"attribute {name!r} cannot be {shown(value)}: {allowed}")
    return text


def check_known(name: object, known: Set[str]) -> str:
    """An attribute that some ticket or row has."""
    if not isinstance(name, str) or name not in known:
        there = f"there are {listing(sorted(known))}{nearest(name, known)}" if known else "none is"
        raise SettingError(f"by={shown(name)} is not an attribute of a ticket or row: {there}")
    return name


def given_in(event: Event) -> Attributes:
    """The attributes of an ask, or of a row of past data."""
    result: Attributes = event.content.get("attributes", {})
    return result

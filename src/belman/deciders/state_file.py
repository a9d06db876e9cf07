"""State as text: versioned JSON for people, exact to the last bit, a checksum against damage."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from belman.errors import BelmanError, StateError
from belman.files import write_atomically
from belman.version import __version__

FORMAT = "belman agent"
VERSION = 1
#: What every file says of itself.
_ABOUT = ("format", "version", "belman")


def write(content: Mapping[str, Any], kind: str = FORMAT) -> str:
    """The text of a state file of some kind."""
    body = {name: plain(value) for name, value in content.items()}
    document = {"format": kind, "version": VERSION, "belman": __version__, **body}
    document = json.loads(json.dumps(document, ensure_ascii=False, allow_nan=False))
    document["checksum"] = _checksum(document)
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read(text: str, source: str, kind: str = FORMAT) -> dict[str, Any]:
    """The content of a state file; raises StateError, and says why, where it cannot be trusted."""
    try:
        document = json.loads(text)
    except TypeError:
        raise StateError(f"{source} is not text: {str(text)[:40]!r} was given") from None
    except (ValueError, RecursionError) as error:
        raise StateError(f"{source} is damaged: it is not JSON ({error})") from None
    result = document.get("format") if isinstance(document, dict) else None
    if result != kind:
        other = f" (it has {result[:40]!r})" if isinstance(result, str) else ""
        lacks = f"it lacks the format {kind!r}{other}"
        raise StateError(f"{source} is not the state of {_article(kind)}: {lacks}")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        reads = f"this belman reads up to {VERSION} (install a newer one)"
        raise StateError(f"{source} has version {version!r}: {reads}")
    if document.pop("checksum", None) != _checksum(document):
        damage = "its checksum does not match its content"
        raise StateError(f"{source} is damaged or was edited: {damage}")
    return {name: part for name, part in document.items() if name not in _ABOUT}


def keep(path: str | os.PathLike[str], text: str) -> None:
    """Write a state file atomically: a crash leaves the old file or the new one."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise StateError(f"{os.fspath(path)} cannot be written: {error}") from error


def fetch(path: str | os.PathLike[str]) -> str:
    """The text of a state file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(f"{os.fspath(path)} cannot be read: {error}") from None


def _article(kind: str) -> str:
    name = kind.split()[-1]
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _checksum(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(document).encode()).hexdigest()


def _text(content: Any) -> str:
    """Equal texts are equal values, and of the same kinds."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


_SIMPLE = (str, int, bool, type(None))


def plain(value: Any) -> Any:
    """JSON's view of a value; numbers that JSON lacks become words."""
    kind = type(value)
    if kind is float:  # as most are
        return value if math.isfinite(value) else str(value)
    if kind in _SIMPLE:
        return value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if hasattr(value, "_fields"):
            return {name: plain(item) for name, item in zip(value._fields, value, strict=True)}
        return [plain(item) for item in value]
    return value


def check_kept(
    content: Mapping[str, Any], again: Mapping[str, Any], anew: Collection[str] = ()
) -> None:
    """Raise StateError where what was made of a state would not be written as it was, but for what
    every release writes `anew`.
    """
    for name in sorted(content.keys() | again.keys()):
        same = name in content and name in again and _text(content[name]) == _text(again[name])
        if not same and name not in anew:
            raise StateError(f"{name!r} does not say what would be written")


def trusted(build: Callable[[], Any], source: str, kind: str = FORMAT) -> Any:
    """Read content that passed its checksum; what is missing or misshapen becomes a StateError."""
    try:
        return build()
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, StateError) and str(error).startswith(source):
            raise
        why = str(error) if isinstance(error, BelmanError) else f"{type(error).__name__}: {error}"
        raise StateError(f"{source} does not hold a whole {kind.split()[-1]}: {why}") from None

"""A policy of the user's own, by the file that it is in: `mine.py:Cautious`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from belman.errors import PolicyError, listing, nearest
from belman.policies import Policy


def names_a_file(words: str) -> bool:
    """Whether words name a policy in a file.

    >>> names_a_file("mine.py:Cautious:width=0.7"), names_a_file("thompson")
    (True, False)
    """
    return words.partition(":")[0].strip().endswith(".py")


def own_policy(words: str, settings: dict[str, Any]) -> Policy:
    """The policy that a file defines under a name: a class of policies, or a policy.

    The file is imported by its name, with its folder on the path, so that what is compiled of it
    can be kept.
    """
    file, _, name = words.partition(":")
    path = Path(file.strip()).expanduser().resolve()
    if not path.is_file():
        raise PolicyError(f"policy {words!r}: there is no file {file.strip()!r}")
    found = vars(_imported(path))
    known = [key for key, thing in found.items() if _is_policy(thing, path.stem)]
    if name not in found or not _is_policy(found[name], None):
        there = f"it has {listing(known)}{nearest(name, known)}" if known else "it has none"
        raise PolicyError(f"{file.strip()} has no policy {name!r}: {there}")
    thing = found[name]
    if isinstance(thing, Policy):
        if settings:
            raise PolicyError(f"{words!r} is a policy already: it takes no settings {settings}")
        return thing
    try:
        made: Policy = thing(**settings)
    except TypeError as error:
        raise PolicyError(f"{words!r} cannot be made: {error}") from None
    return made


def _imported(path: Path) -> Any:
    other = sys.modules.get(path.stem)
    if other is not None:
        if getattr(other, "__file__", None) == str(path):
            return other
        remedy = "give the file another name"
        raise PolicyError(f"{path.name} cannot be imported beside {other.__name__!r}: {remedy}")
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    except Exception as error:
        raise PolicyError(f"{path.name} cannot be imported: {error}") from error
    finally:
        sys.path.remove(str(path.parent))


def _is_policy(thing: Any, module: str | None) -> bool:
    """Whether it is a policy or a class of them, made in a module if one is given."""
    is_one = isinstance(thing, Policy)
    kind = type(thing) if is_one else thing
    is_class = isinstance(kind, type) and issubclass(kind, Policy)
    return is_class and (module is None or is_one or kind.__module__ == module)

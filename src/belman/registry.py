"""What is known by name: families, policies, exposures, detectors, models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar, dataclass_transform

from belman.errors import SettingError

Kind = TypeVar("Kind", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def register(kind: Kind) -> Kind:
    """Make a class a frozen dataclass and known by its `name`, a decorator.

    Agents, the lab, studies, state files, the command line and the leaderboard then take its name
    for it. A class that is a dataclass already stays as it is.

    Parameters
    ----------
    kind
        A class with a text `name`, derived from one of those that are registered.

    Returns
    -------
    type
        The class itself, a frozen dataclass.

    Raises
    ------
    SettingError
        If the class has no name, is of no kind that has one, or another class has the name.
    """
    if not isinstance(getattr(kind, "name", None), str) or not hasattr(kind, "registry"):
        kinds = "a policy, family, exposure, detector or model"
        raise SettingError(f"{_path(kind)} cannot be registered: give {kinds} with a text `name`")
    made: Any = kind if "__dataclass_fields__" in vars(kind) else dataclass(frozen=True)(kind)
    other = made.registry.get(made.name)
    if other is not None and _path(other) != _path(made):
        raise SettingError(f"the name {made.name!r} of {_path(made)} is taken by {_path(other)}")
    made.registry[made.name] = made
    return made


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def offered(names: Mapping[str, Any]) -> list[str]:
    """The public names of a room, its `__all__`, from its globals: all but modules.

    >>> import math
    >>> offered({"pi": math.pi, "math": math, "_own": 1})
    ['pi']
    """
    hidden = (ModuleType, type(annotations))
    return sorted(
        name for name, it in names.items() if name[0] != "_" and not isinstance(it, hidden)
    )

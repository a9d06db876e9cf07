"""Everything public as plain data and back, with one distribution: `build(describe(x)) == x`.

A description is what JSON holds. A family, policy, exposure, problem or design is its name and its
settings, in which others may be nested:

>>> import belman
>>> describe(belman.policies.Phases(then=belman.BelMan.paper(), turns=200))["then"]
{'name': 'belman', 'exposure': {'name': 'paper', 'C': 15.0, 'unit': None}, 'reading': 'barycentre'}
>>> build({"name": "belman", "exposure": "infinite"}, belman.policies.Policy)
BelMan(exposure=Infinite(), reading='barycentre')

A list is a tuple, and "inf", "-inf" and "nan" are the numbers that JSON lacks. A class of one's own
goes by its import path, {"name": "module:Class", …}, and so does a function, {"import":
"module:function"}. The few values that would be taken for something else are wrapped: {"text":
"inf"}, {"list": […]}, {"dict": {…}}.

Descriptions come from strangers, and to import a module is to run it. So the reader says how far it
trusts: "names" (the default, for HTTP) knows nothing but what belman brings; "imported" (for files
and logs) also the classes of families, policies, exposures and problems in modules that were
imported already; "all" imports whatever is asked for, functions included.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
import types
import typing
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from belman.errors import (
    BelmanError,
    ExposureError,
    FamilyError,
    PolicyError,
    SettingError,
    listing,
    nearest,
    shown,
)
from belman.exposure import EXPOSURES, Exposure
from belman.families import FAMILIES, Family
from belman.families.mirror import Mirror
from belman.models import MODELS, Model
from belman.policies import (
    DETECTORS,
    POLICIES,
    BelMan,
    Policy,
    cusum_ucb,
    exp3_s,
    glr_klucb,
    m_ucb,
    q_ths,
    q_ucb,
    qbelman,
)
from belman.policies.dependent import DEPENDENT_POLICIES, DependentPolicy
from belman.problems import (
    ChangingArms,
    Coming,
    ContextArms,
    Corrupted,
    Delayed,
    DrawnArms,
    Drifting,
    GivenArms,
    Jumping,
    Problem,
    Queue,
    RandomStationary,
    Renewing,
    Replayed,
    Stationary,
    Tables,
    Walking,
)

T = TypeVar("T")
Trust = Literal["names", "imported", "all"]

#: How many descriptions may stand inside one another.
DEEPEST = 20
#: How many values a description may hold, at all depths.
LARGEST = 100_000
#: Policies that are a setting of another, by the name they go by.
PRESETS: dict[str, Callable[..., Policy]] = {
    "belman-paper": BelMan.paper,
    "belman-until": BelMan.until,
    "glr-klucb": glr_klucb,
    "m-ucb": m_ucb,
    "cusum-ucb": cusum_ucb,
    "exp3-s-told": exp3_s,
    "q-ucb": q_ucb,
    "q-ths": q_ths,
    "qbelman": qbelman,
}

_WORDS = ("inf", "-inf", "nan")
_WRAPPERS = ("text", "list", "dict", "import")
_LISTS = (Sequence, Collection, Iterable)  # a text is one by its type, and not by its meaning
_ERRORS: dict[type, tuple[str, type[BelmanError]]] = {
    Family: ("family", FamilyError),
    Policy: ("policy", PolicyError),
    DependentPolicy: ("policy", PolicyError),
    Model: ("model", FamilyError),
    Exposure: ("exposure", ExposureError),
    Problem: ("problem", SettingError),
}
_OTHERS: dict[str, type] = {
    "mirror": Mirror,
    "stationary": Stationary,
    "random-stationary": RandomStationary,
    "delayed": Delayed,
    "drifting": Drifting,
    "queue": Queue,
    "drawn-arms": DrawnArms,
    "changing-arms": ChangingArms,
    "given-arms": GivenArms,
    "context-arms": ContextArms,
    "tables": Tables,
    "corrupted": Corrupted,
    "replayed": Replayed,
    "jumping": Jumping,
    "walking": Walking,
    "coming": Coming,
    "renewing": Renewing,
}
#: All that has a name, what is registered later included; the last room is listed first.
_MEMBERS: ChainMap[str, type] = ChainMap(
    _OTHERS, DEPENDENT_POLICIES, MODELS, EXPOSURES, DETECTORS, POLICIES, FAMILIES
)


def _name_of(kind: type) -> str | None:
    """The name that a class goes by."""
    names: list[Any] = [
        getattr(kind, "name", None),
        *(name for name, one in _OTHERS.items() if one is kind),
    ]
    return next((name for name in names if _MEMBERS.get(name) is kind), None)


def member(kind: type[T]) -> type[T]:
    """Take in a class of a room above by its `name`; a decorator."""
    _OTHERS[kind.name] = kind  # type: ignore[attr-defined]
    return kind


class Setting(NamedTuple):
    """What a maker takes: the default (`Parameter.empty` for none), its kind, if public, and
    which of a text and a mapping it may be."""

    default: Any
    kind: type | None
    loose: tuple[type, ...]

    @property
    def needed(self) -> bool:
        """Whether it has to be given."""
        return self.default is inspect.Parameter.empty


def settings_of(name: str, kind: type = object) -> Mapping[str, Setting]:
    """The settings of what goes by that name.

    >>> list(settings_of("two-phase"))
    ['explore', 'then']
    """
    return _takes(_named(name, kind))


def describe(thing: Any) -> dict[str, Any]:
    """A public thing (class or function by its import path) as plain data; raises if it cannot be.

    >>> describe(Mirror(FAMILIES["exponential"]()))
    {'name': 'mirror', 'of': {'name': 'exponential', 'prior': [1.0, 1.0]}}
    """
    try:
        if inspect.isclass(thing) or inspect.isroutine(thing):
            return {"import": _path_of(thing)}
        return _described(thing, 0)
    except _UndescribedError as why:
        what, error = _words_of(type(thing))
        raise error(f"{what} {thing!r} cannot be described: {why}") from None


def build(description: Any, kind: type = object, *, trust: Trust = "names") -> Any:
    """What `describe` described: one of this kind, from its name and settings, or its name alone.

    >>> build({"name": "gaussian", "sigma": 2.0, "prior": [0.0, 1.0]})
    Gaussian(prior=(0.0, 1.0), sigma=2.0)
    >>> build("q-ths")
    Forced(policy=Thompson(), factor=3.0, exponent=2.0, arms=None)
    """
    _check_size(description)
    if isinstance(description, Mapping) and list(description) == ["import"]:
        return _value(description, kind, trust, 0)
    return _built(description, kind, trust, 0)


def _check_size(description: Any) -> None:
    """Refuse what holds more parts than any description that makes sense, before it is built."""
    left, parts = [description], 0
    while left:
        item = left.pop()
        inner = item.values() if isinstance(item, Mapping) else item
        if isinstance(item, (Mapping, list, tuple)):
            parts += len(item)
            left += inner
        if parts > LARGEST:
            raise SettingError(f"a description holds more than {LARGEST:,} parts")


class _UndescribedError(Exception):
    """Why something has no description."""


def _words_of(kind: type) -> tuple[str, type[BelmanError]]:
    """What a kind is called, and what is raised where one is wrong."""
    return next(
        (words for base, words in _ERRORS.items() if issubclass(kind, base)),
        (_name_of(kind) or "description", SettingError),
    )


@functools.cache
def _takes(maker: Any) -> Mapping[str, Setting]:
    try:
        hints = typing.get_type_hints(maker)
    except Exception:  # a user's annotations may name what was never imported
        hints = {}

    def kind_in(hint: Any) -> type | None:
        kinds = [kind for kind in _ERRORS if kind in (hint, *typing.get_args(hint))]
        return kinds[0] if len(kinds) == 1 else None

    def setting(name: str, default: Any) -> Setting:
        hint = hints.get(name)
        loose = tuple(kind for kind in (str, dict) if _allows(hint, kind))
        return Setting(default, kind_in(hint), loose)

    parameters = inspect.signature(maker).parameters.items()
    return {name: setting(name, parameter.default) for name, parameter in parameters}


def _allows(hint: Any, kind: type) -> bool:
    """Whether an annotation allows a text, or a mapping; one that says nothing does."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        return any(isinstance(value, kind) for value in typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return any(_allows(part, kind) for part in typing.get_args(hint))
    base = origin or hint
    return not isinstance(base, type) or (issubclass(kind, base) and base not in _LISTS)


# Describing


def _described(thing: Any, depth: int) -> dict[str, Any]:
    kind: Any = type(thing)
    name = _name_of(kind)
    if name is None and not isinstance(thing, tuple(_ERRORS)):
        raise _UndescribedError(f"{thing!r} is not a family, policy, exposure, problem or design")
    if depth >= DEEPEST:
        raise _UndescribedError(f"it is nested more than {DEEPEST} deep")
    result = {"name": name or _path_of(kind)}
    # what makes another thing of it is no field, and the same in all of them
    kept = {field.name for field in fields(kind)} if is_dataclass(kind) else set(_takes(kind))
    for key, setting in _takes(kind).items():
        if key in result or not hasattr(thing, key):
            what = f"{kind.__name__} does not keep its setting {key!r}"
            raise _UndescribedError(f"{what} under that name")
        value = getattr(thing, key)
        if value is setting.default and (callable(value) or key not in kept):
            continue
        result[key] = _plain(value, setting.kind, depth + 1)
    if name is None and _built(result, kind, "all", depth) != thing:
        raise _UndescribedError(f"{kind.__name__} made from these settings again is another")
    return result


def _plain(value: Any, kind: type | None, depth: int) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return {"text": value} if kind or value in _WORDS else value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, int):
        return value
    if _name_of(type(value)) or isinstance(value, tuple(_ERRORS)):
        return _described(value, depth)
    if isinstance(value, (tuple, list)) and depth < DEEPEST:
        items = [_plain(item, kind, depth + 1) for item in value]
        return items if isinstance(value, tuple) else {"list": items}
    words = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
    if words and depth < DEEPEST:
        named = {key: _plain(item, kind, depth + 1) for key, item in value.items()}
        return {"dict": named} if {"name", *_WRAPPERS} & set(value) else named
    if callable(value):
        return {"import": _path_of(value)}
    raise _UndescribedError(f"{value!r} is not plain data")


def _path_of(thing: Any) -> str:
    """The import path of a class or function of a module."""
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    home = sys.modules.get(module or "")
    importable = getattr(home, "__spec__", None) and module not in ("__main__", "__mp_main__")
    if not importable or vars(home).get(name) is not thing:
        where = "under its name in a module that can be imported"
        raise _UndescribedError(f"{thing!r} is not found {where}")
    return f"{module}:{name}"


# Building


def _named(name: str, kind: type) -> Callable[..., Any]:
    if name in PRESETS and issubclass(Policy, kind):
        return PRESETS[name]
    if name in _MEMBERS and issubclass(_MEMBERS[name], kind):
        return _MEMBERS[name]
    known = [key for key, member in _MEMBERS.items() if issubclass(member, kind)]
    if issubclass(Policy, kind):
        known += PRESETS
    what, error = _words_of(kind)
    there = f"there are {listing(known, most=40)}{nearest(name, known)}"
    raise error(f"unknown {what} {name!r}: {there}")


def _result(path: str, kind: type, trust: Trust) -> Any:
    """The class or function of an import path, as far as it may be trusted."""
    what, error = _words_of(kind)
    module, _, name = path.partition(":")
    if trust == "names":
        raise error(
            f"{what} {path!r} is not one of belman's own, and nothing else is taken from here"
        )
    if trust == "all":
        try:
            importlib.import_module(module)
        except ImportError as missing:
            raise error(f"{what} {path!r} cannot be imported: {missing}") from None
    if module not in sys.modules:
        raise error(f"{what} {path!r} is of a module of your own: import {module} first")
    result = getattr(sys.modules[module], "__dict__", {}).get(name)
    if result is None:
        raise error(f"{what} {path!r} is not found: {module} has no {name!r}")
    return result


def _built(given: Any, kind: type, trust: Trust, depth: int) -> Any:
    what, error = _words_of(kind)
    settings = {"name": given} if isinstance(given, str) else given
    if not isinstance(settings, Mapping) or not isinstance(settings.get("name"), str):
        allowed = "it must be a name, or one with settings"
        raise error(f"{what} {shown(given)} is not a description: {allowed}")
    if depth >= DEEPEST:
        raise error(f"{what} {settings['name']!r} is nested more than {DEEPEST} deep")
    name = settings["name"]
    if ":" in name:
        maker = _result(name, kind, trust)
        ours = tuple(_ERRORS) if kind is object else kind
        if not isinstance(maker, type) or not issubclass(maker, ours):
            raise error(f"{what} {name!r} is not one: it is {maker!r}")
    else:
        maker = _named(name, kind)
    takes = _takes(maker)
    values = {}
    for key, value in settings.items():
        if key == "name":
            continue
        if key not in takes:
            there = f"{listing(takes) or 'none'}{nearest(key, takes)}"
            raise error(f"{what} {name!r} has no setting {key!r}: it has {there}")
        values[key] = _value(value, takes[key].kind, trust, depth + 1)
    lacking = [key for key, setting in takes.items() if setting.needed and key not in values]
    if lacking:
        raise error(f"{what} {name!r} lacks a setting: {listing(lacking)}")
    try:
        made = maker(**values)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as refused:
        if isinstance(refused, BelmanError):
            raise
        raise error(f"{what} {name!r} does not take these settings: {refused}") from None
    for key, value in values.items():
        if isinstance(value, (str, dict)) and not isinstance(value, takes[key].loose):
            raise error(f"{what} {name!r} does not take {value!r} as its {key!r}")
    return made


def _value(value: Any, kind: type | None, trust: Trust, depth: int) -> Any:
    if isinstance(value, str) and kind is None:
        return float(value) if value in _WORDS else value
    if isinstance(value, str) or (isinstance(value, Mapping) and "name" in value):
        return _built(value, kind or object, trust, depth)
    if isinstance(value, (list, tuple, Mapping)) and depth >= DEEPEST:
        raise SettingError(f"a description is nested more than {DEEPEST} deep")
    if isinstance(value, (list, tuple)):
        return tuple(_value(item, kind, trust, depth + 1) for item in value)
    if not isinstance(value, Mapping):
        return value
    wrapper, content = next(iter(value.items()), ("", None)) if len(value) == 1 else ("", None)
    if wrapper == "text" and isinstance(content, str):
        return content
    if wrapper == "list" and isinstance(content, (list, tuple)):
        return list(_value(content, kind, trust, depth))
    if wrapper == "import" and isinstance(content, str):
        if trust != "all":
            what = f"{content!r} is a function or class of one's own"
            raise SettingError(f"{what}, which is not taken from here")
        return _result(content, object, trust)
    inner = content if wrapper == "dict" and isinstance(content, Mapping) else value
    return {key: _value(item, kind, trust, depth + 1) for key, item in inner.items()}

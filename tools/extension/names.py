"""The Python interface, from its docstrings: which names are public, and where each belongs."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.util.inspect import stringify_signature

import belman

#: Modules whose public names are described, each on one page of docs/reference/.
MODULES = (
    "belman.agent",
    "belman.analysis",
    "belman.assignment",
    "belman.bridges.async_client",
    "belman.bridges.async_study",
    "belman.bridges.growthbook",
    "belman.bridges.growthbook_history",
    "belman.bulk_assignment",
    "belman.dashboard",
    "belman.deciders",
    "belman.deciders.box.box",
    "belman.delays",
    "belman.dispatch",
    "belman.dispatch.simulation",
    "belman.engine",
    "belman.errors",
    "belman.exposure",
    "belman.families",
    "belman.figures",
    "belman.lab",
    "belman.manifold",
    "belman.measures",
    "belman.models",
    "belman.plots",
    "belman.policies",
    "belman.policies.dependent",
    "belman.problems",
    "belman.registry",
    "belman.service.client",
    "belman.spec",
    "belman.studies",
    "belman.suite",
    "belman.table",
    "belman.testing",
)
#: Of the engine a user needs these alone, to write families and policies.
_ONLY = {
    "belman.engine": ("Bundle", "allocating_kernel", "kernel"),
    "belman.deciders.box.box": ("Box",),
    "belman.bridges.growthbook": ("row",),
    "belman.bridges.growthbook_history": ("read_payloads",),
    "belman.registry": ("register",),
    "belman.service.client": ("Client", "RemoteStudy", "RemoteTicket"),
    "belman.bulk_assignment": ("Assignments", "assign_many"),
    "belman.dispatch.simulation": ("dispatched", "simulate_servers"),
}


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: its `__all__`, or what it defines itself.

    >>> public_names(belman.agent)
    ['Agent', 'Choice']
    """
    if module.__name__ in _ONLY:
        return list(_ONLY[module.__name__])
    listed = getattr(module, "__all__", None)
    if listed is None:
        own = inspect.getmembers(
            module, lambda it: getattr(it, "__module__", "") == module.__name__
        )
        listed = [name for name, it in own if inspect.isclass(it) or inspect.isfunction(it)]
    return sorted((name for name in listed if not name.startswith("_")), key=str.lower)


@functools.cache
def entries() -> dict[str, tuple[str, Any]]:
    """Every public name, under the shortest path to it, with the module it belongs to."""
    result: dict[str, tuple[str, Any]] = {}
    known = set()
    for position in MODULES:
        module = importlib.import_module(position)
        for name in public_names(module):
            thing = getattr(module, name)
            if inspect.ismodule(thing) or id(thing) in known:
                continue
            known.add(id(thing))
            short = name in belman.__all__ and getattr(belman, name) is thing
            result[f"belman.{name}" if short else f"{position}.{name}"] = (position, thing)
    return result


def markdown(*positions: str) -> str:
    """Directives that describe all public names of some modules."""
    lines = ["```{eval-rst}"]
    for wanted in positions:
        for path, (position, thing) in entries().items():
            if position == wanted:
                lines += [*_directive(path, position, thing), ""]
    return "\n".join([*lines, "```"])


def _directive(path: str, position: str, thing: Any) -> list[str]:
    if is_constant(thing):
        return [f".. py:data:: {path}", "", f"   {constant_doc(position, path.rsplit('.', 1)[1])}"]
    if not inspect.isclass(thing):
        return [f".. autofunction:: {path}"]
    kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
    members = own_members(thing)
    return [f".. {kind}:: {path}", *([f"   :members: {', '.join(members)}"] if members else [])]


def own_members(kind: type) -> list[str]:
    """What a class has beyond the public class that it is a kind of, which describes the rest.

    >>> own_members(belman.Thompson), "replay" in own_members(belman.Study)
    ([], True)
    """
    public = [thing for _, thing in entries().values() if inspect.isclass(thing)]
    above = [one for one in kind.__mro__[1:] if one in public]
    known = {name for one in above for name in dir(one)}
    result = [
        name
        for one in reversed(kind.__mro__[:-1])
        if one not in above and one.__module__.startswith("belman")
        for name, member in vars(one).items()
        if not name.startswith("_") and name not in known
        if inspect.getdoc(member) and _is_method(member)
    ]
    return list(dict.fromkeys(result))


def _is_method(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod)


def is_constant(thing: Any) -> bool:
    """Whether it is neither a class nor a function, and so has no docstring of its own."""
    return not inspect.isclass(thing) and (not callable(thing) or hasattr(thing, "__origin__"))


def constant_doc(position: str, name: str) -> str:
    """The `#:` comment above a constant, wherever in its package it stands.

    >>> constant_doc("belman.policies", "POLICIES")
    'Every policy by its name.'
    """
    folder = Path(str(importlib.import_module(position).__file__)).parent
    for file in sorted(folder.rglob("*.py")):
        result = re.search(rf"((?:^#: .*\n)+){name}\b.* = ", file.read_text(encoding="utf-8"), re.M)
        if result:
            return " ".join(line.removeprefix("#: ") for line in result[1].splitlines())
    return ""


#: What types look like once they are written out, and how a person writes them.
_TYPES = (
    (re.compile(r"~[\w.]*\."), ""),
    (re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+\]\]"), "NDArray"),
    (
        re.compile(
            r"(_Buffer \| )?_SupportsArray\[dtype\[Any\]\] \| .*?_NestedSequence\[complex[^]]*\]"
        ),
        "ArrayLike",
    ),
)


def plain_types(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: Any, returned: Any
) -> tuple[Any, Any]:
    """A signature with short names of types."""
    return _short(_resolved(thing) or signature), _short(returned)


def _resolved(thing: Any) -> str | None:
    """The signature of a dataclass, with the types of fields that are named in other modules.

    >>> _resolved(belman.policies.AdaUCB)
    '(horizon: int | None = None, *, sigma: float | None = None)'
    """
    if not (inspect.isclass(thing) and dataclasses.is_dataclass(thing)):
        return None
    try:
        hints = typing.get_type_hints(thing)
    except NameError:
        return None
    taken = inspect.signature(thing)
    typed = [one.replace(annotation=hints.get(one.name, Any)) for one in taken.parameters.values()]
    plain = taken.replace(parameters=typed, return_annotation=inspect.Signature.empty)
    return stringify_signature(plain, unqualified_typehints=True)


def _short(text: str | None) -> str | None:
    """Types as a person writes them.

    >>> _short("(x: ndarray[tuple[Any, ...], dtype[float64]], f: ~collections.abc.Callable)")
    '(x: NDArray, f: Callable)'
    """
    for written, short in _TYPES if text else ():
        text = written.sub(short, text or "")
    return text


def as_restructured_text(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text with `code`; what reStructuredText would take for markup is not."""
    inside = False
    for position, line in enumerate(lines):
        inside = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        if not inside and not line.startswith("    "):
            lines[position] = _plain(line)


def _plain(line: str) -> str:
    """A line in which stars and bars outside of code are themselves.

    >>> print(_plain("KL(a | b) of `x | y`, 2 * 3"))
    KL(a \\| b) of `x | y`, 2 \\* 3
    """
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*|_\\])", r"\\\1", part) for part in parts
    )

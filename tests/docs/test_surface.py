"""The top of the package, the reference and the pages name the same things."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

import belman
from belman.assignment.client import AnyClient, Client
from belman.assignment.remote_edge import RemoteEdge
from belman.assignment.remote_study import AnyRemoteStudy, RemoteStudy
from belman.dispatch.desk import Desk
from belman.dispatch.dispatcher import Dispatcher
from belman.errors import MissingExtraError
from belman.families import Family
from belman.families.calculus import Calculus

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: A dotted name of the package: not a file (`belman.db`), nor part of a longer word.
NAME = re.compile(r"(?<![\w./@-])belman((?:\.[A-Za-z_]\w*)+)")
FILES = {"md"}
#: What is no Python: macros of the dbt package, and attributes of spans.
ELSEWHERE = {"belman_outcomes", "belman_sums", "probability", "ticket", "study", "arm"}


def result(path):
    """What a dotted name stands for; raises AttributeError where it is nothing."""
    thing = belman
    for name in path:
        try:
            thing = getattr(thing, name)
        except AttributeError:
            try:
                thing = importlib.import_module(f"{thing.__name__}.{name}")
            except ModuleNotFoundError:
                raise AttributeError(name) from None
            except MissingExtraError:  # it is there, with its extra
                break
    return thing


def test_the_top_is_small_and_the_reference_says_what_is_there():
    assert len(belman.__all__) <= 30
    index = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    section = index.split("## Where a name is")[1].split("\n#")[0].split("```")[0]
    top = {name for path in NAME.findall(section) if "." not in (name := path[1:])}
    assert top == set(belman.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_name_of_a_page_is_one(page):
    lost = []
    for dotted in sorted(set(NAME.findall(page.read_text(encoding="utf-8")))):
        path = dotted[1:].split(".")
        if path[0] in FILES | ELSEWHERE and len(path) == 1:
            continue
        try:
            result(path)
        except AttributeError:
            lost.append(f"belman{dotted}")
    assert lost == []


def test_a_name_that_is_not_at_the_top_says_where_it_is():
    with pytest.raises(AttributeError, match=r"'UCB1': it is belman\.policies\.UCB1"):
        belman.UCB1  # noqa: B018
    with pytest.raises(AttributeError, match=r"'Nothing'$"):
        belman.Nothing  # noqa: B018


#: Rooms all of whose names have Parameters and Returns, as those at the top of the package have.
DESCRIBED = (
    "agent",
    "analysis",
    "assignment",
    "deciders",
    "delays",
    "dispatch",
    "families",
    "figures",
    "frames",
    "measures",
    "models",
    "plots",
    "policies",
    "problems",
    "studies",
    "suite",
    "testing",
)
#: Classes some of whose methods stand in another file.
HALVES = {
    Client: (AnyClient,),
    Dispatcher: (Desk,),
    Family: (Calculus,),
    RemoteStudy: (AnyRemoteStudy, RemoteEdge),
}
_SECTION = re.compile(
    r"^(Parameters|Attributes|Returns)\n-+\n((?:(?!\w+\n-+$).*\n?)*)", re.MULTILINE
)


def sections(thing):
    """The sections of a docstring: by title, the names at the beginning of a line."""
    result = {}
    for title, body in _SECTION.findall(inspect.getdoc(thing) or ""):
        lines = [line for line in body.split("\n") if re.match(r"[\w*]", line)]
        result[title] = {name.strip("*") for line in lines for name in line.split(", ")}
    return result


def settings_of(kind):
    """What a person gives to make one, or reads of it."""
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind) if one.init]
    if "__init__" in vars(kind) and not getattr(kind, "_is_protocol", False):
        return list(inspect.signature(kind).parameters)
    return list(getattr(kind, "_fields", ()))


def undescribed(name, thing):
    """What the docstring of a function or class leaves out, and those of its methods."""
    result = sections(thing)
    if inspect.isclass(thing):
        named = result.get("Parameters", set()) | result.get("Attributes", set())
        if "| kernel |" not in inspect.getdoc(thing):  # a bundle has a table of its kernels
            yield from (f"{name}: {one}" for one in settings_of(thing) if one not in named)
        for half in (thing, *HALVES.get(thing, ())):
            for method, what in vars(half).items():
                what = getattr(what, "__func__", what)
                inherited = any(hasattr(base, method) for base in half.__mro__[1:])
                if inspect.isfunction(what) and method[0] != "_" and not inherited:
                    yield from undescribed(f"{name}.{method}", what)
        return
    signature = inspect.signature(thing)
    given = [one for one in signature.parameters if one not in ("self", "cls")]
    yield from (f"{name}: {one}" for one in given if one not in result.get("Parameters", ()))
    if signature.return_annotation not in ("None", None) and "Returns" not in result:
        yield f"{name}: Returns"


def is_described(thing):
    """Whether it is a class or a function: a union of types may be called too."""
    return inspect.isclass(thing) or inspect.isroutine(thing)


@pytest.mark.parametrize("room", DESCRIBED)
def test_every_setting_and_what_comes_back_is_described(room):
    module = importlib.import_module(f"belman.{room}")
    names = {name: getattr(module, name) for name in module.__all__}
    public = {name: it for name, it in names.items() if is_described(it)}
    left = [line for name, what in public.items() for line in undescribed(name, what)]
    assert left == []


def test_every_argument_of_the_top_is_described():
    names = {name: getattr(belman, name) for name in belman.__all__}
    public = {name: it for name, it in names.items() if callable(it)}
    left = [line for name, what in public.items() for line in undescribed(name, what)]
    assert left == []

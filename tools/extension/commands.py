"""The command line, as Typer describes it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from belman.cli import app


def described() -> Iterator[tuple[str, Any]]:
    """Every command by its full name.

    >>> "belman study ask" in dict(described())
    True
    """
    yield from _below(typer.main.get_command(app), "belman")


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for inner, one in sorted(getattr(command, "commands", {}).items()):
        yield from _below(one, f"{name} {inner}")


def markdown() -> str:
    """A section a command: what it does, how it is called, what it takes."""
    return "\n\n".join(_section(name, command) for name, command in described())


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = [name, *("[options]" for _ in options[:1]), *(_shown(one) for one in arguments)]
    parts = [f"## {name}", inspect.cleandoc(command.help or ""), f"```text\n{' '.join(usage)}\n```"]
    if command.params:
        rows = [_row(one) for one in [*arguments, *options]]
        parts.append("\n".join(["| | meaning | default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _shown(argument: Any) -> str:
    name = argument.name.upper() + (" …" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(one: Any) -> str:
    if one.param_type_name == "argument":
        names = f"`{one.name.upper()}`"
    else:
        names = ", ".join(f"`{spelt}`" for spelt in [*one.opts, *one.secondary_opts])
    meaning = (one.help or "").replace("|", "\\|")
    if one.required:
        default = "*required*"
    elif isinstance(getattr(one, "show_default", None), str):
        default = f"`{one.show_default}`"
    elif one.default in (None, (), [], False, ""):
        default = ""
    else:
        default = f"`{one.default}`"
    return f"| {names} | {meaning} | {default} |"

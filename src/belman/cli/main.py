"""The command line: `belman list | run | queue | figure | reproduce | study | serve | …`."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as RichTable

from belman import spec
from belman.cli import (  # noqa: F401 (each has commands of the application)
    bench,
    check_data,
    explore,
    paper,
    plan,
    queue,
    replay,
    report,
    run,
    service,
    study_create,
    study_import,
    study_look,
    study_steer,
    trial,
)
from belman.cli.commands import app
from belman.cli.output import console, errors
from belman.errors import BelmanError, MissingExtraError
from belman.escaping import for_terminal
from belman.exposure import EXPOSURES
from belman.families import FAMILIES
from belman.policies import POLICIES
from belman.version import __version__


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Bayesian bandits: which option to try next, and how sure the answer is."""
    if version:
        console.print(__version__)
        raise typer.Exit


@app.command("list")
def list_() -> None:
    """Name every family, policy, exposure and figure, one line each."""
    rooms: dict[str, Mapping[str, Any]] = {
        "families": FAMILIES,
        "policies": {**POLICIES, **spec.PRESETS},
        "exposures": EXPOSURES,
    }
    lines_of = {room: _first_lines(members) for room, members in rooms.items()}
    try:
        from belman.figures import FIGURES
    except MissingExtraError as missing:
        lines_of["figures"] = {"none": escape(str(missing))}
    else:
        lines_of["figures"] = {name: figure.title for name, figure in FIGURES.items()}
    for room, lines in lines_of.items():
        table = RichTable(
            title=room, title_justify="left", show_header=False, box=None, padding=(0, 2)
        )
        for name, line in lines.items():
            table.add_row(f"[bold]{name}[/bold]", line)
        console.print(table)
    console.print("which policy, when: docs/leaderboard.md", highlight=False)


def _first_lines(members: Mapping[str, Any]) -> dict[str, str]:
    return {name: (inspect.getdoc(one) or "").splitlines()[0] for name, one in members.items()}


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as a line of its words."""
    words = escape(for_terminal(str(message), lines=True))
    errors.print(f"[bold yellow]warning:[/bold yellow] {words}", highlight=False)


def main() -> None:
    """Run the command line; errors of ours are one line and exit code 2."""
    warnings.showwarning = _warn
    try:
        app()
    except BelmanError as error:
        words = escape(for_terminal(_as_options(str(error), sys.argv[1:]), lines=True))
        errors.print(f"[bold red]error:[/bold red] {words}", highlight=False)
        raise SystemExit(2) from None


def _as_options(words: str, given: Sequence[str]) -> str:
    """What an error says of parameters, as the command that was given has them.

    >>> _as_options("runs=0 is none: give runs=100", ["explore", "--runs", "0"])
    '--runs 0 is none: give --runs 100'
    """
    known: Any = typer.main.get_command(app)
    for word in given:
        known = getattr(known, "commands", {}).get(word, known)
    flags = {one.name: one.opts[0] for one in known.params if one.opts[0].startswith("--")}

    def flag(match: re.Match[str]) -> str:
        return f"{flags[match[1]]} " if match[1] in flags else match[0]

    return re.sub(r"(?<![\w'\"-])([a-z_]+)=(?=\S)", flag, words)

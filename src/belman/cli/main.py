"""The command line: `belman list | run | queue | figure | reproduce | study | serve | …`."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable

from belman import spec
from belman.cli import (
    bench,
    check_drift,
    check_family,
    explore,
    paper,
    plan,
    queue,
    report,
    run,
    service,
    study,
    study_archive,  # noqa: F401 (commands of `study`)
    study_create,  # noqa: F401 (commands of `study`)
    study_edge,  # noqa: F401 (commands of `study`)
    study_look,  # noqa: F401 (commands of `study`)
    study_report,  # noqa: F401 (commands of `study`)
    study_steer,  # noqa: F401 (commands of `study`)
    warm,
)
from belman.cli.show import console
from belman.errors import BelmanError
from belman.exposure import EXPOSURES
from belman.families import FAMILIES
from belman.policies import POLICIES
from belman.version import __version__

app = typer.Typer(
    help="Bayesian bandits: which option to try next, and how sure the answer is.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(bench.app, name="bench")
app.add_typer(study.app, name="study")
app.command("check-drift")(check_drift.check_drift)
app.command("check-family")(check_family.check_family)
app.command()(explore.explore)
app.command()(paper.figure)
app.command()(paper.reproduce)
app.command()(plan.plan)
app.command()(queue.queue)
app.command()(report.report)
app.command()(run.run)
app.command()(service.serve)
app.command()(service.dashboard)
app.command()(service.demo)
app.command()(warm.warm)
app.add_typer(service.keys, name="key")


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").splitlines()[0]


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
    rooms: dict[str, dict[str, Any]] = {
        "families": FAMILIES,
        "policies": {**POLICIES, **spec.PRESETS},
        "exposures": EXPOSURES,
    }
    for room, members in rooms.items():
        table = RichTable(
            title=room, title_justify="left", show_header=False, box=None, padding=(0, 2)
        )
        for name, member in members.items():
            table.add_row(f"[bold]{name}[/bold]", _first_line(member))
        console.print(table)
    from belman.figures import FIGURES

    figures = RichTable(
        title="figures", title_justify="left", show_header=False, box=None, padding=(0, 2)
    )
    for name, figure in FIGURES.items():
        figures.add_row(f"[bold]{name}[/bold]", figure.title)
    console.print(figures)
    console.print("which policy, when: docs/leaderboard.md", highlight=False)


def main() -> None:
    """Run the command line; errors of ours are one line and exit code 2."""
    try:
        app()
    except BelmanError as error:
        Console(stderr=True).print(f"[bold red]error:[/bold red] {error}", highlight=False)
        raise SystemExit(2) from None

"""`belman figure` and `belman reproduce`: one figure of the paper, or all of them with the report.

The figures are imported by those who ask for them: half a second that no other command has to wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from belman.cli.show import console, show
from belman.errors import SettingError, listing, nearest
from belman.table import Table


def figure(
    name: Annotated[str, typer.Argument(help="Which figure; `belman list` names them.")],
    runs: Annotated[
        int | None, typer.Option(help="Runs per policy, instead of those of the full figure.")
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="As many runs as the paper has (25, or 50).")
    ] = False,
    format: Annotated[str, typer.Option(help="png, svg or pdf.")] = "png",
    output: Annotated[
        Path, typer.Option(help="The folder for the picture and its data: DIR/NAME/.")
    ] = Path("figures"),
) -> None:
    """Simulate one figure of the paper: print its numbers, write the picture and the data."""
    from belman.figures import AS_IN_PAPER, FIGURES, FULL, Effort, draw_into, figure_data

    _check(name)
    if runs is not None and runs < 2:
        raise SettingError(f"runs={runs} is not valid: an interval needs at least 2")
    if runs is not None and paper:
        raise SettingError("--runs and --paper both say how many runs: give one of them")
    effort = (
        AS_IN_PAPER if paper else FULL if runs is None else Effort(f"{runs} runs", exactly=runs)
    )
    chosen = FIGURES[name]
    data = figure_data(chosen, effort, output, console.print)
    path = draw_into(chosen, data, output, format)
    for table in chosen.tables(data):
        show(table)
    console.print(f"wrote {path}, and the data beside it")


def _check(name: str) -> None:
    from belman.figures import FIGURES

    if name not in FIGURES:
        there = f"there are {listing(FIGURES)}{nearest(name, FIGURES)}"
        raise SettingError(f"unknown figure {name!r}: {there}")


def reproduce(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A twentieth of the runs: one to two minutes instead of ten."),
    ] = False,
    output: Annotated[Path, typer.Option(help="The folder for the report: DIR/index.html.")] = Path(
        "report"
    ),
    only: Annotated[
        list[str] | None, typer.Option(help="Only this figure; may be repeated.")
    ] = None,
) -> None:
    """Simulate every figure of the paper, check its claims, write a report; resumes."""
    for name in only or []:
        _check(name)
    from belman.figures import FULL, QUICK
    from belman.figures.report import Watcher
    from belman.figures.report import reproduce as play

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        tasks: dict[str, TaskID] = {}

        def step(words: str, done: int, of: int) -> None:
            if words not in tasks:
                tasks[words] = bar.add_task(words, total=of)
            bar.update(tasks[words], completed=done, total=of)

        found = play(output, QUICK if quick else FULL, Watcher(console.print, step), only)
    show(
        Table(
            {
                "claim": [f"{claim.number}. {claim.title}" for claim, _ in found.judged],
                "verdict": [str(judgement.verdict) for _, judgement in found.judged],
            },
            "What the data say",
        )
    )
    words = f"\nThe report is here:  [bold]{found.path.resolve()}[/bold]"
    console.print(words, soft_wrap=True, highlight=False)
    if quick:
        words = (
            "For the full one (under ten minutes):  belman reproduce  (in a checkout: make report)"
        )
        console.print(words, highlight=False, soft_wrap=True)

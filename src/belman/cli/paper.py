"""`belman figure` and `belman reproduce`: one figure of the paper, or all of them with the report.

The figures are imported by those who ask for them: half a second that no other command has to wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from belman.cli.commands import app, command
from belman.cli.output import console, say, show
from belman.errors import SettingError, unknown
from belman.table import Table


@command(
    app,
    name="Which figure; `belman list` names them.",
    runs="Runs per policy, instead of those of the full figure.",
    paper="As many runs as the paper has (25, or 50).",
    format="png, svg or pdf.",
    output="The folder for the picture and its data: DIR/NAME/.",
)
def figure(
    name: str,
    *,
    runs: int | None = None,
    paper: bool = False,
    format: str = "png",
    output: Path = Path("figures"),
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
        raise SettingError(unknown("figure", name, FIGURES))


@command(
    app,
    quick="A twentieth of the runs: one to two minutes instead of ten.",
    output="The folder for the report: DIR/index.html.",
    only="Only this figure; may be repeated.",
)
def reproduce(
    *, quick: bool = False, output: Path = Path("report"), only: list[str] | None = None
) -> None:
    """Simulate every figure of the paper, check its claims, write a report; resumes."""
    for name in only or []:
        _check(name)
    from belman.figures import FULL, QUICK
    from belman.figures.report import Watcher
    from belman.figures.report import reproduce as play

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    unseen: Any = {"transient": True, "disable": not console.is_terminal}
    with Progress(*columns, TimeElapsedColumn(), console=console, **unseen) as bar:
        tasks: dict[str, TaskID] = {}

        def step(words: str, done: int, of: int) -> None:
            if words not in tasks:
                tasks[words] = bar.add_task(words, total=of)
            bar.update(tasks[words], completed=done, total=of)

        result = play(output, QUICK if quick else FULL, Watcher(console.print, step), only)
    show(
        Table(
            {
                "claim": [f"{claim.number}. {claim.title}" for claim, _ in result.judged],
                "verdict": [str(judgement.verdict) for _, judgement in result.judged],
                "reading": [judgement.reading or "–" for _, judgement in result.judged],
            },
            "What the data say",
        )
    )
    words = f"\nThe report is here:  [bold]{result.path.resolve()}[/bold]"
    console.print(words, soft_wrap=True, highlight=False)
    if quick:
        say("For the full one (under ten minutes):  belman reproduce  (in a checkout: make report)")

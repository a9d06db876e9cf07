"""`belman study list | show | explain | …`: what a study knows, and what happened to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from belman.cli import parse, study_contexts
from belman.cli.show import console, show
from belman.cli.study import DEFAULT_STORAGE, Name, ReadOnly, StorageOption, app, opened
from belman.cli.study_contexts import CandidatesOption, ContextOption
from belman.errors import StudyError
from belman.table import Table


@app.command("list")
def list_(
    archived: Annotated[
        bool, typer.Option("--archived", help="List archived studies instead.")
    ] = False,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """List every study, with its counts."""
    from belman.studies import Storage, open_study

    place = Storage(storage, read_only=read_only)
    rows = []
    for name in place.names(archived):
        try:
            rows.append(open_study(name, storage=place).status())
        except StudyError as error:
            console.print(f"{name}: {error}", highlight=False, markup=False)
    columns = ("name", "arms", "asked", "told", "outstanding", "reward", "paused")
    show(Table({column: [row[column] for row in rows] for column in columns}, str(place)))


@app.command("show")
def show_(
    name: Name,
    context: ContextOption = None,
    candidates: CandidatesOption = None,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Show a study's beliefs: per arm rewards told, expected reward, probability of being best."""
    study = opened(name, storage, read_only)
    console.print(repr(study), highlight=False)
    show(study.beliefs(**_looked_at(context, candidates)))


@app.command()
def metrics(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show the metrics of every arm: count, mean, and Student's interval."""
    show(opened(name, storage, read_only).metrics())


@app.command()
def changes(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show the changes over time that a study noticed (with --drift)."""
    show(opened(name, storage, read_only).changes())


@app.command()
def explain(
    name: Name,
    context: ContextOption = None,
    candidates: CandidatesOption = None,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Explain the next choice: what the policy sees of each arm."""
    show(opened(name, storage, read_only).explain(**_looked_at(context, candidates)))


def _looked_at(context: list[str] | None, candidates: str | None) -> dict[str, Any]:
    return {
        "context": study_contexts.context(context),
        "candidates": study_contexts.candidates(candidates),
    }


@app.command()
def contexts(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show what is known by context: coefficients of features, or the best arm of each segment."""
    found = opened(name, storage, read_only).contexts()
    if not found:
        raise StudyError(f"study {name!r} decides without contexts: there is nothing to show")
    for table in found.values():
        show(table)


@app.command()
def history(
    name: Name,
    last: Annotated[int, typer.Option(help="How many events.")] = 20,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Show the last events of the event log."""
    table = opened(name, storage, read_only).history(last)
    table.columns["time"] = [time.isoformat(sep=" ", timespec="seconds") for time in table["time"]]
    for column, cells in table.columns.items():
        table.columns[column] = ["" if cell is None else cell for cell in cells]
    show(table)


@app.command()
def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A file whose name ends in .csv or .parquet.")],
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Export the event log to a file."""
    console.print(
        f"wrote {opened(name, storage, read_only).export(path):,} events to {path}", highlight=False
    )


@app.command()
def replay(
    name: Name,
    policy: Annotated[
        str, typer.Argument(help="Another policy; settings after a colon, as in `belman run`.")
    ],
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Estimate what another policy would have earned (off-policy evaluation)."""
    study = opened(name, storage, read_only)
    read = parse.dependent_policy if study.settings.has_features else parse.policy
    estimate = study.replay(read(policy, horizon=10_000))
    show(Table({field.replace("_", " "): [value] for field, value in estimate._asdict().items()}))


@app.command()
def check(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Check a study: rebuild its state from the event log, and compare bit by bit."""
    study = opened(name, storage, read_only)
    console.print(f"{study.number:,} events, state {study.check()}", highlight=False)

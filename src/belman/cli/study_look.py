"""`belman study list | show | explain | …`: what a study knows, and what happened to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from belman.cli import parse
from belman.cli.show import console, show
from belman.cli.study import DEFAULT_STORAGE, Name, ReadOnly, StorageOption, app, opened
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
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show a study's beliefs: per arm rewards told, expected reward, probability of being best."""
    study = opened(name, storage, read_only)
    console.print(repr(study), highlight=False)
    show(study.beliefs())


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
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Explain the next choice: what the policy sees of each arm."""
    show(opened(name, storage, read_only).explain())


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
    estimate = study.replay(parse.policy(policy, horizon=10_000))
    show(Table({field.replace("_", " "): [value] for field, value in estimate._asdict().items()}))


@app.command()
def check(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Check a study: rebuild its state from the event log, and compare bit by bit."""
    study = opened(name, storage, read_only)
    console.print(f"{study.number:,} events, state {study.check()}", highlight=False)

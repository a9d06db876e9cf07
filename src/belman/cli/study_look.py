"""`belman study list | show | explain | …`: what a study knows, and what happened to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from belman.cli import parse, study_values
from belman.cli.commands import command
from belman.cli.output import say, show
from belman.cli.study import CANDIDATES, CONTEXT, DEFAULT_STORAGE, app, opened
from belman.errors import StudyError
from belman.table import Table


@command(app, "list", archived="List archived studies instead.")
def list_(
    *, archived: bool = False, storage: str = DEFAULT_STORAGE, read_only: bool = False
) -> None:
    """List every study, with its counts."""
    from belman.studies import Storage, open_study

    place = Storage(storage, read_only=read_only)
    rows = []
    for name in place.names(archived):
        try:
            rows.append(open_study(name, storage=place).status())
        except StudyError as error:
            say(f"{name}: {error}")
    columns = ("name", "arms", "asked", "told", "outstanding", "reward", "paused")
    show(Table({column: [row[column] for row in rows] for column in columns}, str(place)))


@command(app, "show", context=CONTEXT, candidates=CANDIDATES)
def show_(
    name: str,
    *,
    context: list[str] | None = None,
    candidates: str | None = None,
    storage: str = DEFAULT_STORAGE,
    read_only: bool = False,
) -> None:
    """Show a study's beliefs: per arm rewards told, expected reward, probability of being best."""
    study = opened(name, storage, read_only)
    say(repr(study))
    show(study.beliefs(**_looked_at(context, candidates)))


@command(app)
def metrics(name: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False) -> None:
    """Show the metrics of every arm: count, mean, and Student's interval."""
    show(opened(name, storage, read_only).metrics())


@command(app)
def changes(name: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False) -> None:
    """Show the changes over time that a study noticed (with --drift)."""
    show(opened(name, storage, read_only).changes())


@command(app, context=CONTEXT, candidates=CANDIDATES)
def explain(
    name: str,
    *,
    context: list[str] | None = None,
    candidates: str | None = None,
    storage: str = DEFAULT_STORAGE,
    read_only: bool = False,
) -> None:
    """Explain the next choice: what the policy sees of each arm."""
    show(opened(name, storage, read_only).explain(**_looked_at(context, candidates)))


def _looked_at(context: list[str] | None, candidates: str | None) -> dict[str, Any]:
    return {
        "context": study_values.context(context),
        "candidates": study_values.candidates(candidates),
    }


@command(app)
def contexts(name: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False) -> None:
    """Show what is known by context: coefficients of features, or the best arm of each segment."""
    found = opened(name, storage, read_only).contexts()
    if not found:
        raise StudyError(f"study {name!r} decides without contexts: there is nothing to show")
    for table in found.values():
        show(table)


@command(app, last="How many events.")
def history(
    name: str, *, last: int = 20, storage: str = DEFAULT_STORAGE, read_only: bool = False
) -> None:
    """Show the last events of the event log."""
    table = opened(name, storage, read_only).history(last)
    table.columns["time"] = [time.isoformat(sep=" ", timespec="seconds") for time in table["time"]]
    for column, cells in table.columns.items():
        table.columns[column] = ["" if cell is None else cell for cell in cells]
    show(table)


@command(app, path="A file whose name ends in .csv or .parquet.")
def export(
    name: str, path: Path, *, storage: str = DEFAULT_STORAGE, read_only: bool = False
) -> None:
    """Export the event log to a file."""
    say(f"wrote {opened(name, storage, read_only).export(path):,} events to {path}")


@command(app, policy="Another policy; settings after a colon, as in `belman run`.")
def replay(
    name: str, policy: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False
) -> None:
    """Estimate what another policy would have earned (off-policy evaluation)."""
    study = opened(name, storage, read_only)
    read = parse.dependent_policy if study.settings.has_features else parse.policy
    estimate = study.replay(read(policy, horizon=10_000))
    show(Table({field.replace("_", " "): [value] for field, value in estimate._asdict().items()}))


@command(app)
def check(name: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False) -> None:
    """Check a study: rebuild its state from the event log, and compare bit by bit."""
    study = opened(name, storage, read_only)
    say(f"{study.number:,} events, state {study.check()}")

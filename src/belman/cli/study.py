"""`belman study …`: the operations of a durable study, for a shell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from belman.cli import parse, past_data, study_contexts, study_values
from belman.cli.show import console
from belman.cli.study_contexts import CandidatesOption, ContextOption
from belman.errors import ArmError, listing, nearest

if TYPE_CHECKING:
    from belman.studies import Study

app = typer.Typer(
    help="Run a durable study: decisions and rewards, kept in a database.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="The name of the study.")]
StorageOption = Annotated[
    str,
    typer.Option(
        "--storage",
        envvar="BELMAN_STORAGE",
        help="Where studies are kept: sqlite:///studies.db or postgresql://user@host/db.",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why, for the event log.")]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(help="A metric beside the reward, such as latency=0.8; may be repeated."),
]
Arm = Annotated[str, typer.Argument(help="The name of the arm.")]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Open the storage read-only, for a copy or a backup.")
]

DEFAULT_STORAGE = "sqlite:///studies.db"


@app.callback()
def root() -> None:
    """Run a durable study: decisions and rewards, kept in a database."""


def opened(name: str, storage: str, read_only: bool = False) -> Study:
    """The study of that name."""
    from belman.studies import open_study

    return open_study(name, storage=storage, read_only=read_only)


def arm_of(text: str, arms: Iterable[Hashable]) -> Hashable:
    """The arm that a person spells so."""
    names = {str(arm): arm for arm in arms}
    if text not in names:
        plays = f"this study plays {listing(names)}{nearest(text, names)}"
        raise ArmError(f"unknown arm {text!r}: {plays}")
    return names[text]


@app.command()
def ask(
    name: Name,
    n: Annotated[int, typer.Option("--n", help="How many tickets.")] = 1,
    context: ContextOption = None,
    candidates: CandidatesOption = None,
    top: Annotated[
        int | None, typer.Option(help="Rank so many: the line ends in a tab and their names.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            help="An attribute of the visitor or request, such as device=phone; may be repeated."
        ),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same key gives the same tickets again.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Ask which arm to try; print one line per ticket: its id, a tab, its arm."""
    tickets = opened(name, storage).ask(
        n,
        attributes=study_values.attributes(attribute),
        context=study_contexts.context(context),
        candidates=study_contexts.candidates(candidates),
        top=top,
        key=key,
    )
    for ticket in tickets:
        print(
            ticket.id,
            ticket.arm,
            *([] if top is None else [",".join(map(str, ticket.ranking or ()))]),
            sep="\t",
        )


@app.command()
def tell(
    name: Name,
    ticket: Annotated[str, typer.Argument(help="The id of the ticket.")],
    reward: Annotated[
        float | None,
        typer.Argument(help="The reward; leave it out where a formula over metrics gives it."),
    ] = None,
    metric: MetricOption = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: under a window the same key counts once.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Tell the reward of a ticket, its metrics or both; with a window, more than once."""
    news = opened(name, storage).tell(ticket, reward, metrics=study_values.metrics(metric), key=key)
    console.print("learnt" if news else "known already", highlight=False)


@app.command()
def correct(
    name: Name,
    ticket: Annotated[str, typer.Argument(help="The id of the ticket.")],
    reward: Annotated[str, typer.Argument(help="The right reward; `none` removes the ticket.")],
    reason: Annotated[str, typer.Option("--reason", help="Why, for the event log.")],
    metric: MetricOption = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same key corrects once.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Correct the reward of a ticket, for refunds and fraud."""
    new = None if reward.lower() == "none" else parse.numbers(reward, "reward")[0]
    metrics = study_values.metrics(metric)
    changed = opened(name, storage).correct(ticket, new, reason, metrics=metrics, key=key)
    console.print("corrected" if changed else "known already", highlight=False)


@app.command("import")
def import_(
    name: Name,
    path: Annotated[
        Path,
        typer.Argument(
            help="A table (.csv, .parquet, …; - for standard input) with columns arm and reward."
        ),
    ],
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Learn from past data, as a warm start."""
    count = opened(name, storage).record(past_data.given(path), reason)
    console.print(f"learnt {count:,} rewards", highlight=False)

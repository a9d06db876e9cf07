"""`belman study …`: the operations of a durable study, for a shell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from belman.cli import commands, parse, past_data, study_values
from belman.cli.commands import command
from belman.cli.output import say
from belman.errors import ArmError, unknown

if TYPE_CHECKING:
    from belman.studies import Study

DEFAULT_STORAGE = "sqlite:///studies.db"
ARM = "The name of the arm."
CONTEXT = "A value of the context, such as country=FR; may be repeated."
CANDIDATES = "The candidates: a table (.csv, …) or .json file, or JSON: '[{\"price\": 5}]'."
_TICKET = "The id of the ticket."
_METRIC = "A metric beside the reward, such as latency=0.8; may be repeated."

app = typer.Typer(
    help="Run a durable study: decisions and rewards, kept in a database.", no_args_is_help=True
)
commands.app.add_typer(app, name="study")


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
        raise ArmError(unknown("arm", text, names, "this study plays"))
    return names[text]


@command(
    app,
    n="How many tickets.",
    context=CONTEXT,
    candidates=CANDIDATES,
    top="Rank so many: the line ends in a tab and their names.",
    attribute="An attribute of the visitor or request, such as device=phone; may be repeated.",
    key="Idempotency key: the same key gives the same tickets again.",
)
def ask(
    name: str,
    *,
    n: int = 1,
    context: list[str] | None = None,
    candidates: str | None = None,
    top: int | None = None,
    attribute: list[str] | None = None,
    key: str | None = None,
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Ask which arm to try; print one line per ticket: its id, a tab, its arm."""
    tickets = opened(name, storage).ask(
        n,
        attributes=study_values.attributes(attribute),
        context=study_values.context(context),
        candidates=study_values.candidates(candidates),
        top=top,
        key=key,
    )
    for ticket in tickets:
        ranking = [] if top is None else [",".join(map(str, ticket.ranking or ()))]
        print(ticket.id, ticket.arm, *ranking, sep="\t")


@command(
    app,
    ticket=_TICKET,
    reward="The reward; leave it out where a formula over metrics gives it.",
    metric=_METRIC,
    key="Idempotency key: under a window the same key counts once.",
)
def tell(
    name: str,
    ticket: str,
    reward: float | None = None,
    *,
    metric: list[str] | None = None,
    key: str | None = None,
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Tell the reward of a ticket, its metrics or both; with a window, more than once."""
    news = opened(name, storage).tell(ticket, reward, metrics=study_values.metrics(metric), key=key)
    say("learnt" if news else "known already")


@command(
    app,
    ticket=_TICKET,
    reward="The right reward; `none` removes the ticket.",
    metric=_METRIC,
    key="Idempotency key: the same key corrects once.",
)
def correct(
    name: str,
    ticket: str,
    reward: str,
    *,
    reason: str,
    metric: list[str] | None = None,
    key: str | None = None,
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Correct the reward of a ticket, for refunds and fraud."""
    new = None if reward.lower() == "none" else parse.numbers(reward, "reward")[0]
    metrics = study_values.metrics(metric)
    changed = opened(name, storage).correct(ticket, new, reason, metrics=metrics, key=key)
    say("corrected" if changed else "known already")


@command(
    app,
    "import",
    path="A table (.csv, .parquet, …; - for standard input) with columns arm and reward.",
)
def import_(name: str, path: Path, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Learn from past data, as a warm start."""
    say(f"learnt {opened(name, storage).record(past_data.given(path), reason):,} rewards")


@command(
    app,
    path="A table (.csv, .ndjson, .parquet, …; - for standard input) with columns unit, version, "
    "arm, reward and perhaps time and attributes; or version, arm, n, sum, squares.",
    key="Idempotency key: under the same key a file counts once.",
)
def observe(
    name: str,
    path: Path,
    *,
    key: str | None = None,
    reason: str = "",
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Learn from a file of outcomes of units that published weights assigned."""
    study = opened(name, storage)
    before = study.number
    count = study.observe(past_data.given(path), reason, key=key)
    known = "" if study.number > before or not count else ", known already"
    say(f"observed {count:,} outcomes{known}")

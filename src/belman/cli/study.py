"""`belman study …`: the operations of a durable study, for a shell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import typer

from belman.cli import commands, parse, study_values
from belman.cli.commands import command
from belman.cli.output import print_plain, say
from belman.errors import ArmError, unknown
from belman.studies import Study, open_study

F = TypeVar("F", bound=Callable[..., None])

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


def study_command(
    name: str | None = None, /, *, looks: bool = False, **said: Any
) -> Callable[[F], F]:
    """Make a function of an open study a command: in the place of the study it takes its name, and
    the storage as an option. A command that only `looks` can open the storage read-only.
    """

    def made(function: F) -> F:
        def run(
            name: str, *, storage: str = DEFAULT_STORAGE, read_only: bool = False, **given: Any
        ) -> None:
            function(open_study(name, storage=storage, read_only=read_only), **given)

        first, storage, read_only, _ = inspect.signature(run, eval_str=True).parameters.values()
        signature = inspect.signature(function, eval_str=True)
        parameters = [first, *list(signature.parameters.values())[1:], storage]
        parameters += [read_only] if looks else []
        run.__doc__, run.__name__ = function.__doc__, function.__name__
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command(app, name, **said)(run)
        return function

    return made


def arm_of(text: str, arms: Iterable[Hashable]) -> Hashable:
    """The arm that a person spells so."""
    names = {str(arm): arm for arm in arms}
    if text not in names:
        raise ArmError(unknown("arm", text, names, "this study plays"))
    return names[text]


@study_command(
    n="How many tickets.",
    context=CONTEXT,
    candidates=CANDIDATES,
    top="How many to rank: the line ends in a tab and their names.",
    attribute="An attribute of the visitor or request, such as device=phone; may be repeated.",
    key="Idempotency key: the same key gives the same tickets again.",
)
def ask(
    study: Study,
    *,
    n: int = 1,
    context: list[str] | None = None,
    candidates: str | None = None,
    top: int | None = None,
    attribute: list[str] | None = None,
    key: str | None = None,
) -> None:
    """Ask which arm to try; print one line per ticket: its id, a tab, its arm."""
    where = study_values.looked_at(context, candidates)
    for ticket in study.ask(
        n, attributes=study_values.attributes(attribute), **where, top=top, key=key
    ):
        ranking = [] if top is None else [",".join(map(str, ticket.ranking or ()))]
        print_plain(ticket.id, ticket.arm, *ranking)


@study_command(
    ticket=_TICKET,
    reward="The reward; leave it out where a formula over metrics gives it.",
    metric=_METRIC,
    key="Idempotency key: under a window the same key counts once.",
)
def tell(
    study: Study,
    ticket: str,
    reward: float | None = None,
    *,
    metric: list[str] | None = None,
    key: str | None = None,
) -> None:
    """Tell the reward of a ticket, its metrics or both; with a window, more than once."""
    news = study.tell(ticket, reward, metrics=study_values.metrics(metric), key=key)
    say("learnt" if news else "known already")


@study_command(
    ticket=_TICKET,
    reward="The right reward; `none` removes the ticket.",
    metric=_METRIC,
    key="Idempotency key: the same key corrects once.",
)
def correct(
    study: Study,
    ticket: str,
    reward: str,
    *,
    reason: str,
    metric: list[str] | None = None,
    key: str | None = None,
) -> None:
    """Correct the reward of a ticket, for refunds and fraud."""
    new = None if reward.lower() == "none" else parse.numbers(reward, "reward")[0]
    changed = study.correct(ticket, new, reason, metrics=study_values.metrics(metric), key=key)
    say("corrected" if changed else "known already")


@study_command(
    "import",
    path="A table (.csv, .parquet, …; - for standard input) with columns arm and reward.",
)
def import_(study: Study, path: Path, *, reason: str = "") -> None:
    """Learn from past data, as a warm start."""
    say(f"learnt {study.record(parse.given(path), reason):,} rewards")


@study_command(
    path="A table (.csv, .ndjson, .parquet, …; - for standard input) with columns unit, version, "
    "arm, reward and perhaps time and attributes; or version, arm, n, sum, squares.",
    key="Idempotency key: under the same key a file counts once.",
)
def observe(study: Study, path: Path, *, key: str | None = None, reason: str = "") -> None:
    """Learn from a file of outcomes of units that published weights assigned."""
    before = study.number
    count = study.observe(parse.given(path), reason, key=key)
    known = "" if study.number > before or not count else ", known already"
    say(f"observed {count:,} outcomes{known}")

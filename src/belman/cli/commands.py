"""Commands from functions: parameters as Python has them, and a sentence of help for each.

What stands before `*` in the signature of a function is an argument of its command, what follows is
an option: `max_body` is `--max-body`, and a truth that is False by default a flag.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

F = TypeVar("F", bound=Callable[..., None])

#: The command line.
app = typer.Typer(
    help="Bayesian bandits: which option to try next, and how sure the answer is.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)

JSON_FOR_TABLE = typer.Option("--json", help="Print JSON instead of a table.")
#: The help of parameters that several commands have; or an option, where it is not as usual.
COMMON: dict[str, Any] = {
    "as_json": typer.Option("--json", help="Print JSON instead of text."),
    "family": "The family, a distribution of rewards; `belman list` names them.",
    "horizon": "Turns (decisions) per run.",
    "level": "The level of all intervals.",
    "name": "The name of the study.",
    "open_": typer.Option("--open", help="Open the page in a browser."),
    "policies": "Policies, separated by commas; settings after a colon.",
    "random_arms": "Instead of means: this many arms, drawn from the prior in every run.",
    "read_only": "Open the storage read-only, for a copy or a backup.",
    "reason": "Why, for the event log.",
    "runs": "Runs per policy.",
    "seed": "The same seed gives the same numbers.",
    "setting": "A setting of the family, such as sigma=2.0; may be repeated.",
    "storage": typer.Option(
        envvar="BELMAN_STORAGE",
        help="Where studies are kept: sqlite:///studies.db, a file in the current directory, or "
        "postgresql://user@host/db.",
    ),
    "store": "Keep finished parts here, and resume from them after an interruption.",
    "workers": "Threads; by default one per core.",
}


def command(
    app: typer.Typer,
    name: str | None = None,
    /,
    *more: inspect.Parameter,
    passes_to: Callable[..., Any] | None = None,
    **said: Any,
) -> Callable[[F], F]:
    """Make a function a command of an application; `said` is the help of its parameters, and
    `COMMON` that of the others. Its `**` parameter takes `more`, and every option in `said` that is
    no parameter of its own: type and default are then those of `passes_to`, which gets the option.
    """

    def made(function: F) -> F:
        signature = inspect.signature(function, eval_str=True)
        words = {**COMMON, **said}
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        own += [_passed(passes_to, one) for one in said if one not in signature.parameters]
        parameters = [*(_described(one, words[one.name]) for one in own), *more]
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        app.command(name)(function)
        return function

    return made


def option(name: str, kind: Any, default: Any, *flags: str, **settings: Any) -> inspect.Parameter:
    """Make an option that is not written in the signature of its function."""
    info, only = typer.Option(*flags, **settings), inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, only, default=default, annotation=Annotated[kind, info])


def _passed(function: Any, name: str) -> inspect.Parameter:
    """Make an option of a parameter of another function."""
    taken = inspect.signature(function).parameters[name]
    kind = eval(taken.annotation, function.__globals__)  # alone: others may name what is not there
    return taken.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _described(parameter: inspect.Parameter, words: Any) -> inspect.Parameter:
    """Annotate a parameter as Typer reads it, with its help or its own option."""
    kind = parameter.annotation
    if not isinstance(words, str):
        info = words
    elif parameter.kind is not parameter.KEYWORD_ONLY:
        info = typer.Argument(help=words)
    elif kind is bool and parameter.default is False:
        info = typer.Option(f"--{parameter.name.replace('_', '-')}", help=words)
    else:
        info = typer.Option(help=words)
    return parameter.replace(annotation=Annotated[kind, info])

"""`belman explore`: players that look for the best arms, with a budget or up to a risk."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from belman.cli import parse
from belman.cli.show import console, show
from belman.lab import explore as play
from belman.measures import chance_of_error, half_width
from belman.table import Table


def explore(
    family: Annotated[
        str, typer.Option(help="What a reward is; `belman list` names the families.")
    ] = "bernoulli",
    setting: Annotated[
        list[str] | None, typer.Option(help="A constant of the family; may be repeated.")
    ] = None,
    means: Annotated[
        str | None, typer.Option(help="The means of the arms, separated by commas: 0.5,0.4,0.3.")
    ] = None,
    random_arms: Annotated[
        int | None, typer.Option(help="Instead of means: so many arms, new ones in every run.")
    ] = None,
    policies: Annotated[
        str,
        typer.Option(
            help="Policies, separated by commas; settings after a colon: "
            "uniform,kl-lucb:delta=0.05."
        ),
    ] = "uniform,top-two-thompson,kl-lucb",
    budget: Annotated[
        int | None, typer.Option(help="Turns after which the best arms are recommended.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="Instead of a budget: stop when the chance of being wrong is this."),
    ] = None,
    m: Annotated[int, typer.Option(help="How many of the best arms are sought.")] = 1,
    threshold: Annotated[
        str, typer.Option(help="When to stop: customary, proven, or own.")
    ] = "customary",
    runs: Annotated[int, typer.Option(help="Runs of every player.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one per core.")] = None,
) -> None:
    """Look for the best arms, with a budget or up to a risk: errors, simple regret and turns."""
    given = None if means is None else parse.numbers(means, "means")
    problem = parse.problem(
        family, parse.family_settings(setting) if setting else {}, given, random_arms
    )
    players = {words: parse.policy(words, budget or 1) for words in parse.split_policies(policies)}
    started = time.perf_counter()
    found = play(
        players,
        problem,
        runs,
        seed,
        budget=budget,
        delta=delta,
        m=m,
        threshold=threshold,
        workers=workers,
    )
    show(_table(found))
    console.print(f"{len(players) * runs:,} runs in {time.perf_counter() - started:.1f} s")


def _table(found: Any) -> Table:
    """Players ranked by their errors, or by their turns where they stop."""
    last = found.isel(turn=-1) if "turn" in found.dims else found
    errors, rank = chance_of_error(last), "turns" if "turns" in last else "error"
    order = (last[rank] * 1.0).mean("run").argsort(kind="stable").values
    columns: dict[str, list[Any]] = {"player": [str(last.player.values[place]) for place in order]}
    for variable in ("turns", "simple_regret"):
        if variable in last:
            title, values = variable.replace("_", " "), last[variable]
            mean, half = values.mean("run"), half_width(values)
            columns[title] = [float(mean[place]) for place in order]
            columns[f"± {title}"] = [float(half[place]) for place in order]
    for title, part in (("error", "mean"), ("low", "low"), ("high", "high")):
        columns[title] = [float(errors[part][place]) for place in order]
    if "stopped" in last:
        columns["stopped"] = [float(last.stopped.mean("run")[place]) for place in order]
    return Table(columns, f"{found.sizes['run']:,} runs; 95 % intervals")

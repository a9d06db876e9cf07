"""`belman explore`: players that look for the best arms, with a budget or up to a risk."""

from __future__ import annotations

import time
from typing import Any

from belman.cli import parse
from belman.cli.commands import COMMON, app, command
from belman.cli.output import console, show
from belman.cli.problem import problem as problem_from
from belman.lab import explore as play
from belman.measures import chance_of_error, half_width
from belman.table import Table


@command(
    app,
    passes_to=play,
    means="The means of the arms, separated by commas: 0.5,0.4,0.3.",
    policies="Policies, separated by commas; settings after a colon: uniform,kl-lucb:delta=0.05.",
    budget="Fixed budget: turns after which the best arms are recommended.",
    delta="Fixed confidence: stop when the probability of error is at most this.",
    m="How many of the best arms to find.",
    threshold="When to stop: customary, proven (by theory), or own (the policy's rule).",
    seed=COMMON["seed"],
    workers=COMMON["workers"],
)
def explore(
    *,
    family: str = "bernoulli",
    setting: list[str] | None = None,
    means: str | None = None,
    random_arms: int | None = None,
    policies: str = "uniform,top-two-thompson,kl-lucb",
    runs: int = 1_000,
    **asked: Any,
) -> None:
    """Find the best arms, with a fixed budget or confidence: errors, simple regret, turns."""
    given = None if means is None else parse.numbers(means, "means")
    problem = problem_from(family, parse.family_settings(setting or []), given, random_arms)
    names = parse.split_policies(policies)
    players = {words: parse.policy(words, asked["budget"] or 1) for words in names}
    started = time.perf_counter()
    result = play(players, problem, runs, **asked)
    show(_table(result))
    console.print(f"{len(players) * runs:,} runs in {time.perf_counter() - started:.1f} s")


def _table(result: Any) -> Table:
    """Players ranked by their errors, or by their turns where they stop."""
    last = result.isel(turn=-1) if "turn" in result.dims else result
    errors, rank = chance_of_error(last), "turns" if "turns" in last else "error"
    order = (last[rank] * 1.0).mean("run").argsort(kind="stable").values
    columns: dict[str, list[Any]] = {
        "player": [str(last.player.values[position]) for position in order]
    }
    for variable in ("turns", "simple_regret"):
        if variable in last:
            title, values = variable.replace("_", " "), last[variable]
            mean, half = values.mean("run"), half_width(values)
            columns[title] = [float(mean[position]) for position in order]
            columns[f"± {title}"] = [float(half[position]) for position in order]
    for title, part in (("error", "mean"), ("low", "low"), ("high", "high")):
        columns[title] = [float(errors[part][position]) for position in order]
    if "stopped" in last:
        columns["stopped"] = [float(last.stopped.mean("run")[position]) for position in order]
    return Table(columns, f"{result.sizes['run']:,} runs; 95 % intervals")

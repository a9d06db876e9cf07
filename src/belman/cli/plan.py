"""`belman plan`: how long an experiment will take for each goal, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.progress import Progress

from belman.cli import parse
from belman.cli.commands import COMMON, JSON_FOR_TABLE, app, command
from belman.cli.output import console, errors, print_json, say, show, write_picture
from belman.measures import planning


@command(
    app,
    passes_to=planning.plan,
    baseline="The conversion rate now, such as 0.03; with --deviation the mean amount.",
    lift="The smallest relative lift to detect, such as 0.1.",
    arms="How many arms, control included.",
    risk="The allowed probability of a wrong decision, over all comparisons with control.",
    power="The probability of finding the lift, for a test of fixed size.",
    deviation="The standard deviation of an amount a visitor, zeros included: plans for amounts.",
    per_day="Impressions a day, over all arms.",
    rule="When to stop: separated (valid for every truth) or sure (Bayesian, given the prior).",
    quick="Fewer runs.",
    seed=COMMON["seed"],
    as_json=JSON_FOR_TABLE,
    output="The folder for a picture: DIR/plan.png.",
)
def plan(
    *, quick: bool = False, as_json: bool = False, output: Path | None = None, **asked: Any
) -> None:
    """Estimate how long an experiment will take for each goal, beside a test of fixed size."""
    runs = 100 if quick else 400
    with Progress(console=errors, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("playing", total=1.0)
        result = planning.plan(
            runs=runs, progress=lambda part: bar.update(task, completed=part), **asked
        )
    if as_json:
        print_json(result)
    else:
        say(result.sentence)
        show(result.table())
        for note in result.notes:
            say(note)
        if asked["rule"] == "sure":
            first, second = result.prior
            say(f"prior: ({first:.4g}, {second:.4g}), the belief before the first reward")
    if output is None:
        return
    from belman.plots import plan as picture

    path = parse.output_folder(output) / "plan.png"
    write_picture(path, lambda: picture(result))
    if not as_json:
        say(f"wrote {path}")

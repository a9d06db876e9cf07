"""`belman plan`: how long an experiment on conversions will take, and what adaptivity buys."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from belman.cli import parse
from belman.cli.commands import JSON_FOR_TABLE, app, command
from belman.cli.output import console, show, write_picture
from belman.measures import planning


@command(
    app,
    baseline="The conversion rate now, such as 0.03.",
    lift="The smallest relative lift to detect, such as 0.1.",
    arms="How many arms, control included.",
    risk="The allowed probability of a wrong decision.",
    per_day="Impressions a day, over all arms.",
    rule="When to stop: sure (Bayesian, given the prior) or separated (valid for every truth).",
    quick="Fewer runs, and fewer looks a day.",
    as_json=JSON_FOR_TABLE,
    output="The folder for a picture: DIR/plan.png.",
)
def plan(
    *,
    baseline: float,
    lift: float,
    arms: int = 2,
    risk: float = 0.05,
    per_day: float = 1_000.0,
    rule: str = "sure",
    quick: bool = False,
    seed: int = 0,
    as_json: bool = False,
    output: Path | None = None,
) -> None:
    """Estimate how long an experiment will take, with a fixed split and with a bandit."""
    runs, looks = (20, 4) if quick else (100, 24)
    found = planning.plan(baseline, lift, arms, risk, per_day, rule, runs, seed, looks)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
    else:
        console.print(found.sentence, highlight=False, markup=False)
        show(found.table())
        alpha, beta = found.prior
        words = "the belief about every conversion rate before the first reward"
        console.print(f"prior: ({alpha:.4g}, {beta:.4g}), {words}", soft_wrap=True)
    if output is None:
        return
    from belman.plots import plan as picture

    path = parse.output_folder(output) / "plan.png"
    write_picture(path, lambda: picture(found))
    if not as_json:
        console.print(f"wrote {path}", soft_wrap=True)

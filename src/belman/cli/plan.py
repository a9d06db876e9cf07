"""`belman plan`: how long an experiment on conversions will take, and what adaptivity buys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from belman.cli import parse
from belman.cli.picture import write_picture
from belman.cli.show import console, show
from belman.measures import planning


def plan(
    baseline: Annotated[float, typer.Option(help="The conversion rate now, such as 0.03.")],
    lift: Annotated[float, typer.Option(help="The smallest relative lift to detect, such as 0.1.")],
    arms: Annotated[int, typer.Option(help="How many arms, control included.")] = 2,
    risk: Annotated[
        float, typer.Option(help="The allowed probability of a wrong decision.")
    ] = 0.05,
    per_day: Annotated[float, typer.Option(help="Impressions a day, over all arms.")] = 1_000.0,
    rule: Annotated[
        str,
        typer.Option(
            help="When to stop: sure (Bayesian, given the prior) or separated (valid for every "
            "truth)."
        ),
    ] = "sure",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs, and fewer looks a day.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="The folder for a picture: DIR/plan.png.")
    ] = None,
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

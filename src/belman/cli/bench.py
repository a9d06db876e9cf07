"""`belman bench`: how fast this machine plays."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.console import Console

from belman.cli import parse
from belman.cli.show import show
from belman.environments import Problem, bernoulli
from belman.errors import PolicyError
from belman.lab import simulate
from belman.policies import POLICIES, Policy
from belman.table import Table

app = typer.Typer(help="Measure this machine.", no_args_is_help=True)

B20 = (0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07, 0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)


@app.callback()
def root() -> None:
    """Measure this machine."""


@app.command()
def speed(
    policies: Annotated[str, typer.Option(help="Players, with commas; all for every policy.")] = "all",
    horizon: Annotated[int, typer.Option(help="Turns of a run.")] = 1000,
    runs: Annotated[int, typer.Option(help="Runs of every player.")] = 200,
    repeats: Annotated[int, typer.Option(help="Times each is measured; the best counts.")] = 3,
) -> None:
    """Turns per CPU-second of every policy on the paper's 20 Bernoulli arms, one thread, through `simulate`."""
    names = [*POLICIES, *parse.PRESETS] if policies == "all" else [name.strip() for name in policies.split(",")]
    problem = bernoulli(B20)
    rows: list[tuple[str, float]] = []
    screen = Console(stderr=True)
    for name in names:
        try:
            player = parse.policy(name, horizon)
        except PolicyError as error:
            if policies != "all":
                raise
            screen.print(f"{name} left out: {error}", highlight=False)
            continue
        simulate({name: player}, problem, horizon, 1, workers=1, progress=False)  # compiles
        best = min(_cpu_seconds(name, player, problem, horizon, runs) for _ in range(repeats))
        rows.append((name, runs * horizon / best))
    rows.sort(key=lambda row: -row[1])
    columns: dict[str, list[Any]] = {
        "policy": [name for name, _ in rows],
        "million turns per CPU-second": [rate / 1e6 for _, rate in rows],
    }
    show(Table(columns, f"20 Bernoulli arms, {horizon:,} turns, {runs:,} runs, one thread"))


def _cpu_seconds(name: str, player: Policy, problem: Problem, horizon: int, runs: int) -> float:
    started = time.process_time()
    simulate({name: player}, problem, horizon, runs, workers=1, progress=False)
    return time.process_time() - started

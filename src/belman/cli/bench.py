"""`belman bench`: how fast this machine plays, and who decides best."""

from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from belman import spec
from belman.cli import commands, parse
from belman.cli.commands import command
from belman.cli.output import show
from belman.errors import PolicyError, SettingError, listing, nearest, unknown
from belman.files import write_atomically
from belman.lab import simulate
from belman.policies import POLICIES, Policy
from belman.problems import Problem, bernoulli
from belman.suite import SPLITS, cell_table, player_csv, summary_table
from belman.suite import play as play_cell
from belman.suite import suite as the_suite
from belman.table import Table

app = typer.Typer(
    help="Compare policies: how good their decisions are, and how fast.", no_args_is_help=True
)
commands.app.add_typer(app, name="bench")

B20: tuple[float, ...] = (0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07)
B20 += (0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)


@app.callback()
def root() -> None:
    """Compare policies: how good their decisions are, and how fast."""


@command(
    app,
    quick="Only the smaller problems, 100 runs each: a minute or two.",
    split="Which half of the suite: development, validation or both.",
    players="Policies to compare with, separated by commas, or all.",
    ours="The policy that is compared, also one of your own file: mine.py:Cautious:width=0.7.",
    output="The folder for results, from which a run resumes: DIR/cells/, regret.csv, "
    "summary.json.",
)
def regret(
    *,
    quick: bool = False,
    split: str = "both",
    players: str = "all",
    ours: str = "belman",
    output: Path = Path("bench-regret"),
    seed: int = 0,
    workers: int | None = None,
) -> None:
    """Compare regret over a suite of problems: ranks, ratios to the best, worst cases; resumes."""
    if split not in (*SPLITS, "both"):
        raise SettingError(unknown("split", split, [*SPLITS, "both"]))
    suite = the_suite().quick() if quick else the_suite()
    known = [name for names in suite.rivals.values() for name in names]
    rivals = known if players == "all" else [name.strip() for name in players.split(",")]
    for name in rivals:
        if name not in known:
            there = f"there are {listing(known, most=40)}{nearest(name, known)}"
            raise PolicyError(f"{name!r} is not a rival of the suite: {there}")
    shown = parse.shown(ours)
    splits = SPLITS if split == "both" else (split,)
    screen = Console(stderr=True)
    played = {}
    for cell in suite.cells:
        if cell.split in splits and suite.plays(ours, cell):
            seated = {
                parse.shown(name): parse.policy(name, cell.horizon)
                for name in (ours, *rivals)
                if suite.plays(name, cell)
            }
            folder = output / ("quick" if quick else "cells")
            say = partial(screen.print, highlight=False)
            played[cell] = play_cell(cell, seated, folder, seed, workers, say)
    tables = {name: cell_table(suite, played, name, shown) for name in splits}
    summary = summary_table(tables)
    for table in (*tables.values(), summary):
        show(table)
    kept = {"summary": summary.columns, **{name: table.columns for name, table in tables.items()}}
    about = "" if ours == "belman" else "-" + re.sub(r"[^\w.-]+", "-", shown)
    for path, text in (
        (output / f"regret{about}.csv", player_csv(suite, played, shown)),
        (output / f"summary{about}.json", json.dumps(kept, indent=1)),
    ):
        write_atomically(path, text)
        screen.print(f"wrote {path}", highlight=False)


@command(
    app,
    policies="Policies, separated by commas, or all.",
    repeats="How often each is measured; the fastest counts.",
)
def speed(*, policies: str = "all", horizon: int = 1000, runs: int = 200, repeats: int = 3) -> None:
    """Turns per CPU-second of every policy on the paper's 20 Bernoulli arms, on one thread."""
    listed = [name.strip() for name in policies.split(",")]
    names = [*POLICIES, *spec.PRESETS] if policies == "all" else listed
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

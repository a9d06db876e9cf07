"""`belman queue`: players that schedule jobs on servers of unknown speed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from belman.cli import parse
from belman.cli.picture import write_picture
from belman.cli.show import console, show
from belman.files import replacing
from belman.lab import simulate
from belman.measures import queueing
from belman.problems import queue as make_queue

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def queue(
    services: Annotated[
        str,
        typer.Option(
            help="Service rates of the servers, separated by commas; a semicolon between queues."
        ),
    ],
    arrivals: Annotated[
        str, typer.Option(help="Arrivals per turn: one number per queue, separated by commas.")
    ],
    arrival_law: Annotated[
        str, typer.Option(help="The distribution of arrivals: poisson or bernoulli.")
    ] = "poisson",
    service_law: Annotated[
        str,
        typer.Option(
            help="The distribution of services: bernoulli, or geometric or exponential job sizes."
        ),
    ] = "bernoulli",
    weighting: Annotated[
        str,
        typer.Option(
            help="How queues compete: none, or length (a queue's indices times its length)."
        ),
    ] = "none",
    policies: Annotated[
        str, typer.Option(help="Policies, separated by commas; settings after a colon.")
    ] = "belman,thompson,q-ucb",
    horizon: Annotated[int, typer.Option(help="Turns (decisions) per run.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs per policy.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one per core.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Keep finished parts here, and resume from them after an interruption."),
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder for queues.png and queues.nc.")] = Path(
        "belman-queue"
    ),
) -> None:
    """Simulate queues: print regret, backlog and waiting times, write a picture and the data."""
    rows = [parse.numbers(row, "services") for row in services.split(";")]
    rates: Any = rows if ";" in services else rows[0]
    coming = parse.numbers(arrivals, "arrivals")
    problem = make_queue(
        rates,
        coming if len(coming) > 1 else coming[0],
        arrival_law=arrival_law,
        service_law=service_law,
        weighting=weighting,
    )
    players = {words: parse.policy(words, horizon) for words in parse.split_policies(policies)}
    folder = parse.output_folder(output)
    started = time.perf_counter()
    result = simulate(players, problem, horizon, runs, seed, workers=workers, store=store)
    show(queueing(result))
    seconds = time.perf_counter() - started
    console.print(f"{len(players) * runs * horizon:,} turns in {seconds:.1f} s")
    for path in _keep(result, folder):
        console.print(f"wrote {path}")


def _keep(result: Any, folder: Path) -> list[Path]:
    from belman.plots import queue_regret

    picture, data = folder / "queues.png", folder / "queues.nc"
    write_picture(picture, lambda: cast("Figure", queue_regret(result).get_figure(root=True)))
    with replacing(data) as draft:
        # NetCDF has no room for a variable with the name of one of its dims
        result.rename_vars(queue="jobs").to_netcdf(draft, engine="scipy")
    return [picture, data]

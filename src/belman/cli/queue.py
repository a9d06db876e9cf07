"""`belman queue`: players that schedule jobs on servers of unknown speed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from belman.cli import parse
from belman.cli.show import console, show
from belman.files import replacing
from belman.lab import simulate
from belman.measures import queueing
from belman.problems import queue as make_queue


def queue(
    services: Annotated[
        str,
        typer.Option(
            help="Rates of the servers, separated by commas; a semicolon between the rows of "
            "queues."
        ),
    ],
    arrivals: Annotated[
        str, typer.Option(help="Jobs per turn; one number a queue, separated by commas.")
    ],
    arrival_law: Annotated[
        str, typer.Option(help="The distribution of arrivals: poisson or bernoulli.")
    ] = "poisson",
    service_law: Annotated[
        str, typer.Option(help="bernoulli, or geometric or exponential job sizes.")
    ] = "bernoulli",
    weighting: Annotated[
        str, typer.Option(help="none, or length: multiply a queue's indices by its length.")
    ] = "none",
    policies: Annotated[
        str, typer.Option(help="Policies, separated by commas; settings after a colon.")
    ] = "belman,thompson,q-ucb",
    horizon: Annotated[int, typer.Option(help="Turns of a run.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs of every player.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one per core.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="Keep finished tasks here, and go on from them.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Where queues.png and queues.nc go.")] = Path(
        "belman-queue"
    ),
) -> None:
    """Simulate queues: a table of regret, backlog and waiting times, a picture and data."""
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
    import matplotlib

    matplotlib.use("Agg")
    from belman.plots import queue_regret, style

    picture, data = folder / "queues.png", folder / "queues.nc"
    with replacing(picture) as draft:
        figure = queue_regret(result).get_figure(root=True)
        assert figure is not None
        style.save(figure, draft, format="png")
    with replacing(data) as draft:
        # NetCDF has no room for a variable with the name of one of its dims
        result.rename_vars(queue="jobs").to_netcdf(draft, engine="scipy")
    return [picture, data]

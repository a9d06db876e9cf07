"""`belman queue`: players that schedule jobs on servers of unknown speed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from belman.cli import parse
from belman.cli.commands import app, command
from belman.cli.output import console, show, write_picture
from belman.files import replacing
from belman.lab import simulate
from belman.measures import queueing
from belman.problems import queue as make_queue

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@command(
    app,
    passes_to=make_queue,
    services="Service rates of the servers, separated by commas; a semicolon between queues.",
    arrivals="Arrivals per turn: one number per queue, separated by commas.",
    arrival_distribution="The distribution of arrivals: poisson or bernoulli.",
    service_distribution="Of services: bernoulli, or job sizes that are geometric or exponential.",
    weighting="How queues compete: none, or length (a queue's indices times its length).",
    output="The folder for queues.png and queues.nc.",
)
def queue(
    *,
    services: str,
    arrivals: str,
    policies: str = "belman,thompson,q-ucb",
    horizon: int = 10_000,
    runs: int = 200,
    seed: int = 0,
    workers: int | None = None,
    store: Path | None = None,
    output: Path = Path("belman-queue"),
    **asked: Any,
) -> None:
    """Simulate queues: print regret, backlog and waiting times, write a picture and the data."""
    rows = [parse.numbers(row, "services") for row in services.split(";")]
    rates: Any = rows if ";" in services else rows[0]
    coming = parse.numbers(arrivals, "arrivals")
    problem = make_queue(rates, coming if len(coming) > 1 else coming[0], **asked)
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

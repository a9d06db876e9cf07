"""Runs of parallel servers: several players on the same jobs, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.errors import SettingError, listing
from belman.lab.server_loop import Served, ServerLoop
from belman.lab.server_players import PlayerMaker
from belman.problems.servers import Servers

if TYPE_CHECKING:
    import xarray

#: What is measured of a run, in the units that the name says.
MEASURES = ("throughput", "response_mean", "response_p95", "response_p99", "waiting_mean", "failed")


def simulate_players(
    players: Mapping[str, PlayerMaker], problem: Servers, jobs: int, runs: int, seed: int
) -> xarray.Dataset:
    """Every player on the same jobs, run by run."""
    import xarray

    for name, value in {"jobs": jobs, "runs": runs}.items():
        if type(value) is not int or value < 1:
            raise SettingError(f"{name}={value!r} must be a whole number from 1 up")
    if not isinstance(problem, Servers):
        remedy = "make it with belman.problems.servers"
        raise SettingError(f"{problem!r} is not a problem of parallel servers: {remedy}")
    if not players:
        raise SettingError(f"players={listing(players)} names nobody")
    shape = (len(players), runs)
    found = {name: np.zeros(shape) for name in MEASURES}
    shares = np.zeros((*shape, len(problem.names)))
    busy = np.zeros_like(shares)
    by_class = np.zeros((*shape, len(problem.arrivals)))
    for run in range(runs):
        sequence = np.random.SeedSequence([seed, run])
        arrivals = problem.jobs(jobs, np.random.default_rng(sequence))
        for place, make in enumerate(players.values()):
            player = make(problem, int(sequence.generate_state(1, np.uint32)[0]))
            served = ServerLoop(problem, player).play(arrivals)
            for measure, measured in _measured(served).items():
                found[measure][place, run] = measured
            shares[place, run], busy[place, run] = _by_server(served, problem)
            by_class[place, run] = _by_class(served, problem)
    dims, values = ("player", "run"), dict[str, Any]()
    for name, array in found.items():
        values[name] = (dims, array)
    values["share"], values["utilisation"] = ((*dims, "server"), shares), ((*dims, "server"), busy)
    values["class_response_mean"] = ((*dims, "job_class"), by_class)
    coordinates = {
        "player": list(players),
        "run": np.arange(runs),
        "server": [str(name) for name in problem.names],
        "job_class": [str(name) for name in problem.arrivals],
    }
    return xarray.Dataset(values, coordinates, attrs={"jobs": jobs, "seed": seed})


def _measured(served: Served) -> dict[str, float]:
    response = np.array(served.ended) - np.array(served.arrived)
    success = np.array(served.success)
    span = max(served.ended) - min(served.arrived)
    waiting = response - np.array(served.seconds)
    p95, p99 = np.quantile(response, (0.95, 0.99))
    found = (success.sum() / span, response.mean(), p95, p99, waiting.mean(), 1.0 - success.mean())
    return dict(zip(MEASURES, map(float, found), strict=True))


def _by_server(served: Served, problem: Servers) -> tuple[Any, Any]:
    """Each server's share of the jobs, and of its slots' time that it worked."""
    place, size = np.array(served.server), len(problem.names)
    span = max(served.ended) - min(served.arrived)
    shares = np.bincount(place, minlength=size) / place.size
    worked = np.bincount(place, weights=np.array(served.seconds), minlength=size)
    return shares, worked / (span * np.array(problem.slots))


def _by_class(served: Served, problem: Servers) -> Any:
    response = np.array(served.ended) - np.array(served.arrived)
    names = list(problem.arrivals)
    place = np.array([names.index(name) for name in served.job_class])
    counts = np.bincount(place, minlength=len(names))
    sums = np.bincount(place, weights=response, minlength=len(names))
    return np.divide(sums, counts, out=np.full(len(names), np.nan), where=counts > 0)

"""What the dispatcher would do: the same roster, at servers that are simulated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from belman.dispatch.jobs import Job
from belman.dispatch.roster import Roster
from belman.lab.servers import RIVALS, PlayerMaker, ServerPlayer, simulate_players
from belman.problems.servers import Servers

if TYPE_CHECKING:
    import xarray


class Dispatched:
    """A roster as a player of the simulation: its jobs wait in the common line for a free slot."""

    def __init__(self, problem: Servers, seed: int, settings: Mapping[str, Any]) -> None:
        own: dict[str, Any] = {"slots": dict(zip(problem.names, problem.slots, strict=True))}
        own |= {"queues": list(problem.arrivals), "seed": seed}
        self._roster = Roster(problem.names, **{**own, **settings})
        self._positions = {name: position for position, name in enumerate(problem.names)}

    def choose(self, job_class: Hashable, counts: list[int], now: float) -> tuple[int, Any] | None:
        """The roster's choice."""
        self._roster.expire(now)
        job = self._roster.give(job_class, now)
        return None if job is None else (self._positions[job.server], job)

    def ended(self, note: Job, seconds: float, success: bool, now: float) -> None:
        """Tell the roster, unless the job is over its time limit."""
        self._roster.expire(now)
        if note.number in self._roster.jobs:
            end = Roster.complete if success else Roster.fail
            end(self._roster, note, seconds, now)


def dispatched(**settings: Any) -> PlayerMaker:
    """Make players of `simulate_servers` that are dispatchers.

    Parameters
    ----------
    settings
        Settings of `Dispatcher`; slots are those of the problem's servers by default.

    Returns
    -------
    PlayerMaker
        A function of a problem and a seed that makes a player.

    >>> from belman import problems
    >>> make = dispatched(limit=3)
    >>> make(problems.servers({"near": 0.1}, arrivals=2.0), 7).choose(None, [0], 0.0)[0]
    0
    """

    def make(problem: Servers, seed: int) -> ServerPlayer:
        return Dispatched(problem, seed, settings)

    return make


def simulate_servers(
    problem: Servers,
    players: Mapping[str, PlayerMaker] | None = None,
    *,
    jobs: int = 2_000,
    runs: int = 10,
    seed: int = 0,
) -> xarray.Dataset:
    """Simulate the dispatcher beside its rivals at the same jobs, without waiting for real time.

    Parameters
    ----------
    problem
        The servers, with how fast they are and how jobs arrive, as `belman.problems.servers` makes
        them.
    players
        Players by name: `dispatched(…)` with settings of a dispatcher, one of
        `belman.lab.servers.RIVALS`, or a function of a problem and a seed that makes a player. By
        default the dispatcher, an oracle who knows the servers, and least loaded, power of two
        choices and round robin, which do not learn.
    jobs
        How many jobs arrive in each run.
    runs
        How many runs there are, each with jobs and draws of its own.
    seed
        A whole number; the same seed gives the same result.

    Returns
    -------
    xarray.Dataset
        For every player and run: jobs completed per second, seconds from arrival to end (mean, 95 %
        and 99 %), the mean of the seconds for which a job waited, the share of jobs that failed,
        and each server's share and utilisation.

    >>> from belman import problems
    >>> problem = problems.servers({"near": 0.1, "far": 0.4}, arrivals=6.0)
    >>> result = simulate_servers(problem, jobs=300, runs=2, seed=7)
    >>> bool((result.response_mean.sel(player="oracle") < result.response_mean.sel(
    ...     player="round robin")).all())
    True
    """
    chosen = {"dispatcher": dispatched(), **RIVALS} if players is None else dict(players)
    return simulate_players(chosen, problem, jobs, runs, seed)

"""The door of the lab: players and a problem in, an `xarray.Dataset` of what happened out."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from belman import spec
from belman.errors import PolicyError
from belman.exposure import UnitWarning
from belman.lab import bandit_runner, delayed_runner, featured_runner, queue_runner
from belman.lab.bandit_runner import BanditResults
from belman.lab.delayed_loop import DelayedResults
from belman.lab.design import Design
from belman.lab.python_runner import PythonRunner
from belman.lab.queue_loop import QueueResults
from belman.lab.run import check_sizes, run
from belman.policies.belman.belman import BelMan
from belman.policies.dependent import DependentPolicy
from belman.policies.policy import Policy
from belman.problems.problem import Problem
from belman.problems.stationary import Stationary

if TYPE_CHECKING:
    import xarray

Players = Mapping[str, Any] | Iterable[Policy | DependentPolicy]


class Loop(NamedTuple):
    """A way to play: the record of its results, and who runs a player."""

    record: Callable[..., Any]
    runner: Callable[[Any, Any, int], Any]


#: Every loop by its name.
LOOPS = {
    "bandit": Loop(BanditResults, bandit_runner.BanditRunner),
    "delayed": Loop(DelayedResults, delayed_runner.DelayedRunner),
    "featured": Loop(BanditResults, featured_runner.FeaturedRunner),
    "queue": Loop(QueueResults, queue_runner.QueueRunner),
}


def loop_of(problem: Problem) -> Loop:
    """The loop that plays a problem."""
    late = problem.late and problem.played_as == "bandit"
    return LOOPS["delayed" if late else problem.played_as]


@functools.lru_cache(maxsize=256)
def runner_of(player: Any, problem: Problem, horizon: int) -> Any:
    """The runner of a player; the same for equal players, so that a worker makes it once."""
    if not isinstance(player, (Policy, DependentPolicy)):
        return PythonRunner(player, problem, horizon)
    return loop_of(problem).runner(player, problem, horizon)


@spec.member
@dataclass(frozen=True)
class Simulation(Design):
    """Players at the loop of their problem: what it keeps at the checkpoints, and at the end."""

    name = "simulation"

    def runner(self, player: Any) -> Any:
        return runner_of(player, self.problem, self.horizon)

    @property
    def record(self) -> Callable[..., Any]:
        return loop_of(self.problem).record


def simulate(
    players: Players,
    problem: Problem,
    horizon: int,
    runs: int,
    seed: int = 0,
    *,
    executor: str = "threads",
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Play every player on a problem, all on the same random numbers in each run.

    The same seed gives the same numbers whatever the executor, the workers or the other players.
    Ctrl-C stops within a second.

    Parameters
    ----------
    players
        Policies by name, or a list of them; also classes with `ask` and `tell`
        (`belman.lab.python_runner.PythonRunner`).
    problem
        One of `belman.problems`.
    horizon
        How many turns are played.
    runs
        How many times.
    seed
        A whole number.
    executor
        "threads", "dask" (a local cluster of processes), or the address of a Dask scheduler.
    workers
        How many threads or processes; by default one per core.
    store
        A directory in which finished tasks are kept: the same call resumes from it.
    progress
        None for a bar on a terminal, True for a bar, False to print nothing, not even that players
        are being compiled.

    Returns
    -------
    xarray.Dataset
        Dims player, run, turn (checkpoints) and arm; variables regret (pseudo-regret),
        suboptimal_draws and reward at the checkpoints, and plays at the end; settings, versions and
        seed in its attributes. That of a `belman.problems.queue` has other variables.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.8, 0.9])
    >>> result = simulate({"BelMan": belman.BelMan()}, problem, horizon=100, runs=10, seed=7)
    >>> dict(result.sizes)
    {'player': 1, 'run': 10, 'turn': 100, 'arm': 2}
    """
    design = _checked(players, problem, horizon, runs, seed)
    result = design.dataset(run(design, executor, workers, store, progress))
    return result.isel(dict.fromkeys(problem.without, 0), drop=True)


def _checked(players: Players, problem: Problem, horizon: int, runs: int, seed: int) -> Simulation:
    check_sizes(problem, horizon=(horizon, 1), runs=(runs, 1), seed=(seed, 0))
    if isinstance(players, (Policy, DependentPolicy)):
        players = [players]
    named = dict(players) if isinstance(players, Mapping) else {one.name: one for one in players}
    if not named:
        raise PolicyError("a simulation needs at least one player: the list of players is empty")
    for name, player in named.items():
        if isinstance(player, (Policy, DependentPolicy)):
            _check_policy(name, player, problem)
        elif problem.no_python_players:
            raise PolicyError(f"player {name!r} is {player!r}: {problem.no_python_players}")
        elif not (callable(player) and hasattr(player, "ask") and hasattr(player, "tell")):
            allowed = "give a policy such as belman.BelMan(), or a class with ask and tell"
            raise PolicyError(f"player {name!r} is {player!r}: {allowed}")
    return Simulation(named, problem, int(horizon), int(runs), int(seed))


def _check_unit(name: str, player: Policy, problem: Problem) -> None:
    """Warn where means lie further apart than the whole scale that the paper's schedule is for."""
    if not (isinstance(player, BelMan) and isinstance(problem, Stationary)):
        return
    apart = max(problem.means) - min(problem.means)
    if player.schedule.scale is None and problem.family.reward_range is None and apart > 1.0:
        greedy = f"means are {apart:.3g} apart, and its schedule is made for rewards in [0, 1]"
        remedy = "give BelMan.paper(unit=…) the size of a large reward (unit=1 leaves it as it is)"
        warnings.warn(f"player {name!r} is too greedy: {greedy}; {remedy}", UnitWarning, 4)


def _check_policy(name: str, player: Policy | DependentPolicy, problem: Problem) -> None:
    """Arms with features are played by policies for them, and by no others."""
    dependent, featured = isinstance(player, DependentPolicy), problem.played_as == "featured"
    if dependent and not featured:
        allowed = "it plays at arms with features, such as belman.problems.unit_ball()"
        raise PolicyError(f"player {name!r} is {player!r}: {allowed}")
    if featured and not dependent:
        allowed = "arms with features take one of belman.policies.dependent"
        raise PolicyError(f"player {name!r} is {player!r}: {allowed}")
    if isinstance(player, Policy):
        player.check(problem.family, problem.arms)
        _check_unit(name, player, problem)

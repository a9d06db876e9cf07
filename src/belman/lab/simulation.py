"""The door of the lab: players and a problem in, an `xarray.Dataset` of what happened out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from belman.environments.environment import Problem
from belman.errors import PolicyError, SettingError, listing
from belman.lab.design import Design, Task, checkpoints, versions
from belman.lab.executors import Results, in_threads, on_dask
from belman.lab.loops import loop_of, seated
from belman.lab.progress import progress_bar
from belman.lab.results import blank
from belman.lab.store import Store
from belman.policies.policy import Policy

if TYPE_CHECKING:
    import xarray

Players = Mapping[str, Any] | Iterable[Policy]


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
    """Let every player play the problem, run by run against the same nature, and return what happened.

    `players` maps names to policies (or to classes with `ask` and `tell`, see `belman.lab.seat.PythonSeat`). The Dataset
    has dims player, run, turn (checkpoints) and arm, variables regret (pseudo-regret), suboptimal_draws and reward at the
    checkpoints and plays at the end, and settings, versions and seed in its attributes; that of a `belman.queue` has other
    variables. The same seed gives the same numbers whatever the executor, the workers or the other players.

    `executor` is "threads", "dask" (a local cluster of processes) or the address of a Dask scheduler. `store` names a
    directory in which finished tasks are kept as they come; the same call goes on where an interrupted one stopped. Ctrl-C
    stops within a second.

    >>> import belman
    >>> result = simulate({"BelMan": belman.BelMan()}, belman.bernoulli([0.8, 0.9]), horizon=100, runs=10, seed=7)
    >>> dict(result.sizes)
    {'player': 1, 'run': 10, 'turn': 100, 'arm': 2}
    """
    design = _checked(players, problem, horizon, runs, seed)
    _check_executor(executor, workers)
    kept = None if store is None else Store(os.fspath(store), design)
    todo = list(design.tasks())
    sizes = {**problem.sizes, "turn": len(checkpoints(horizon))}
    whole = blank(loop_of(problem).fields, (len(design.players), design.runs), sizes)

    def enter(task: Task, results: Results) -> None:
        for array, part in zip(whole, results, strict=True):
            array[task.player, task.first : task.first + task.runs] = part

    with progress_bar(len(design.players) * design.runs * design.horizon, progress) as (say, advance):
        if kept is not None:
            say("reading the store")
            found = set()
            for task, results in kept.read(todo):
                enter(task, results)
                found.add(task)
                advance(task.runs * design.horizon)
            todo = [task for task in todo if task not in found]
        for task, results in _done(design, todo, executor, workers, say):
            enter(task, results)
            if kept is not None:
                kept.write(task, results)
            advance(task.runs * design.horizon)
    return _dataset(design, whole)


def _done(
    design: Design, todo: list[Task], executor: str, workers: int | None, say: Callable[[str], None]
) -> Iterator[tuple[Task, Results]]:
    if not todo:
        return
    if executor == "threads":
        stop = np.zeros(1, dtype=np.int64)
        for name, player in design.players.items():  # compiled one by one: Numba compiles under a lock anyway
            say(f"compiling {name}")
            seated(player, design.problem, design.horizon).play(0, 0, design.seed, stop)
        say("playing")
        yield from in_threads(design, todo, workers)
    else:
        say("starting Dask" if executor == "dask" else f"asking {executor}")
        yield from on_dask(design, todo, workers, None if executor == "dask" else executor)


def _checked(players: Players, problem: Problem, horizon: int, runs: int, seed: int) -> Design:
    for name, value, least in (("horizon", horizon, 1), ("runs", runs, 1), ("seed", seed, 0)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise SettingError(f"{name}={value!r} makes no simulation: it must be a whole number from {least} up")
    if not isinstance(problem, Problem):
        raise SettingError(f"problem={problem!r} is no problem: write, for instance, belman.bernoulli([0.8, 0.9])")
    if isinstance(players, Policy):
        players = [players]
    named = dict(players) if isinstance(players, Mapping) else {player.name: player for player in players}
    if not named:
        raise PolicyError("a simulation needs at least one player: the list of players is empty")
    for name, player in named.items():
        if isinstance(player, Policy):
            player.check(problem.family, problem.arms)
        elif not problem.python_players:
            raise PolicyError(f"player {name!r} is {player!r}: queues are served by policies such as belman.BelMan() only")
        elif not (callable(player) and hasattr(player, "ask") and hasattr(player, "tell")):
            raise PolicyError(
                f"player {name!r} is {player!r}: give a policy such as belman.BelMan(), or a class with ask and tell"
            )
    return Design(named, problem, int(horizon), int(runs), int(seed))


def _check_executor(executor: str, workers: int | None) -> None:
    if executor not in ("threads", "dask") and "://" not in executor:
        raise SettingError(
            f"executor={executor!r} is unknown: there are {listing(['threads', 'dask'])}, or a scheduler's address tcp://…"
        )
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise SettingError(f"workers={workers!r} do no work: it must be a whole number from 1 up, or None for every core")


def _dataset(design: Design, whole: list[NDArray[Any]]) -> xarray.Dataset:
    import xarray

    described = design.describe()
    variables = {
        name: (("player", "run", *field.dims), array, {"long_name": field.words})
        for (name, field), array in zip(loop_of(design.problem).fields.items(), whole, strict=True)
    }
    found = xarray.Dataset(
        variables,
        coords={
            "player": list(design.players),
            "run": np.arange(design.runs),
            "turn": checkpoints(design.horizon),
            # xarray keeps a variable with the name of a dim, such as the queue of several queues, in place of its labels
            **{dim: np.arange(size) for dim, size in design.problem.sizes.items() if dim not in variables},
        },
        attrs={
            "seed": design.seed,
            "horizon": design.horizon,
            "problem": json.dumps(described["problem"]),
            "players": json.dumps(described["players"]),
            "versions": json.dumps(versions()),
        },
    )
    return found.isel(dict.fromkeys(design.problem.without, 0), drop=True)

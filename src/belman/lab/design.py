"""What is to be played: players, a problem, a horizon, runs and a seed, cut into tasks that any
executor can do in any order.
"""

from __future__ import annotations

import functools
import platform
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from importlib import metadata
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine.cache import source_digest
from belman.environments.environment import Problem
from belman.policies.policy import Policy
from belman.version import __version__

_EVERY_TURN = 1_000  # turns up to which every one is a checkpoint
_SPACED = 500  # checkpoints after that, equally spaced in ln t
_TASK_TURNS = 65_536  # turns of one task, about: a fraction of a second


def checkpoints(horizon: int) -> NDArray[np.int64]:
    """Every turn up to 1,000, then 500 turns equally spaced in ln t: 30 KB of results a run,
    whatever the horizon.

    >>> checkpoints(3).tolist(), len(checkpoints(10**6))
    ([1, 2, 3], 1500)
    """
    early = np.arange(1, min(horizon, _EVERY_TURN) + 1)
    if horizon <= _EVERY_TURN:
        return early
    late = np.rint(np.geomspace(_EVERY_TURN, horizon, _SPACED + 1)).astype(np.int64)
    return np.unique(np.concatenate([early, late]))


class Task(NamedTuple):
    """Some runs of one player."""

    player: int
    first: int
    runs: int


@dataclass(frozen=True)
class Design(ABC):
    """Something to be played: what happens at the table, and what is kept of it, is up to its kind."""

    players: Mapping[str, Any]
    problem: Problem
    horizon: int
    runs: int
    seed: int

    #: The dimensions of each kind of result after player and run.
    dims: ClassVar[Mapping[str, tuple[str, ...]]]

    @abstractmethod
    def seat(self, player: Any) -> Any:
        """The player at the table: an object whose `play(first, runs, seed, stop)` gives the
        results of some runs, or None.
        """

    @abstractmethod
    def blank(self, runs: int) -> Any:
        """Room for the results of some runs: a NamedTuple of arrays, runs first."""

    @property
    def chunk(self) -> int:
        """Runs of one task. It depends on the horizon alone, so that an interrupted store fits
        whoever resumes it.
        """
        return max(1, _TASK_TURNS // self.horizon)

    def tasks(self) -> Iterator[Task]:
        """All tasks, the players taking turns, so that early results show all of them."""
        for first in range(0, self.runs, self.chunk):
            for player in range(len(self.players)):
                yield Task(player, first, min(self.chunk, self.runs - first))

    def describe(self) -> dict[str, Any]:
        """The design in words and numbers that JSON can hold; equal descriptions mean equal
        results.
        """
        return {
            "players": {name: describe_player(player) for name, player in self.players.items()},
            "problem": self.problem.describe(),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
        }


def describe_player(player: Any) -> dict[str, Any]:
    """A player's policy by its name and settings; what is no data is described by its repr."""
    if not isinstance(player, Policy):
        return {"name": player.__qualname__, "module": player.__module__}
    settings = asdict(player)
    plain = {
        name: value if _is_data(value) else repr(getattr(player, name))
        for name, value in settings.items()
    }
    kinds = {
        name: type(getattr(player, name)).__name__
        for name in settings
        if is_dataclass(getattr(player, name))
    }
    return {"name": player.name, **plain, **({"kinds": kinds} if kinds else {})}


def _is_data(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_data, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_data, value))
    return value is None or isinstance(value, (str, int, float, bool))


@functools.cache
def versions() -> dict[str, str]:
    """What the numbers were made with."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
    return {"belman": __version__, "python": platform.python_version(), **libraries}


def sources(*played: Any) -> str:
    """The digest of the code behind what is played: the package's, and that of a user's own classes
    and functions.
    """
    return source_digest(*sorted({name for thing in played for name in _modules(thing)}))


def _modules(thing: Any) -> Iterator[str]:
    """The modules of the classes and functions of which something is made."""
    if isinstance(thing, Mapping):
        thing = tuple(thing.values())
    if isinstance(thing, tuple):
        for part in thing:
            yield from _modules(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        yield type(thing).__module__
        for field in fields(thing):
            yield from _modules(getattr(thing, field.name))
    elif callable(thing):
        yield getattr(thing, "__module__", "builtins")

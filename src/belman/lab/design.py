"""What is to be played: players, problem, horizon, runs, seed; cut into tasks for any executor."""

from __future__ import annotations

import functools
import json
import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import metadata
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from belman import spec
from belman.engine.cache import source_digest
from belman.errors import BelmanError
from belman.problems.problem import Problem
from belman.version import __version__

Results = TypeVar("Results")

_EVERY_TURN = 1_000  # turns up to which every one is a checkpoint
_SPACED = 500  # checkpoints after that, equally spaced in ln t
_TASK_TURNS = 65_536  # turns of one task, about: a fraction of a second


def checkpoints(horizon: int) -> NDArray[np.int64]:
    """Every turn up to 1,000, then 500 equally spaced in ln t: 30 KB a run, whatever the horizon.

    >>> checkpoints(3).tolist(), len(checkpoints(10**6))
    ([1, 2, 3], 1500)
    """
    early = np.arange(1, min(horizon, _EVERY_TURN) + 1)
    if horizon <= _EVERY_TURN:
        return early
    late = np.rint(np.geomspace(_EVERY_TURN, horizon, _SPACED + 1)).astype(np.int64)
    return np.unique(np.concatenate([early, late]))


class Field(NamedTuple):
    """One array of results: its dims after the run, the kind of its numbers, and what they mean."""

    dims: tuple[str, ...]
    dtype: DTypeLike
    words: str


Sizes = Mapping[str, int]  # of the dimensions
Stop = NDArray[np.int64]  # one number: kernels end soon after it is no longer 0


def blank(
    record: Callable[..., Results], fields: Mapping[str, Field], runs: int, sizes: Sizes
) -> Results:
    """The record of some runs, with zeros in every field.

    >>> fields = {"plays": Field(("arm",), np.int32, "plays at the end")}
    >>> blank(lambda plays: plays, fields, 4, {"arm": 3}).shape
    (4, 3)
    """
    shapes = [(runs, *(sizes[dim] for dim in field.dims)) for field in fields.values()]
    return record(*map(np.zeros, shapes, [field.dtype for field in fields.values()]))


class Task(NamedTuple):
    """Some runs of one player."""

    player: int
    first: int
    runs: int


@dataclass(frozen=True)
class Design(ABC):
    """Something to be played: how it is run, and what is kept of it, is up to its kind."""

    players: Mapping[str, Any]
    problem: Problem
    horizon: int
    runs: int
    seed: int

    @property
    @abstractmethod
    def fields(self) -> Mapping[str, Field]:
        """The arrays of results, by name."""

    @abstractmethod
    def runner(self, player: Any) -> Any:
        """Who runs the player: its `play(first, runs, seed, stop)` gives some runs, or None."""

    @abstractmethod
    def blank(self, runs: int) -> Any:
        """Room for the results of some runs: a NamedTuple of arrays, runs first."""

    @property
    def chunk(self) -> int:
        """Runs of one task: by the horizon alone, so that a store fits whoever resumes it."""
        return max(1, _TASK_TURNS // self.horizon)

    def tasks(self) -> Iterator[Task]:
        """All tasks, the players taking turns, so that early results show all of them."""
        for first in range(0, self.runs, self.chunk):
            for player in range(len(self.players)):
                yield Task(player, first, min(self.chunk, self.runs - first))

    def describe(self) -> dict[str, Any]:
        """The design as plain data; equal descriptions mean equal results."""
        return spec.describe(self)

    def attributes(self) -> dict[str, Any]:
        """What a result says of where it comes from."""
        players = {name: _in_words(player) for name, player in self.players.items()}
        return {
            "seed": self.seed,
            "horizon": self.horizon,
            "problem": json.dumps({**_in_words(self.problem), **self.problem.findings}),
            "players": json.dumps(players),
            "versions": json.dumps(versions()),
        }


def _in_words(part: Any) -> dict[str, Any]:
    """The description of a player or problem, or how it prints where it has none."""
    try:
        return spec.describe(part)
    except BelmanError:
        return {"repr": repr(part)}


@functools.cache
def versions() -> dict[str, str]:
    """What the numbers were made with."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
    return {"belman": __version__, "python": platform.python_version(), **libraries}


def sources(*played: Any) -> str:
    """The digest of the code behind what is played: the package's, and that of a user's own."""
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

"""What is to be played: players, problem, horizon, runs, seed; cut into tasks for any executor."""

from __future__ import annotations

import functools
import json
import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from belman import chance, spec
from belman.engine.cache import source_digest
from belman.errors import BelmanError
from belman.problems.problem import Problem
from belman.version import __version__

if TYPE_CHECKING:
    import xarray

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
    """One array of results: its dims after the run, and what its numbers mean."""

    dims: tuple[str, ...]
    words: str


@functools.cache
def fields_of(record: Any) -> dict[str, tuple[Field, Any]]:
    """The fields of a record of results, each with the kind of its numbers, by its annotations."""
    hints = get_type_hints(record, include_extras=True)
    parts = {name: get_args(hint) for name, hint in hints.items()}
    return {
        name: (field, get_args(get_args(array)[1])[0]) for name, (array, field) in parts.items()
    }


Sizes = Mapping[str, int]  # of the dimensions
Stop = NDArray[np.int64]  # one number: kernels end soon after it is no longer 0


def blank(record: Callable[..., Results], runs: int, sizes: Sizes) -> Results:
    """The record of some runs, with zeros in every field."""
    return record(
        *(
            np.zeros((runs, *(sizes[dim] for dim in field.dims)), dtype)
            for field, dtype in fields_of(record).values()
        )
    )


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

    @abstractmethod
    def runner(self, player: Any) -> Any:
        """Who runs the player: its `play(results, first, seed, stop)` fills results from a run on,
        by the words of a seed, and says how many runs ended before a stop.
        """

    @property
    @abstractmethod
    def record(self) -> Callable[..., Any]:
        """The NamedTuple of the arrays of results, runs first, each annotated with its `Field`."""

    @property
    def marks(self) -> NDArray[np.int64]:
        """The turns at which curves are kept."""
        return checkpoints(self.horizon)

    def blank(self, runs: int) -> Any:
        """Room for the results of some runs."""
        sizes = {**self.problem.sizes, "turn": len(self.marks)}
        return blank(self.record, runs, sizes)

    def play(self, player: Any, first: int, runs: int, stop: Stop) -> Any:
        """The results of some runs of a player, or None if a stop came before they were finished.

        No runs at all compile the player.
        """
        results = self.blank(runs)
        done = self.runner(player).play(results, first, chance.generator(self.seed), stop)
        return results if done == runs else None

    def dataset(self, whole: Any) -> xarray.Dataset:
        """All results, of players and runs, with what they mean and where they come from."""
        import xarray

        variables = {
            name: (("player", "run", *field.dims), array, {"long_name": field.words})
            for (name, (field, _)), array in zip(fields_of(self.record).items(), whole, strict=True)
        }
        used = {dim for dims, _, _ in variables.values() for dim in dims}
        # xarray keeps a variable with the name of a dim, such as the queue of several queues, in
        # place of its labels
        own = {
            dim: np.arange(size)
            for dim, size in self.problem.sizes.items()
            if dim in used - variables.keys()
        }
        coords = {"player": list(self.players), "run": np.arange(self.runs), "turn": self.marks}
        return xarray.Dataset(variables, coords={**coords, **own}, attrs=self.attributes())

    @property
    def chunk(self) -> int:
        """Runs of one task: by the horizon alone, so that any process can resume a store."""
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
    """The modules of the classes and functions that something is made from."""
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

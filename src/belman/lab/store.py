"""Results on disk: a Zarr group that grows task by task, so that it can be resumed.

A task counts as done once its data are on the disk and its mark, with their checksum, is written;
what has no mark, does not match it, or cannot be read, is done again. Several processes may start
and fill one store: they write the same numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from belman.errors import StateError, needing
from belman.files import sync, write_atomically, write_new
from belman.lab.design import Design, Task, fields_of, sources

_DESIGN = "belman-design.json"
_MARKS = "belman-done"


class Store:
    """The results of one design in a directory."""

    def __init__(self, path: str | Path, design: Design) -> None:
        with needing("store=…", "store", "zarr"):
            import zarr
        self._path = Path(path)
        self._chunk = design.chunk
        self._claim(design)
        blank = design.blank(0)
        self._kind = type(blank)
        self._arrays: dict[str, Any] = {}
        with _alone(self._path / _DESIGN):
            try:
                group = zarr.open_group(str(self._path), mode="a")
                for name, array in blank._asdict().items():
                    self._arrays[name] = group.require_array(
                        name,
                        shape=(len(design.players), design.runs, *array.shape[1:]),
                        chunks=(1, design.chunk, *array.shape[1:]),
                        dtype=array.dtype,
                        dimension_names=("player", "run", *fields_of(design.record)[name][0].dims),
                    )
            except Exception as error:  # of whatever kind: Zarr's codecs and JSON have their own
                damage = f"{type(error).__name__}: {error} (remove it, or choose another path)"
                raise StateError(f"store {self._path} cannot be opened: {damage}") from error

    def _claim(self, design: Design) -> None:
        """Take an empty directory for this design, or make sure that it is this design's."""
        record = self._path / _DESIGN
        code = {"sources": sources(design.players, design.problem)}
        wanted = json.loads(json.dumps(design.describe() | code))
        store = f"store {self._path}"
        if not record.exists():
            self._result(record, json.dumps(wanted, indent=1), store)
        try:
            result = dict(json.loads(record.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            damage = f"is damaged: {_DESIGN} is not JSON (choose another path)"
            raise StateError(f"{store} {damage}") from None
        differing = [name for name in wanted | result if result.get(name) != wanted.get(name)]
        if differing == ["sources"]:
            raise StateError(
                f"{store} was made by other code than that of now, whose results may differ "
                "(choose another path, or remove it to play again)"
            )
        if differing:
            names = f"it differs in {', '.join(differing)} (choose another path)"
            raise StateError(f"{store} belongs to another design: {names}")

    def _result(self, record: Path, design: str, store: str) -> None:
        """Write the design into a new directory, or one that a process made and then was killed.

        Of several processes, the first one's design stays.
        """
        own = (_MARKS, f".{_DESIGN}.")
        if self._path.exists() and (
            not self._path.is_dir()
            or any(not path.name.startswith(own) for path in self._path.iterdir())
        ):
            if record.exists():  # another process was quicker
                return
            kept = "nothing was overwritten (choose another path)"
            raise StateError(f"{store} exists and is not a store of belman: {kept}")
        (self._path / _MARKS).mkdir(parents=True, exist_ok=True)
        write_new(record, design)

    def _mark(self, task: Task) -> Path:
        return self._path / _MARKS / f"{task.player}-{task.first}"

    def _slice(self, task: Task) -> tuple[int, slice]:
        return task.player, slice(task.first, task.first + task.runs)

    def write(self, task: Task, results: Any) -> None:
        """Keep the results of a task; its mark comes last."""
        for name, array in results._asdict().items():
            self._arrays[name][self._slice(task)] = array
            self._sync(name, task)
        write_atomically(self._mark(task), _checksum(results))

    def _sync(self, name: str, task: Task) -> None:
        """Wait until the chunks of a task are on the disk (Zarr keeps them in c/player/chunk/…)."""
        array = self._path / name / "c"
        for number in range(task.first // self._chunk, -(-(task.first + task.runs) // self._chunk)):
            chunks = array / str(task.player) / str(number)
            for path in (*chunks.rglob("*"), chunks, chunks.parent, array, array.parent):
                with contextlib.suppress(OSError):  # a chunk of zeros is not written
                    sync(path)

    def read(self, tasks: list[Task]) -> Iterator[tuple[Task, Any]]:
        """What is there already and whole."""
        for task in tasks:
            if self._mark(task).exists() and (results := self._readable(task)) is not None:
                yield task, results

    def _readable(self, task: Task) -> Any:
        """The results of a task as they were marked, or None."""
        where, arrays = self._slice(task), self._arrays.values()
        try:
            results = self._kind(*(np.asarray(array[where]) for array in arrays))
            marked = self._mark(task).read_text(encoding="utf-8")
        except Exception:  # whatever a codec makes of damaged bytes
            return None
        return results if marked == _checksum(results) else None


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time, where files can be locked; a lock goes with its process."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("rb") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _checksum(results: Any) -> str:
    digest = hashlib.sha256()
    for array in results:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

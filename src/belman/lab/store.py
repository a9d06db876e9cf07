"""Results on disk: a Zarr group that grows task by task, so that it can be resumed.

A task counts as done once its mark, with the checksum of its data, is written; what has no mark, or
does not match it, is done again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from belman.errors import StateError, needing
from belman.files import write_atomically
from belman.lab.design import Design, Task, sources

_DESIGN = "belman-design.json"
_MARKS = "belman-done"


class Store:
    """The results of one design in a directory."""

    def __init__(self, path: str | Path, design: Design) -> None:
        with needing("store=…", "store", "zarr"):
            import zarr
        self._path = Path(path)
        self._claim(design)
        group = zarr.open_group(str(self._path), mode="a")
        blank = design.blank(0)
        self._kind = type(blank)
        self._arrays: dict[str, Any] = {}
        for name, array in blank._asdict().items():
            self._arrays[name] = group.require_array(
                name,
                shape=(len(design.players), design.runs, *array.shape[1:]),
                chunks=(1, design.chunk, *array.shape[1:]),
                dtype=array.dtype,
                dimension_names=("player", "run", *design.fields[name].dims),
            )

    def _claim(self, design: Design) -> None:
        """Take an empty directory for this design, or make sure that it is this design's."""
        record = self._path / _DESIGN
        code = {"sources": sources(design.players, design.problem)}
        wanted = json.loads(json.dumps(design.describe() | code))
        store = f"store {self._path}"
        if record.exists():
            try:
                found = json.loads(record.read_text(encoding="utf-8"))
            except json.JSONDecodeError:
                damage = f"is damaged: {_DESIGN} is not JSON (choose another path)"
                raise StateError(f"{store} {damage}") from None
            differing = [name for name in wanted | found if found.get(name) != wanted.get(name)]
            if differing == ["sources"]:
                raise StateError(
                    f"{store} was made by other code than that of now, whose results may differ "
                    "(choose another path, or remove it to play again)"
                )
            if differing:
                names = f"it differs in {', '.join(differing)} (choose another path)"
                raise StateError(f"{store} belongs to another design: {names}")
            return
        if self._path.exists() and (not self._path.is_dir() or any(self._path.iterdir())):
            kept = "nothing was overwritten (choose another path)"
            raise StateError(f"{store} exists and is no store of belman: {kept}")
        (self._path / _MARKS).mkdir(parents=True)
        write_atomically(record, json.dumps(wanted, indent=1))

    def _mark(self, task: Task) -> Path:
        return self._path / _MARKS / f"{task.player}-{task.first}"

    def _slice(self, task: Task) -> tuple[int, slice]:
        return task.player, slice(task.first, task.first + task.runs)

    def write(self, task: Task, results: Any) -> None:
        """Keep the results of a task; its mark comes last."""
        for name, array in results._asdict().items():
            self._arrays[name][self._slice(task)] = array
        write_atomically(self._mark(task), _checksum(results))

    def read(self, tasks: list[Task]) -> Iterator[tuple[Task, Any]]:
        """What is there already and whole."""
        for task in tasks:
            mark = self._mark(task)
            if mark.exists():
                where, arrays = self._slice(task), self._arrays.values()
                results = self._kind(*(np.asarray(array[where]) for array in arrays))
                if mark.read_text(encoding="utf-8") == _checksum(results):
                    yield task, results


def _checksum(results: Any) -> str:
    digest = hashlib.sha256()
    for array in results:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

"""Compile generated modules into the cache: `python -m belman.engine.precompile PATH …`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from belman.engine.cache import load


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Of several processes that compile for one cache, one at a time: the others find its work."""
    try:
        import fcntl
    except ImportError:  # elsewhere than on Unix each does its own
        yield
        return
    with open(folder / "compiling.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(paths: list[str]) -> None:
    """Compile the modules at these paths."""
    for path in map(Path, paths):
        with _alone(path.parent):
            load(path)


if __name__ == "__main__":
    main(sys.argv[1:])

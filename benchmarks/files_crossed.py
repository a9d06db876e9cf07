"""How many files of the package a call goes through: a study's ask and tell with a window, a batch
that is observed, and an ask in a context with its tell.

`python -m benchmarks.files_crossed [--list]`. A file counts where Python enters one of its
functions between the call of a person and its answer, once warm: after the same calls were made a
few times, with compiled kernels (what compiled code calls does not count, nor what a module does
when it is imported). Windows of earlier tickets close at every call, as they do in a study that
runs, and rows have attributes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import belman
from belman.studies import Storage, open_study
from benchmarks.claim import Claim, report

HOME = Path(belman.__file__).parent
ARMS = ["a", "b", "c"]
WARM = 5
#: Files that each call may go through.
LIMITS = {"ask and tell with a window": 22, "observe": 24, "ask and tell in a context": 24}
#: What is done ahead of a call, and the call.
Making = Callable[[Storage], tuple[Callable[[], Any], Callable[[Any], Any]]]


class Clock:
    """A time that goes by minutes."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def files_of(ahead: Callable[[], Any], call: Callable[[Any], Any]) -> Counter[str]:
    """The files whose functions a call enters, and how often."""
    for _ in range(WARM):
        call(ahead())
    given = ahead()
    result: Counter[str] = Counter()

    def enter(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            result[frame.f_code.co_filename] += 1

    sys.setprofile(enter)
    try:
        call(given)
    finally:
        sys.setprofile(None)
    ours = {Path(name): count for name, count in result.items() if name.startswith(str(HOME))}
    return Counter({str(path.relative_to(HOME)): count for path, count in ours.items()})


def pairs(
    storage: Storage, name: str, settings: dict[str, Any], asked: dict[str, Any]
) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    clock = Clock()
    study = open_study(name, ARMS, storage=storage, seed=1, window=60, clock=clock, **settings)

    def ahead() -> None:
        clock.now += 100.0

    def call(_: Any) -> None:
        study.tell(study.ask(**asked), 1.0)

    return ahead, call


def pair(storage: Storage) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return pairs(storage, "pair", {}, {})


def in_context(storage: Storage) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    asked = {"context": {"country": "fr", "age": 30}}
    return pairs(storage, "context", {"context": ["country", "age"]}, asked)


def batch(storage: Storage) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    clock, made = Clock(), count()
    study = open_study("batch", ARMS, storage=storage, seed=1, window=60, clock=clock)
    weights = study.publish(1_000)

    def ahead() -> list[tuple[Any, ...]]:
        clock.now += 100.0
        units = [f"unit {next(made)}" for _ in range(10)]
        arms = [belman.assign(weights, unit).arm for unit in units]
        device = {"device": "phone"}
        return [
            (unit, weights.version, arm, 1.0, clock.now - 10.0, device)
            for unit, arm in zip(units, arms, strict=True)
        ]

    return ahead, study.observe


CALLS: dict[str, Making] = dict(zip(LIMITS, (pair, batch, in_context), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="Files of the package that a call goes through.")
    parser.add_argument("--list", action="store_true", help="name them, the busiest first")
    chosen = parser.parse_args()
    claims = []
    with tempfile.TemporaryDirectory() as folder:
        storage = Storage(f"sqlite:///{folder}/studies.db?synchronous=normal")
        for name, make in CALLS.items():
            result = files_of(*make(storage))
            claims.append(Claim(name, len(result), LIMITS[name], "files"))
            for path, calls in result.most_common() if chosen.list else ():
                print(f"{name}: {calls:4} calls in {path}")
        storage.close()
    report("files that a call goes through", claims)


if __name__ == "__main__":
    main()

"""A table of past data: one row a decision, with an arm, a reward, and perhaps a time and more."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import frames
from belman.frames import Frame

Floats = NDArray[np.float64]


class PastData(NamedTuple):
    """Rows in the order of their time: arms, rewards (NaN where none was told), attributes."""

    arms: NDArray[np.str_]
    rewards: Floats
    attributes: dict[str, NDArray[np.str_]]

    @property
    def names(self) -> list[str]:
        """The arms, in the order in which they first appear."""
        found, first = np.unique(self.arms, return_index=True)
        return [str(name) for name in found[np.argsort(first)]]


def title(path: Path) -> str:
    """What a page or a line calls a table."""
    return "standard input" if str(path) == "-" else path.name


def table(path: Path) -> Frame:
    """Read the table that an argument names: a file, or standard input for `-`."""
    return frames.read(given(path))


def given(path: Path) -> Path | IO[bytes]:
    """The file that an argument names: standard input for `-`."""
    return sys.stdin.buffer if str(path) == "-" else path


def read(path: Path, arm: str, reward: str, time: str, attributes: Sequence[str]) -> PastData:
    """Read arms, rewards and attributes, in the order of time where there is such a column."""
    frame = table(path)
    frame.require(arm, reward, *attributes)
    found = PastData(
        np.array(frame.names(arm)),
        frame.numbers(reward, missing=True),
        {name: np.array([text or "" for text in frame.texts(name)]) for name in attributes},
    )
    if time not in frame:
        return found
    order = np.argsort(frame.times(time), kind="stable")
    split = {name: values[order] for name, values in found.attributes.items()}
    return PastData(found.arms[order], found.rewards[order], split)

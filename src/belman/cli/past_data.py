"""A CSV of past data: one line a ticket, with an arm, a reward, and perhaps a time and more."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError, listing, nearest

Floats = NDArray[np.float64]


class PastData(NamedTuple):
    """Lines in the order of their time: arms, rewards (NaN where none was told), attributes."""

    arms: NDArray[np.str_]
    rewards: Floats
    attributes: dict[str, NDArray[np.str_]]

    @property
    def names(self) -> list[str]:
        """The arms, in the order in which they first appear."""
        found, first = np.unique(self.arms, return_index=True)
        return [str(name) for name in found[np.argsort(first)]]


def read(path: Path, arm: str, reward: str, time: str, attributes: Sequence[str]) -> PastData:
    """Read a file; a line that cannot be is refused with its number."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file)
            columns = list(lines.fieldnames or [])
            for name in (arm, reward, *attributes):
                if name not in columns:
                    there = f"it has {listing(columns) or 'none'}{nearest(name, columns)}"
                    raise SettingError(f"{path} has no column {name!r}: {there}")
            rows = [(number, line) for number, line in enumerate(lines, start=2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"{path} cannot be read: {error}") from None
    if not rows:
        raise SettingError(f"{path} has no rows below its header")
    if time in columns:
        rows = _by_time(rows, time, path)
    return PastData(
        np.array([line[arm] or "" for _, line in rows]),
        np.array([_number(line[reward], number, reward, path) for number, line in rows]),
        {name: np.array([line[name] or "" for _, line in rows]) for name in attributes},
    )


def _number(text: str | None, number: int, column: str, path: Path) -> float:
    if text is None or not text.strip():
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        value = float("inf")
    if not np.isfinite(value):
        allowed = "a number, or nothing where no reward came"
        raise SettingError(f"{path}, line {number}: {column} {text!r} is not {allowed}")
    return value


def _by_time(
    rows: list[tuple[int, dict[str, str]]], time: str, path: Path
) -> list[tuple[int, dict[str, str]]]:
    def moment(row: tuple[int, dict[str, str]]) -> float:
        number, line = row
        text = (line[time] or "").strip()
        try:
            return float(text)
        except ValueError:
            pass
        try:
            return datetime.fromisoformat(text).timestamp()
        except (ValueError, OverflowError):
            allowed = "seconds, or a date such as 2024-05-01T12:30:00"
            raise SettingError(f"{path}, line {number}: {time} {text!r} is not {allowed}") from None

    return sorted(rows, key=moment)

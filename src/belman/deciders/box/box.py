"""A box of numbers to choose from, each within its range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError, listing, nearest

Floats = NDArray[np.float64]

MOST_SIDES = 10
#: Columns of tables about points, which no side is called.
TAKEN = ("reward", "rewards", "expected", "low", "high", "deviation", "index")


class Box:
    """One to ten named numbers, each between a lowest and a highest value.

    Parameters
    ----------
    sides
        For each name its lowest and highest value.

    >>> box = Box(price=(5, 20))
    >>> box.point([0.5])
    {'price': 12.5}
    >>> box.position({"price": 20})
    array([1.])
    """

    def __init__(self, **sides: tuple[float, float]) -> None:
        if not 1 <= len(sides) <= MOST_SIDES:
            why = f"a box has one to {MOST_SIDES} sides, and this one {len(sides)}"
            raise SettingError(f"{why}: write Box(price=(5, 20))")
        for name in sides:
            if name in TAKEN:
                raise SettingError(f"no side is called {name!r}: tables have a column of that name")
        self.sides = {name: _checked_side(name, side) for name, side in sides.items()}

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{name}=({low:g}, {high:g})" for name, (low, high) in self.sides.items()
        )
        return f"Box({inside})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and list(self.sides.items()) == list(other.sides.items())

    def __hash__(self) -> int:
        return hash(tuple(self.sides.items()))

    def __len__(self) -> int:
        return len(self.sides)

    def point(self, position: Any) -> dict[str, float]:
        """Convert a place in the unit cube to named numbers.

        Parameters
        ----------
        position
            Coordinates from 0 to 1, in the order of the sides.

        Returns
        -------
        dict
            The numbers by name.
        """
        return {
            name: min(max(low + (high - low) * float(at), low), high)
            for (name, (low, high)), at in zip(self.sides.items(), position, strict=True)
        }

    def position(self, point: Mapping[str, float]) -> Floats:
        """Convert named numbers to a place in the unit cube.

        Parameters
        ----------
        point
            The numbers by name.

        Returns
        -------
        ndarray
            Coordinates from 0 to 1.

        Raises
        ------
        SettingError
            If a number is missing or outside of its side.
        """
        if not isinstance(point, Mapping):
            raise SettingError(f"{point!r} is not a point of {self!r}: give a number for each side")
        for name in point:
            if name not in self.sides:
                known = f"this box has {listing(list(self.sides))}{nearest(name, self.sides)}"
                raise SettingError(f"unknown side {name!r}: {known}")
        missing = [name for name in self.sides if name not in point]
        if missing:
            raise SettingError(
                f"{dict(point)!r} is not a point of {self!r}: {missing[0]!r} is missing"
            )
        return np.array([_checked_at(name, side, point[name]) for name, side in self.sides.items()])


def _checked_side(name: str, side: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in side)
    except (TypeError, ValueError):
        raise SettingError(f"{name}={side!r} is not a side: give (low, high)") from None
    if not (
        math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)
    ):
        raise SettingError(
            f"{name}={side!r} is not a side: give two finite numbers, low below high"
        )
    return low, high


def _checked_at(name: str, side: tuple[float, float], value: Any) -> float:
    low, high = side
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise SettingError(f"{name}={value!r} is outside: it goes from {low:g} to {high:g}")
    return (float(value) - low) / (high - low)

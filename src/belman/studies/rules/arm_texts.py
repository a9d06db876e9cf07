"""Arms by their names as text, since a file may know no other: no two are ever taken for one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from belman.errors import ArmError, listing
from belman.frames import Frame
from belman.table import harmless


class ArmTexts:
    """What the cells of a file may stand for.

    >>> arms = ArmTexts(["blue", 1, "1"])
    >>> arms.meant("blue"), arms.meant("int:1"), arms.meant("1")
    (['blue'], [1], [1, '1'])
    """

    def __init__(self, arms: Iterable[Hashable]) -> None:
        self._readings: dict[str, list[Hashable]] = {}
        self._own: dict[Any, Hashable] = {}
        for arm in arms:
            self._own[type(arm), arm] = arm
            for text in {*_ways(arm), *map(harmless, _ways(arm))}:
                self._readings.setdefault(text, []).append(arm)

    def meant(self, cell: Any, typed: bool = False) -> list[Hashable]:
        """The arms that a cell may stand for; a number stands for itself, and so does a text where
        the file tells both apart (`typed`).
        """
        if isinstance(cell, (int, float, str) if typed else (int, float)):
            exact = self._own.get((type(cell), cell))
            if exact is not None:
                return [exact]
        return self._readings.get(str(cell), [])

    def check_one(self, cell: Any, meant: Sequence[Hashable], where: str) -> None:
        """Refuse a text that may be one of several arms."""
        if len(meant) > 1:
            remedy = f"write {listing(_ways(arm)[1] for arm in meant)}"
            raise ArmError(f"{where}: {cell!r} may be {listing(meant)}: {remedy}")

    def column(self, frame: Frame, name: str = "arm") -> list[Any]:
        """The arms that a column of a file names; what may be several is refused, and what is none
        stays the cell that it is.
        """
        known: dict[tuple[type, str], Any] = {}
        found = []
        for i, cell in enumerate(frame.cells(name), start=1):
            key = (type(cell), str(cell))
            if key not in known:
                meant = self.meant(cell, frame.typed)
                self.check_one(cell, meant, f"{frame.source}, row {i}")
                known[key] = meant[0] if meant else cell
            found.append(known[key])
        return found

    def text(self, arm: Hashable) -> str:
        """The name of an arm in a file, its kind in front (int:1) where two would read alike."""
        for way in _ways(arm):
            if len(self._readings[way]) == len(self._readings[harmless(way)]) == 1:
                return way
        others = listing(self._readings[str(arm)])
        raise ArmError(f"arm {arm!r} cannot be told from others in a file: {others}")


def _ways(arm: Hashable) -> tuple[str, str]:
    """An arm as text, and with its kind in front."""
    return str(arm), f"{type(arm).__name__}:{arm}"

"""Arms by their names as text, since a file may know no other: no two are ever taken for one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from belman.errors import ArmError, listing, nearest
from belman.frames import Frame, refusal
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
        text = str(cell)
        return self._readings.get(text) or self._readings.get(text.strip(), [])

    def column(self, frame: Frame, name: str, rows: Sequence[int] | None = None) -> list[Hashable]:
        """The arms that a column names, or `rows` of it, counted from 0; a cell that may be several
        arms is refused, and so is one that is none.
        """
        cells = frame.cells(name)
        chosen = range(len(cells)) if rows is None else rows
        given = [cells[i] for i in chosen]
        keys = [cell if type(cell) is str else (type(cell), str(cell)) for cell in given]
        found = {
            key: self.meant(cell, frame.typed)
            for key, cell in dict(zip(keys, given, strict=True)).items()
        }

        def say(i: int) -> str:
            meant, arms = self.meant(cells[i], frame.typed), list(self._own.values())
            if not meant:
                there = f"this study knows {listing(arms)}{nearest(cells[i], arms)}"
                return f"row {i + 1}: unknown arm {cells[i]!r}: {there}"
            remedy = f"write {listing(_ways(arm)[1] for arm in meant)}"
            return f"row {i + 1}: {cells[i]!r} may be {listing(meant)}: {remedy}"

        if any(len(meant) != 1 for meant in found.values()):
            wrong = [i for i, key in zip(chosen, keys, strict=True) if len(found[key]) != 1]
            raise refusal(frame.source, wrong, say, ArmError)
        return [found[key][0] for key in keys]

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

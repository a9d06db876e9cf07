"""One life of a study as lines of code, which all worlds answer; and the fewest of these lines that
still tell two worlds apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tests.studies.conftest import Clock
from tests.studies.worlds import Places, World, plain

REFUSED = object()
KEEP, ALONE, WAIT, EVERY = "t += ", "first.", "clock.now += ", "  # a snapshot every {} events"


class DifferenceError(AssertionError):
    """Two worlds that differ, and the calls that led there."""


class Life:
    """A study in all worlds, and its script so far: how it was opened, and a call a line.

    A line is a call, which may give tickets (`t += …`), a call in the first world alone
    (`first.…`), or time that passes (`clock.now += …`).
    """

    def __init__(self, positions: Places, code: str, every: int) -> None:
        self.clock = Clock()
        self.worlds = positions.worlds(self.clock, every)
        self.positions, self.code, self.every = positions, code, every
        self.script: list[str] = []
        self.is_broken = False
        for world in self.worlds:
            world.begin(code)

    def line(self, text: str) -> Any:
        """Do what a line says: what all worlds answer, or REFUSED."""
        self.script.append(text)
        if text.startswith(WAIT):
            self.clock.now += float(text.removeprefix(WAIT))
        elif text.startswith(ALONE):
            self._answer(self.worlds[0], f"study.{text.removeprefix(ALONE)}")
        else:
            return self._call(text)
        return None

    def _call(self, text: str) -> Any:
        code = text.removeprefix(KEEP)
        answers = [self._answer(world, code) for world in self.worlds]
        how, first = answers[0]
        for world, answer in zip(self.worlds, answers, strict=True):
            if plain(answer) != plain(answers[0]):
                titles = self.worlds[0].title, world.title
                raise self._failed(
                    f"{titles[0]}: {plain(answers[0])}\n{titles[1]}: {plain(answer)}"
                )
            if code != text and how == "gives":
                world.names["t"] += answer[1] if isinstance(answer[1], list) else [answer[1]]
        return first if how == "gives" else REFUSED

    def _answer(self, world: World, code: str) -> tuple[str, Any]:
        try:
            return world.answer(code)
        except Exception as error:
            raise self._failed(f"{world.title}: {type(error).__name__}: {error}") from error

    def _failed(self, what: str) -> DifferenceError:
        self.is_broken = True
        begun = f"study = {self.code}{EVERY.format(self.every)}"
        return DifferenceError("\n" + "\n".join([begun, *self.script, what]))


def shrunk(life: Life, seconds: float = 60.0) -> DifferenceError | None:
    """Return what the fewest lines of a broken life show that are found in this time."""
    until = time.monotonic() + seconds
    script, result = life.script, None
    size = max(len(script) // 2, 1)
    while time.monotonic() < until:
        for at in range(len(script) - size, -1, -size):
            fewer = script[:at] + script[at + size :]
            difference = _shown(life, fewer) if fewer else None
            if difference is not None:
                script, result = fewer, difference
        if size == 1:
            break
        size //= 2
    return result


def _shown(life: Life, script: Sequence[str]) -> DifferenceError | None:
    """Return what a script shows that is lived once more, if it is more than a missing ticket."""
    name = life.code.split("'")[1]
    life.positions.others += 1
    again = Life(
        life.positions, life.code.replace(name, f"{name}/{life.positions.others}", 1), life.every
    )
    try:
        for text in script:
            again.line(text)
    except DifferenceError as difference:
        return None if isinstance(difference.__cause__, IndexError) else difference
    return None

"""Which candidates may stand in a slot, so that no later slot has to stay empty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise


class Filling:
    """Slots to be filled one after another, and the candidates that may stand in each.

    A plan is kept at hand in which every slot that is left has a candidate of its own. One may be
    taken out of it if whoever has it in the plan can have another one instead, and so on.

    >>> filling = Filling([[0, 1, 2], [0, 1], [0]])
    >>> filling.choices(0)
    [2]
    >>> filling.take(2)
    >>> filling.choices(1)
    [1]
    """

    def __init__(self, among: Sequence[Sequence[int]]) -> None:
        self._among, self._taken = among, set[int]()
        self._slots = defaultdict[int, list[int]](list)  # in which each candidate may stand
        for slot, own in enumerate(among):
            for one in own:
                self._slots[one].append(slot)
        self._holder: dict[int, int] = {}  # the slot of a candidate, in the plan
        self.is_possible = all(self._position(slot, set()) for slot in range(len(among)))
        self._instead: dict[int, int | None] = {}

    def _position(self, slot: int, tried: set[int]) -> bool:
        """Put a slot into the plan, where that can be done by moving others."""
        for one in self._among[slot]:
            if one not in tried:
                tried.add(one)
                if one not in self._holder or self._position(self._holder[one], tried):
                    self._holder[one] = slot
                    return True
        return False

    def choices(self, slot: int) -> list[int]:
        """Return the candidates that the next slot may have."""
        held = {slot: one for one, slot in self._holder.items()}
        del self._holder[held.pop(slot)]
        free = [one for one in self._slots if one not in self._holder and one not in self._taken]
        self._instead = dict.fromkeys(free)
        for one in free:  # which grows: whoever holds another may move here
            for other in self._slots[one]:
                given_up = held.get(other)
                if given_up is not None and given_up not in self._instead:
                    self._instead[given_up] = one
                    free.append(given_up)
        return [one for one in self._among[slot] if one in self._instead]

    def take(self, candidate: int) -> None:
        """Give a candidate to the slot whose choices were asked for."""
        moved = [candidate]
        while (following := self._instead[moved[-1]]) is not None:
            moved.append(following)
        for left, now in reversed(list(pairwise(moved))):
            self._holder[now] = self._holder.pop(left)
        self._taken.add(candidate)

"""Deciding by context at the edge: draws of coefficients, and the arm that is best in each of them.

A context is turned into *slots*: numbers in units of their deviations, logarithms, squares, levels.
An arm's value in a draw is the sum of its coefficients times the slots, and its chance the share of
draws in which it has the largest one, beside floors. Slots are whole multiples of 2⁻¹⁶ and
coefficients whole numbers of 16 bits, so that sums are exact, and every language finds the same.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .allotment import POINTS
from .refusals import WeightsError, shown

NUMBER, CATEGORY = "number", "category"
#: Kinds of slots: which values they take, and whether a centre and a spread, or a level, is behind.
CONSTANT, SQUARE, LOG, MISSING, LEVEL, OTHERS = (
    "constant", "square", "log", "missing", "level", "others",
)  # fmt: skip
SCALED, _REST = (NUMBER, SQUARE, LOG), (MISSING, OTHERS)
#: Draws × slots × arms, at most: 350 kB of text.
MOST_COEFFICIENTS = 2**17
ONE = 65_536
#: Deviations that a number and its square count at most; characters of a word, and a number.
FURTHEST, FURTHEST_SQUARE = 10.0, 3.0
LONGEST, LARGEST = 200, 1e12

Slot = tuple[Any, ...]
Points = list[int]


@dataclass(frozen=True)
class Contexts:
    """How a context is decided in.

    `names` are those that a context may have, with the kind of their values ("number", "category",
    None if no value was seen). `slots` are (kind, name, …) with a centre and a spread behind
    numbers, squares and logarithms, and a level behind "level". `coefficients` is the base64 text
    of whole numbers of 16 bits, the lowest byte first: slot by slot, in each draw by draw, in each
    arm by arm. The arm at `settled` gets its floor and no more, and of the rest the leader gets at
    most the share `most`, beside the arm at `control`.
    """

    names: Mapping[str, str | None]
    slots: tuple[Slot, ...]
    draws: int
    coefficients: str
    settled: int | None = None
    most: float = 1.0
    control: int | None = None
    arms: int = field(init=False, repr=False, compare=False)
    columns: list[array[int]] = field(init=False, repr=False, compare=False)
    positions: dict[Slot, int] = field(init=False, repr=False, compare=False)
    scaled: dict[str, list[tuple[int, Slot]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)
        scaled = dict[str, list[tuple[int, Slot]]]()
        for position, slot in enumerate(self.slots):
            if slot[0] in SCALED:
                scaled.setdefault(slot[1], []).append((position, slot))
        object.__setattr__(self, "scaled", scaled)
        object.__setattr__(self, "positions", {slot: at for at, slot in enumerate(self.slots)})
        try:
            numbers = array("h", base64.b64decode(self.coefficients, validate=True))
        except (ValueError, binascii.Error):
            raise WeightsError("the coefficients of this document are no numbers") from None
        if sys.byteorder == "big":
            numbers.byteswap()
        size, rest = divmod(len(numbers), len(self.slots))
        if rest or size % self.draws or not 0 < len(numbers) <= MOST_COEFFICIENTS:
            raise WeightsError("the coefficients of this document are not one a slot, draw and arm")
        columns = [
            numbers[position * size : (position + 1) * size] for position in range(len(self.slots))
        ]
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "arms", size // self.draws)

    def described(self) -> dict[str, Any]:
        """Return the part as plain data."""
        result = {part.name: getattr(self, part.name) for part in fields(self) if part.compare}
        return result | {"names": dict(self.names), "slots": [list(slot) for slot in self.slots]}

    @classmethod
    def from_described(cls, result: Any) -> Contexts:
        """Read plain data."""
        known = {part.name for part in fields(cls) if part.init}
        if not isinstance(result, dict) or not isinstance(result.get("slots"), list):
            raise WeightsError(f"contexts={shown(result)} are not valid: give slots and draws")
        if not all(isinstance(slot, list) for slot in result["slots"]):
            raise WeightsError("a slot of this document is not a list")
        given = {name: value for name, value in result.items() if name in known}
        try:
            return cls(**given | {"slots": tuple(map(tuple, result["slots"]))})
        except TypeError as error:
            raise WeightsError(f"contexts of this document lack something: {error}") from None

    # A context

    def check(self, context: object) -> dict[str, float | str]:
        """Return the values of a context that are not missing; WeightsError where one cannot be."""
        return values_in(self.names, context)

    def filled(self, context: object) -> list[tuple[int, int]]:
        """Return the slots of a context that are not 0: (place, number in units of 2⁻¹⁶)."""
        values = self.check(context)
        positions: list[int | None] = [self.positions.get((CONSTANT,))]
        result = []
        for name in self.names:
            value = values.get(name)
            if value is None:
                positions.append(self.positions.get((MISSING, name)))
            elif isinstance(value, str):
                others = self.positions.get((OTHERS, name))
                positions.append(self.positions.get((LEVEL, name, value), others))
            else:
                for position, (kind, _, *scale) in self.scaled.get(name, ()):
                    score = _standardised(kind, float(value), *scale)
                    result.append((position, math.floor(score * ONE + 0.5)))
        return result + [(position, ONE) for position in positions if position is not None]

    # Chances

    def counts(self, context: object, floors: Sequence[float]) -> Points:
        """Return the points of every arm in a context."""
        return self.points(self.wins(context), floors)

    def wins(self, context: object) -> list[int]:
        """Return in how many draws each arm is the best in a context; equals take turns."""
        values = [0] * (self.draws * self.arms)
        for position, number in self.filled(context):
            column = self.columns[position]
            values = [value + number * one for value, one in zip(values, column, strict=True)]
        result, free = [0] * self.arms, [arm for arm in range(self.arms) if arm != self.settled]
        for draw in range(self.draws):
            own = values[draw * self.arms : (draw + 1) * self.arms]
            best = max(own[arm] for arm in free)
            tied = [arm for arm in free if own[arm] == best]
            result[tied[draw % len(tied)]] += 1
        return result

    def points(self, wins: Sequence[int], floors: Sequence[float]) -> Points:
        """Turn the draws that each arm won into its points, with the floors added."""
        counts = [math.floor(floor * POINTS) for floor in floors]
        rest, shares = POINTS - sum(counts), self._capped(wins)
        total = 0.0
        for share in shares:
            total += share
        for arm, share in enumerate(shares):
            counts[arm] += math.floor(share / total * rest)
        free = [arm for arm in range(self.arms) if arm != self.settled]
        counts[max(free, key=lambda arm: shares[arm])] += POINTS - sum(counts)
        return counts

    def _capped(self, wins: Sequence[int]) -> list[float]:
        """Return shares, not yet adding up to 1; the leader's is capped at `most`."""
        shares = [float(won) for won in wins]
        free = [arm for arm in range(self.arms) if arm != self.settled]
        if self.most >= 1.0 or len(free) < 2:
            return shares
        if self.most * len(free) <= 1.0:
            return [float(arm in free) for arm in range(self.arms)]
        leader = max(free, key=lambda arm: shares[arm])
        if self.control in free and self.control != leader:
            least = shares[leader] * (1.0 - self.most) / self.most
            shares[self.control] = max(shares[self.control], least)
        elif shares[leader] > self.most * self.draws:
            more = (shares[leader] - self.most * self.draws) / (len(free) - 1)
            shares = [share + more if arm in free else 0.0 for arm, share in enumerate(shares)]
            shares[leader] = self.most * self.draws
        return shares


def values_in(names: Mapping[str, str | None], context: object) -> dict[str, float | str]:
    """Return the values of a context that are not missing; WeightsError where one cannot be."""
    if not isinstance(context, Mapping):
        raise WeightsError(f"context={shown(context)} is not valid: give {{name: value}}")
    result = dict[str, float | str]()
    for name, value in context.items():
        if name not in names:
            raise WeightsError(f"context has {shown(name)}: it has {', '.join(names)}")
        if value is None or value != value:
            continue
        if isinstance(value, bool):
            value = str(value)
        kind = CATEGORY if isinstance(value, str) else NUMBER
        fits = names[name] in (None, kind) and (
            len(value) <= LONGEST
            if isinstance(value, str)
            else isinstance(value, (int, float)) and abs(value) <= LARGEST
        )
        if not fits:
            allowed = f"a {names[name] or 'number or category'} of the study"
            raise WeightsError(f"{name}={shown(value)} is not allowed: it must be {allowed}")
        result[name] = value
    return result


def _standardised(kind: str, value: float, centre: float, spread: float) -> float:
    if kind == LOG:
        value = math.copysign(math.log1p(abs(value)), value)
    score = (value - centre) / spread
    if kind == SQUARE:
        near = min(abs(score), FURTHEST_SQUARE)
        return near * near - 1.0
    return min(max(score, -FURTHEST), FURTHEST)


def _is_number(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= 1e300  # type: ignore[arg-type]


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 2**31


def _check(made: Contexts) -> None:
    """Refuse what decides nothing."""
    kinds = (None, NUMBER, CATEGORY)
    names = made.names
    named = isinstance(names, Mapping) and all(
        isinstance(name, str) and any(kind is one or kind == one for one in kinds)
        for name, kind in names.items()
    )
    positions = all(one is None or _is_whole(one, 0) for one in (made.settled, made.control))
    for name, holds in (
        ("names", named),
        ("slots", named and _are_slots(made.slots, names)),
        ("draws", _is_whole(made.draws, 1)),
        ("coefficients", isinstance(made.coefficients, str)),
        ("most", _is_number(made.most) and 0.0 <= made.most <= 1.0),
        ("settled and control", positions),
    ):
        if not holds:
            raise WeightsError(f"{name} of the contexts of this document are not valid")


def _are_slots(slots: Sequence[Slot], names: Mapping[str, str | None]) -> bool:
    are = bool(slots) and all(_is_slot(slot, names) for slot in slots)
    return are and len(set(slots)) == len(slots)


def _is_slot(slot: Slot, names: Mapping[str, str | None]) -> bool:
    if not slot or not isinstance(slot[0], str):
        return False
    kind, *rest = slot
    if kind == CONSTANT:
        return not rest
    if not rest or not isinstance(rest[0], str) or rest[0] not in names:
        return False
    if kind in SCALED:
        return len(rest) == 3 and all(map(_is_number, rest[1:])) and rest[2] > 0.0
    if kind == LEVEL:
        return len(rest) == 2 and isinstance(rest[1], str)
    return kind in _REST and len(rest) == 1

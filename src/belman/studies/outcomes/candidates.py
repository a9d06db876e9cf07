"""The candidates of asks in the log: kept once, and referred to from then on.

An ask keeps a list: of a candidate that is new its features, and [number, place, count] for that
many candidates in a row which the ask of that number brought, from that place on of those that were
new in it. The candidate that was chosen is kept beside the list, so that a ticket and its reward
can be read from its event alone. A state knows the last 2,000 different candidates; one that 2,000
others have come after is kept again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from belman.codec import DERIVED, Count, Number
from belman.errors import StateError, StudyError
from belman.studies.log.event_log import Event, Kind

CANDIDATES, CANDIDATE, CHOSEN = "candidates", "candidate", "chosen"
#: Different candidates that can be referred to.
MOST = 2_000

Row = dict[str, Any]
Entry = Row | list[int]


@dataclass
class Catalogue:
    """Where in the log the candidates of late are.

    >>> catalogue = Catalogue()
    >>> tea, milk = {"price": 3.0}, {"price": 1.0}
    >>> catalogue.kept([tea, milk])
    [{'price': 3.0}, {'price': 1.0}]
    >>> catalogue.take(17, [tea, milk])
    [{'price': 3.0}, {'price': 1.0}]
    >>> catalogue.kept([tea, milk, {"price": 2.0}])
    [[17, 0, 2], {'price': 2.0}]
    >>> catalogue.take(18, [[17, 0, 2], {"price": 2.0}])
    [{'price': 3.0}, {'price': 1.0}, {'price': 2.0}]
    """

    #: By the number of the ask and the place in it, in the order in which they came.
    rows: dict[tuple[Number, Count], Any] = field(default_factory=dict)
    _positions: dict[str, tuple[int, int]] = field(default_factory=dict, metadata=DERIVED)

    def __post_init__(self) -> None:
        self._positions = {_text(row): position for position, row in self.rows.items()}
        if len(self._positions) != len(self.rows) or len(self.rows) > MOST:
            raise StateError("a snapshot knows candidates twice, or too many of them")

    def kept(self, candidates: Sequence[Row]) -> list[Entry]:
        """Return what the event of an ask keeps of its candidates."""
        result: list[Entry] = []
        for row in candidates:
            known = self._positions.get(_text(row))
            last = result[-1] if result else None
            if known is None:
                result.append(row)
            elif isinstance(last, list) and known == (last[0], last[1] + last[2]):
                last[2] += 1
            else:
                result.append([*known, 1])
        return result

    def take(self, number: int, kept: Sequence[Entry]) -> list[Row]:
        """Return the candidates of an ask, and know those that are new from now on."""
        result = _expanded(kept, lambda number, position: self.rows[number, position])
        new = [one for one in kept if not isinstance(one, list)]
        for position, row in enumerate(new):
            text = _text(row)
            if text not in self._positions:  # an ask may bring one twice
                self._positions[text] = number, position
                self.rows[number, position] = row
        while len(self.rows) > MOST:
            del self._positions[_text(self.rows.pop(next(iter(self.rows))))]
        return result


def whole(
    kept: Sequence[Entry], known: Catalogue, event_of: Callable[[int], Event | None]
) -> list[Row]:
    """Return the candidates of an ask: those that a catalogue knows, and others from the events
    that it refers to.
    """
    asks: dict[int, list[Row]] = {}

    def row_of(number: int, position: int) -> Row:
        if (number, position) in known.rows:
            row: Row = known.rows[number, position]
            return row
        if number not in asks:
            event = event_of(number)
            if event is None:
                raise StudyError(f"the candidates of event {number:,} are archived")
            assert event.kind == Kind.ASKED
            brought = event.content[CANDIDATES]
            asks[number] = [one for one in brought if not isinstance(one, list)]
        return asks[number][position]

    return _expanded(kept, row_of)


def _expanded(kept: Sequence[Entry], row_of: Callable[[int, int], Row]) -> list[Row]:
    result: list[Row] = []
    for one in kept:
        if isinstance(one, list):
            number, first, count = one
            result += [row_of(number, position) for position in range(first, first + count)]
        else:
            result.append(one)
    return result


def _text(row: Row) -> str:
    """Return what tells candidates apart: numbers to the last bit, and the sign of zero."""
    return json.dumps(row, ensure_ascii=False)

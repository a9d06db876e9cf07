"""What is asked of those who assigned units in the past, to say how likely each assignment was."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError, listing
from belman.frames import Frame

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Truths = NDArray[np.bool_]

#: Why a row has no lot, in the order in which one reason stands for several; 0 where it has one.
LOT = 0
REASONS = (
    "",
    "that no rule targets",
    "outside of a namespace or filter",
    "outside of the coverage",
    "with a forced value",
    "without a unit",
    "while there was no such feature",
)
TARGETING, NAMESPACE, COVERAGE, FORCED, NO_UNIT, NO_FEATURE = range(1, len(REASONS))


class Assigned(NamedTuple):
    """What some rows were given by one version: the name that every row should have seen, the
    chance of each name, by row, and the reason where no lot was drawn (`REASONS`, LOT is 0).

    `seen` are places among `names`, −1 where that cannot be told.
    """

    names: tuple[str, ...]
    seen: Whole
    chances: Floats
    reasons: Whole


class Past(Protocol):
    """Versions of rules by which units were assigned, in the order of time."""

    @property
    def times(self) -> Sequence[float]:
        """Seconds since 1970 from which each version held."""
        ...

    @property
    def spellings(self) -> Mapping[str, Collection[str]]:
        """What arms may be called in a log, by way of calling them."""
        ...

    @property
    def topics(self) -> Collection[str]:
        """Names of features and experiments that rows of this past may have."""
        ...

    def checked(self, log: Log) -> Log:
        """The log with a column for each attribute that is needed; SettingError without one."""
        ...

    def assigned(self, version: int, log: Log, rows: Whole, spelling: str) -> Assigned:
        """Assign rows of a log again."""
        ...


@dataclass(frozen=True)
class Log:
    """The columns of a log by which units were assigned: the unit, and what was known of it.

    `called` are the columns of attributes that have other names there.
    """

    frame: Frame
    unit: str
    called: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.frame)

    def hashed(self, attribute: str) -> Hashed:
        """The texts of an attribute by which units are hashed."""
        name = self.called.get(attribute, attribute)
        key = f"hashed {name}"
        if key not in self._known:
            self._known[key] = Hashed.of(self.frame.cells(name))
        found: Hashed = self._known[key]
        return found

    def column(self, attribute: str, kind: type | None = None) -> Column:
        """The values of an attribute: texts of a file as the `kind` that rules compare with."""
        key = f"column {attribute}"
        if key not in self._known:
            own = None if self.frame.typed else kind
            name = self.called.get(attribute, attribute)
            self._known[key] = Column.of(self.frame, name, own)
        found: Column = self._known[key]
        return found


class Hashed(NamedTuple):
    """A column by which units are hashed, as texts, and which of them are there to be hashed."""

    texts: NDArray[np.generic]
    there: Truths

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Hashed:
        """Read a column as JavaScript makes texts of it; empty cells, 0 and truths are not there.

        >>> Hashed.of(["u1", 7, 7.0, None, 0]).texts.tolist()
        ['u1', '7', '7', '', '']
        """
        texts = [cell if type(cell) is str else _as_text(cell) for cell in cells]
        wide = any(text.endswith("\0") for text in texts)  # which arrays of texts cannot hold
        found = np.array(texts, dtype=object if wide else None)
        return cls(found, np.array([text != "" for text in texts], dtype=bool))


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool) or cell is None or not cell:
        return ""
    if isinstance(cell, int) and abs(cell) < 2**53:
        return str(cell)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e21:
        return str(int(cell))
    if isinstance(cell, float) and cell != cell:
        return ""
    words = "units are texts, or whole numbers below 2⁵³"
    raise SettingError(f"unit {repr(cell)[:80]} cannot be hashed: {words}")


class Column(NamedTuple):
    """A column as its different values, and the place of each row's value among them."""

    values: list[Any]
    places: Whole

    @classmethod
    def of(cls, frame: Frame, name: str, kind: type | None = None) -> Column:
        """Read a column; NaN and empty texts are None. Texts are read as a kind if one is given.

        >>> frame = Frame("x.csv", {"age": ["31", "", "31"]})
        >>> Column.of(frame, "age", float)
        Column(values=[31.0, None], places=array([0, 1, 0]))
        """
        cells = frame.cells(name)
        known: dict[Any, int] = {}
        places = np.empty(len(cells), dtype=np.int64)
        for i, cell in enumerate(cells):
            if isinstance(cell, (list, dict, set)):
                words = "rules that look into lists and objects cannot be evaluated"
                raise SettingError(f"{frame.source}, row {i + 1}: {name} is no one value: {words}")
            nothing = cell is None or cell != cell or cell == ""
            places[i] = known.setdefault(None if nothing else (type(cell), cell), len(known))
        values = [None if one is None else one[1] for one in known]
        return cls([_as_kind(one, kind, name, frame.source) for one in values], places)


def _as_kind(value: Any, kind: type | None, name: str, source: str) -> Any:
    """A text of a file as a number, a truth or itself; other values as they are."""
    if kind is None or value is None:
        return value
    try:
        if kind is bool and isinstance(value, str):
            return {"true": True, "false": False}[value.strip().lower()]
        if kind is float and isinstance(value, str):
            return float(value)
    except (KeyError, ValueError):
        what = "a number" if kind is float else "true or false"
        raise SettingError(f"{source}: {name} {value[:80]!r} is not {what}") from None
    return value


def with_columns(log: Log, hashed: Collection[str], attributes: Collection[str]) -> Log:
    """The log with a column for each attribute: the one that it is called, or its own, or the
    unit's where a single attribute by which units are hashed has no other.
    """
    log.frame.require(log.unit, *log.called.values())
    without = [
        name
        for name in dict.fromkeys([*hashed, *attributes])
        if name not in log.called and name not in log.frame
    ]
    units = [name for name in without if name in hashed]
    called = {**log.called, **({units[0]: log.unit} if len(units) == 1 else {})}
    missing = sorted(name for name in without if name not in called)
    if missing:
        has = f"it has {listing(log.frame.columns)}"
        needed = "units were assigned by them, so that chances cannot be known without"
        raise SettingError(f"{log.frame.source} has no column {listing(missing)}: {has}; {needed}")
    return Log(log.frame, log.unit, called)

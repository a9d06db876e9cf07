"""What is asked of those who assigned units in the past, to say how likely each assignment was."""

from __future__ import annotations

import json
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
    "held out of the experiments",
    "without a prerequisite",
    "without a unit",
    "while there was no such feature",
)
TARGETING, NAMESPACE, COVERAGE, FORCED, HOLDOUT, PREREQUISITE, NO_UNIT, NO_FEATURE = range(
    1, len(REASONS)
)


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
        result: Hashed = self._known[key]
        return result

    def column(self, attribute: str, kind: type | None = None, *, deep: bool = False) -> Column:
        """The values of an attribute.

        Parameters
        ----------
        attribute
            Its name; if `deep` also a path, such as address.city, into the objects of a column.
        kind
            As what the texts of a file are read, that is what rules compare with; list for lists
            and objects, as JSON.
        deep
            Whether values may be lists and objects.
        """
        key = f"column {attribute} {deep}"
        if key not in self._known:
            name, path = self.way(attribute, deep) or (attribute, "")
            own = None if self.frame.typed else list if path else kind
            self._known[key] = Column.of(self.frame, name, own, deep, path)
        result: Column = self._known[key]
        return result

    def way(self, attribute: str, deep: bool = False) -> tuple[str, str] | None:
        """The column of an attribute, and the path to it in the objects there; None without one."""
        parts = attribute.split(".")
        for end in range(len(parts), 0 if deep else len(parts) - 1, -1):
            name = ".".join(parts[:end])
            if name in self.called or name in self.frame:
                return self.called.get(name, name), ".".join(parts[end:])
        return None


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
        result = np.array(texts, dtype=object if wide else None)
        return cls(result, np.array([text != "" for text in texts], dtype=bool))


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
    positions: Whole

    @classmethod
    def of(
        cls,
        frame: Frame,
        name: str,
        kind: type | None = None,
        deep: bool = False,
        path: str = "",
    ) -> Column:
        """Read a column; NaN is None, and so is an empty text, which only of `deep` values with
        types is one. Texts are read as a kind if one is given.

        >>> frame = Frame("x.csv", {"age": ["31", "", "31"], "at": ['{"city": "Rome"}', "", ""]})
        >>> Column.of(frame, "age", float)
        Column(values=[31.0, None], positions=array([0, 1, 0]))
        >>> Column.of(frame, "at", list, True, "city")
        Column(values=['Rome', None], positions=array([0, 1, 1]))
        """
        cells = frame.cells(name)
        is_text = deep and frame.typed
        known: dict[Any, int] = {}
        values: list[Any] = []
        positions = np.empty(len(cells), dtype=np.int64)
        for i, cell in enumerate(cells):
            is_deep = isinstance(cell, (list, tuple, dict, set, np.ndarray))
            if isinstance(cell, set) or (is_deep and not deep):
                words = "rules that look into lists and objects cannot be evaluated"
                raise SettingError(f"{frame.source}, row {i + 1}: {name} is no one value: {words}")
            nothing = not is_deep and (cell is None or cell != cell or (not is_text and cell == ""))
            key = None if nothing else (type(cell), repr(cell) if is_deep else cell)
            if key not in known:
                value = None if nothing else _plain(cell) if is_deep else cell
                value = _as_kind(value, kind, name, frame.source)
                known[key] = len(values)
                values.append(within(value, path) if path else value)
            positions[i] = known[key]
        return cls(values, positions)


def within(result: Any, path: str) -> Any:
    """What lies at a path in an object; None where nothing does.

    >>> within({"home": {"city": "Rome"}}, "home.city"), within({"home": 3}, "home.city")
    ('Rome', None)
    """
    for part in path.split("."):
        if isinstance(result, list) and part.isdecimal() and int(part) < len(result):
            result = result[int(part)]
        elif isinstance(result, Mapping) and part in result:
            result = result[part]
        else:
            return None
    return result


def _plain(cell: Any) -> Any:
    """Lists, tuples and arrays as lists, and what is in them too."""
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if isinstance(cell, dict):
        return {str(name): _plain(value) for name, value in cell.items()}
    return [_plain(one) for one in cell] if isinstance(cell, (list, tuple)) else cell


def _as_kind(value: Any, kind: type | None, name: str, source: str) -> Any:
    """A text of a file as a number, a truth, a list, an object or itself; other values as they
    are.
    """
    if kind is None or value is None:
        return value
    try:
        if kind is list and isinstance(value, str):
            return json.loads(value) if value.lstrip()[:1] in ("[", "{") else value
        if kind is bool and isinstance(value, str):
            return {"true": True, "false": False}[value.strip().lower()]
        if kind is float and isinstance(value, str):
            return float(value)
    except (KeyError, ValueError):
        what = {float: "a number", list: "JSON"}.get(kind, "true or false")
        raise SettingError(f"{source}: {name} {value[:80]!r} is not {what}") from None
    return value


def with_columns(
    log: Log, hashed: Collection[str], attributes: Collection[str], *, deep: bool = False
) -> Log:
    """The log with a column for each attribute: the one that it is called, or its own, or the
    unit's where a single attribute by which units are hashed has no other. An attribute may also
    be a path into the objects of a column if `deep`.
    """
    log.frame.require(log.unit, *log.called.values())
    without = [
        name
        for name in dict.fromkeys([*hashed, *attributes])
        if log.way(name, deep and name not in hashed) is None
    ]
    units = [name for name in without if name in hashed]
    called = {**log.called, **({units[0]: log.unit} if len(units) == 1 else {})}
    missing = sorted(name for name in without if name not in called)
    if missing:
        has = f"it has {listing(log.frame.columns)}"
        needed = "units were assigned by them, so that chances cannot be known without"
        raise SettingError(f"{log.frame.source} has no column {listing(missing)}: {has}; {needed}")
    return Log(log.frame, log.unit, called)

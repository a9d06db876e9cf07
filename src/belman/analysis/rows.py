"""Rows that an analysis can use, and an account of those that it cannot.

Rows are decisions, one reward each, or totals of many: then `counts` says of how many, and
`squares` holds the sums of squared rewards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.analysis.columns import Roles
from belman.errors import ArmError, SettingError, listing, nearest
from belman.frames import Frame, refusal, together

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

#: Cells that stand for no arm.
_NO_ARM = frozenset(("", "null", "nan", "nat", "#n/a", "undefined", "(not set)", "<na>"))
_MOSTLY = 0.5  # the share of empty cells from which amounts that lack zeros are taken to lack them


@dataclass
class Account:
    """How many rows were read and used, why others were dropped, and what else was done to them."""

    source: str
    read: int
    used: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def drop(self, why: str, count: int) -> None:
        """Count rows that are not used."""
        if count:
            self.dropped[why] = self.dropped.get(why, 0) + int(count)

    @property
    def sentence(self) -> str:
        """Rows read, used, dropped and why.

        >>> Account("x.csv", 10, 8, {"without an arm": 2}).sentence
        '10 rows read, 8 used, 2 dropped: 2 without an arm.'
        """
        dropped = sum(self.dropped.values())
        first = f"{self.read:,} rows read, {self.used:,} used, {dropped:,} dropped"
        why = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.items())
        return f"{first}: {why}." if why else f"{first}."

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {
            "source": self.source,
            "read": self.read,
            "used": self.used,
            "dropped": dict(self.dropped),
            "said": list(self.said),
        }


@dataclass(frozen=True)
class Rows:
    """Rows of known arms, in the order of their time: the arm's place among `names`, columns of
    numbers (NaN where a value is missing), texts to split by, times and units if there are any.
    """

    names: tuple[str, ...]
    arms: Whole
    numbers: Mapping[str, Floats]
    texts: Mapping[str, NDArray[np.str_]]
    times: Floats | None = None
    units: Whole | None = None
    counts: Floats | None = None
    squares: Floats | None = None

    def __len__(self) -> int:
        return int(self.arms.size)

    def told(self, columns: Sequence[str]) -> NDArray[np.bool_]:
        """Return which rows have a number in all of these columns."""
        return np.logical_and.reduce([~np.isnan(self.numbers[name]) for name in columns])

    def where(self, chosen: NDArray[np.bool_] | Whole) -> Rows:
        """These rows, by a mask or in an order."""

        def part(values: Any) -> Any:
            return None if values is None else values[chosen]

        return Rows(
            self.names,
            self.arms[chosen],
            {name: values[chosen] for name, values in self.numbers.items()},
            {name: values[chosen] for name, values in self.texts.items()},
            *map(part, (self.times, self.units, self.counts, self.squares)),
        )


def read_rows(
    frame: Frame,
    role: Roles,
    numbers: Sequence[str],
    texts: Sequence[str],
    unit: str | None,
    empty: str | None,
    block: float | None = None,
) -> tuple[Rows, Account]:
    """Read what an analysis needs of a table; all that cannot be read is refused at once.

    Units are those of a column, or blocks of `block` seconds.
    """
    account = Account(frame.source, len(frame))
    account.said += [frame.said] if frame.said else []
    wanted = list(dict.fromkeys((role.reward, *numbers)))
    frame.require(*wanted, *texts, *(() if unit is None else (unit,)))
    totals = [name for name in (role.visitors, role.squares) if name is not None]
    cells, times, *columns = together(
        lambda: [_named(cell) for cell in frame.names(role.arm, missing=True)],
        lambda: None if role.time is None else frame.times(role.time, missing=True),
        *(lambda name=name: frame.numbers(name, missing=True) for name in wanted),
        *(lambda name=name: frame.numbers(name) for name in totals),
    )
    names, arms = _arms(cells, account)
    values = dict(zip(wanted, columns, strict=False))
    for name in wanted:
        values[name] = _filled(values[name], name, empty, arms >= 0, account)
    rest = dict(zip(totals, columns[len(wanted) :], strict=True))
    units = None
    if unit is not None:
        units = _codes(frame.texts(unit))
    elif block is not None:
        assert times is not None
        units = np.where(np.isnan(times), -1.0, np.floor(times / block)).astype(np.int64)
    counts = rest.get(role.visitors or "")
    result = Rows(
        names,
        arms,
        values,
        {name: np.array([text or "" for text in frame.texts(name)]) for name in texts},
        times,
        units,
        counts,
        rest.get(role.squares or ""),
    )
    if counts is not None:
        _check_totals(frame, role, result)
    return _usable(result, role, unit or "blocks of time", account), account


def _named(cell: str) -> str:
    text = re.sub(r"\s+", " ", cell.strip())
    return "" if text.casefold() in _NO_ARM else text


def _arms(cells: Sequence[str], account: Account) -> tuple[tuple[str, ...], Whole]:
    """The arms in the order in which they appear, spellings that differ by case alone as one."""
    spellings: dict[str, Counter[str]] = {}
    for text, count in Counter(cells).items():
        if text:
            spellings.setdefault(text.casefold(), Counter())[text] += count
    if not spellings:
        raise SettingError(f"{account.source} names no arm in any row")
    called = {bare: used.most_common(1)[0][0] for bare, used in spellings.items()}
    position = {bare: i for i, bare in enumerate(called)}
    several = [sorted(used) for used in spellings.values() if len(used) > 1]
    if several:
        words = "; ".join(" and ".join(map(repr, used[:4])) for used in several[:4])
        account.said.append(f"Spellings of one arm were taken together: {words}.")
    by_text = {text: position[text.casefold()] if text else -1 for text in set(cells)}
    arms = np.array([by_text[text] for text in cells], dtype=np.int64)
    return tuple(called.values()), arms


def _filled(
    values: Floats, name: str, empty: str | None, known: NDArray[np.bool_], account: Account
) -> Floats:
    """Values with 0 for empty cells, where those mean that nothing came."""
    gaps = np.isnan(values)
    there = values[~gaps & known]
    count = int((gaps & known).sum())
    if not count or not there.size or empty == "missing":
        return values
    ones = bool((there == 1.0).all())
    amounts = bool((there > 0.0).all()) and count >= _MOSTLY * known.sum()
    if not (empty == "zero" or ones or amounts):
        return values
    why = "every other cell is 1" if ones else "no cell is 0 and most are empty"
    told = "" if empty == "zero" else f", since {why} (--empty missing leaves them out)"
    account.said.append(f"{count:,} empty cells of {name} count as 0{told}.")
    return np.where(gaps, 0.0, values)


def _codes(texts: Sequence[str | None]) -> Whole:
    """Whole numbers for texts, −1 for missing ones."""
    known: dict[str | None, int] = {None: -1}
    result = [known.setdefault(text, len(known) - 1) for text in texts]
    return np.array(result, dtype=np.int64)


def _check_totals(frame: Frame, role: Roles, rows: Rows) -> None:
    """Refuse totals that cannot be."""
    assert rows.counts is not None
    values = rows.numbers[role.reward]
    wrong = (rows.counts < 0.0) | (rows.counts != np.round(rows.counts)) | np.isnan(values)
    if rows.squares is None:
        wrong |= (values > rows.counts) | (values < 0.0)
    else:
        wrong |= rows.squares * rows.counts < values**2 * (1.0 - 1e-9)

    def say(i: int) -> str:
        names = (role.reward, role.visitors, role.squares)
        cannot = ", ".join(f"{name} {frame.cells(name)[i]!r}" for name in names if name)
        hint = "" if rows.squares is not None else " (sums of amounts need --squares)"
        return f"row {i + 1}: {cannot} cannot be together{hint}"

    if wrong.any():
        raise refusal(frame.source, np.flatnonzero(wrong).tolist(), say)


def _usable(rows: Rows, role: Roles, unit: str, account: Account) -> Rows:
    """The rows that have an arm, a unit that has one arm, and a time, in the order of times."""
    keep = rows.arms >= 0
    account.drop(f"without {_an(role.arm)}", (~keep).sum())
    if rows.units is not None:
        lost = keep & (rows.units < 0)
        account.drop(f"without {_an(unit)}", lost.sum())
        keep &= rows.units >= 0
        mixed = _in_several(rows.units[keep], rows.arms[keep])
        both = keep & np.isin(rows.units, mixed)
        account.drop(f"of {mixed.size:,} {unit} with several arms", both.sum())
        keep &= ~both
    if rows.times is not None:
        lost = keep & np.isnan(rows.times)
        account.drop(f"without {_an(role.time or '')}", lost.sum())
        keep &= ~np.isnan(rows.times)
    result = rows.where(keep)
    if result.times is not None:
        result = result.where(np.argsort(result.times, kind="stable"))
    if not len(result):
        raise SettingError(f"{account.source} has no row that can be used: {account.sentence}")
    return result


def _an(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _in_several(units: Whole, arms: Whole) -> Whole:
    """Units that were given several arms."""
    pairs = np.unique(np.stack([units, arms]), axis=1)
    names, times = np.unique(pairs[0], return_counts=True)
    return names[times > 1]


def arm_named(given: str, names: Sequence[str], what: str, source: str) -> str:
    """The arm that a person names, in whatever case."""
    for name in names:
        if name.casefold() == given.strip().casefold():
            return name
    there = f"{source} has {listing(names)}{nearest(given, names)}"
    raise ArmError(f"{what}={given!r} is not one of the arms: {there}")

"""Outcomes in bulk as somebody brings them: rows, sums, or a file of either; and rows held against
the versions of the weights that they name.

A row is (unit, version, arm, reward, time, attributes, context, chances): who was assigned, by
which version of the weights (None: without), what came of it, when, in seconds since 1970, what is
known of the unit, the context that it was decided in, and the chances of all arms, where these were
logged and no version says them. Sums are of one version and arm: how many outcomes,
their sum, and the sum of their squares.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belman import frames
from belman.assignment import Elsewhere, Weights, WeightsError, assign
from belman.bulk_assignment import assign_many
from belman.deciders import validate
from belman.errors import ArmError, BelmanError, SettingError, listing, nearest, shown
from belman.frames import Frame, none_for_nan
from belman.studies.log.event_log import Tail
from belman.studies.log.storage import is_time
from belman.studies.outcomes.book import CONTEXT
from belman.studies.rules.written import ArmTexts
from belman.studies.traffic.publishing import Publishing, version_in

#: Seconds by which the clock of whoever assigned a unit may be ahead of that of the study.
AHEAD = 60.0
#: By how much logged chances may miss 1 together, since they are rounded where they are logged.
_ROUNDED = 1e-3
Columns = Mapping[str, Sequence[Any]]


class Rows(NamedTuple):
    """Columns of rows, all of one length."""

    unit: Sequence[Any]
    version: Sequence[Any]
    arm: Sequence[Any]
    reward: Sequence[Any]
    time: Sequence[Any]
    attributes: Sequence[Any]
    context: Sequence[Any]
    chances: Sequence[Any]


class Sums(NamedTuple):
    """Columns of sums, all of one length."""

    version: Sequence[Any]
    segment: Sequence[Any]
    arm: Sequence[Any]
    n: Sequence[Any]
    sum: Sequence[Any]
    squares: Sequence[Any]


_OPTIONAL = {"time", "segment", "unit", "attributes", "context", "chances"}
#: Columns that may be empty, and are then as if they had not been brought.
_SELDOM = {"attributes", "context", "chances"}
Given = Iterable[Sequence[Any] | Mapping[str, Any]] | frames.Given


class InRow:
    """Says in which row something is wrong: `with InRow() as at: for at.row, one in enumerate(…)`.

    >>> with InRow() as at:
    ...     for at.row, name in enumerate(["a", []], start=1):
    ...         _ = hash(name)
    Traceback (most recent call last):
        ...
    belman.errors.SettingError: row 2: unhashable type: 'list'
    """

    row = 0

    def __enter__(self) -> InRow:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (BelmanError, TypeError)):  # names that are not hashable are none
            found = SettingError if isinstance(error, TypeError) else type(error)
            raise found(f"row {self.row}: {error}") from None


def brought(given: Given, arms: Callable[[], Iterable[Any]]) -> Rows | Sums:
    """What somebody brought, as columns; in a file an arm is found by its name as text.

    >>> brought([("u1", 2, "blue", 1.0)], lambda: ()).arm
    ('blue',)
    """
    if not isinstance(given, list) and frames.is_table(given):
        frame = frames.read(given, empty=True)
        return _kind(frame, lambda: _read(frame, arms()))
    if not isinstance(given, Mapping):
        give = f"rows ({', '.join(Rows._fields)}), columns, or the path of a file"
        if not isinstance(given, list):
            given = validate.check_list(given, "outcomes", give)
        if not given or not all(isinstance(row, Mapping) for row in given):
            return _of_tuples(given)
    frame = frames.read(given, empty=True)
    return _kind(frame, lambda: frame.columns)


def count(batch: Rows | Sums) -> int:
    """How many outcomes a batch holds."""
    return sum(batch.n) if isinstance(batch, Sums) else len(batch.arm)


def have_units(batch: Rows | Sums) -> bool:
    """Whether every outcome of a batch is of a unit, so that an equal batch is the same one."""
    return isinstance(batch, Rows) and all(unit is not None for unit in batch.unit)


def says(column: Iterable[Any]) -> bool:
    """Whether any row has something in a column that may be empty.

    >>> says([None, {}]), says([None, {"country": "fr"}])
    (False, True)
    """
    return any(one is not None and not (isinstance(one, Mapping) and not one) for one in column)


def digest(batch: Rows | Sums) -> str:
    """By which the same batch is known again."""
    found = hashlib.blake2b(digest_size=16)
    for name, column in zip(batch._fields, batch, strict=True):
        if name in _SELDOM and not says(column):
            continue
        try:
            text = repr(list(column))
        except ValueError:
            raise SettingError(
                f"a row has {shown(column)} as its {name}, which no log keeps"
            ) from None
        found.update(f"{name}{text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _of_tuples(rows: list[Any]) -> Rows:
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or not 4 <= len(row) <= len(Rows._fields):
            give = (
                "give (unit, version, arm, reward), or with a time, attributes, a context, chances"
            )
            raise SettingError(f"row {i} of the outcomes is {shown(row)}: {give}")
    if not rows:
        return Rows(*((),) * len(Rows._fields))
    blank = (None,) * len(Rows._fields)
    return Rows(*zip(*((*row, *blank[len(row) :]) for row in rows), strict=True))


def _kind(frame: Frame, columns: Callable[[], Columns]) -> Rows | Sums:
    """The columns as rows, or as sums where there is a column n."""
    kind: Any = Sums if "n" in frame else Rows
    frame.require(*(name for name in kind._fields if name not in _OPTIONAL))
    frame.allow(kind._fields)
    read = columns()
    found = kind(*(read.get(name, [None] * len(frame)) for name in kind._fields))
    return _checked(found) if kind is Sums else found


def _checked(sums: Sums) -> Sums:
    """Counts are whole numbers, and sums finite."""

    def column(name: str) -> list[float]:
        found = []
        with InRow() as at:
            for at.row, one in enumerate(getattr(sums, name), start=1):
                found.append(_number(one, name))
        return found

    counts = column("n")
    for i, n in enumerate(counts, start=1):
        if n < 1.0 or n != math.floor(n) or n > 2**53:
            raise SettingError(
                f"row {i}: n={shown(sums.n[i - 1])} is not a count: give a whole number from 1 up"
            )
    return sums._replace(n=list(map(int, counts)), sum=column("sum"), squares=column("squares"))


def _number(given: Any, name: str) -> float:
    kinds = (int, float, np.integer, np.floating)
    is_number = isinstance(given, kinds) and not isinstance(given, bool)
    try:
        number = float(given) if is_number else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise SettingError(f"{name}={shown(given)} is not a finite number")
    return number + 0.0


# Files and data frames


def _read(frame: Frame, arms: Iterable[Any]) -> Columns:
    """Columns as they are to be; arms are found by their names as text."""
    readers: dict[str, Callable[[str], Sequence[Any]]] = {
        "unit": frame.keys,
        "version": lambda name: frame.whole(name, missing=True),
        "arm": lambda name: ArmTexts(arms).column(frame, name),
        "reward": lambda name: frame.numbers(name).tolist(),
        "time": lambda name: none_for_nan(frame.times(name, missing=True)),
        "segment": frame.keys,
        "attributes": frame.json,
        "context": frame.json,
        "chances": frame.json,
        "n": frame.whole,
        "sum": lambda name: frame.numbers(name).tolist(),
        "squares": lambda name: frame.numbers(name).tolist(),
    }
    return {name: readers[name](name) for name in frame.columns}


# Versions that outcomes name


class Versions(dict[int, Weights]):
    """The weights of versions that outcomes name: those that stand, and others from the log; and
    the chances that outcomes bring themselves, numbered downwards from −1.
    """

    def __init__(self, log: Tail, publishing: Publishing) -> None:
        super().__init__()
        self.logged: dict[int, tuple[float, ...]] = {}
        self._numbers: dict[tuple[float, ...], int] = {}
        self._log = log
        self._standing = {one.weights.version: one.weights for one in publishing.current.values()}

    def __missing__(self, version: int) -> Weights:
        if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**63:
            allowed = "give the number that weights have, or None where there were none"
            raise SettingError(f"version={shown(version)} is not valid: {allowed}")
        found = self._standing.get(version)
        if found is None:
            event = self._log.event(version)
            if event is None and self._log.is_archived(version):
                words = "events up to it are archived, and its outcomes are not taken any more"
                raise SettingError(f"version={version} is too old: {words}")
            found = version_in(event, version)
        self[version] = found
        return found

    def chances(self, version: int, places: Mapping[Hashable, int]) -> list[float]:
        """Return the chance of every arm under a version, by place."""
        if version in self.logged:
            return list(self.logged[version])
        weights = self[version]
        found = [0.0] * len(places)
        for arm, share in zip(weights.arms, weights.weights, strict=True):
            found[places[arm]] = share
        return found

    def number_of(self, chances: tuple[float, ...]) -> int:
        """Return the number by which chances that outcomes bring are known."""
        number = self._numbers.setdefault(chances, -1 - len(self._numbers))
        self.logged[number] = chances
        return number

    def context(self, version: int) -> dict[str, Any] | None:
        """Return the context that a version was published for, in a study by segments; None where
        its event is archived.
        """
        event = self._log.event(version)
        found: dict[str, Any] | None = json.loads((event and event.body) or "{}").get(CONTEXT)
        return found


class Places(dict[tuple[Any, Any], int]):
    """The group of a version and an arm: its place in `groups`, checked where it is new."""

    def __init__(self, known: Mapping[Hashable, int], versions: Versions) -> None:
        super().__init__()
        self.groups: list[tuple[int | None, int]] = []
        self._known, self._versions = known, versions

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        version, arm = pair
        if not isinstance(arm, Hashable) or arm not in self._known:
            there = f"this study knows {listing(self._known)}{nearest(arm, self._known)}"
            raise ArmError(f"unknown arm {shown(arm)}: {there}")
        if version is not None and version not in self._versions.logged:
            weights = self._versions[version]
            whole = weights.contexts is None  # elsewhere an arm may have a share in some contexts
            if arm not in weights.arms or (whole and not weights.weights[weights.arms.index(arm)]):
                raise ArmError(f"arm {arm!r} had no share in version {version}")
        self[pair] = len(self.groups)
        self.groups.append((version, self._known[arm]))
        return self[pair]


def check_unit(
    name: Any, version: int | None, arm: Any, versions: Versions, context: Any = None
) -> None:
    """Refuse a unit that got another arm in its context, or has no name, under its version."""
    if version is None or version in versions.logged or versions[version].by == Elsewhere.by:
        return
    try:
        meant = assign(versions[version], name, context or {}).arm
    except WeightsError as error:
        raise SettingError(str(error)) from None
    if meant != arm:
        by = f"version {version} assigns {meant!r} to it"
        raise ArmError(f"unit {name!r} has arm {arm!r}, and {by}")


def check_units(rows: Rows, versions: Versions) -> None:
    """Refuse rows if one names a unit that got another arm: all units of a version are hashed
    at once.
    """
    of_version = defaultdict[int, list[int]](list)
    for i, version in enumerate(rows.version):
        if version is not None and version not in versions.logged:
            of_version[version].append(i)
    for version, own in sorted(of_version.items()):
        weights = versions[version]
        if weights.by == Elsewhere.by:
            continue
        places = {arm: place for place, arm in enumerate(weights.arms)}
        arms = np.array([places[rows.arm[i]] for i in own])
        try:
            meant = assign_many(weights, [rows.unit[i] for i in own]).places
            wrong = np.flatnonzero(meant != arms).tolist()
        except WeightsError:  # of a unit that has no name
            wrong = list(range(len(own)))
        with InRow() as at:
            for i in wrong:
                at.row = own[i] + 1
                check_unit(rows.unit[own[i]], version, rows.arm[own[i]], versions)


def with_logged(
    rows: Rows, versions: Versions, places: Mapping[Hashable, int], arms: Sequence[Hashable]
) -> Rows:
    """Return rows that bring the chances of their arms as rows of a version: a number below 0."""
    if not any(one is not None for one in rows.chances):
        return rows
    found, read = list(rows.version), ArmTexts(places)
    with InRow() as at:
        for at.row, (version, arm, given) in enumerate(
            zip(rows.version, rows.arm, rows.chances, strict=True), start=1
        ):
            if given is None:
                continue
            if version is not None:
                raise SettingError(f"give a version or chances: version {version!r} has its own")
            chances = logged_chances(given, arm, read, places, arms)
            found[at.row - 1] = versions.number_of(chances)
    return rows._replace(version=found)


def logged_chances(
    given: Any,
    arm: Any,
    read: ArmTexts,
    places: Mapping[Hashable, int],
    arms: Sequence[Hashable],
) -> tuple[float, ...]:
    """Return the chances of all arms, by place, that a row brings: {arm: chance}, or of two arms
    the chance of its own.
    """
    if not isinstance(arm, Hashable) or arm not in places:
        raise ArmError(f"unknown arm {shown(arm)}: this study knows {listing(places)}")
    if not isinstance(given, Mapping):
        others = [one for one in arms if one != arm]
        if len(arms) != 2 or len(others) != 1:
            give = "give those of all arms, {arm: chance}, since there are not two"
            raise SettingError(f"chances={shown(given)} is not enough: {give}")
        own = _number(given, "chances")
        given = {arm: own, others[0]: 1.0 - own}
    found = [0.0] * len(places)
    for name, share in given.items():
        meant = [name] if isinstance(name, Hashable) and name in places else read.meant(name)
        if len(meant) != 1:
            raise ArmError(f"unknown arm {shown(name)} in chances: there are {listing(places)}")
        found[places[meant[0]]] = _number(share, "chances")
    total = math.fsum(found)
    if min(found) < 0.0 or abs(total - 1.0) > _ROUNDED:
        raise SettingError(f"chances={shown(given)} add up to {total:g}: they must add up to 1")
    if not found[places[arm]]:
        raise SettingError(f"chances={shown(given)} say that arm {arm!r} could not be")
    return tuple(one / total for one in found)


def check_times(rows: Rows, window: float | None, now: float) -> None:
    """Refuse rows whose times are none, or lie ahead; without a window they need none."""
    for i, time in enumerate(rows.time, start=1):
        if time is None and window is None:
            continue
        if not is_time(time):
            give = "give the seconds since 1970 at which the unit was assigned"
            raise SettingError(f"row {i}: time={shown(time)} is not valid: {give}")
        if window is not None and time > now + AHEAD:
            words = f"time={time!r} is {time - now:.0f} s ahead of the clock of the study"
            raise SettingError(f"row {i}: {words}: it has to be when the unit was assigned")

"""Outcomes in bulk: rows of units, or sums, checked as a whole and learnt at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from belman.agent.scale import Scale
from belman.assignment import Weights, WeightsError, assign
from belman.errors import ArmError, RewardError, SettingError, StudyError, listing, nearest
from belman.studies import change_keys
from belman.studies.clocks import is_time
from belman.studies.event_log import Kind
from belman.studies.observed_rows import Rows, Sums
from belman.studies.open_rows import OpenRow, OpenRows
from belman.studies.outcomes import After, Group, Outcomes, Side, learn
from belman.studies.publishing import version_in

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork

#: Seconds by which the clock of whoever assigned a unit may be ahead of that of the study.
AHEAD = 60.0


def observe(unit: UnitOfWork, batch: Rows | Sums, digest: str, reason: str, key: str) -> None:
    """Let a batch count, all of it or (one row is bad) none, unless it did under this key."""
    request = (digest,)
    if change_keys.made_before(unit, key, Kind.OBSERVED, request) is None:
        _check_study(unit)
        if unit.state.is_due(unit.now):
            unit.dirty = True
            unit.state.close(unit.now)  # the event that follows has this time
        body = outcomes(unit, batch).body(reason)
        unit.write(Kind.OBSERVED, **change_keys.marked(key, Kind.OBSERVED, request, body))


def outcomes(unit: UnitOfWork, batch: Rows | Sums) -> Outcomes:
    """What the event of a batch keeps; nothing is changed."""
    versions, waiting = _Versions(unit), list[OpenRow]()
    if isinstance(batch, Sums):
        groups, sides = _of_sums(unit, batch, versions)
    else:
        groups, sides, waiting = _of_rows(unit, batch, versions)
    arms = []
    for place, side in sorted(sides.items()):
        arm = unit.state.register[place]
        after = learn(unit.state.agent.family, unit.state.learnt(place), side, arm)
        arms.append((place, side.n, side.total, after))
    return _with_odds(unit, groups, arms, versions, waiting)


def _check_study(unit: UnitOfWork) -> None:
    settings, policy = unit.state.settings, unit.state.agent.policy
    why = None
    if settings.discount != 1.0:
        why = f"its beliefs fade at every reward (discount={settings.discount:g})"
    elif settings.reward is not None:
        why = f"its reward is declared over metrics ({settings.reward.text!r})"
    elif not policy.learns_sums(unit.state.agent.family):
        why = f"{policy.name} follows rewards one by one"
    if why is not None:
        remedy = "tell the rewards of tickets instead"
        raise StudyError(f"study {unit.name!r} takes no outcomes in bulk: {why}; {remedy}")


class _Versions(dict[int, Weights]):
    """The weights of versions that outcomes name, from the log."""

    def __init__(self, unit: UnitOfWork) -> None:
        super().__init__()
        self._unit = unit

    def __missing__(self, version: int) -> Weights:
        if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**63:
            allowed = "give the number that weights have, or None where there were none"
            raise SettingError(f"version={str(version)[:80]!r} is none: {allowed}")
        found = self[version] = version_in(self._unit.event(version), version)
        return found


class _Places(dict[tuple[Any, Any], int]):
    """The group of a version and an arm: its place in `groups`, checked where it is new."""

    def __init__(self, unit: UnitOfWork, versions: _Versions) -> None:
        super().__init__()
        self.groups: list[tuple[int | None, int]] = []
        self._known, self._versions = unit.state.places, versions

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        version, arm = pair
        check_arm(arm, self._known)
        if version is not None:
            weights = self._versions[version]
            if arm not in weights.arms or not weights.weights[weights.arms.index(arm)]:
                raise ArmError(f"arm {arm!r} had no share in version {version}")
        self[pair] = len(self.groups)
        self.groups.append((version, self._known[arm]))
        return self[pair]


def check_arm(arm: Any, known: Mapping[Hashable, int]) -> None:
    """An arm that the study has, or had."""
    if not isinstance(arm, Hashable) or arm not in known:
        there = f"this study knows {listing(known)}{nearest(arm, known)}"
        raise ArmError(f"unknown arm {str(arm)[:80]!r}: {there}")


class _Inward(dict[float, float]):
    """Rewards as the family sees them."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale

    def __missing__(self, reward: float) -> float:
        found = self[reward] = self._scale.inward(reward)
        return found


def _of_rows(
    unit: UnitOfWork, rows: Rows, versions: _Versions
) -> tuple[list[Group], dict[int, Side], list[OpenRow]]:
    """Groups and what came of every arm, of rows that count now; and those that wait."""
    places, inward = _Places(unit, versions), _Inward(unit.state.agent.scale)
    seen = 0
    try:
        which, values = [], []
        for version, arm, reward in zip(rows.version, rows.arm, rows.reward, strict=True):
            which.append(places[version, arm])
            values.append(inward[reward])
            seen += 1
    except (SettingError, ArmError, RewardError, TypeError) as error:
        raise _in_row(seen + 1, error) from None
    _check_units(rows, versions)
    _check_times(unit, rows)
    given = np.array([float(reward) for reward in rows.reward])
    counts = np.ones(len(given), dtype=np.bool_)
    waiting: list[OpenRow] = []
    if unit.state.settings.window is not None:
        arms_of = [places.groups[code][1] for code in which]
        waiting, counts = _waiting(unit, rows, arms_of)
    codes, inside = np.array(which)[counts], np.array(values, dtype=np.float64)[counts]
    given = given[counts]
    groups = []
    for code, own in _split(codes, given):
        version, place = places.groups[code]
        groups.append(Group(version, place, len(own), math.fsum(own), _squares(own)))
    arms = np.array([place for _, place in places.groups])[codes]
    totals = {place: math.fsum(own) for place, own in _split(arms, given)}
    found = {
        place: Side(len(own), totals[place], math.fsum(own), _squares(own), own)
        for place, own in _split(arms, inside)
    }
    return groups, found, waiting


def _in_row(number: int, error: Exception) -> Exception:
    """What is wrong with a row; names that are not hashable are none."""
    kind = SettingError if isinstance(error, TypeError) else type(error)
    return kind(f"row {number}: {error}")


def _waiting(
    unit: UnitOfWork, rows: Rows, arms: list[int]
) -> tuple[list[OpenRow], NDArray[np.bool_]]:
    """The rows whose window is open, and which of all are not among them."""
    window, state = unit.state.settings.window or 0.0, unit.state
    counts = np.array([time + window <= unit.now for time in rows.time], dtype=np.bool_)
    so_far, waiting = OpenRows(state.settings), list[OpenRow]()
    for i in np.flatnonzero(~counts).tolist():
        name = rows.unit[i]
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            give = "its window is open, and it has to be known again: give its unit"
            raise SettingError(f"row {i + 1}: unit={name!r}: {give}")
        reward = float(rows.reward[i]) + 0.0
        row = OpenRow(rows.version[i], name, arms[i], reward, float(rows.time[i]))
        if (row.version, name) in state.rows.rows:
            so_far.rows.setdefault((row.version, name), state.rows.rows[row.version, name])
        so_far.take(row)
        waiting.append(row)
        if state.settings.accumulate:
            try:
                unit.check_reward(so_far.rows[row.version, name].reward)
            except RewardError as error:
                raise RewardError(f"row {i + 1}: {error}") from None
    unit.check_waiting(len(state.rows) + len(so_far.rows.keys() - state.rows.rows.keys()))
    return waiting, counts


def _split(
    codes: NDArray[np.int64], values: NDArray[np.float64]
) -> Iterator[tuple[int, list[float]]]:
    """The values of every code, in their order."""
    if not len(codes):
        return
    order = np.argsort(codes, kind="stable")
    found, starts = np.unique(codes[order], return_index=True)
    for code, own in zip(found, np.split(values[order], starts[1:]), strict=True):
        yield int(code), own.tolist()


def _squares(values: list[float]) -> float:
    return math.fsum(value * value for value in values)


def check_unit(unit: UnitOfWork, name: object, version: Any, arm: Any) -> None:
    """Refuse a unit that cannot have this arm under this version."""
    versions = _Versions(unit)
    try:
        _ = _Places(unit, versions)[version, arm], hash(name)
    except TypeError as error:
        raise SettingError(str(error)) from None
    _check_arm_of(name, version, arm, versions)


def _check_arm_of(name: Any, version: int | None, arm: Any, versions: _Versions) -> None:
    if version is None:
        return
    try:
        meant = assign(versions[version], name).arm
    except WeightsError as error:
        raise SettingError(str(error)) from None
    if meant != arm:
        by = f"version {version} assigns {meant!r} to it"
        raise ArmError(f"unit {name!r} has arm {arm!r}, and {by}")


def _check_units(rows: Rows, versions: _Versions) -> None:
    """Refuse a row whose unit got another arm, or has no name, under the version it names."""
    seen = 0
    try:
        for unit, version, arm in zip(rows.unit, rows.version, rows.arm, strict=True):
            _check_arm_of(unit, version, arm, versions)
            seen += 1
    except (SettingError, ArmError) as error:
        raise type(error)(f"row {seen + 1}: {error}") from None


def _check_times(unit: UnitOfWork, rows: Rows) -> None:
    window = unit.state.settings.window
    for i, time in enumerate(rows.time, start=1):
        if time is None and window is None:
            continue
        if not is_time(time):
            give = "give the seconds since 1970 at which the unit was assigned"
            raise SettingError(f"row {i}: time={repr(time)[:80]} is none: {give}")
        if window is not None and time > unit.now + AHEAD:
            words = f"time={time!r} is {time - unit.now:.0f} s ahead of the clock of the study"
            raise SettingError(f"row {i}: {words}: it has to be when the unit was assigned")


def _of_sums(
    unit: UnitOfWork, sums: Sums, versions: _Versions
) -> tuple[list[Group], dict[int, Side]]:
    if unit.state.settings.window is not None:
        words = "when each unit was assigned has to be known"
        raise StudyError(f"study {unit.name!r} has a window: {words}, so that sums cannot do")
    places, scale = _Places(unit, versions), unit.state.agent.scale
    groups: list[Group] = []
    sides: dict[int, Side] = {}
    columns = (sums.version, sums.segment, sums.arm, sums.n, sums.sum, sums.squares)
    for i, (version, segment, arm, n, total, squares) in enumerate(
        zip(*columns, strict=True), start=1
    ):
        try:
            _, place = places.groups[places[version, arm]]
            if version is not None and segment is not None:
                _check_segment(versions[version], segment)
            group = Group(version, place, n, total, squares)
            side = _inward_sums(group, scale)
        except (SettingError, ArmError, RewardError, TypeError) as error:
            raise _in_row(i, error) from None
        groups.append(group)
        sides[place] = side if place not in sides else sides[place].joined(side)
    return groups, sides


def _check_segment(weights: Weights, segment: object) -> None:
    if segment != weights.segment:
        of = f"is of segment {weights.segment!r}"
        raise SettingError(f"version {weights.version} {of}, and {segment!r} is given")


def _inward_sums(group: Group, scale: Scale) -> Side:
    """Sums on the scale of the family."""
    low, high = scale.range or (0.0, 1.0)
    width, n, total = high - low, group.n, group.sum
    inward = (total - n * low) / width
    squares = (group.squares - 2.0 * low * total + n * low * low) / (width * width)
    if squares < inward * inward / n * (1.0 - 1e-9) - 1e-9:
        raise RewardError(f"{n} rewards of sum {total!r} cannot have the squares {group.squares!r}")
    return Side(n, total, -inward if scale.minimise else inward, max(squares, 0.0), None)


def _with_odds(
    unit: UnitOfWork,
    groups: list[Group],
    arms: list[tuple[int, int, float, After]],
    versions: _Versions,
    waiting: list[OpenRow],
) -> Outcomes:
    """How the units fell, beside how the published weights say that they fall."""
    state = unit.state
    test = state.publishing.sample_ratio(state.register)
    counts = defaultdict[int, list[int]](lambda: [0] * len(state.register))
    for group in groups:
        if group.version is not None:
            counts[group.version][group.arm] += group.n
    first = {(row.version, row.unit): row.arm for row in waiting}
    for (version, name), arm in first.items():
        if version is not None and (version, name) not in state.rows.rows:
            counts[version][arm] += 1
    assigned, meant = np.zeros(len(state.register), dtype=np.int64), test.expected.copy()
    for version, found in sorted(counts.items()):
        chances = np.zeros(len(state.register))
        weights = versions[version]
        chances[[state.places[arm] for arm in weights.arms]] = weights.weights
        test.add(found, chances)
        assigned += found
    meant = test.expected - meant
    return Outcomes(
        groups,
        arms,
        [(int(place), int(assigned[place])) for place in np.flatnonzero(assigned)],
        [(int(place), float(meant[place])) for place in np.flatnonzero(meant)],
        float(test.log_odds),
        waiting,
    )

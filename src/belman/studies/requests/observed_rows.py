"""Rows of outcomes in bulk: those that count now, and those that wait for their window to close."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import codec
from belman.deciders import Sums as Taught
from belman.deciders.scale import Scale
from belman.errors import RewardError, SettingError, TicketError
from belman.studies.outcomes.book import Book, Row, digests, is_unit
from belman.studies.outcomes.bulk import Bulk, Group, Part, checked, parts
from belman.studies.requests.observed_sums import Side, context_of, learnt
from belman.studies.requests.rows import InRow, Rows, check_times
from belman.studies.requests.versions import Places, Versions, check_units, with_logged
from belman.studies.rules.attributes import Attributes
from belman.studies.settings import StudySettings
from belman.studies.traffic.evidence import bet_many
from belman.studies.unit_of_work import UnitOfWork

#: A batch counts each reward of a version and an arm if there are at most this many different ones.
MOST_VALUES = 64
Values = list[tuple[float, int]]


class _Inward(dict[float, float]):
    """Rewards as the family sees them."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale

    def __missing__(self, reward: float) -> float:
        result = self[reward] = self._scale.inward(reward)
        return result


def of_rows(unit: UnitOfWork, rows: Rows, versions: Versions) -> Bulk:
    """Return what rows teach that count now, and those that wait for their window to close."""
    state, settings = unit.state, unit.state.settings
    rows = with_logged(rows, versions, state.positions, state.arms)
    positions, inward = Places(state.positions, versions), _Inward(state.decider.scale)
    which, values = list[int](), list[float]()
    told = zip(rows.version, rows.arm, rows.reward, strict=True)
    with InRow() as at:
        for at.row, (version, arm, reward) in enumerate(told, start=1):
            which.append(positions[version, arm])
            values.append(inward[reward])
    check_units(rows, versions)
    check_times(rows, settings.window, unit.now)
    attributes: list[Attributes] = [{}] * len(rows.arm)
    has_attributes = any(one is not None for one in rows.attributes)
    if has_attributes:
        attributes = checked(rows.attributes, state.tally.attribute_names)
    rewards = [float(reward) for reward in rows.reward]
    counts, more = list(range(len(rewards))), dict[str, Any]()
    if settings.window is not None:
        arms_of = [positions.groups[code][1] for code in which]
        shown = [known or None for known in attributes]
        columns = (rows.version, rows.unit, arms_of, rewards, rows.time, shown)
        made = [_waiting(Row(*one), versions) for one in zip(*columns, strict=True)]
        counts, more = under_window(unit, made)
        rewards = [row.reward for row in made]
        values = [inward[reward] for reward in rewards]
    if settings.clip:
        clipped = [state.kept(reward) for reward in rewards]
        rewards = [reward for reward, _ in clipped]
        more["clipped"] = sum(clipped[i][1] for i in counts)
    codes, inside = np.array(which)[counts], np.array(values, dtype=np.float64)[counts]
    given = np.array(rewards)[counts]
    groups, every, sides = [], list[Values](), list[Side]()
    rewards_of = dict(_split(codes, given))
    for code, own in rewards_of.items():
        version, position = positions.groups[code]
        groups.append(Group(version, position, len(own), math.fsum(own), _squares(own)))
        every.append(_values(own, settings))
    more["bets"] = _bets_after(unit, groups, every, list(rewards_of.values()), versions)
    arms = np.array([position for _, position in positions.groups])[codes]
    for code, own in _split(codes if unit.state.in_contexts else arms, inside):
        sums = Taught(len(own), math.fsum(own), _squares(own), own)
        version, position = positions.groups[code] if unit.state.in_contexts else (None, code)
        sides.append(Side(position, sums, context_of(unit, version, versions)))
    by: list[Part] = []
    if has_attributes:
        known, family = [attributes[i] for i in counts], state.decider.family
        by = parts(known, arms, inside, family, lambda position: state.learnt(position).prior)
    return learnt(unit, groups, sides, by=by, values=every if any(every) else (), **more)


def _waiting(row: Row, versions: Versions) -> Row:
    """Return a row as it is kept until its window closes: with the chances that it brought."""
    chances = versions.logged.get(row.version or 0)
    return row if chances is None else row._replace(version=None, chances=chances)


def _values(rewards: list[float], settings: StudySettings) -> Values:
    """Return the rewards of a group and how often each came: none where they are many, or where
    sums tell as much, since every one is a side of a coin.
    """
    counts = Counter(rewards)
    if len(counts) > MOST_VALUES or _are_sides(counts, settings):
        return []
    return sorted(counts.items())


def _are_sides(rewards: Iterable[float], settings: StudySettings) -> bool:
    """Whether every reward is a side of a coin."""
    return settings.family.coin and set(rewards) <= set(settings.range or (0.0, 1.0))


def _bets_after(
    unit: UnitOfWork,
    groups: list[Group],
    every: list[Values],
    rewards: list[list[float]],
    versions: Versions,
) -> dict[str, Any] | None:
    """Return the bets after a batch, where the log does not keep all rewards that they need."""
    bets, settings = unit.state.tally.bets, unit.state.settings
    rows = list(zip(groups, every, rewards, strict=True))
    untold = (
        group.version is not None and not values and not _are_sides(own, settings)
        for group, values, own in rows
    )
    if bets is None or not any(untold):
        return None
    after = codec.copied(bets)
    for group, _, own in rows:
        if group.version is not None:
            chances = versions.chances(group.version, unit.state.positions)
            bet_many(after, group.arm, chances, own, group.version)
    return codec.write(after)


def under_window(unit: UnitOfWork, made: list[Row]) -> tuple[list[int], dict[str, Any]]:
    """Return which rows count at once, and of the others those whose window is open.

    A row that has counted before is refused. Of several rows of one unit in a batch the last one
    stands, or they add up where the study accumulates: then the reward of the last that is `made`
    is their sum.
    """
    book, settings = unit.state.book, unit.state.settings
    so_far, waiting = Book(window=book.window, accumulate=book.accumulate), list[Row]()
    counts, at_once, superseded = list[int](), dict[tuple[Any, Any], int](), set[int]()
    for i, row in enumerate(made):
        key, is_known = (row.version, row.unit), is_unit(row.unit)
        if is_known and book.has_counted(*key):
            words = f"unit {row.unit!r} of version {row.version!r} has counted, since its window"
            remedy = "it comes too late (correct_rows corrects what counted)"
            raise TicketError(f"row {i + 1}: {words} closed: {remedy}")
        is_open = row.time + (settings.window or 0.0) > unit.now
        if is_open and not is_known:
            give = "its window is open, and it has to be known again: give its unit"
            raise SettingError(f"row {i + 1}: unit={row.unit!r}: {give}")
        if is_open and key in book.open and key not in so_far.open:
            so_far.begin(key, book.open[key])
        if is_open:
            waiting.append(row._replace(reward=row.reward + 0.0, time=float(row.time)))
            reward = so_far.bring(waiting[-1]).reward
        else:
            before = at_once.get(key) if is_known else None
            reward = row.reward
            if before is not None:
                superseded.add(before)
                reward += made[before].reward if settings.accumulate else 0.0
                made[i] = row._replace(reward=reward)
            counts.append(i)
            if is_known:
                at_once[key] = i
        try:
            unit.check_reward(reward)
        except RewardError as error:
            raise RewardError(f"row {i + 1}: {error}") from None
    new = so_far.open.keys() - book.open.keys()
    unit.limits.check(0, book.rows + len(new), unit.name)
    counts = [i for i in counts if i not in superseded]
    return counts, {"open": waiting, "counted": digests(at_once)}


def _split(
    codes: NDArray[np.int64], values: NDArray[np.float64]
) -> Iterator[tuple[int, list[float]]]:
    """Yield the values of every code, in their order."""
    if not len(codes):
        return
    order = np.argsort(codes, kind="stable")
    result, starts = np.unique(codes[order], return_index=True)
    for code, own in zip(result, np.split(values[order], starts[1:]), strict=True):
        yield int(code), own.tolist()


def _squares(values: list[float]) -> float:
    return math.fsum(value * value for value in values)

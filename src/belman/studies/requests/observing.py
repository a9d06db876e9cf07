"""Outcomes in bulk: rows of units, or sums, checked as a whole and learnt at once."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import codec
from belman.assignment import Weights
from belman.deciders import Choice
from belman.deciders import Sums as Taught
from belman.deciders.scale import Scale
from belman.errors import RewardError, SettingError, StudyError, TicketError, shown
from belman.families import Family
from belman.measures.soundness import SampleRatio
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import Book, Row, digests, is_unit
from belman.studies.outcomes.bulk import Bulk, Group, Part, checked, parts
from belman.studies.requests.publishing import segment_in
from belman.studies.requests.rows import (
    InRow,
    Places,
    Rows,
    Sums,
    Versions,
    check_times,
    check_units,
    says,
    with_logged,
)
from belman.studies.requests.rows_in_contexts import fell, in_contexts
from belman.studies.rules.attributes import Attributes
from belman.studies.settings import StudySettings
from belman.studies.traffic.evidence import bet_many
from belman.studies.unit_of_work import UnitOfWork

#: Rewards of a version and an arm of which a batch keeps how often each came, if there are no more.
MOST_VALUES = 64
Values = list[tuple[float, int]]


def observe(
    unit: UnitOfWork, batch: Rows | Sums, digest: str, reason: str, key: str | None
) -> None:
    """Let a batch count, all of it or (one row is bad) none, unless it did under this key."""
    request = (digest,)
    if unit.made_before(key, Kind.OBSERVED, request) is None:
        _check_study(unit, batch)
        if unit.state.book.is_due(unit.now):
            unit.close()  # the event that follows has this time
        versions = Versions(unit.log, unit.state.publishing)
        made: list[Row] | None = None
        if unit.state.settings.has_features:
            assert isinstance(batch, Rows)
            under_window = partial(_under_window, unit)
            found, made = in_contexts(unit, batch, versions, under_window)
        elif isinstance(batch, Sums):
            found = _of_sums(unit, batch, versions)
        else:
            found = _of_rows(unit, batch, versions)
        body = _with_odds(unit, found, versions, made).body(reason)
        unit.change(Kind.OBSERVED, key, request, body)


def _check_study(unit: UnitOfWork, batch: Rows | Sums) -> None:
    settings, policy = unit.state.settings, unit.state.decider.policy
    why = None
    if settings.has_candidates:
        why = "candidates come with every ask"
    elif settings.has_features and isinstance(batch, Sums):
        why = "it learns along features, each reward in its context, and sums have none"
    elif settings.has_features and settings.reward is None:
        return
    elif not settings.has_features and isinstance(batch, Rows) and says(batch.context):
        raise SettingError(
            f"context was given to study {unit.name!r}, which decides without, or by the segment "
            "that a version is of"
        )
    elif settings.discount != 1.0:
        why = f"its beliefs fade at every reward (discount={settings.discount:g})"
    elif settings.reward is not None:
        why = f"its reward is declared over metrics ({settings.reward.text!r})"
    elif not unit.state.learns_sums:
        why = f"{policy.name} follows rewards one by one"
    elif unit.state.in_contexts and settings.window is not None:
        why = "it learns by segment when windows close"
    elif unit.state.in_contexts and not unit.state.decider.family.summed:
        why = f"it learns by segment, and {settings.family.name} rewards one by one"
    if why is not None:
        remedy = "tell the rewards of tickets instead"
        raise StudyError(f"study {unit.name!r} takes no outcomes in bulk: {why}; {remedy}")


class _Side(NamedTuple):
    """Rewards of one arm, by its place, on the scale of the family; in a segment, where beliefs are
    apart.
    """

    arm: int
    sums: Taught
    context: dict[str, Any] | None = None


def _learnt(unit: UnitOfWork, groups: list[Group], sides: list[_Side], **more: Any) -> Bulk:
    """Return what the event of a batch keeps, with the patches by which it is learnt."""
    state = unit.state
    apart = len({side.arm for side in sides}) == len(sides)
    decider = state.decider if apart else state.decider.copy()
    patches, rows = [], []
    for place, sums, context in sides:
        patch = decider.taught(Choice(state.register[place], context=context), sums)
        patches.append(patch)
        if not apart:
            decider.take(patch)
        if context is not None:
            rows.append((context, place, sums.n, sums.total, sums.squares))
    arms = []
    for place in sorted({group.arm for group in groups}):
        own = [group for group in groups if group.arm == place]
        arms.append((place, sum(one.n for one in own), math.fsum(one.sum for one in own)))
    return Bulk(groups, arms, patches, [], [], 0.0, contexts=rows, **more)


def _context(unit: UnitOfWork, version: int | None, versions: Versions) -> dict[str, Any] | None:
    """Return the segment that a version is of, in a study that learns by segment."""
    if not unit.state.in_contexts:
        return None
    if version is None or version < 0:
        why = "it learns by segment: give the version that a unit was assigned by"
        raise StudyError(f"study {unit.name!r} takes no outcomes without weights: {why}")
    weights = versions[version]
    return versions.context(version) or segment_in(unit.state, weights.segment)[1].context


# Rows


class _Inward(dict[float, float]):
    """Rewards as the family sees them."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale

    def __missing__(self, reward: float) -> float:
        found = self[reward] = self._scale.inward(reward)
        return found


def _of_rows(unit: UnitOfWork, rows: Rows, versions: Versions) -> Bulk:
    """Return what rows teach that count now, and those that wait for their window to close."""
    state, settings = unit.state, unit.state.settings
    rows = with_logged(rows, versions, state.places, state.arms)
    places, inward = Places(state.places, versions), _Inward(state.decider.scale)
    which, values = list[int](), list[float]()
    told = zip(rows.version, rows.arm, rows.reward, strict=True)
    with InRow() as at:
        for at.row, (version, arm, reward) in enumerate(told, start=1):
            which.append(places[version, arm])
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
        arms_of = [places.groups[code][1] for code in which]
        shown = [known or None for known in attributes]
        columns = (rows.version, rows.unit, arms_of, rewards, rows.time, shown)
        made = [_waiting(Row(*one), versions) for one in zip(*columns, strict=True)]
        counts, more = _under_window(unit, made)
        rewards = [row.reward for row in made]
        values = [inward[reward] for reward in rewards]
    if settings.clip:
        clipped = [state.kept(reward) for reward in rewards]
        rewards = [reward for reward, _ in clipped]
        more["clipped"] = sum(clipped[i][1] for i in counts)
    codes, inside = np.array(which)[counts], np.array(values, dtype=np.float64)[counts]
    given = np.array(rewards)[counts]
    groups, every, sides = [], list[Values](), list[_Side]()
    rewards_of = dict(_split(codes, given))
    for code, own in rewards_of.items():
        version, place = places.groups[code]
        groups.append(Group(version, place, len(own), math.fsum(own), _squares(own)))
        every.append(_values(own, settings))
    more["bets"] = _bets_after(unit, groups, every, list(rewards_of.values()), versions)
    arms = np.array([place for _, place in places.groups])[codes]
    for code, own in _split(codes if unit.state.in_contexts else arms, inside):
        sums = Taught(len(own), math.fsum(own), _squares(own), own)
        version, place = places.groups[code] if unit.state.in_contexts else (None, code)
        sides.append(_Side(place, sums, _context(unit, version, versions)))
    by: list[Part] = []
    if has_attributes:
        known, family = [attributes[i] for i in counts], state.decider.family
        by = parts(known, arms, inside, family, lambda place: state.learnt(place).prior)
    return _learnt(unit, groups, sides, by=by, values=every if any(every) else (), **more)


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
            chances = versions.chances(group.version, unit.state.places)
            bet_many(after, group.arm, chances, own, group.version)
    return codec.write(after)


def _under_window(unit: UnitOfWork, made: list[Row]) -> tuple[list[int], dict[str, Any]]:
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
    found, starts = np.unique(codes[order], return_index=True)
    for code, own in zip(found, np.split(values[order], starts[1:]), strict=True):
        yield int(code), own.tolist()


def _squares(values: list[float]) -> float:
    return math.fsum(value * value for value in values)


# Sums


def _of_sums(unit: UnitOfWork, sums: Sums, versions: Versions) -> Bulk:
    """Return what sums by version and arm teach."""
    if unit.state.settings.window is not None:
        words = "when each unit was assigned has to be known"
        raise StudyError(f"study {unit.name!r} has a window: {words}, so that sums cannot do")
    places, scale = Places(unit.state.places, versions), unit.state.decider.scale
    groups: list[Group] = []
    sides: dict[Any, _Side] = {}
    columns = (sums.version, sums.segment, sums.arm, sums.n, sums.sum, sums.squares)
    with InRow() as at:
        for at.row, (version, segment, arm, n, total, squares) in enumerate(
            zip(*columns, strict=True), start=1
        ):
            _, place = places.groups[places[version, arm]]
            if version is not None and segment is not None:
                _check_segment(versions[version], segment)
            groups.append(Group(version, place, n, total, squares))
            own, context = inward_sums(groups[-1], scale), _context(unit, version, versions)
            key = place if context is None else (version, place)
            if key in sides:
                own = _joined(own, sides[key].sums)
            sides[key] = _Side(place, own, context)
    return _learnt(unit, groups, list(sides.values()))


def _joined(one: Taught, other: Taught) -> Taught:
    squares = one.squares + other.squares
    return Taught(one.n + other.n, one.total + other.total, squares)


def _check_segment(weights: Weights, segment: object) -> None:
    if segment != weights.segment:
        of = f"is of segment {weights.segment!r}"
        raise SettingError(f"version {weights.version} {of}, and {shown(segment)} is given")


def inward_sums(group: Group, scale: Scale) -> Taught:
    """Return sums on the scale of the family; RewardError where no rewards have them."""
    low, high = scale.range or (0.0, 1.0)
    width, n, total = high - low, group.n, group.sum
    inward = (total - n * low) / width
    squares = (group.squares - 2.0 * low * total + n * low * low) / (width * width)
    least, most = _squares_of(scale.base, n, inward)
    slack = 1e-9 * max(n, abs(inward), squares)
    if not least - slack <= squares <= most + slack:
        words = f"{n} rewards of sum {total!r} cannot have the squares {group.squares!r}"
        raise RewardError(f"{words}: those of {scale.base.name} rewards have others")
    return Taught(n, -inward if scale.minimise else inward, max(squares, 0.0))


def _squares_of(family: Family, n: int, total: float) -> tuple[float, float]:
    """Return the least and the largest sum of squares of `n` rewards of a sum; RewardError where no
    rewards have the sum.
    """
    low, high = family.mean_range
    slack = 1e-9 * max(n, abs(total))
    if not n * low - slack <= total <= n * high + slack:
        raise RewardError(f"{n} rewards cannot have the sum {total!r}")
    if family.coin:
        return total, total
    least, most = total * total / n, math.inf
    if low >= 0.0:
        most = total * total
    if family.reward_range is not None:
        ends = family.reward_range
        most = min(most, (ends[0] + ends[1]) * total - n * ends[0] * ends[1])
    if family.supports(1.0) and not family.supports(0.5) and low >= 0.0:  # whole numbers
        least = max(least, total)
    return least, most


# What goes with both


def _with_odds(unit: UnitOfWork, found: Bulk, versions: Versions, made: list[Row] | None) -> Bulk:
    """Return the same, with how the units fell beside how the published weights say that they
    fall: the rows that were made in their contexts, or all by version.
    """
    state = unit.state
    test = state.tally.assigned(state.register)
    if made is not None:
        return _odds(test, found, fell(unit, made))
    counts = defaultdict[int, list[int]](lambda: [0] * len(state.register))
    for group in found.groups:
        if group.version is not None:
            counts[group.version][group.arm] += group.n
    first = {(row[0], row[1]): row for row in found.open}
    for key, row in first.items():
        version = row[0] if row[7] is None else versions.number_of(tuple(row[7]))
        if version is not None and key not in state.book.open:
            counts[version][row[2]] += 1
    shares = [(version, versions.chances(version, state.places)) for version in sorted(counts)]
    found = _odds(test, found, ((counts[version], chances) for version, chances in shares))
    if state.tally.bets is None:
        shares = [one for one in shares if one[0] < 0]  # which no event of a version keeps
    return found._replace(shares=shares)


def _odds(
    test: SampleRatio, found: Bulk, units: Iterable[tuple[list[int], Sequence[float]]]
) -> Bulk:
    """Return the same, with units that fell on arms under chances."""
    assigned, meant = np.zeros(len(test.arms), dtype=np.int64), test.expected.copy()
    for counts, chances in units:
        test.add(counts, chances)
        assigned += counts
    meant = test.expected - meant
    return found._replace(
        assigned=[(int(place), int(assigned[place])) for place in np.flatnonzero(assigned)],
        meant=[(int(place), float(meant[place])) for place in np.flatnonzero(meant)],
        log_odds=float(test.log_odds),
    )

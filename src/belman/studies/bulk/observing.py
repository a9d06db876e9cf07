"""Outcomes in bulk: rows of units, or sums, checked as a whole and learnt at once."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from belman.agent.scale import Scale
from belman.errors import ArmError, RewardError, SettingError, StudyError
from belman.studies.bulk.assigned_units import Places, Versions, check_times, check_units
from belman.studies.bulk.observed_rows import Rows, Sums, in_row
from belman.studies.bulk.observed_sums import inward_sums, of_sums
from belman.studies.bulk.open_rows import OpenRow, OpenRows
from belman.studies.bulk.outcomes import After, Group, Outcomes, Side, learn
from belman.studies.bulk.row_attributes import Part, checked, parts
from belman.studies.contexts.context import asked_in
from belman.studies.log import change_keys
from belman.studies.log.event_log import Kind
from belman.studies.rules.attributes import Attributes
from belman.studies.settings import StudySettings

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork

#: Rewards of a version and an arm of which a batch keeps how often each came, if there are no more.
MOST_VALUES = 64
Values = list[tuple[float, int]]


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
    versions, waiting, by, values = Versions(unit), list[OpenRow](), list[Part](), list[Values]()
    if isinstance(batch, Sums):
        groups, sides = of_sums(unit, batch, versions)
    else:
        groups, sides, waiting, by, values = _of_rows(unit, batch, versions)
    arms = []
    for place, side in sorted(sides.items()):
        arm = unit.state.register[place]
        after = learn(unit.state.agent.family, unit.state.learnt(place), side, arm)
        arms.append((place, side.n, side.total, after))
    found = _with_odds(unit, groups, arms, versions, waiting)
    found = found._replace(by=by, values=values if any(values) else ())
    return found if unit.state.contexts is None else _by_segment(unit, found)


def _by_segment(unit: UnitOfWork, found: Outcomes) -> Outcomes:
    """The same, with what came of every arm in every segment."""
    rows = []
    for group in found.groups:
        published = None if group.version is None else unit.log.event(group.version)
        if published is None:
            why = "it learns by segment: give the version that a unit was assigned by"
            raise StudyError(f"study {unit.name!r} takes no outcomes without weights: {why}")
        context, _ = asked_in(published)
        side = inward_sums(group, unit.state.agent.scale)
        rows.append((context, group.arm, side.n, side.inward, side.squares))
    return found._replace(contexts=rows)


def _check_study(unit: UnitOfWork) -> None:
    settings, policy = unit.state.settings, unit.state.agent.policy
    why = None
    if settings.discount != 1.0:
        why = f"its beliefs fade at every reward (discount={settings.discount:g})"
    elif settings.reward is not None:
        why = f"its reward is declared over metrics ({settings.reward.text!r})"
    elif not policy.learns_sums(unit.state.agent.family):
        why = f"{policy.name} follows rewards one by one"
    elif settings.has_contexts and settings.window is not None:
        why = "it learns by segment when windows close"
    elif settings.has_contexts and not unit.state.agent.family.summed:
        why = f"it learns by segment, and {settings.family.name} rewards one by one"
    if why is not None:
        remedy = "tell the rewards of tickets instead"
        raise StudyError(f"study {unit.name!r} takes no outcomes in bulk: {why}; {remedy}")


class _Inward(dict[float, float]):
    """Rewards as the family sees them."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale

    def __missing__(self, reward: float) -> float:
        found = self[reward] = self._scale.inward(reward)
        return found


def _of_rows(
    unit: UnitOfWork, rows: Rows, versions: Versions
) -> tuple[list[Group], dict[int, Side], list[OpenRow], list[Part], list[Values]]:
    """Groups, and what came of every arm, of rows that count now; those that wait; what is learnt
    in segments; and the rewards of every group.
    """
    places, inward = Places(unit, versions), _Inward(unit.state.agent.scale)
    seen = 0
    try:
        which, values = [], []
        for version, arm, reward in zip(rows.version, rows.arm, rows.reward, strict=True):
            which.append(places[version, arm])
            values.append(inward[reward])
            seen += 1
    except (SettingError, ArmError, RewardError, TypeError) as error:
        raise in_row(seen + 1, error) from None
    check_units(rows, versions)
    check_times(unit, rows)
    attributes = checked(rows.attributes, unit.state.attribute_names)
    given = np.array([float(reward) for reward in rows.reward])
    counts = np.ones(len(given), dtype=np.bool_)
    waiting: list[OpenRow] = []
    if unit.state.settings.window is not None:
        arms_of = [places.groups[code][1] for code in which]
        waiting, counts = _waiting(unit, rows, arms_of, attributes)
    codes, inside = np.array(which)[counts], np.array(values, dtype=np.float64)[counts]
    given = given[counts]
    groups, every = [], list[Values]()
    for code, own in _split(codes, given):
        version, place = places.groups[code]
        groups.append(Group(version, place, len(own), math.fsum(own), _squares(own)))
        every.append(_values(own, unit.state.settings))
    arms = np.array([place for _, place in places.groups])[codes]
    totals = {place: math.fsum(own) for place, own in _split(arms, given)}
    found = {
        place: Side(len(own), totals[place], math.fsum(own), _squares(own), own)
        for place, own in _split(arms, inside)
    }
    own_attributes = [attributes[i] for i in np.flatnonzero(counts)]
    by = parts(own_attributes, arms, inside, unit.state.agent.family, _priors(unit))
    return groups, found, waiting, by, every


def _values(rewards: list[float], settings: StudySettings) -> Values:
    """The rewards of a group and how often each came: none where they are many, or where sums tell
    as much, since every one is a side of a coin.
    """
    counts = Counter(rewards)
    ends = set(settings.range or (0.0, 1.0))
    if len(counts) > MOST_VALUES or (settings.family.coin and counts.keys() <= ends):
        return []
    return sorted(counts.items())


def _priors(unit: UnitOfWork) -> Callable[[int], Sequence[float]]:
    return lambda place: unit.state.learnt(place).prior


def _waiting(
    unit: UnitOfWork, rows: Rows, arms: list[int], attributes: list[Attributes]
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
        known = attributes[i] or None
        row = OpenRow(rows.version[i], name, arms[i], reward, float(rows.time[i]), known)
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


def _with_odds(
    unit: UnitOfWork,
    groups: list[Group],
    arms: list[tuple[int, int, float, After]],
    versions: Versions,
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

"""Outcomes in bulk of a study along features: each is learnt in its own context.

The log keeps such rows one by one, each with its context and the chances that all arms had in it
under its version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from belman.assignment import Weights, WeightsError
from belman.assignment.assign import point
from belman.assignment.contexts import Contexts
from belman.assignment.leaves import Leaves
from belman.deciders.featured.at_edge import chances_among
from belman.deciders.featured.settings import check_kinds
from belman.errors import ArmError, SettingError
from belman.studies.outcomes.book import Row
from belman.studies.outcomes.bulk import Bulk, checked
from belman.studies.requests.observed_rows import under_window
from belman.studies.requests.rows import InRow, Rows, check_times
from belman.studies.requests.versions import Places, Versions, check_unit, with_logged
from belman.studies.rules.attributes import Attributes
from belman.studies.unit_of_work import UnitOfWork

Chances = tuple[float, ...]
Context = dict[str, Any]


def in_contexts(unit: UnitOfWork, rows: Rows, versions: Versions) -> tuple[Bulk, list[Row]]:
    """Return what the event of a batch keeps, and all of its rows."""
    state = unit.state
    rows = with_logged(rows, versions, state.positions, state.arms)
    positions = Places(state.positions, versions)
    contexts, rewards = list[Context](), list[float]()
    with InRow() as at:
        columns = zip(rows.version, rows.arm, rows.reward, rows.context, strict=True)
        for at.row, (version, arm, reward, context) in enumerate(columns, start=1):
            _ = positions[version, arm]
            rewards.append(unit.check_reward(reward))
            contexts.append(state.decider.check(context).context)
    check_kinds([*_waiting(unit), *contexts])
    check_times(rows, state.settings.window, unit.now)
    attributes: Sequence[Attributes | None] = [None] * len(rewards)
    if any(one is not None for one in rows.attributes):
        attributes = [one or None for one in checked(rows.attributes, state.tally.attribute_names)]
    chances = _chances(rows, versions)
    _check_units(rows, chances, versions)
    made = []
    for i, reward in enumerate(rewards):
        own, version, time = chances[i], rows.version[i], rows.time[i]
        by_position = None if own is None else versions.chances(version, state.positions, own)
        version = None if version in versions.logged else version
        when = unit.now if time is None else float(time)
        known = (attributes[i], contexts[i], by_position)
        arm = state.positions[rows.arm[i]]
        made.append(Row(version, rows.unit[i], arm, reward, when, *known))
    counts, more = list(range(len(made))), dict[str, Any]()
    if state.settings.window is not None:
        counts, more = under_window(unit, made)
    return Bulk([], [], [], [], [], 0.0, told=[made[i] for i in counts], **more), made


def _waiting(unit: UnitOfWork) -> Iterator[Context]:
    """Yield the contexts of rows that wait."""
    rows = (one for key, one in unit.state.book.open.items() if type(key) is tuple)
    return (one.context or {} for one in rows)


def _chances(rows: Rows, versions: Versions) -> list[Chances | None]:
    """Return the chances of a version's arms in the context of every row."""
    result: list[Chances | None] = [None] * len(rows.arm)
    with InRow() as at:
        for version in sorted({one for one in rows.version if one is not None}):
            if version in versions.logged:
                continue
            own = [i for i, one in enumerate(rows.version) if one == version]
            at.row = own[0] + 1
            try:
                known = chances_in(versions[version], [rows.context[i] for i in own])
            except WeightsError as error:
                raise SettingError(str(error)) from None
            for i, chances in zip(own, known, strict=True):
                result[i] = chances
    for i, version in enumerate(rows.version):
        if version in versions.logged:
            result[i] = versions.logged[version]
    return result


def chances_in(weights: Weights, contexts: Sequence[Any]) -> list[Chances]:
    """Return the chances of arms in many contexts: those of `Weights.chances`, and faster."""
    decides = weights.contexts
    if decides is None:
        return [weights.weights] * len(contexts)
    if isinstance(decides, Leaves):
        return [weights.chances({} if one is None else one) for one in contexts]
    return chances_among(decides, weights.floors, contexts)


def _check_units(rows: Rows, chances: Sequence[Chances | None], versions: Versions) -> None:
    """Refuse rows if one of them names a unit that got another arm in its context."""
    with InRow() as at:
        for at.row, own in enumerate(chances, start=1):
            if own is None or rows.version[at.row - 1] in versions.logged:
                continue
            name, arm, weights = (one[at.row - 1] for one in (rows.unit, rows.arm, rows.version))
            document = versions[weights]
            if not isinstance(document.contexts, Contexts):
                check_unit(name, weights, arm, versions, rows.context[at.row - 1])
                continue
            try:
                at_point = point(document.salt, name)
            except WeightsError as error:
                raise SettingError(str(error)) from None
            ends = np.cumsum(np.array(own) * 2.0**32)
            meant = document.arms[int(np.searchsorted(ends, at_point, side="right"))]
            if meant != arm:
                by = f"version {document.version} assigns {meant!r} to it in this context"
                raise ArmError(f"unit {name!r} has arm {arm!r}, and {by}")


def fell(unit: UnitOfWork, rows: Sequence[Row]) -> Iterator[tuple[list[int], Sequence[float]]]:
    """Yield how units that are new fell on arms, for each of the chances that they had."""
    seen = set(unit.state.book.open)
    counts: dict[tuple[float, ...], Counter[int]] = {}
    for row in rows:
        key = (row.version, row.unit)
        if row.chances is not None and key not in seen:
            counts.setdefault(tuple(row.chances), Counter())[row.arm] += 1
            if unit.state.settings.window is not None:
                seen.add(key)
    for chances, own in counts.items():
        yield [own[position] for position in range(len(chances))], chances

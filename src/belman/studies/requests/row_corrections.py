"""Corrections of rows that counted: one reward is taken out of what is learnt, another put in.

The log keeps sums of rows, so that whoever corrects one says what it counted as. What they say is
kept, and what is learnt by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belman import codec
from belman.deciders import Choice, validate
from belman.errors import ArmError, SettingError, StudyError, TicketError, shown
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import SHARES
from belman.studies.requests.rows import InRow
from belman.studies.requests.versions import Places, Versions, check_unit, logged_chances
from belman.studies.rules.attributes import Attributes, check_attributes
from belman.studies.rules.written import ArmTexts
from belman.studies.unit_of_work import UnitOfWork

Given = Iterable[Sequence[Any] | Mapping[str, Any]]


class RowCorrection(NamedTuple):
    """A unit, its version and arm, what it counted as, what it should have counted as (None:
    nothing), and the attributes and chances that it was brought with.
    """

    unit: Any
    version: int | None
    arm: Any
    was: float
    reward: float | None
    attributes: Attributes | None = None
    chances: Any = None


def brought(given: Given) -> list[RowCorrection]:
    """Return what somebody brought."""
    result, give = [], "(unit, version, arm, was, reward), or with attributes and chances behind"
    for i, row in enumerate(validate.check_list(given, "rows", give), start=1):
        try:
            one = RowCorrection(**row) if isinstance(row, Mapping) else RowCorrection(*row)
            plain: Any = [x.item() if isinstance(x, np.generic) else x for x in one]
            one = RowCorrection(*plain)
        except TypeError:
            raise SettingError(f"row {i} is {shown(row)}: give {give}") from None
        result.append(one)
    return result


def correct(unit: UnitOfWork, rows: list[RowCorrection], reason: str, key: str | None) -> int:
    """Let rows count otherwise, all or none of them, unless they do under this key already."""
    request = (reason, *rows)
    if unit.state.in_contexts:
        why = "it learns by segment, of which the log keeps sums"
        raise StudyError(f"study {unit.name!r} corrects no rows: {why}")
    if unit.made_before(key, Kind.ROWS_CORRECTED, request) is None and rows:
        unit.close()  # the event that follows has this time
        patches, changes = [], dict[int, tuple[int, float]]()
        positions, versions = unit.state.positions, Versions(unit.log, unit.state.publishing)
        decider = unit.state.decider.copy()
        rows = _with_chances(unit, rows)
        for i, row in enumerate(rows, start=1):
            with InRow() as at:
                at.row = i
                _check(unit, row, versions)
                patches.append(_patch(unit, decider, row))
            decider.take(patches[-1])
            n, total = changes.get(positions[row.arm], (0, 0.0))
            new = 0.0 if row.reward is None else unit.state.kept(row.reward)[0]
            total += new - unit.state.kept(row.was)[0]
            changes[positions[row.arm]] = (n - (row.reward is None), total)
        kept = [row._replace(arm=codec.encode_arm(row.arm)) for row in rows]
        rest = {"changes": [[position, *change] for position, change in sorted(changes.items())]}
        if unit.state.tally.bets is not None:
            rest |= _bets(unit, rows, versions)
        body = {"reason": reason, "rows": kept, "patches": patches, **rest}
        unit.change(Kind.ROWS_CORRECTED, key, request, body)
    return len(rows)


def _bets(unit: UnitOfWork, rows: list[RowCorrection], versions: Versions) -> dict[str, Any]:
    """Return the bets that are taken back and made, and the chances of their versions."""
    positions, made, named = unit.state.positions, list[list[Any]](), set[int]()
    for row in rows:
        version = row.version if row.chances is None else versions.number_of(tuple(row.chances))
        for reward, times in ((row.was, -1.0), (row.reward, 1.0)):
            if reward is not None and version is not None:
                named.add(version)
                made.append([positions[row.arm], unit.state.kept(reward)[0], times, version])
    return {
        "bets": made,
        SHARES: [(one, versions.chances(one, positions)) for one in sorted(named)],
    }


def _with_chances(unit: UnitOfWork, rows: list[RowCorrection]) -> list[RowCorrection]:
    """Return rows whose chances, where they were logged, are those of all arms by place."""
    positions, arms, result = unit.state.positions, unit.state.arms, list[RowCorrection]()
    read = ArmTexts(positions)
    with InRow() as at:
        for at.row, row in enumerate(rows, start=1):
            if row.chances is not None:
                brings = row.chances, row.version, row.arm
                row = row._replace(chances=logged_chances(*brings, read, positions, arms))
            result.append(row)
    return result


def corrected_in(body: Mapping[str, Any]) -> list[RowCorrection]:
    """Return the rows that an event corrected."""
    rows = (RowCorrection(*row) for row in body["rows"])
    return [row._replace(arm=codec.decode_arm(row.arm)) for row in rows]


def _check(unit: UnitOfWork, row: RowCorrection, versions: Versions) -> None:
    """Refuse a row that cannot have counted."""
    _ = Places(unit.state.positions, versions)[row.version, row.arm], hash(row.unit)
    check_unit(row.unit, row.version, row.arm, versions)
    if (row.version, row.unit) in unit.state.book.open:
        raise TicketError(f"the window of unit {row.unit!r} is open: observe it once more instead")
    if not unit.state.tally.arms[unit.state.positions[row.arm]].observed:
        raise ArmError(f"no outcome of arm {row.arm!r} came in bulk: correct tickets by correct()")
    check_attributes(row.attributes, unit.state.tally.attribute_names)


def _patch(unit: UnitOfWork, decider: Any, row: RowCorrection) -> Any:
    """Return the patch by which one reward is taken out of what is learnt, and another put in."""
    old = unit.check_reward(row.was)
    new = None if row.reward is None else unit.check_reward(row.reward)
    result = decider.corrected(Choice(row.arm), old, new)
    if result is None:
        why = "too much of what is believed of the arm came from it, and the log keeps sums"
        raise TicketError(f"the reward {row.was!r} of {row.arm!r} cannot be taken back: {why}")
    return result

"""Sums of outcomes by version and arm, as they are learnt; rows are summed up to such."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from belman.assignment import Weights
from belman.deciders import Choice
from belman.deciders import Sums as Taught
from belman.deciders.scale import Scale
from belman.errors import RewardError, SettingError, StudyError, shown
from belman.families import Family
from belman.studies.outcomes.bulk import Bulk, Group
from belman.studies.requests.publishing import segment_in
from belman.studies.requests.rows import InRow, Sums
from belman.studies.requests.versions import Places, Versions
from belman.studies.unit_of_work import UnitOfWork


class Side(NamedTuple):
    """Rewards of one arm, by its place, on the scale of the family; in a segment, where beliefs are
    apart.
    """

    arm: int
    sums: Taught
    context: dict[str, Any] | None = None


def learnt(unit: UnitOfWork, groups: list[Group], sides: list[Side], **more: Any) -> Bulk:
    """Return what the event of a batch keeps, with the patches by which it is learnt."""
    state = unit.state
    apart = len({side.arm for side in sides}) == len(sides)
    decider = state.decider if apart else state.decider.copy()
    patches, rows = [], []
    for position, sums, context in sides:
        patch = decider.taught(Choice(state.register[position], context=context), sums)
        patches.append(patch)
        if not apart:
            decider.take(patch)
        if context is not None:
            rows.append((context, position, sums.n, sums.total, sums.squares))
    arms = []
    for position in sorted({group.arm for group in groups}):
        own = [group for group in groups if group.arm == position]
        arms.append((position, sum(one.n for one in own), math.fsum(one.sum for one in own)))
    return Bulk(groups, arms, patches, [], [], 0.0, contexts=rows, **more)


def context_of(unit: UnitOfWork, version: int | None, versions: Versions) -> dict[str, Any] | None:
    """Return the segment that a version is of, in a study that learns by segment."""
    if not unit.state.in_contexts:
        return None
    if version is None or version < 0:
        why = "it learns by segment: give the version that a unit was assigned by"
        raise StudyError(f"study {unit.name!r} takes no outcomes without weights: {why}")
    weights = versions[version]
    return versions.context(version) or segment_in(unit.state, weights.segment)[1].context


def of_sums(unit: UnitOfWork, sums: Sums, versions: Versions) -> Bulk:
    """Return what sums by version and arm teach."""
    if unit.state.settings.window is not None:
        words = "when each unit was assigned has to be known"
        raise StudyError(f"study {unit.name!r} has a window: {words}, so that sums cannot do")
    positions, scale = Places(unit.state.positions, versions), unit.state.decider.scale
    groups: list[Group] = []
    sides: dict[Any, Side] = {}
    columns = (sums.version, sums.segment, sums.arm, sums.n, sums.sum, sums.squares)
    with InRow() as at:
        for at.row, (version, segment, arm, n, total, squares) in enumerate(
            zip(*columns, strict=True), start=1
        ):
            _, position = positions.groups[positions[version, arm]]
            if version is not None and segment is not None:
                _check_segment(versions[version], segment)
            groups.append(Group(version, position, n, total, squares))
            own, context = inward_sums(groups[-1], scale), context_of(unit, version, versions)
            key = position if context is None else (version, position)
            if key in sides:
                own = _joined(own, sides[key].sums)
            sides[key] = Side(position, own, context)
    return learnt(unit, groups, list(sides.values()))


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

"""Outcomes in bulk as sums by version and arm, on the scale of the family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belman.agent.scale import Scale
from belman.assignment import Weights
from belman.errors import ArmError, RewardError, SettingError, StudyError
from belman.studies.bulk.assigned_units import Places, Versions
from belman.studies.bulk.observed_rows import Sums, in_row
from belman.studies.bulk.outcomes import Group, Side

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork


def of_sums(
    unit: UnitOfWork, sums: Sums, versions: Versions
) -> tuple[list[Group], dict[int, Side]]:
    """Groups, and what came of every arm."""
    if unit.state.settings.window is not None:
        words = "when each unit was assigned has to be known"
        raise StudyError(f"study {unit.name!r} has a window: {words}, so that sums cannot do")
    places, scale = Places(unit, versions), unit.state.agent.scale
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
            side = inward_sums(group, scale)
        except (SettingError, ArmError, RewardError, TypeError) as error:
            raise in_row(i, error) from None
        groups.append(group)
        sides[place] = side if place not in sides else sides[place].joined(side)
    return groups, sides


def _check_segment(weights: Weights, segment: object) -> None:
    if segment != weights.segment:
        of = f"is of segment {weights.segment!r}"
        raise SettingError(f"version {weights.version} {of}, and {segment!r} is given")


def inward_sums(group: Group, scale: Scale) -> Side:
    """Sums on the scale of the family."""
    low, high = scale.range or (0.0, 1.0)
    width, n, total = high - low, group.n, group.sum
    inward = (total - n * low) / width
    squares = (group.squares - 2.0 * low * total + n * low * low) / (width * width)
    if squares < inward * inward / n * (1.0 - 1e-9) - 1e-9:
        raise RewardError(f"{n} rewards of sum {total!r} cannot have the squares {group.squares!r}")
    return Side(n, total, -inward if scale.minimise else inward, max(squares, 0.0), None)

"""Units of outcomes in bulk, held against the versions of the weights that they name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from belman.assignment import Weights, WeightsError, assign
from belman.errors import ArmError, SettingError, listing, nearest
from belman.studies.bulk.observed_rows import Rows
from belman.studies.log.clocks import is_time
from belman.studies.traffic.publishing import version_in

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork

#: Seconds by which the clock of whoever assigned a unit may be ahead of that of the study.
AHEAD = 60.0


class Versions(dict[int, Weights]):
    """The weights of versions that outcomes name, from the log."""

    def __init__(self, unit: UnitOfWork) -> None:
        super().__init__()
        self._unit = unit

    def __missing__(self, version: int) -> Weights:
        if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**63:
            allowed = "give the number that weights have, or None where there were none"
            raise SettingError(f"version={str(version)[:80]!r} is not valid: {allowed}")
        found = self[version] = version_in(self._unit.log.event(version), version)
        return found


class Places(dict[tuple[Any, Any], int]):
    """The group of a version and an arm: its place in `groups`, checked where it is new."""

    def __init__(self, unit: UnitOfWork, versions: Versions) -> None:
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


def check_unit(unit: UnitOfWork, name: object, version: Any, arm: Any) -> None:
    """Refuse a unit that cannot have this arm under this version."""
    versions = Versions(unit)
    try:
        _ = Places(unit, versions)[version, arm], hash(name)
    except TypeError as error:
        raise SettingError(str(error)) from None
    _check_arm_of(name, version, arm, versions)


def _check_arm_of(name: Any, version: int | None, arm: Any, versions: Versions) -> None:
    if version is None:
        return
    try:
        meant = assign(versions[version], name).arm
    except WeightsError as error:
        raise SettingError(str(error)) from None
    if meant != arm:
        by = f"version {version} assigns {meant!r} to it"
        raise ArmError(f"unit {name!r} has arm {arm!r}, and {by}")


def check_units(rows: Rows, versions: Versions) -> None:
    """Refuse a row whose unit got another arm, or has no name, under the version it names."""
    seen = 0
    try:
        for unit, version, arm in zip(rows.unit, rows.version, rows.arm, strict=True):
            _check_arm_of(unit, version, arm, versions)
            seen += 1
    except (SettingError, ArmError) as error:
        raise type(error)(f"row {seen + 1}: {error}") from None


def check_times(unit: UnitOfWork, rows: Rows) -> None:
    window = unit.state.settings.window
    for i, time in enumerate(rows.time, start=1):
        if time is None and window is None:
            continue
        if not is_time(time):
            give = "give the seconds since 1970 at which the unit was assigned"
            raise SettingError(f"row {i}: time={repr(time)[:80]} is not valid: {give}")
        if window is not None and time > unit.now + AHEAD:
            words = f"time={time!r} is {time - unit.now:.0f} s ahead of the clock of the study"
            raise SettingError(f"row {i}: {words}: it has to be when the unit was assigned")

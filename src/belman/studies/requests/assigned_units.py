"""Units of outcomes in bulk, held against the versions of the weights that they name."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

from belman.assignment import Weights, WeightsError, assign
from belman.errors import ArmError, SettingError, listing, nearest
from belman.studies.log.event_log import Tail
from belman.studies.log.storage import is_time
from belman.studies.outcomes.book import CONTEXT
from belman.studies.outcomes.rows import Rows
from belman.studies.traffic.publishing import version_in

#: Seconds by which the clock of whoever assigned a unit may be ahead of that of the study.
AHEAD = 60.0


class Versions(dict[int, Weights]):
    """The weights of versions that outcomes name, from the log."""

    def __init__(self, log: Tail) -> None:
        super().__init__()
        self._log = log
        self.contexts: dict[int, dict[str, Any]] = {}  # that versions are for, by segment

    def __missing__(self, version: int) -> Weights:
        if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**63:
            allowed = "give the number that weights have, or None where there were none"
            raise SettingError(f"version={str(version)[:80]!r} is not valid: {allowed}")
        event = self._log.event(version)
        found = self[version] = version_in(event, version)
        self.contexts[version] = json.loads((event and event.body) or "{}").get(CONTEXT)
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
            raise ArmError(f"unknown arm {str(arm)[:80]!r}: {there}")
        if version is not None:
            weights = self._versions[version]
            if arm not in weights.arms or not weights.weights[weights.arms.index(arm)]:
                raise ArmError(f"arm {arm!r} had no share in version {version}")
        self[pair] = len(self.groups)
        self.groups.append((version, self._known[arm]))
        return self[pair]


def check_unit(name: Any, version: int | None, arm: Any, versions: Versions) -> None:
    """Refuse a unit that got another arm, or has no name, under the version it names."""
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
    """Refuse rows of which one names a unit that got another arm."""
    seen = 0
    try:
        for unit, version, arm in zip(rows.unit, rows.version, rows.arm, strict=True):
            check_unit(unit, version, arm, versions)
            seen += 1
    except (SettingError, ArmError) as error:
        raise type(error)(f"row {seen + 1}: {error}") from None


def check_times(rows: Rows, window: float | None, now: float) -> None:
    """Refuse rows whose times are none, or lie ahead; without a window they need none."""
    for i, time in enumerate(rows.time, start=1):
        if time is None and window is None:
            continue
        if not is_time(time):
            give = "give the seconds since 1970 at which the unit was assigned"
            raise SettingError(f"row {i}: time={repr(time)[:80]} is not valid: {give}")
        if window is not None and time > now + AHEAD:
            words = f"time={time!r} is {time - now:.0f} s ahead of the clock of the study"
            raise SettingError(f"row {i}: {words}: it has to be when the unit was assigned")

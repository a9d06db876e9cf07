"""The versions of weights, or chances that were logged, that outcomes in bulk name: rows are held
against them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from belman.assignment import Elsewhere, Weights, WeightsError, assign
from belman.bulk_assignment import assign_many
from belman.deciders.validate import unknown_arm
from belman.errors import ArmError, SettingError, listing, shown
from belman.studies.log.event_log import Tail
from belman.studies.outcomes.book import CONTEXT
from belman.studies.requests.rows import InRow, Rows, number
from belman.studies.rules.written import ArmTexts
from belman.studies.traffic.publishing import Publishing, version_in

#: By how much logged chances may miss 1 together, since they are rounded where they are logged.
_ROUNDED = 1e-3


class Versions(dict[int, Weights]):
    """The weights of versions that outcomes name: those that stand, and others from the log; and
    the chances that outcomes bring themselves, numbered downwards from −1.
    """

    def __init__(self, log: Tail, publishing: Publishing) -> None:
        super().__init__()
        self.logged: dict[int, tuple[float, ...]] = {}
        self._numbers: dict[tuple[float, ...], int] = {}
        self._log = log
        self._standing = {one.weights.version: one.weights for one in publishing.current.values()}

    def __missing__(self, version: int) -> Weights:
        if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**63:
            allowed = "give the number that weights have, or None where there were none"
            raise SettingError(f"version={shown(version)} is not valid: {allowed}")
        result = self._standing.get(version)
        if result is None:
            event = self._log.event(version)
            if event is None and self._log.is_archived(version):
                words = "events up to it are archived, and its outcomes are not taken any more"
                raise SettingError(f"version={version} is too old: {words}")
            result = version_in(event, version)
        self[version] = result
        return result

    def chances(
        self,
        version: int,
        positions: Mapping[Hashable, int],
        in_context: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the chance of every arm under a version, by place; where it decides by context,
        those of its arms are given.
        """
        if version in self.logged:
            return list(self.logged[version])
        weights = self[version]
        result, shares = (
            [0.0] * len(positions),
            weights.weights if in_context is None else in_context,
        )
        for arm, share in zip(weights.arms, shares, strict=True):
            result[positions[arm]] = share
        return result

    def number_of(self, chances: tuple[float, ...]) -> int:
        """Return the number by which chances that outcomes bring are known."""
        result = self._numbers.setdefault(chances, -1 - len(self._numbers))
        self.logged[result] = chances
        return result

    def context(self, version: int) -> dict[str, Any] | None:
        """Return the context that a version was published for, in a study by segments; None where
        its event is archived.
        """
        event = self._log.event(version)
        return None if event is None else event.content.get(CONTEXT)


class Places(dict[tuple[Any, Any], int]):
    """The group of a version and an arm: its place in `groups`, checked where it is new."""

    def __init__(self, known: Mapping[Hashable, int], versions: Versions) -> None:
        super().__init__()
        self.groups: list[tuple[int | None, int]] = []
        self._known, self._versions = known, versions

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        version, arm = pair
        if not isinstance(arm, Hashable) or arm not in self._known:
            raise unknown_arm(arm, self._known, "this study knows")
        if version is not None and version not in self._versions.logged:
            weights = self._versions[version]
            whole = weights.contexts is None  # elsewhere an arm may have a share in some contexts
            if arm not in weights.arms or (whole and not weights.weights[weights.arms.index(arm)]):
                raise ArmError(f"arm {arm!r} had no share in version {version}")
        self[pair] = len(self.groups)
        self.groups.append((version, self._known[arm]))
        return self[pair]


def check_unit(
    name: Any, version: int | None, arm: Any, versions: Versions, context: Any = None
) -> None:
    """Refuse a unit that got another arm in its context, or has no name, under its version."""
    if version is None or version in versions.logged or versions[version].by == Elsewhere.by:
        return
    try:
        meant = assign(versions[version], name, context or {}).arm
    except WeightsError as error:
        raise SettingError(str(error)) from None
    if meant != arm:
        by = f"version {version} assigns {meant!r} to it"
        raise ArmError(f"unit {name!r} has arm {arm!r}, and {by}")


def check_units(rows: Rows, versions: Versions) -> None:
    """Refuse rows if one names a unit that got another arm: all units of a version are hashed
    at once.
    """
    of_version = defaultdict[int, list[int]](list)
    for i, version in enumerate(rows.version):
        if version is not None and version not in versions.logged:
            of_version[version].append(i)
    for version, own in sorted(of_version.items()):
        weights = versions[version]
        if weights.by == Elsewhere.by:
            continue
        positions = {arm: position for position, arm in enumerate(weights.arms)}
        arms = np.array([positions[rows.arm[i]] for i in own])
        try:
            meant = assign_many(weights, [rows.unit[i] for i in own]).positions
            wrong = np.flatnonzero(meant != arms).tolist()
        except WeightsError:  # of a unit that has no name
            wrong = list(range(len(own)))
        with InRow() as at:
            for i in wrong:
                at.row = own[i] + 1
                check_unit(rows.unit[own[i]], version, rows.arm[own[i]], versions)


def with_logged(
    rows: Rows, versions: Versions, positions: Mapping[Hashable, int], arms: Sequence[Hashable]
) -> Rows:
    """Return rows that bring the chances of their arms as rows of a version: a number below 0."""
    if not any(one is not None for one in rows.chances):
        return rows
    result, read = list(rows.version), ArmTexts(positions)
    with InRow() as at:
        for at.row, (version, arm, given) in enumerate(
            zip(rows.version, rows.arm, rows.chances, strict=True), start=1
        ):
            if given is None:
                continue
            chances = logged_chances(given, version, arm, read, positions, arms)
            result[at.row - 1] = versions.number_of(chances)
    return rows._replace(version=result)


def logged_chances(
    given: Any,
    version: Any,
    arm: Any,
    read: ArmTexts,
    positions: Mapping[Hashable, int],
    arms: Sequence[Hashable],
) -> tuple[float, ...]:
    """Return the chances of all arms, by place, that a row without a version brings: {arm: chance},
    or of two arms the chance of its own.
    """
    if version is not None:
        raise SettingError(f"give a version or chances: version {version!r} has its own")
    if not isinstance(arm, Hashable) or arm not in positions:
        raise unknown_arm(arm, positions, "this study knows")
    if not isinstance(given, Mapping):
        others = [one for one in arms if one != arm]
        if len(arms) != 2 or len(others) != 1:
            give = "give those of all arms, {arm: chance}, since there are not two"
            raise SettingError(f"chances={shown(given)} is not enough: {give}")
        own = number(given, "chances")
        given = {arm: own, others[0]: 1.0 - own}
    result = [0.0] * len(positions)
    for name, share in given.items():
        meant = [name] if isinstance(name, Hashable) and name in positions else read.meant(name)
        if len(meant) != 1:
            raise ArmError(f"unknown arm {shown(name)} in chances: there are {listing(positions)}")
        result[positions[meant[0]]] = number(share, "chances")
    total = math.fsum(result)
    if min(result) < 0.0 or abs(total - 1.0) > _ROUNDED:
        raise SettingError(f"chances={shown(given)} add up to {total:g}: they must add up to 1")
    if not result[positions[arm]]:
        raise SettingError(f"chances={shown(given)} say that arm {arm!r} could not be")
    return tuple(one / total for one in result)

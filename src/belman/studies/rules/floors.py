"""Floors: the least share of traffic that an arm gets, and a fixed share for control."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from belman.errors import ArmError, SettingError, listing, nearest

#: The least share of every arm, or of some by name.
Floor = float | Mapping[Hashable, float]


def check_shares(told: Any) -> None:
    """Check the settings that share out traffic, and what has no meaning beside another."""
    told.control = check_control(told.control, told.arms)
    told.floor = check_floor(told.floor, told.arms)
    told.control_share = check_control_share(told.control_share, told.control)
    check_sum(shares(told.arms, told.floor, told.control, told.control_share))
    if told.uniform_share and (told.floor is not None or told.control_share is not None):
        remedy = "floors of all arms are a uniform share too: leave out uniform_share"
        raise SettingError(f"uniform_share={told.uniform_share!r} beside floors: {remedy}")
    told.uniform_share = check_share(told.uniform_share)


def check_share(share: float | None) -> float:
    """A share of traffic that is assigned uniformly, which may be none or all."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
        allowed = "it must be a number from 0 to 1"
        raise SettingError(f"uniform_share={share!r} is not a share of traffic: {allowed}")
    return float(share)


def check_control(control: Hashable | None, arms: Sequence[Hashable]) -> Hashable | None:
    """One of the arms, or None."""
    if control is None:
        return None
    if control not in arms:
        there = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={control!r} is not one of the arms: {there}")
    return arms[arms.index(control)]


def check_floor(given: object, arms: Sequence[Hashable]) -> Floor | None:
    """Floors as the settings keep them.

    >>> check_floor(0.05, ["a", "b"]), check_floor({"a": 0.2}, ["a", "b"])
    (0.05, {'a': 0.2})
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return _share(given, "floor")
    for arm in given:
        if arm not in arms:
            there = f"there are {listing(arms)}{nearest(arm, arms)}"
            raise ArmError(f"floor names an unknown arm {arm!r}: {there}")
    return {arm: _share(given[arm], f"floor of arm {arm!r}:") for arm in arms if arm in given}


def check_control_share(share: object, control: Hashable | None) -> float | None:
    """The share of traffic that control always gets."""
    if share is None:
        return None
    if control is None:
        raise SettingError(f"control_share={share!r} is a share of control's: give control=… too")
    return _share(share, "control_share")


def _share(given: Any, name: str) -> float:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not is_number or not 0.0 < given < 1.0:
        allowed = "it must be a number strictly between 0 and 1"
        raise SettingError(f"{name}={given!r} is not a share of traffic: {allowed}")
    return float(given)


def shares(
    arms: Sequence[Hashable],
    floor: Floor | None,
    control: Hashable | None,
    control_share: float | None,
) -> dict[Hashable, float]:
    """The floor of every arm that is played and has one; control's share is exact.

    >>> shares(["a", "b", "c"], 0.05, "a", 0.2)
    {'a': 0.2, 'b': 0.05, 'c': 0.05}
    """
    own = dict(floor) if isinstance(floor, Mapping) else dict.fromkeys(arms, floor or 0.0)
    if control_share is not None and len(arms) > 1:
        own[control] = control_share
    return {arm: own[arm] for arm in arms if own.get(arm, 0.0) > 0.0}


def check_sum(given: Mapping[Hashable, float]) -> None:
    """Refuse floors that are more than all traffic."""
    total = math.fsum(given.values())
    if total > 1.0 + 1e-9:
        remedy = "give smaller ones, or fewer arms"
        raise SettingError(f"the floors of {len(given)} arms add up to {total:.4g}: {remedy}")

"""Floors: the least share of traffic that an arm gets, and a fixed share for control."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from belman.errors import ArmError, SettingError, listing, nearest

#: The least share of every arm, or of some by name.
Floor = float | tuple[tuple[Hashable, float], ...]


def check_floor(given: object, arms: Sequence[Hashable]) -> Floor | None:
    """Floors as the settings keep them.

    >>> check_floor(0.05, ["a", "b"]), check_floor({"a": 0.2}, ["a", "b"])
    (0.05, (('a', 0.2),))
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return _share(given, "floor")
    for arm in given:
        if arm not in arms:
            there = f"there are {listing(arms)}{nearest(arm, arms)}"
            raise ArmError(f"floor names an unknown arm {arm!r}: {there}")
    pairs = ((arm, _share(share, f"floor of arm {arm!r}:")) for arm, share in given.items())
    return tuple(sorted(pairs, key=lambda pair: arms.index(pair[0])))


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
    own = dict(floor) if isinstance(floor, tuple) else dict.fromkeys(arms, floor or 0.0)
    if control_share is not None and len(arms) > 1:
        own[control] = control_share
    return {arm: own[arm] for arm in arms if own.get(arm, 0.0) > 0.0}


def check_sum(given: Mapping[Hashable, float]) -> None:
    """Refuse floors that are more than all traffic."""
    total = math.fsum(given.values())
    if total > 1.0 + 1e-9:
        remedy = "give smaller ones, or fewer arms"
        raise SettingError(f"the floors of {len(given)} arms add up to {total:.4g}: {remedy}")

"""Shares of traffic that no policy decides: floors of arms, control's own, a uniform one, and a cap
on the leader's.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from belman.errors import ArmError, SettingError, listing, nearest, shown
from belman.validate import is_between

#: The least share of every arm, or of some by name.
Floor = float | tuple[tuple[Hashable, float], ...]


@dataclass(frozen=True)
class Shares:
    """The shares of traffic that no policy decides.

    Parameters
    ----------
    floor
        The least share of every arm, or (arm, share) pairs for some of them; None for no floors.
    control
        The name of the arm that the others are compared with; None where there is none.
    control_share
        The exact share of control; None leaves it to the policy.
    uniform
        The share that is drawn uniformly at random, where no arm has a floor.
    most
        The most that the leader gets of what it and control get together; 1 for no cap, and 0 for
        the same share of all arms.

    >>> Shares(floor=0.05, control="a", control_share=0.2).of(["a", "b", "c"])
    {'a': 0.2, 'b': 0.05, 'c': 0.05}
    """

    floor: Floor | None = None
    control: Hashable | None = None
    control_share: float | None = None
    uniform: float = 0.0
    most: float = 1.0

    @property
    def floored(self) -> bool:
        """Whether an arm may have a floor."""
        return self.floor is not None or self.control_share is not None

    def free(self, arms: Sequence[Any]) -> list[Any]:
        """Return the arms that a policy has a say in.

        Parameters
        ----------
        arms
            The names of the arms.

        Returns
        -------
        list
            All of them but a control whose share is settled; a single arm is always free.
        """
        settled = self.control_share is not None and len(arms) > 1
        return [arm for arm in arms if not (settled and arm == self.control)]

    def of(self, arms: Sequence[Hashable], candidates: bool = False) -> dict[Hashable, float]:
        """Return the floors.

        Parameters
        ----------
        arms
            The names of the arms in play, or positions of candidates.
        candidates
            Whether they are candidates, which have the same floor each, and no more than all
            traffic together.

        Returns
        -------
        dict
            The floor of each arm that has one; empty where there is one arm alone.
        """
        if len(arms) < 2 or not self.floored:
            return {}
        if candidates:
            each = 0.0 if isinstance(self.floor, tuple) else min(self.floor or 0.0, 1 / len(arms))
            return dict.fromkeys(arms, each) if each > 0.0 else {}
        own: dict[Hashable, float]
        if isinstance(self.floor, tuple):
            own = dict(self.floor)
        else:
            own = dict.fromkeys(arms, self.floor or 0.0)
        if self.control_share is not None:
            own[self.control] = self.control_share
        return {arm: own[arm] for arm in arms if own.get(arm, 0.0) > 0.0}

    def beside(self, wished: Mapping[Any, float], candidates: bool = False) -> dict[Any, float]:
        """Return the shares of arms for these wishes of a policy, with floors and the cap.

        Parameters
        ----------
        wished
            The share that the policy wishes for each arm, by name.
        candidates
            Whether these are candidates.

        Returns
        -------
        dict
            The share of each arm; they add up to 1.

        >>> Shares(floor=0.1).beside({"a": 1.0, "b": 0.0})
        {'a': 0.9, 'b': 0.1}
        """
        arms = list(wished)
        own = self.of(arms, candidates)
        if not own and self.uniform > 0.0:
            own = dict.fromkeys(arms, self.uniform / len(arms))
        rest = max(1.0 - math.fsum(own.values()), 0.0)
        free = {arm: wished[arm] for arm in self.free(arms)}
        if len(free) < len(arms):  # what control gets is settled, and what a leader leaves it
            capped = replace(self, most=float(self.most > 0.0)).capped(free)
        else:
            capped = self.capped(free)
        return {arm: own.get(arm, 0.0) + rest * capped.get(arm, 0.0) for arm in arms}

    def capped(self, wished: Mapping[Any, float]) -> dict[Any, float]:
        """Cap the share of the leader.

        Its comparison with control is what needs traffic: control gets at least what leaves the
        leader `most` of what both have. Where control leads, or there is none, the leader has at
        most `most` of all, and the others get the same more each.

        Parameters
        ----------
        wished
            The share that the policy wishes for each arm, by name.

        Returns
        -------
        dict
            Shares that add up to 1.

        >>> shares = Shares(control="a", most=0.75).capped({"a": 0.0, "b": 0.9, "c": 0.1})
        >>> {arm: round(share, 4) for arm, share in shares.items()}
        {'a': 0.2308, 'b': 0.6923, 'c': 0.0769}
        """
        total, arms = math.fsum(wished.values()), len(wished)
        result = {arm: share / total for arm, share in wished.items()}
        if self.most >= 1.0 or arms < 2:
            return result
        if self.most * arms <= 1.0:
            return dict.fromkeys(result, 1.0 / arms)
        leader = max(result, key=result.__getitem__)
        if self.control in result and leader != self.control:
            least = result[leader] * (1.0 - self.most) / self.most
            result[self.control] = max(result[self.control], least)
        elif result[leader] > self.most:
            more = (result[leader] - self.most) / (arms - 1)
            result = {arm: share + more for arm, share in result.items()}
            result[leader] = self.most
        total = math.fsum(result.values())
        return {arm: share / total for arm, share in result.items()}

    def check(self, arms: Sequence[Hashable]) -> None:
        """Refuse floors that are more than all traffic.

        Parameters
        ----------
        arms
            The names of the arms.

        Raises
        ------
        SettingError
            If their floors add up to more than 1.
        """
        own = self.of(arms)
        total = math.fsum(own.values())
        if total > 1.0 + 1e-9:
            remedy = "give smaller ones, or fewer arms"
            raise SettingError(f"the floors of {len(own)} arms add up to {total:.4g}: {remedy}")


#: The policy decides all.
NO_SHARES = Shares()


def check_floor(given: object, arms: Sequence[Hashable]) -> Floor | None:
    """Validate floors, and return them in the order of the arms.

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
    pairs = ((arm, _share(share, f"floor of arm {arm!r}: floor")) for arm, share in given.items())
    return tuple(sorted(pairs, key=lambda pair: arms.index(pair[0])))


def check_control_share(share: object, control: Hashable | None) -> float | None:
    """Validate the share of traffic that control always gets."""
    if share is None:
        return None
    if control is None:
        raise SettingError(f"control_share={share!r} is a share of control's: give control=… too")
    return _share(share, "control_share")


def _share(given: Any, name: str) -> float:
    if not is_between(given, 0.0, 1.0) or given in (0.0, 1.0):
        allowed = "it must be a number strictly between 0 and 1"
        raise SettingError(f"{name}={shown(given)} is not a share of traffic: {allowed}")
    return float(given)

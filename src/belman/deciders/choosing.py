"""How shares of traffic and batches are decided, once for every decider.

Floors are drawn beside the policy: it says which arm it wishes, and a coin gives the turn to an arm
by its floor, or leaves it to the wish. The chance of a choice is that of the arm *given the wish*:
its floor, and all that is left to the policy if it is the wished one. Every arm with a floor has
such a chance at every ask, whatever the policy, and estimates that weigh by it are unbiased. Of
control's exact share the policy has no say: it chooses among the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from belman import chance
from belman.deciders.decider import Choice, Draw
from belman.deciders.shares import Shares
from belman.engine import LATER, Call, entry


class Dice:
    """Draws from the words of a generator, which may be overwritten between draws."""

    def __init__(self, rng: chance.Words) -> None:
        self.uniform: Call = entry(chance.uniform).hold(LATER, rng=rng)
        self.below: Call = entry(chance.below).hold(LATER, rng=rng)


#: The choice that a policy makes among some arms (all if None), counted by nobody yet.
Wish = Callable[[Sequence[Any] | None], Choice]


def choose_with_shares(
    arms: Sequence[Any],
    n: int,
    wish: Wish,
    imagine: Callable[[Choice], None],
    choice_of: Callable[[Any], Choice],
    *,
    among: Sequence[Any] | None,
    shares: Shares,
    candidates: bool,
    dice: Dice,
) -> list[Choice]:
    """Choose `n` times of the arms that are available, and keep the shares of traffic.

    `imagine` makes later wishes of the batch count a choice; `choice_of` makes one of an arm.
    """
    there = list(arms if among is None else among)
    own = shares.of(there, candidates)
    result: list[Choice] = []
    for _ in range(n):
        if not own and shares.uniform > 0.0 and dice.uniform() < shares.uniform:
            arm = there[dice.below(len(there))]
            choice = choice_of(arm)._replace(probability=1.0 / len(there), draw=Draw.UNIFORM)
        elif own:
            choice = _beside_floors(dice.uniform(), own, there, shares, wish, choice_of)
        else:
            choice = wish(among)
        imagine(choice)
        result.append(choice)
    return result


def _beside_floors(
    coin: float,
    own: dict[Any, float],
    there: list[Any],
    shares: Shares,
    wish: Wish,
    choice_of: Callable[[Any], Choice],
) -> Choice:
    """Choose by a floor or by the policy's wish."""
    rest = max(1.0 - sum(own.values()), 0.0)
    wished = wish(shares.free(there)) if rest > 1e-12 else None
    taken = _taken(coin, own)
    if taken is None and wished is None:
        taken = next(reversed(own))  # by a rounding error
    arm = taken if wished is None or taken is not None else wished.arm
    choice = wished if wished is not None and wished.arm == arm else choice_of(arm)
    is_wish = wished is not None and arm == wished.arm
    likely = own.get(arm, 0.0) + (rest if is_wish else 0.0)
    draw = Draw.POLICY
    if len(own) == len(there):
        draw = Draw.FLOORED if taken is None else Draw.FLOOR
    return choice._replace(probability=min(likely, 1.0), draw=draw)


def drawn_by(chances: Mapping[Any, float], n: int, dice: Dice) -> list[tuple[Any, float, Draw]]:
    """Draw `n` arms by these chances, each by itself: the arm, its chance, and how it was drawn."""
    arms = list(chances)
    ends = list(accumulate(chances.values()))
    last = max(position for position, arm in enumerate(arms) if chances[arm] > 0.0)
    draw = Draw.RANDOM if min(chances.values()) > 0.0 else Draw.POLICY
    positions = (min(bisect_right(ends, dice.uniform() * ends[-1]), last) for _ in range(n))
    return [(arms[position], chances[arms[position]], draw) for position in positions]


def _taken(coin: float, own: dict[Any, float]) -> Any:
    """Return the arm to whose floor a coin falls; None leaves it to the policy."""
    for arm, share in own.items():
        coin -= share
        if coin < 0.0:
            return arm
    return None

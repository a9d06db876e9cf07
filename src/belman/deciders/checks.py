"""What a state file may hold: nothing that kernels would follow out of bounds, or for ever.

A checksum tells damage, and nothing of who wrote the file. So shapes and numbers are checked before
a kernel sees them: counts are whole, beliefs are those of the family within its `reach`, and what a
policy uses as a whole number is within its `whole_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.deciders import state_file, validate
from belman.deciders.learnt import Learnt
from belman.engine import named_leaves
from belman.errors import PriorError, StateError
from belman.families import Family
from belman.families.family import LARGEST, LARGEST_REWARD
from belman.policies import Ledger, Policy

Floats = NDArray[np.float64]

#: The largest count: floats hold every whole number up to it.
MOST = int(LARGEST)
#: Asks of an arm whose reward is not told yet.
MOST_PENDING = 1_000_000_000


def numbers(content: Any, like: NDArray[Any], what: str) -> Floats:
    """An array of the same shape, without NaN."""
    found = state_file.floats(content)
    if found.shape != like.shape:
        raise StateError(f"{what} has shape {found.shape}, and {like.shape} is needed")
    if np.isnan(found).any():
        raise StateError(f"{what} holds what is not a number")
    return found


def whole(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        shown = str(value)[:40]
        raise StateError(f"{what} is {shown}: it must be a whole number from {least} to {most}")
    return value


def wholes(values: Any, count: int, what: str, most: int = MOST) -> list[int]:
    """So many whole numbers from 0 up."""
    if not isinstance(values, list) or len(values) != count:
        raise StateError(f"{what} is not a list of {count} whole numbers")
    return [whole(value, what, 0, most) for value in values]


def priors(content: Any, like: Floats, family: Family) -> Floats:
    """Beliefs of a family to begin with, one an arm."""
    return _checked(content, like, family.check_prior, "priors")


def beliefs(content: Any, like: Floats, family: Family, what: str) -> Floats:
    """Proper beliefs of a family, one an arm."""
    return _checked(content, like, family.check_belief, what)


def _checked(content: Any, like: Floats, check: Callable[[Floats], object], what: str) -> Floats:
    rows = numbers(content, like, what)
    for row in rows:
        try:
            check(row)
        except PriorError as error:
            raise StateError(f"{what} hold no belief: {error}") from None
    return rows


def ledger(content: Any, like: Ledger, family: Family, what: str) -> Ledger:
    """What was observed: beliefs, counts from 0 up, and sums of rewards that arms can have."""
    rows = beliefs(content["beliefs"], like.beliefs, family, f"beliefs of {what}")
    plays, sums, squares = (
        numbers(content[name], getattr(like, name), f"{name} of {what}")
        for name in Ledger._fields[1:]
    )
    if (plays < 0.0).any() or (plays > MOST).any():
        raise StateError(f"plays of {what} are counts from 0 to {MOST}")
    # rounding aside, which is less than one part in a thousand
    low, high = np.clip(family.mean_range, -LARGEST_REWARD, LARGEST_REWARD)
    low, high = low - 0.001 * abs(low), high + 0.001 * abs(high)
    if (sums < low * plays).any() or (sums > high * plays).any() or (squares < 0.0).any():
        raise StateError(f"sums of {what} are not those of so many rewards")
    if (squares > 1.001 * LARGEST_REWARD**2 * plays).any():
        raise StateError(f"squares of {what} are not those of so many rewards")
    return Ledger(rows, plays, sums, squares)


def learnt(row: Any, family: Family, what: str) -> Learnt:
    """What was learnt of one arm: a belief of its family, whole counts, and finite sums."""
    prior, belief, plays, total, squares, tells, pending = row
    sums = state_file.floats([plays, total, squares])
    if not np.isfinite(sums).all() or not 0.0 <= sums[0] <= MOST:
        raise StateError(f"sums of {what} are not those of rewards")
    whole(tells, f"tells of {what}")
    whole(pending, f"outstanding asks of {what}", 0, MOST_PENDING)
    first, now = (tuple(state_file.floats(part).tolist()) for part in (prior, belief))
    n, total, squared = sums.tolist()
    found = Learnt(first, now, n, total, squared, tells, pending)
    try:
        family.check_prior(found.prior)
        family.check_belief(found.belief)
        return validate.check_learnt(found, family)
    except PriorError as error:
        raise StateError(f"{what} holds no belief: {error}") from None


def stale(content: Any, arms: int) -> list[int]:
    """The list of stale arms, its length first: each arm once at most."""
    if not isinstance(content, list) or not content:
        raise StateError("stale is not a list of arms, its length first")
    count = whole(content[0], "the length of stale", 0, arms)
    listed = wholes(content[1:], count, "stale", arms - 1)
    if len(set(listed)) != count:
        raise StateError("stale names an arm twice")
    return [count, *listed]


def words(content: Any) -> chance.Words:
    """The words of a generator.

    All are 0 in snapshots, where every decision gets words of its own; nothing could be drawn
    from these, so they are a seed's.
    """
    found = np.array(wholes(content, 4, "mind", 2**64 - 1), dtype=np.uint64)
    return found if found.any() else chance.generator(0)


def fill_memory(memory: Any, content: Mapping[str, Any], policy: Policy, arms: int) -> None:
    """Fill a memory with what was saved of it, each part as the policy allows."""
    allowed = policy.whole_numbers(arms)
    for name, part in lasting(memory).items():
        found = numbers(content[name], part, f"{name} of the memory")
        if name in allowed:
            least, most = allowed[name]
            if ((found != np.rint(found)) | (found < least) | (found > most)).any():
                limits = f"whole numbers from {least} to {most}"
                raise StateError(f"{name} of the memory of {policy.name} must be {limits}")
        part[:] = found


def lasting(memory: Any) -> dict[str, Any]:
    """The arrays of a memory by name, without scratch, which holds nothing from turn to turn."""
    parts = named_leaves(memory)
    return {name: part for name, part in parts if not name.endswith("scratch")}


def interval(content: Any) -> tuple[Any, ...] | None:
    """The two ends of a range, or none."""
    if content is None:
        return None
    if not isinstance(content, list) or not all(type(end) in (int, float) for end in content):
        raise StateError(f"range is {str(content)[:40]}: it must be two numbers, or null")
    return tuple(content)


def size(value: Any, what: str) -> float:
    """A number from 0 up, no larger than rewards are."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= LARGEST_REWARD:
        allowed = f"it must be a number from 0 to {LARGEST_REWARD:g}"
        raise StateError(f"{what} is {str(value)[:40]}: {allowed}")
    return float(value)

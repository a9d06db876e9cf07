"""What a state file may hold: nothing that kernels would follow out of bounds, or for ever.

A checksum tells damage, and nothing of who wrote the file. So shapes and numbers are checked before
a kernel sees them: counts are whole, beliefs are those of the family within its `reach`, and what a
policy uses as a whole number is within its `whole_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from belman import chance, codec
from belman.codec import Form, Scope, Whole
from belman.deciders.learnt import Learnt
from belman.engine import named_leaves
from belman.errors import PriorError, StateError
from belman.families import Family
from belman.families.family import LARGEST, LARGEST_REWARD
from belman.policies import Ledger, Policy

Floats = NDArray[np.float64]

#: The largest count: floats hold every whole number up to it.
MOST = int(LARGEST)


def fill(array: NDArray[Any], result: NDArray[Any], what: str) -> None:
    """Fill an array with one of the same shape."""
    if result.shape != array.shape:
        raise StateError(f"{what} has shape {result.shape}, and {array.shape} is needed")
    array[:] = result


def whole(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        shown = str(value)[:40]
        raise StateError(f"{what} is {shown}: it must be a whole number from {least} to {most}")
    return value


def fill_ledger(ledger: Ledger, result: Ledger, family: Family, what: str) -> None:
    """Fill a ledger: with beliefs, counts from 0 up, and sums of rewards that arms can have."""
    for name, part, own in zip(Ledger._fields, result, ledger, strict=True):
        fill(own, part, f"{name} of {what}")
    check_beliefs(result.beliefs, family.check_belief, f"beliefs of {what}")
    _, plays, sums, squares = result
    if (plays < 0.0).any() or (plays > MOST).any():
        raise StateError(f"plays of {what} are counts from 0 to {MOST}")
    # rounding aside, which is less than one part in a thousand
    low, high = np.clip(family.mean_range, -LARGEST_REWARD, LARGEST_REWARD)
    low, high = low - 0.001 * abs(low), high + 0.001 * abs(high)
    if (sums < low * plays).any() or (sums > high * plays).any() or (squares < 0.0).any():
        raise StateError(f"sums of {what} are not those of that number of rewards")
    if (squares > 1.001 * LARGEST_REWARD**2 * plays).any():
        raise StateError(f"squares of {what} are not those of that number of rewards")


def check_beliefs(rows: Floats, check: Callable[[Floats], object], what: str) -> None:
    """Refuse rows that are no beliefs of a family."""
    for row in rows:
        try:
            check(row)
        except PriorError as error:
            raise StateError(f"{what} hold no belief: {error}") from None


def learnt(result: Learnt, family: Family, what: str) -> Learnt:
    """Return what was learnt of one arm, if it is a belief of its family and sums of rewards."""
    if not 0.0 <= result.plays <= MOST:
        raise StateError(f"sums of {what} are not those of rewards")
    check_beliefs(np.array([result.prior]), family.check_prior, what)
    check_beliefs(np.array([result.belief]), family.check_belief, what)
    return result


def _read_words(content: Any, scope: Scope) -> chance.Words:
    """Return the words of a generator.

    All are 0 in snapshots, where every decision gets words of its own; nothing could be drawn
    from these, so they are a seed's.
    """
    result = codec.read(list[_Word], content, scope)
    if len(result) != 4:
        raise StateError(f"{str(content)[:40]!r} is not the state of a generator: 4 words are")
    return np.array(result, dtype=np.uint64) if any(result) else chance.generator(0)


_Word = Annotated[int, Whole(0, 2**64 - 1)]
Words = Annotated[chance.Words, Form(np.ndarray.tolist, _read_words)]


def fill_memory(memory: Any, kept: Mapping[str, Floats], policy: Policy, arms: int) -> None:
    """Fill a memory with what was kept of it, each part as the policy allows."""
    allowed, parts = policy.whole_numbers(arms), lasting(memory)
    if parts.keys() != kept.keys():
        raise StateError(f"the memory of {policy.name} holds {', '.join(parts)}")
    for name, part in parts.items():
        fill(part, kept[name], f"{name} of the memory")
        if name in allowed:
            least, most = allowed[name]
            if ((part != np.rint(part)) | (part < least) | (part > most)).any():
                limits = f"whole numbers from {least} to {most}"
                raise StateError(f"{name} of the memory of {policy.name} must be {limits}")


def lasting(memory: Any) -> dict[str, Any]:
    """The arrays of a memory by name, without scratch, which holds nothing from turn to turn."""
    parts = named_leaves(memory)
    return {name: part for name, part in parts if not name.endswith("scratch")}


#: A number from 0 up, no larger than rewards are.
Size = Annotated[float, lambda value: 0.0 <= value <= LARGEST_REWARD]

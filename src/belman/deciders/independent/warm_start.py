"""What may be known before the first turn: the rewards of another decider, or counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.deciders.scale import Scale
from belman.errors import ArmError, PriorError, RewardError, listing
from belman.policies import Ledger


class Known(NamedTuple):
    """What is known of some arms: names, rewards told, priors and rows of the ledger."""

    arms: tuple[Hashable, ...]
    tells: NDArray[np.int64]
    priors: NDArray[np.float64]
    ledger: Ledger


def of_decider(other: Any, decider: Any) -> Known:
    """Return all that another decider knows of the arms that both play, of one family."""
    mine, theirs = decider.family, other.family
    if (theirs.name, *theirs.law) != (mine.name, *mine.law):
        rewards = f"start has {theirs.name} rewards, and this agent {mine.name} ones"
        raise PriorError(f"{rewards}: their beliefs do not compare")
    common = [row for row, arm in enumerate(other.arms) if arm in decider.arms]
    if not common:
        lists = f"it played {listing(other.arms)}, and this agent plays {listing(decider.arms)}"
        raise ArmError(f"start knows none of these arms: {lists}")
    ledger = Ledger(*(column[common] for column in other._truth))
    names = tuple(other.arms[row] for row in common)
    return Known(names, other._tells[common], other._priors[common], ledger)


Floats = NDArray[np.float64]
Place = Callable[[Hashable], int]


def of_counts(counts: Mapping[Hashable, Any], scale: Scale, priors: Floats, place: Place) -> Known:
    """What (plays, sum of rewards) or (plays, sum, sum of squares) say of each arm."""
    rows = [_row(arm, given, scale, priors[place(arm)]) for arm, given in counts.items()]
    beliefs = np.array([row[0] for row in rows]).reshape(len(rows), -1)
    plays, sums, squares = (np.array([row[i] for row in rows]) for i in (1, 2, 3))
    own = np.array([priors[place(arm)] for arm in counts]).reshape(len(rows), -1)
    return Known(tuple(counts), plays.astype(np.int64), own, Ledger(beliefs, plays, sums, squares))


def _row(
    arm: Hashable, given: Any, scale: Scale, prior: Floats
) -> tuple[Floats, float, float, float]:
    refused = f"start[{arm!r}]={given!r} is not a count"
    try:
        plays, total, *rest = (float(number) for number in given)
    except (TypeError, ValueError):
        raise RewardError(f"{refused}: give (plays, sum of rewards)") from None
    if not (plays >= 1.0 and plays == math.floor(plays) and math.isfinite(total) and len(rest) < 2):
        raise RewardError(f"{refused}: plays must be a whole number from 1 up, and sums finite")
    low, high = scale.range or (0.0, 1.0)
    width = high - low
    shifted = (total - plays * low) / width
    square: float | None = None
    if rest:
        square = (rest[0] - 2.0 * low * total + plays * low * low) / (width * width)
    belief = scale.base.update_many(prior, int(plays), shifted, square)
    if (
        square is None
    ):  # 0 and 1 are their own squares; other rewards are taken as if they had all been alike
        square = shifted if scale.base.reward_range == (0.0, 1.0) else shifted * shifted / plays
    return belief, plays, -shifted if scale.minimise else shifted, square

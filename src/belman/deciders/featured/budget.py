"""For how many columns there is room: as many as names need, and up to 1,000 with levels.

Names need columns for a number or all levels of a category together, and for missing values. Levels
may have columns of their own up to 1,000 in all, or up to three times what names need where that is
more. So the time and the memory of a decision are bounded, whatever levels come.
"""

from __future__ import annotations

from collections.abc import Callable

from belman.deciders.featured.columns import Columns
from belman.deciders.featured.slots import Room, Slots
from belman.errors import SettingError
from belman.models.model import MOST_FEATURES

#: The columns that levels may fill, of whatever names.
MOST_COLUMNS = 1_000
_TIMES = 3


def room(of_context: bool, columns: Columns, context: Slots, features: Slots, arms: int) -> Room:
    """Return the room for levels of the context, or of the arms' features."""

    def cost(name: str) -> int:
        own, other = (0, features) if of_context else (1, context)
        pairs = sum(other.size(pair[1 - own]) for pair in columns.interactions if pair[own] == name)
        return pairs + (columns.of_all + arms * columns.of_each if of_context else 1)

    def allows(name: str) -> bool:
        before = needed(columns, context, features, arms)
        return before + cost(name) <= most(columns, context, features, arms)

    return Room(allows, cost)


def needed(columns: Columns, context: Slots, features: Slots, arms: int) -> int:
    """Return how many columns there are, or may have to be."""
    return _count(columns, context, features, arms, Slots.size)


def most(columns: Columns, context: Slots, features: Slots, arms: int) -> int:
    """Return how many columns there may be; SettingError where names need too many."""
    bare = _count(columns, context, features, arms, lambda *_: 2)
    if bare > MOST_FEATURES:
        what = f"{len(context.names) + len(features.names):,} names and {arms:,} arms"
        words = f"{what} need {bare:,} coefficients: at most {MOST_FEATURES:,}"
        raise SettingError(f"these features are too many: {words}")
    return min(max(MOST_COLUMNS, _TIMES * bare), MOST_FEATURES)


def _count(
    columns: Columns, context: Slots, features: Slots, arms: int, size: Callable[[Slots, str], int]
) -> int:
    slots = 1 + sum(size(context, name) for name in context.names)
    shared = slots if columns.of_all else 1
    pairs = sum(size(context, one) * size(features, two) for one, two in columns.interactions)
    alone = sum(size(features, name) for name in features.names)
    return shared + alone + pairs + (arms * slots if columns.of_each else 0)

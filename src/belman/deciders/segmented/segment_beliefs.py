"""What is believed of every arm in every segment: its own rewards, and a share of the others'.

All that a segment believes follows from what it learnt, what all learnt and the strength of their
pooling. Who decides by it (an agent per segment, or a study) keeps nothing beside.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from belman.codec import NAMED, Arm
from belman.deciders import checks
from belman.deciders.learnt import Learnt
from belman.deciders.segmented.pooling import PLAYS, SQUARES, SUM, Pooled, Pools
from belman.deciders.validate import LARGEST_NUMBER, LONGEST_NAME, is_text
from belman.errors import SettingError, StateError, listing, nearest, shown
from belman.families import Family

Segment = tuple[Hashable, ...]
MOST_SEGMENTS = 100_000
#: Beliefs, one for each segment and arm, beyond which a study takes in no more segments.
MOST_BELIEFS = 1_000_000


@dataclass(frozen=True)
class KeptBeliefs:
    """What segments learnt, together and each."""

    pooled: Annotated[Pooled, NAMED]
    segments: list[tuple[tuple[Arm, ...], list[Learnt]]]


class SegmentBeliefs:
    """Beliefs of arms by segment, named by the values of a context.

    >>> from belman.families import Bernoulli
    >>> beliefs = SegmentBeliefs(("country",), Bernoulli(), {"blue": Learnt.nothing((1.0, 1.0))})
    >>> beliefs.learn(beliefs.key({"country": "fr"}), "blue", 1.0)
    >>> beliefs.own[("fr",)]["blue"].belief
    (2.0, 1.0)
    """

    def __init__(
        self, names: Sequence[str], family: Family, first: Mapping[Hashable, Learnt]
    ) -> None:
        self.names, self.family = check_names(names), family
        self._first = dict(first)
        self._position = {arm: position for position, arm in enumerate(first)}
        self.pools = Pools(family, list(first.values()))
        self.own: dict[Segment, dict[Hashable, Learnt]] = {}

    @property
    def arms(self) -> list[Hashable]:
        """All arms there ever were, in their order."""
        return list(self._first)

    def key(self, context: Mapping[str, Hashable]) -> Segment:
        """The values that name a segment; None where the context does not say."""
        if not isinstance(context, Mapping):
            example = f"{{{self.names[0]!r}: …}}"
            raise SettingError(f"context={context!r} is not a segment: give {example}")
        for name in context:
            if name not in self.names:
                known = f"segments are by {listing(self.names)}{nearest(name, self.names)}"
                raise SettingError(f"unknown name {name!r} in a context: {known}")
        return tuple(_check_value(name, context.get(name)) for name in self.names)

    def named(self, key: Segment) -> dict[str, Hashable]:
        """The context that a segment is."""
        return dict(zip(self.names, key, strict=True))

    def of(self, key: Segment) -> dict[Hashable, Learnt]:
        """What a segment learnt itself; nothing, where it was never seen."""
        return self.own.get(key, self._first)

    def see(self, key: Segment) -> None:
        """Keep a segment from now on."""
        if key in self.own:
            return
        self._check_count(key, MOST_SEGMENTS)
        self.own[key] = dict(self._first)

    def check_room(self, key: Segment) -> None:
        """Refuse a segment beyond the most that there may be with this number of arms."""
        if key not in self.own:
            self._check_count(key, min(MOST_SEGMENTS, MOST_BELIEFS // len(self._first)))

    def _check_count(self, key: Segment, most: int) -> None:
        if len(self.own) >= most:
            arms = f"of {len(self._first):,} arms" if most < MOST_SEGMENTS else "of an agent"
            raise SettingError(f"{key!r} is one segment too many: at most {most:,} {arms}")

    def learn(self, key: Segment, arm: Hashable, value: float) -> None:
        """Learn what an arm brought in a segment, on the scale of the family."""
        self.see(key)
        own = self.own[key]
        self.pools.weigh(list(own.values()), self._position[arm], value)
        self.keep(key, arm, own[arm].told(self.family, value))

    def keep(self, key: Segment, arm: Hashable, learnt: Learnt) -> None:
        """Let this be all that a segment, which was seen, learnt of an arm."""
        own = self.own[key]
        self.pools.recount(list(own.values()), self._position[arm], learnt)
        own[arm] = learnt

    def add_arm(self, arm: Hashable, first: Learnt) -> None:
        """Add a new arm, without rewards in any segment."""
        self._first[arm] = first
        self._position[arm] = len(self._position)
        self.pools = self.pools.with_arm(first)
        for own in self.own.values():
            own[arm] = first

    def shares(self, key: Segment) -> dict[Hashable, float]:
        """The share of other segments' rewards of each arm that counts beside its own."""
        result = self.pools.borrowed(list(self.of(key).values()))
        return dict(zip(self._first, result.shares, strict=True))

    def believed(self, key: Segment) -> dict[Hashable, Learnt]:
        """What was learnt of each arm in a segment, with what it borrows."""
        own = self.of(key)
        result = self.pools.borrowed(list(own.values()))
        return {
            arm: learnt._replace(
                belief=tuple(belief),
                plays=learnt.plays + lent[PLAYS],
                sum=learnt.sum + lent[SUM],
                squares=learnt.squares + lent[SQUARES],
                tells=max(learnt.tells, round(learnt.plays + lent[PLAYS])),
            )
            for (arm, learnt), belief, lent in zip(
                own.items(), result.beliefs, result.counts, strict=True
            )
        }

    # Keeping

    def kept(self) -> KeptBeliefs:
        """Return all of it, arms in the order of the first."""
        rows = [(key, [own[arm] for arm in self._first]) for key, own in self.own.items()]
        return KeptBeliefs(self.pools.pooled, rows)

    def take(self, kept: KeptBeliefs) -> None:
        """Have what was kept; raises StateError where it is damaged."""
        self.pools.take(kept.pooled)
        if len(kept.segments) > MOST_SEGMENTS:
            raise StateError(f"there are more than {MOST_SEGMENTS:,} segments")
        self.own = {}
        for values, rows in kept.segments:
            key = self.key(dict(zip(self.names, values, strict=True)))
            if key in self.own:
                raise StateError(f"segment {key!r} is there twice")
            self.own[key] = {
                arm: checks.learnt(row, self.family, f"arm {arm!r} in a segment")
                for arm, row in zip(self._first, rows, strict=True)
            }


def check_names(names: Any) -> tuple[str, ...]:
    """The names of what makes a segment."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise SettingError(f"segments={names!r} names none: write segments=('country', 'device')")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise SettingError(f"segments={names!r} is not a list of different names")
    return tuple(names)


def _check_value(name: str, value: Any) -> Hashable:
    """A value of a context that can be written down: text, a number or None, of Python's own types,
    so that it looks as it does when it is read again. Values that Python takes for equal are one:
    1.0 is 1, and True is the text.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        if not (len(value) <= LONGEST_NAME and is_text(value)):
            allowed = f"at most {LONGEST_NAME:,} characters, and no half of a surrogate pair"
            raise SettingError(f"{name}={shown(value)} is not valid: give {allowed}")
        return str.__str__(value)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or not abs(value) < LARGEST_NUMBER:
        raise SettingError(f"{name}={shown(value)} is not valid: give text, a number or None")
    return int(value) if isinstance(value, int) or value.is_integer() else float(value)

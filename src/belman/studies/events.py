"""What can happen to a study: the kinds of events and what each of them holds."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The kind of an event, as the log keeps it; numbers are never given anew."""

    CREATED = 1  # body: the settings
    ASKED = 2  # arm, draw, probability, key
    TOLD = 3  # ticket, arm, reward
    EXPIRED = 4  # ticket, arm, and a reward if the rule counts one
    RECORDED = 5  # arm, reward: past data, not asked for
    PAUSED = 6  # body: the reason, as in all below
    RESUMED = 7
    ARM_ADDED = 8  # body: also the name and the prior, or the place of an arm that was retired
    ARM_RETIRED = 9  # arm
    POLICY_CHANGED = 10  # body: also the policy


class Draw(IntEnum):
    """How an arm came to be chosen, which says what its probability is worth."""

    POLICY = 0  # by the policy, which left no chance to some of the arms
    RANDOM = 1  # by the policy, which left a chance to every arm
    UNIFORM = 2  # uniformly, by the share of traffic kept so


class Event(NamedTuple):
    """A line of the log; `arm` is a place in the register of all arms there ever were, `ticket` the
    number of an ask.
    """

    number: int
    kind: int
    time: float
    arm: int | None = None
    draw: int | None = None
    probability: float | None = None
    ticket: int | None = None
    reward: float | None = None
    key: str | None = None
    body: str | None = None

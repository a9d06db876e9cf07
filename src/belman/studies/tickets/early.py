"""Learning before the window closes: what open tickets count at this moment.

A success counts as soon as it is told. A ticket of which none was told yet counts the share of a
failure that its age says (`belman.delays`); what is left of it is outstanding. A failure that is
told early counts as silence does until the window closes: if it counted at once while others are
awaited, whatever was shown lately would look too bad. Nothing of this is learnt: a ticket counts
for good when its window closes, as in every study with a window, and what is kept here are counts
that bring the law of the delays up to date, event by event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.delays import DelayLaw
from belman.studies.log.event_log import Event, Kind

if TYPE_CHECKING:
    from belman.studies.tickets.open_tickets import OpenTickets


class EarlyLearning:
    """The law of the delays of a study, and when each open success was told."""

    def __init__(self, window: float, arms: int) -> None:
        self.law = DelayLaw(window, arms)
        self.told: dict[int, float] = {}

    @property
    def alarm(self) -> str | None:
        """Why open tickets wait for their window after all, if they do."""
        return self.law.alarm

    def take(self, event: Event, tickets: OpenTickets) -> None:
        """Let an event happen, before the tickets take it."""
        self.close(event.time, tickets)
        kind, arm = event.kind, event.arm
        if kind == Kind.ASKED:
            assert arm is not None
            self.law.asked(arm, event.time)
        elif kind == Kind.TOLD:
            self._hear(event, tickets)
        elif kind == Kind.RETURNED:
            assert event.ticket is not None
            self.law.closed(*tickets.asks[event.ticket])
        elif kind == Kind.ARM_ADDED and arm == self.law.arms:
            self.law.add_arm()

    def _hear(self, event: Event, tickets: OpenTickets) -> None:
        """A ticket is told, or told again."""
        assert event.ticket is not None
        arm, asked = tickets.asks[event.ticket]
        before = self.told.pop(event.ticket, None)
        if before is not None:
            self.law.untold(arm, asked, before)
        if event.reward == 1.0:
            self.told[event.ticket] = event.time
            self.law.told(arm, asked, event.time)
        elif event.reward != 0.0 and self.law.alarm is None:
            self.law.alarm = (
                f"a reward of {event.reward:g} was told, and silence says how much only where "
                "rewards are 0 or 1: open tickets count when their window closes, and not before"
            )

    def close(self, now: float, tickets: OpenTickets) -> None:
        """The windows that close by now, before the tickets close them."""
        for number, (arm, asked) in tickets.closing(now):
            self.law.closed(arm, asked, self.told.pop(number, None))

    def counts(self, now: float, beliefs: ArrayLike) -> NDArray[np.float64]:
        """What the open tickets of every arm count (`DelayLaw.counts`); an ask of this time has to
        follow, as it brings the law to this time.
        """
        return self.law.counts(now, beliefs)

    def look(self, now: float, beliefs: ArrayLike) -> NDArray[np.float64]:
        """The same, and nothing is changed by looking."""
        return self.law.copied().counts(now, beliefs)

    def copied(self) -> EarlyLearning:
        """The same, to go its own way."""
        other = object.__new__(EarlyLearning)
        other.law, other.told = self.law.copied(), self.told.copy()
        return other

    # Snapshots

    def to_plain(self) -> dict[str, Any]:
        """For a snapshot."""
        return {"law": self.law.to_plain(), "told": list(map(list, self.told.items()))}

    def from_plain(self, content: dict[str, Any]) -> None:
        """Take over what `to_plain` gave."""
        self.law = DelayLaw.from_plain(content["law"])
        self.told = dict(content["told"])

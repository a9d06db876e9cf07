"""Learning before the window closes: what open tickets count at this moment.

A success counts as soon as it is told. A ticket of which none was told yet counts the share of a
failure that its age says (`belman.delays`); what is left of it is outstanding. A failure that is
told early counts as silence does until the window closes: if it counted at once while others are
awaited, whatever was shown lately would look too bad. Nothing of this is learnt: a ticket counts
for good when its window closes, as in every study with a window, and what is kept here are counts
that bring the distribution of the delays up to date, event by event.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import codec
from belman.codec import Number
from belman.delays import DelayDistribution
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import Counted, Outcome, Time

#: Kinds of events that say something of delays.
EARLY_KINDS = (Kind.ASKED, Kind.TOLD, Kind.RETURNED, Kind.ARM_ADDED)


@dataclass
class EarlyLearning:
    """The distribution of the delays of a study, and when each open success was told."""

    distribution: DelayDistribution
    told: dict[Number, Time] = field(default_factory=dict)

    @property
    def alarm(self) -> str | None:
        """Why open tickets wait for their window after all, if they do."""
        return self.distribution.alarm

    def take(self, event: Event, outcome: Outcome | None) -> None:
        """Apply an event, about an open outcome or about none, before the book does."""
        kind, arm = event.kind, event.arm
        if kind == Kind.ASKED:
            assert arm is not None
            self.distribution.asked(arm, event.time)
        elif kind == Kind.TOLD:
            assert outcome is not None
            self._hear(event, outcome)
        elif kind == Kind.RETURNED:
            assert outcome is not None
            self.distribution.closed(outcome.arm, outcome.time)
        elif kind == Kind.ARM_ADDED and arm == self.distribution.arms:
            self.distribution.add_arm()

    def _hear(self, event: Event, outcome: Outcome) -> None:
        """A ticket is told, or told again; a part of its metrics says nothing yet."""
        assert event.ticket is not None
        if event.reward is None:
            return
        arm, asked = outcome.arm, outcome.time
        before = self.told.pop(event.ticket, None)
        if before is not None:
            self.distribution.untold(arm, asked, before)
        if event.reward == 1.0:
            self.told[event.ticket] = event.time
            self.distribution.told(arm, asked, event.time)
        elif event.reward != 0.0 and self.distribution.alarm is None:
            self.distribution.alarm = (
                f"a reward of {event.reward:g} was told, and silence says how much only where "
                "rewards are 0 or 1: open tickets count when their window closes, and not before"
            )

    def close(self, counted: Counted) -> None:
        """The window of a ticket has closed."""
        told = self.told.pop(counted.key, None)
        self.distribution.closed(counted.outcome.arm, counted.outcome.time, told)

    def counts(self, now: float, beliefs: ArrayLike) -> NDArray[np.float64]:
        """What the open tickets of every arm count (`DelayDistribution.counts`); an ask of this
        time has to follow, as it brings the distribution to this time.
        """
        return self.distribution.counts(now, beliefs)

    def look(self, now: float, beliefs: ArrayLike) -> NDArray[np.float64]:
        """Return the provisional counts without changing the state."""
        return codec.copied(self.distribution).counts(now, beliefs)

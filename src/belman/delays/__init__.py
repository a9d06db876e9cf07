"""Late rewards: how delays within a window are distributed, and what silence of a ticket says."""

from belman.delays.doubt import chance_below, intervals
from belman.delays.law import DelayLaw

__all__ = ["DelayLaw", "chance_below", "intervals"]

"""Late rewards: how delays within a window are distributed, and what silence of a ticket says."""

from belman.delays.law import DelayLaw
from belman.delays.silence import chance_below, intervals

__all__ = ["DelayLaw", "chance_below", "intervals"]

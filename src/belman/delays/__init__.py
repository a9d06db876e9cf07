"""Late rewards: how delays within a window are distributed, and what silence of a ticket says."""

from belman.delays.law import DelayLaw
from belman.delays.silence import widened

__all__ = ["DelayLaw", "widened"]

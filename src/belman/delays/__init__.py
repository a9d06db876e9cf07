"""Late rewards: the law of delays within a window, and what silence says of an open ticket."""

from belman.delays.law import DelayLaw
from belman.delays.silence import widened

__all__ = ["DelayLaw", "widened"]

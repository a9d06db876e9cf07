"""Late rewards: the law of delays within a window, and what silence says of an open ticket."""

from belman.delays.doubt import chance_below, intervals
from belman.delays.law import DelayLaw

__all__ = ["DelayLaw", "chance_below", "intervals"]

"""Late rewards: how delays within a window are distributed, and what silence of a ticket says."""

from belman.delays.distribution import DelayDistribution
from belman.delays.silence import chance_below, intervals

__all__ = ["DelayDistribution", "chance_below", "intervals"]

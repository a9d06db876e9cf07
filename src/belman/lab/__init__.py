"""What happened: the compiled simulator, its executors and its store."""

from belman.lab.exploration import explore
from belman.lab.simulation import simulate

__all__ = ["explore", "simulate"]

"""What happened: the compiled simulator, its executors and its store."""

from belman.lab.simulation import simulate

__all__ = ["simulate"]

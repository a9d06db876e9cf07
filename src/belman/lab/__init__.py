"""What happened: the compiled simulator, its executors and its store."""

from belman.lab.simulate import simulate

__all__ = ["simulate"]

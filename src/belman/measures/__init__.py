"""What it means: arrays in, arrays out."""

from belman.measures.best import best_probabilities

__all__ = ["best_probabilities"]

"""What it means: arrays in, arrays out."""

from belman.measures.best import best_probabilities
from belman.measures.summary import compare, difference, half_width, summary

__all__ = ["best_probabilities", "compare", "difference", "half_width", "summary"]

"""What it means: arrays in, arrays out."""

from belman.measures.best import best_probabilities
from belman.measures.condense import condense, curves_csv
from belman.measures.queueing import queueing, unstable
from belman.measures.summary import chance_of_error, compare, difference, half_width, summary

__all__ = [
    "best_probabilities",
    "chance_of_error",
    "compare",
    "condense",
    "curves_csv",
    "difference",
    "half_width",
    "queueing",
    "summary",
    "unstable",
]

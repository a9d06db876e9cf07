"""What it means: arrays in, arrays out."""

from belman.measures.best import best_probabilities
from belman.measures.digest import curves_csv, digest
from belman.measures.error import chance_of_error
from belman.measures.queueing import queueing, unstable
from belman.measures.summary import compare, difference, half_width, summary

__all__ = [
    "best_probabilities",
    "chance_of_error",
    "compare",
    "curves_csv",
    "difference",
    "digest",
    "half_width",
    "queueing",
    "summary",
    "unstable",
]

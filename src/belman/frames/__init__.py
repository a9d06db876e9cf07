"""Tables as people bring them: files, data frames, columns and rows, all read alike."""

from __future__ import annotations

from belman.frames.frame import Frame, none_for_nan, refusal, together
from belman.frames.reading import ENDINGS, Given, is_path, is_table, read

__all__ = [
    "ENDINGS",
    "Frame",
    "Given",
    "is_path",
    "is_table",
    "none_for_nan",
    "read",
    "refusal",
    "together",
]

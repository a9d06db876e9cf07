"""Arms without gaps between them: a price, a size, a place in a box, under one smooth belief."""

from belman.continuous.box import Box
from belman.continuous.box_agent import BoxAgent

__all__ = ["Box", "BoxAgent"]

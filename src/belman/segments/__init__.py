"""Segments: one belief per arm and segment, each borrowing from the others what it may."""

from belman.segments.segmented_agent import SegmentedAgent

__all__ = ["SegmentedAgent"]

"""A world that changes: run lengths, fading beliefs, detectors, and Drift."""

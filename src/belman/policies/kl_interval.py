"""The interval of means that n rewards cannot tell from their average μ̂: n·d(μ̂, q) ≤ f."""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel

_STEPS = 100
_ENOUGH = 1e-10  # of the distance to the average


@kernel
def farthest(family, law, plays, mean, spread, f, end):
    """The interval's end on the side of `end`: secants on sqrt(n·d(μ̂, q)), nearly straight in q."""
    if f <= 0.0 or mean == end:
        return mean
    goal = math.sqrt(f / plays)
    if math.isfinite(end) and math.sqrt(max(family.d(law, mean, end, spread), 0.0)) <= goal:
        return end
    near, near_height, far, far_height = mean, 0.0, end, np.inf
    q = 0.5 * (mean + end) if math.isfinite(end) else mean + math.copysign(max(abs(mean), 1.0), end)
    for _ in range(_STEPS):
        height = math.sqrt(max(family.d(law, mean, q, spread), 0.0))
        if height <= goal:
            near, near_height = q, height
        else:
            far, far_height = q, height
        if abs(far - near) <= _ENOUGH * abs(near - mean):
            break
        if math.isinf(far):
            q = mean + 2.0 * (q - mean)
        elif math.isfinite(far_height):
            share = (goal - near_height) / (far_height - near_height)
            q = near + (far - near) * min(max(share, 0.02), 0.98)
        else:
            q = 0.5 * (near + far)
    return near

"""The interval of means that n rewards cannot tell from their average μ̂: n·d(μ̂, q) ≤ f."""

from __future__ import annotations

import math

from belman.engine import kernel

_STEPS = 100
_ENOUGH = 1e-7  # of the distance to the average: the last step leaves about its 1.6th power


@kernel
def farthest(family, law, plays, mean, spread, f, end):
    """The interval's end on the side of `end`: secants on sqrt(d(μ̂, q)), nearly straight in q."""
    if f <= 0.0 or mean == end:
        return mean
    goal = math.sqrt(f / plays)
    if math.isfinite(end) and math.sqrt(max(family.d(law, mean, end, spread), 0.0)) <= goal:
        return end
    near, far, last, last_height = mean, end, mean, 0.0
    q = 0.5 * (mean + end) if math.isfinite(end) else mean + math.copysign(max(abs(mean), 1.0), end)
    for _ in range(_STEPS):
        height = math.sqrt(max(family.d(law, mean, q, spread), 0.0))
        if height <= goal:
            near = q
        else:
            far = q
        there = far
        if math.isfinite(height) and height != last_height:
            there = q + (goal - height) * (q - last) / (height - last_height)
            if abs(there - q) <= _ENOUGH * abs(q - mean):
                return min(max(there, min(near, far)), max(near, far))
            last, last_height = q, height
        if min(near, far) < there < max(near, far):
            q = there
        elif math.isinf(far):
            q = mean + 2.0 * (q - mean)
        else:
            q = 0.5 * (near + far)
    return near

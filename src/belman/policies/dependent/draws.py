"""What arms are worth under many draws of θ: for policies that integrate by drawing."""

from __future__ import annotations

from belman.engine import kernel
from belman.models.shared import dot, draw


@kernel
def draw_values(model, law, belief, features, mind, theta, value):
    """The value of every arm under a draw of θ, into `value` (K), and which is the best."""
    draw(model, law, belief, mind, 1.0, theta)
    best = 0
    for a in range(value.size):
        value[a] = dot(features[a], theta)
        best = a if value[a] > value[best] else best
    return best

"""Where the states of a dynamic programme over counts lie in one array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def offsets_of(horizon: int, middle: int, out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the states with n₁ plays of the first arm and n₂ of the middle one begin; the end."""
    place = 0
    for n in range(horizon + 1):
        for m in range(min(middle, horizon - n) + 1):
            out[n, m] = place
            place += (n + 1) * (m + 1) * (horizon - n - m + 1)
    out[horizon + 1, 0] = place
    return out

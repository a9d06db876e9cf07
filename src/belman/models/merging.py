"""Two coefficients that become one: the belief that all rewards of both would have given it.

Given θ_a = θ_b, the belief has both of their priors, and that of b is taken out again: a reward
without noise, and a variance that comes back, O(d²). Coefficient b is blank then: its prior is all
that is believed of it. The belief is exact if rewards are linear, and else has the normal factor
that stood in for each reward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from belman.engine import LATER, entry, kernel
from belman.models.model import Belief, Model
from belman.models.shared import weigh
from belman.models.square_root import observe, restore, widen_along

_NONE = 1e-300  # the noise of a reward without noise


@kernel
def merge(mean, root, prior, scratch, first: int, second: int):
    """Let two coefficients be one at the first place, and the second one blank."""
    size = mean.size
    apart, gain = scratch[0, :size], scratch[1, :size]
    variance, gap = 0.0, mean[first] - mean[second]
    for j in range(size):
        apart[j] = root[first, j] - root[second, j]
        variance += apart[j] * apart[j]
    restore(root, apart, gain)
    for i in range(size):
        mean[i] -= gain[i] * (gap / variance)
    observe(root, apart, _NONE, scratch[2], scratch[3])
    for i in range(size):
        root[i, second] = 0.0
        root[second, i] = 0.0
    root[second, second], mean[second] = prior[second], 0.0
    restore(root, root[first], gain)
    wide = prior[second] * prior[second] - gain[first]
    for i in range(size):
        mean[i] += gain[i] * (mean[first] / wide) if i != first else 0.0
        apart[i] = gain[i] / math.sqrt(wide)
    mean[first] *= 1.0 + gain[first] / wide
    widen_along(root, 0, apart)


@kernel
def height(mean, root, scores):
    """mᵀS⁻¹m and ln |L|; `scores` is scratch (d)."""
    total, known = 0.0, 0.0
    for i in range(mean.size):
        left = mean[i]
        for j in range(i):
            left -= root[i, j] * scores[j]
        scores[i] = left / root[i, i]
        total += scores[i] * scores[i]
        known += math.log(root[i, i])
    return total, known


def merge_all(model: Model, belief: Belief, pairs: Sequence[tuple[int, int]]) -> None:
    """Let the second coefficient of each pair be the first, and then blank."""
    if belief.clock[0] == 0.0:
        return
    for b in range(len(belief.mean)):
        mean, root, noise = belief.mean[b], belief.root[b], belief.noise[b]
        held = {"mean": mean, "root": root}
        measured = entry(height).hold(LATER, **held, scores=belief.scratch[0, : mean.size])
        merging = entry(merge).hold(LATER, **held, prior=belief.prior[b], scratch=belief.scratch)
        before, known = measured()
        for first, second in pairs:
            merging(first, second)
        after, left = measured()
        belief.fit[b] += left - known
        if noise[0] > 0.0:
            rate = max(noise[1] + 0.5 * (before - after), model.first_noise[1])
            belief.fit[b] += noise[0] * math.log(noise[1] / rate)
            noise[1] = rate
        else:
            belief.fit[b] += 0.5 * (after - before) / model.kernels.scale(model.constants, noise)
    weigh(belief)


def without(belief: Belief, places: Sequence[int]) -> Belief:
    """Return the same belief without some coefficients, which are blank."""
    kept = np.setdiff1d(np.arange(belief.mean.shape[1]), places)
    return belief._replace(
        mean=belief.mean[:, kept].copy(),
        root=np.ascontiguousarray(belief.root[:, kept][:, :, kept]),
        prior=belief.prior[:, kept].copy(),
        age=belief.age[kept].copy(),
        scratch=np.zeros((len(belief.scratch), max(len(kept), 4))),
    )

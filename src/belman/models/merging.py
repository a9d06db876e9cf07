"""Two coefficients that become one: the belief that all rewards of both would have given it.

Given θ_a = θ_b, the belief has both of their priors, and that of b is taken out again: a reward
without noise, and a variance that comes back. It costs the square of what is common and of the
block of the two. Coefficient b is blank then: its prior is all that is believed of it. The belief
is exact if rewards are linear, and else has the normal factor that stood in for each reward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from belman.engine import LATER, entry, kernel
from belman.models import arrow
from belman.models.model import Belief, Model, blank, placed
from belman.models.shared import weigh
from belman.models.square_root import observe, project, restore, take_back

_NONE = 1e-300  # the noise of a reward without noise


@kernel
def merge(mean, root, begin, prior, scratch, first: int, second: int):
    """Let two coefficients of a block be one at the first place, and the second one blank."""
    size, common = mean.size, begin[0]
    apart, gain = scratch[0, :size], scratch[1, :size]
    gap = mean[first] - mean[second]
    for i in range(size):
        gain[i] = 0.0
    gain[first], gain[second] = 1.0, -1.0
    variance = project(root, begin, gain, common, size, apart)
    restore(root, begin, apart, gain)
    for i in range(size):
        mean[i] -= gain[i] * (gap / variance)
    observe(root, begin, apart, _NONE, scratch[2], scratch[3])
    for j in range(root.shape[1]):
        root[second, j] = 0.0
    for i in range(second + 1, size):
        if second < common:
            root[i, second] = 0.0
        elif begin[i] == begin[second]:
            root[i, common + second - begin[second]] = 0.0
    root[second, second if second < common else common + second - begin[second]] = prior[second]
    mean[second] = 0.0
    for i in range(size):
        gain[i] = 0.0
    gain[first] = 1.0
    project(root, begin, gain, common, size, apart)
    restore(root, begin, apart, gain)
    wide = prior[second] * prior[second] - gain[first]
    for i in range(size):
        mean[i] += gain[i] * (mean[first] / wide) if i != first else 0.0
    mean[first] *= 1.0 + gain[first] / wide
    take_back(root, begin, apart, 1.0 / wide, scratch[2], scratch[3])


@kernel
def height(mean, root, begin, scores):
    """mᵀS⁻¹m and ln |L|; `scores` is scratch (d)."""
    total, known, common = 0.0, 0.0, begin[0]
    for i in range(mean.size):
        left, shift = mean[i], common - begin[i]
        for j in range(min(i, common)):
            left -= root[i, j] * scores[j]
        for j in range(begin[i], i):
            left -= root[i, j + shift] * scores[j]
        own = root[i, i if i < common else i + shift]
        scores[i] = left / own
        total += scores[i] * scores[i]
        known += math.log(own)
    return total, known


def merge_all(model: Model, belief: Belief, pairs: Sequence[tuple[int, int]]) -> None:
    """Let the second coefficient of each pair be the first, and then blank."""
    if belief.clock[0] == 0.0:
        return
    for b in range(len(belief.mean)):
        mean, root, noise = belief.mean[b], belief.root[b], belief.noise[b]
        held = {"mean": mean, "root": root, "begin": belief.begin}
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


def without(belief: Belief, positions: Sequence[int], begin: arrow.Places) -> Belief:
    """Return the same belief without some coefficients, which are blank; those that are left have
    blocks that `begin` there.
    """
    kept = np.setdiff1d(np.arange(belief.mean.shape[1]), positions)
    fresh = blank(belief.prior[:, kept].copy(), (0.0, 0.0), begin)
    return placed(belief, kept, np.arange(kept.size), fresh)

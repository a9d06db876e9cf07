"""Corrections of a shared belief: one reward is taken out of it, another put in, in place.

A reward told of φᵀθ alone, by a normal factor. Without that factor φᵀθ has another mean and
variance, from which the new reward is learnt as any other; what else is believed follows as
φᵀθ does. For linear rewards the factor is known, and the belief is what it would have been
without the old reward, up to rounding. For others it depends on what was believed when the reward
came, and is taken to be the one that leads from a belief without it to the belief there is.
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel
from belman.models.model import RATE, SHAPE
from belman.models.shared import GAIN, PROJECTED, TOLD, weigh
from belman.models.square_root import dot_within, filled, observe, project, restore, take_back

_KEEP, _LEAN = 2, 3  # rows of belief.scratch
_ROUNDS, _NEAR = 100, 1e-10
_LEAST = 1e-12  # relative change of a variance: less is rounding


@kernel
def factor(model, constants, noise, here, wide, reward, trial):
    """Fill `trial` with the noise after a reward, where φᵀθ has this mean and variance; return the
    precision of its factor, that times its mean, and ln of the chance it had.
    """
    trial[0], trial[1] = noise[0], noise[1]
    step, rest, fit = model.assimilate(constants, trial, here, wide, reward)
    precision = 1.0 / rest if rest < np.inf else 0.0
    return precision, step + (here + wide * step) * precision, fit


@kernel
def without(model, constants, noise, eta, v, widest, reward, kept, trial):
    """The mean and the variance of φᵀθ before a reward of which a share is `kept`, and ln of the
    chance it had; `noise` becomes what it was. No variance is beyond the `widest`, the prior's.
    """
    here, wide, fit = eta, v, 0.0
    for _ in range(_ROUNDS):
        precision, told, fit = factor(model, constants, noise, here, wide, reward, trial)
        left = 1.0 / v - kept * precision
        if left * widest > 1.0:
            new_wide = 1.0 / left
            new_here = new_wide * (eta / v - kept * told)
        else:
            new_here, new_wide = 0.0, widest
        moved = abs(new_here - here) > _NEAR * (abs(here) + math.sqrt(wide))
        moved = moved or abs(new_wide - wide) > _NEAR * wide
        here, wide = new_here, new_wide
        if not moved:
            break
    if noise[0] > 0.0:
        factor(model, constants, noise, here, wide, reward, trial)
        noise[0] = max(noise[0] - kept * (trial[0] - noise[0]), constants[SHAPE])
        noise[1] = max(noise[1] - kept * (trial[1] - noise[1]), constants[RATE])
        _, _, fit = factor(model, constants, noise, here, wide, reward, trial)
    return here, wide, kept * fit


@kernel
def move(belief, b, size, eta, v, here, wide):
    """Let φᵀθ have this mean and variance in place of η and v, and θ what follows from that;
    scratch holds Lᵀφ and Sφ.
    """
    scratch, gain = belief.scratch, belief.scratch[GAIN, :size]
    projected = scratch[PROJECTED, :size]
    for i in range(size):
        belief.mean[b, i] += (here - eta) / v * gain[i]
    if wide < (1.0 - _LEAST) * v:
        noise = v * wide / (v - wide)
        observe(belief.root[b], belief.begin, projected, noise, scratch[_KEEP], scratch[_LEAN])
    elif wide > (1.0 + _LEAST) * v:
        amount = (wide - v) / (v * v)
        take_back(belief.root[b], belief.begin, projected, amount, scratch[_KEEP], scratch[_LEAN])


@kernel
def begin_anew(constants, belief):
    """Believe the prior."""
    belief.mean[:] = 0.0
    belief.root[:] = 0.0
    belief.fit[:] = 0.0
    for b in range(len(belief.mean)):
        belief.noise[b, 0], belief.noise[b, 1] = constants[SHAPE], constants[RATE]
        for i in range(belief.mean.shape[1]):
            position = i if i < belief.begin[0] else belief.begin[0] + i - belief.begin[i]
            belief.root[b, i, position] = belief.prior[b, i]


@kernel
def correct(model, constants, belief, features, old, new, kept):
    """Let a reward of an arm with these features be `new` where it was `old`; NaN is for none. Of
    what was learnt at its time a share is `kept`.
    """
    size, scratch = features.size, belief.scratch
    projected, gain = scratch[PROJECTED, :size], scratch[GAIN, :size]
    trial, common = scratch[TOLD, 2:4], belief.begin[0]
    low, high = filled(features, common)
    belief.clock[0] = max(belief.clock[0] + (new == new) - (old == old), 0.0)
    if belief.clock[0] == 0.0:
        begin_anew(constants, belief)
    for b in range(len(belief.mean) if belief.clock[0] > 0.0 else 0):
        noise, eta = belief.noise[b], dot_within(belief.mean[b], features, common, low, high)
        v = project(belief.root[b], belief.begin, features, low, high, projected)
        restore(belief.root[b], belief.begin, projected, gain)
        if not v > 0.0:
            continue
        here, wide, widest = eta, v, 0.0
        for i in range(size):
            widest += (belief.prior[b, i] * features[i]) ** 2
        if old == old:
            here, wide, fit = without(
                model, constants, noise, eta, v, max(widest, v), old, kept, trial
            )
            belief.fit[b] -= fit
        if new == new:
            precision, told, fit = factor(model, constants, noise, here, wide, new, trial)
            for i in range(2):
                noise[i] += kept * (trial[i] - noise[i])
            after = 1.0 / (1.0 / wide + kept * precision)
            here, wide = after * (here / wide + kept * told), after
            belief.fit[b] += kept * fit
        move(belief, b, size, eta, v, here, wide)
    weigh(belief)

"""What a shared belief learns and says: rewards in, marginals and draws out, for any model."""

from __future__ import annotations

import math

import numpy as np

from belman import chance
from belman.engine import inlined_kernel, kernel
from belman.models.model import KEEP, RATE, SHAPE
from belman.models.square_root import dot_within, filled, observe, project, restore, widen

PROJECTED, GAIN, TOLD = 0, 1, 4  # rows of belief.scratch: Lᵀφ, Sφ, and the two numbers below
_KEEP, _LEAN = 2, 3
_LITTLE = 0.5  # of what is known of a coefficient: below it fades at once
STEP, SHRINK = 0, 1  # by how many Sφ the mean moved, and S by how many of Sφ (Sφ)ᵀ


@inlined_kernel
def dot(first, second):
    """The inner product of two vectors."""
    total = 0.0
    for i in range(first.size):
        total += first[i] * second[i]
    return total


@kernel
def fade(constants, belief):
    """Let the oldest coefficient, all that would keep little, and the noise go back towards the
    prior.
    """
    oldest = 0
    for position in range(belief.age.size):
        oldest = position if belief.age[position] > belief.age[oldest] else oldest
    for position in range(belief.age.size):
        kept = constants[KEEP] ** belief.age[position]
        if position == oldest or kept < _LITTLE:
            fade_one(belief, position, kept)
            belief.age[position] = 0.0
    for b in range(len(belief.mean)):
        belief.noise[b, 0] = constants[SHAPE] + constants[KEEP] * (
            belief.noise[b, 0] - constants[SHAPE]
        )
        belief.noise[b, 1] = constants[RATE] + constants[KEEP] * (
            belief.noise[b, 1] - constants[RATE]
        )
        belief.fit[b] *= constants[KEEP]


@kernel
def fade_one(belief, position, kept):
    """Let a coefficient keep a share of what is known of it; roots of what fades are whole."""
    size = belief.mean.shape[1]
    for b in range(len(belief.mean)):
        belief.mean[b, position] *= math.sqrt(kept)
        for j in range(position + 1):
            belief.root[b, position, j] *= math.sqrt(kept)
        amount = math.sqrt(1.0 - kept) * belief.prior[b, position]
        widen(belief.root[b], position, amount, belief.scratch[GAIN, :size])


@kernel
def weigh(belief):
    """Shares of the bank from how well each foresaw the rewards; returns ln of what they had in
    all.
    """
    best, total = -np.inf, 0.0
    for b in range(belief.fit.size):
        best = max(best, belief.fit[b])
    for b in range(belief.fit.size):
        belief.fit[b] -= best
        belief.share[b] = math.exp(belief.fit[b])
        total += belief.share[b]
    for b in range(belief.fit.size):
        belief.share[b] /= total
    return best + math.log(total)


@kernel
def learn(model, constants, belief, features, reward):
    """Learn the reward of an arm with these features, and return ln of the chance it had."""
    size, scratch = features.size, belief.scratch
    projected, gain = scratch[PROJECTED, :size], scratch[GAIN, :size]
    if constants[KEEP] < 1.0:
        for i in range(size):
            belief.age[i] += 1.0 if features[i] != 0.0 else 0.0
        fade(constants, belief)
    before, common = weigh(belief), belief.begin[0]
    low, high = filled(features, common)
    for b in range(len(belief.mean)):
        eta = dot_within(belief.mean[b], features, common, low, high)
        v = project(belief.root[b], belief.begin, features, low, high, projected)
        restore(belief.root[b], belief.begin, projected, gain)
        step, noise, fit = model.assimilate(constants, belief.noise[b], eta, v, reward)
        if noise < np.inf:
            observe(belief.root[b], belief.begin, projected, noise, scratch[_KEEP], scratch[_LEAN])
        for i in range(size):
            belief.mean[b, i] += step * gain[i]
        belief.fit[b] += fit
        scratch[TOLD, STEP], scratch[TOLD, SHRINK] = step, 1.0 / (noise + v)
    belief.clock[0] += 1.0
    after = weigh(belief)
    return after - before


@inlined_kernel
def marginal(model, constants, belief, features):
    """The mean and the variance of φᵀθ, over the whole bank."""
    projected, common = belief.scratch[PROJECTED], belief.begin[0]
    low, high = filled(features, common)
    eta, variance = 0.0, 0.0
    for b in range(len(belief.mean)):
        eta += belief.share[b] * dot_within(belief.mean[b], features, common, low, high)
    for b in range(len(belief.mean)):
        v = project(belief.root[b], belief.begin, features, low, high, projected)
        v *= model.scale(constants, belief.noise[b])
        here = (
            dot_within(belief.mean[b], features, common, low, high) if len(belief.mean) > 1 else eta
        )
        apart = here - eta
        variance += belief.share[b] * (v + apart * apart)
    return eta, variance


@kernel
def prior_variance(model, constants, belief, features):
    """φᵀSφ before the first reward, with what is now expected of the noise."""
    total, common = 0.0, belief.begin[0]
    low, high = filled(features, common)
    for b in range(len(belief.mean)):
        inner = 0.0
        for i in range(common):
            one = belief.prior[b, i] * features[i]
            inner += one * one
        for i in range(low, high):
            one = belief.prior[b, i] * features[i]
            inner += one * one
        total += belief.share[b] * inner * model.scale(constants, belief.noise[b])
    return total


@kernel
def draw(model, constants, belief, rng, inflation, theta):
    """A draw of θ, with `inflation` times the standard deviation that is believed."""
    member = 0
    if len(belief.mean) > 1:
        left = chance.uniform(rng)
        while member < len(belief.mean) - 1 and left >= belief.share[member]:
            left -= belief.share[member]
            member += 1
    spread = inflation * math.sqrt(model.draw_scale(constants, belief.noise[member], rng))
    scores = belief.scratch[PROJECTED, : theta.size]
    for i in range(theta.size):
        scores[i] = chance.normal(rng)
    restore(belief.root[member], belief.begin, scores, theta)
    for i in range(theta.size):
        theta[i] = belief.mean[member, i] + spread * theta[i]

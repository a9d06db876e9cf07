"""Corrections of a factorised belief, at the cost of what is set.

What was neglected after a reward cannot be known later, so a correction is not exact. The means and
variances before the old reward are taken to be those from which it would lead to the ones there
are: none beyond the prior's variance, and φᵀθ no further back than twice what the reward would move
it now. From there the new reward is learnt, if there is one. So the last reward is corrected nearly
exactly, and an older one as if it were the last: too much, where a lot was seen since.
"""

from __future__ import annotations

import math

from belman.engine import inlined_kernel, kernel
from belman.models.correcting import begin_anew as begin_dense_anew
from belman.models.diagonal import LEAST, MEAN, VARIANCE, gathered, prior_of, project_dense
from belman.models.model import RATE, SHAPE
from belman.models.shared import GAIN, PROJECTED, TOLD, dot, weigh
from belman.models.square_root import observe, restore, take_back

_KEEP, _LEAN = 2, 3  # rows of belief.scratch
_ROUNDS, _NEAR = 50, 1e-10
_FURTHEST = 2.0  # times its step now: as far back as a mean goes


@inlined_kernel
def before(after, shrink, most):
    """The part x of a variance that became x − shrink·x² by a reward; at most the prior's."""
    inside = 1.0 - 4.0 * shrink * after
    result = 2.0 * after / (1.0 + math.sqrt(inside)) if inside > 0.0 else 2.0 * after
    return max(min(result, most), after)


@kernel
def whole_before(table, entries, b, dense, widest, shrink):
    """The variance of φᵀθ before a reward that took `shrink` of every part's square; `dense` is
    what dense features have of it now, and `widest` what they had at first.
    """
    total = before(dense, shrink, widest)
    for e in range(entries.counts[0]):
        row, square = entries.row[0, e], entries.value[0, e] ** 2
        most = table.prior[b] * square
        total += before(table.rows[row, VARIANCE, b] * square, shrink, most) if row >= 0 else most
    return total


@kernel
def begin_anew(constants, belief, table):
    """Believe the prior."""
    begin_dense_anew(constants, belief)
    table.buckets[:] = 0
    table.size[0] = 0


@kernel
def correct(model, constants, belief, table, features, entries, old, new, kept):
    """Let a reward of the first arm, located before, be `new` where it was `old`; NaN is for none.
    Of what was learnt at its time a share is `kept`.
    """
    belief.clock[0] = max(belief.clock[0] + (new == new) - (old == old), 0.0)
    if belief.clock[0] == 0.0:
        begin_anew(constants, belief, table)
    else:
        for b in range(len(belief.mean)):
            correct_member(model, constants, belief, table, features, entries, b, old, new, kept)
    weigh(belief)


@kernel
def correct_member(model, constants, belief, table, features, entries, b, old, new, kept):
    """Correct one distribution of the bank."""
    size, scratch = features.size, belief.scratch
    projected, gain = scratch[PROJECTED, :size], scratch[GAIN, :size]
    trial, noise = scratch[TOLD, 2:4], belief.noise[b]
    eta, apart = gathered(table, entries, 0, b)
    eta += dot(belief.mean[b], features)
    dense = project_dense(belief, b, features, projected)
    restore(belief.root[b], belief.begin, projected, gain)
    v = dense + apart
    if not v > 0.0:
        return
    here, first, taken, given, change = eta, v, 0.0, 0.0, 0.0
    widest = max(prior_of(belief, features, b), dense)
    if old == old:
        for _ in range(_ROUNDS):
            trial[0], trial[1] = noise[0], noise[1]
            step, rest, _ = model.assimilate(constants, trial, here, first, old)
            taken = 1.0 / (rest + first)
            wide = whole_before(table, entries, b, dense, widest, taken)
            trial[0], trial[1] = noise[0], noise[1]
            plain, _, _ = model.assimilate(constants, trial, eta, wide, old)
            furthest = _FURTHEST * wide * abs(plain)
            back = eta - min(max(wide * step, -furthest), furthest)
            is_near = abs(wide - first) <= _NEAR * first
            is_near = is_near and abs(back - here) <= _NEAR * (abs(here) + math.sqrt(v))
            here, first = back, wide
            if is_near:
                break
        trial[0], trial[1] = noise[0], noise[1]
        step, rest, fit = model.assimilate(constants, trial, here, first, old)
        taken, change = 1.0 / (rest + first), (here - eta) / first
        belief.fit[b] -= kept * fit
        noise[0] = max(noise[0] - kept * (trial[0] - noise[0]), constants[SHAPE])
        noise[1] = max(noise[1] - kept * (trial[1] - noise[1]), constants[RATE])
    if new == new:
        trial[0], trial[1] = noise[0], noise[1]
        step, rest, fit = model.assimilate(constants, trial, here, first, new)
        given, change = 1.0 / (rest + first), change + step
        belief.fit[b] += kept * fit
        for i in range(2):
            noise[i] += kept * (trial[i] - noise[i])
    widens = kept * (taken - given)  # of every part's square before, what comes back
    if dense > 0.0:
        times = before(dense, taken, widest) / dense
        for i in range(size):
            belief.mean[b, i] += kept * change * times * gain[i]
        amount = widens * times * times
        root, keep, lean = belief.root[b], scratch[_KEEP], scratch[_LEAN]
        if amount > 0.0:
            take_back(root, belief.begin, projected, amount, keep, lean)
        elif amount < 0.0 and -1.0 / amount > dense:
            observe(root, belief.begin, projected, -1.0 / amount - dense, keep, lean)
    for e in range(entries.counts[0]):
        row, value = entries.row[0, e], entries.value[0, e]
        if row >= 0 and value != 0.0:
            square, most = value * value, table.prior[b]
            wide = before(table.rows[row, VARIANCE, b] * square, taken, most * square)
            table.rows[row, MEAN, b] += kept * change * wide / value
            after = table.rows[row, VARIANCE, b] + widens * wide * wide / square
            table.rows[row, VARIANCE, b] = min(max(after, LEAST * most), most)

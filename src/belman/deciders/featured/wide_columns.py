"""What is set in a context and of the arms at hand, as entries of a factorised belief.

A coefficient is of all arms (a slot of the context, one of the arms' features, or a pair of both),
or an arm's own (a slot of the context). Its key holds whose it is and both slots. The arms at hand
have values with K means and a K × K covariance: a belief of its own, whose coefficient a is the
value of arm a. A policy decides by it as by any other belief.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.deciders.featured.columns import grow_older, lay_out, lay_out_all
from belman.engine import kernel
from belman.models.diagonal import (
    ROW,
    VARIANCE,
    Entries,
    Places,
    Table,
    bucket_of,
    drop_last,
    fade_row,
    gathered,
    learn,
    locate,
    locate_or_add,
    prior_gathered,
    prior_of,
    project_dense,
)
from belman.models.diagonal_correcting import correct
from belman.models.model import KEEP, Floats
from belman.models.shared import PROJECTED, dot, fade
from belman.policies.dependent.policy import pick_rounded

_SIDE, _OWNER = 1 << 22, 1 << 44
OF_ALL, OF_EACH, JOINT, SHARED = 0, 1, 2, 3  # parts of `shape`
_TINY = 1e-300
_ROUNDING = 1e-12


class Told(NamedTuple):
    """The slots that are set, of a context or of the features of each of R arms: first words and
    levels, then numbers, which count here in pairs only.
    """

    counts: Places  # (R, 2) words and levels, and all
    slot: Places  # (R, N)
    name: Places  # (R, N) the place of the name that a slot is of
    value: Floats  # (R, N)

    @classmethod
    def of(cls, rows: int, most: int) -> Told:
        """Room for as many."""
        slot, name = np.zeros((2, rows, most), dtype=np.int64)
        return cls(np.zeros((rows, 2), dtype=np.int64), slot, name, np.zeros((rows, most)))


class Joint(NamedTuple):
    """Scratch for covariances of arms: which of their entries are the same coefficient."""

    table: Table  # every key that is set, of whichever arm
    row: Places  # (K, M) where
    column: Floats  # (rows of the table) covariances of one arm's value with coefficients
    projected: Floats  # (K, d)
    deviation: Floats  # (B, K) of the values of arms


def key_of(owner: int, first: int, second: int) -> int:
    """Return the key of a coefficient: the owner is 0 for all arms, or the place of one plus 1."""
    return owner * _OWNER + first * _SIDE + second


def parts_of(key: int) -> tuple[int, int, int]:
    """Return the owner and both slots of a coefficient.

    >>> parts_of(key_of(3, 70, 9))
    (3, 70, 9)
    """
    return key // _OWNER, key % _OWNER // _SIDE, key % _SIDE


@kernel
def spell(context, features, crossed, shape, owner, entries, arm):
    """Fill in what is set of an arm, which has columns of its own as `owner` (0 for none)."""
    count = 0
    for i in range(context.counts[0, 0]):
        slot, value = context.slot[0, i], context.value[0, i]
        if shape[OF_ALL] != 0:
            entries.key[arm, count], entries.value[arm, count] = slot * _SIDE, value
            count += 1
        if shape[OF_EACH] != 0 and owner > 0:
            entries.key[arm, count] = owner * _OWNER + slot * _SIDE
            entries.value[arm, count] = value
            count += 1
    words = features.counts[arm, 0]
    for j in range(features.counts[arm, 1]):
        other, amount = features.slot[arm, j], features.value[arm, j]
        if j < words:
            entries.key[arm, count], entries.value[arm, count] = other, amount
            count += 1
        for i in range(context.counts[0, 1]):
            is_pair = crossed[context.name[0, i], features.name[arm, j]] != 0
            if is_pair and (j < words or i < context.counts[0, 0]):
                entries.key[arm, count] = context.slot[0, i] * _SIDE + other
                entries.value[arm, count] = context.value[0, i] * amount
                count += 1
    entries.counts[arm] = count


@kernel
def survey(belief, table, dense, entries, shape, joint, local):
    """Fill in the belief about the values of the arms at hand, whose dense features these are."""
    arms = len(dense)
    for b in range(len(belief.mean)):
        for a in range(arms):
            eta, v = gathered(table, entries, a, b)
            prior = prior_gathered(table, entries, a, b) + prior_of(belief, dense[a], b)
            local.mean[b, a] = eta + dot(belief.mean[b], dense[a])
            local.prior[b, a] = math.sqrt(prior)
            v += project_dense(belief, b, dense[a], joint.projected[a])
            joint.deviation[b, a] = math.sqrt(v)
            local.root[b, a, a] = v if shape[JOINT] != 0 else joint.deviation[b, a]
        if shape[JOINT] != 0:
            for a in range(arms):
                spread(table, entries, shape, joint, local, a, b)
            factorise(local.root[b])


@kernel
def unite(entries, joint):
    """Find out which entries of the arms at hand are the same coefficient."""
    drop_last(joint.table, 0)
    both = Entries(entries.counts, entries.key, joint.row, entries.value)
    for a in range(entries.counts.size):
        locate_or_add(joint.table, both, a)


@kernel
def spread(table, entries, shape, joint, local, arm, b):
    """Fill in the covariances of an arm's value with those of the arms before it."""
    if shape[SHARED] != 0:
        for e in range(entries.counts[arm]):
            row, value = entries.row[arm, e], entries.value[arm, e]
            known = table.rows[row, VARIANCE, b] if row >= 0 else table.prior[b]
            joint.column[joint.row[arm, e]] = known * value
    for a in range(arm):
        total = dot(joint.projected[arm], joint.projected[a])
        for e in range(entries.counts[a] if shape[SHARED] != 0 else 0):
            total += joint.column[joint.row[a, e]] * entries.value[a, e]
        local.root[b, arm, a] = total
    for e in range(entries.counts[arm] if shape[SHARED] != 0 else 0):
        joint.column[joint.row[arm, e]] = 0.0


@kernel
def factorise(matrix):
    """Replace the lower triangle of a covariance by its root; arms with one value have zeros."""
    for j in range(len(matrix)):
        left = matrix[j, j]
        for n in range(j):
            left -= matrix[j, n] * matrix[j, n]
        pivot = math.sqrt(left) if left > _ROUNDING * matrix[j, j] else 0.0
        matrix[j, j] = pivot
        for i in range(j + 1, len(matrix)):
            total = matrix[i, j]
            for n in range(j):
                total -= matrix[i, n] * matrix[j, n]
            matrix[i, j] = total / pivot if pivot > 0.0 else 0.0


@kernel
def look(model, constants, local, deviations, sight):
    """Look at the arms at hand, the variances of whose values have these roots (B, K)."""
    expected = 0.0
    for b in range(len(local.mean)):
        expected += local.share[b] * model.scale(constants, local.noise[b])
    for a in range(sight.eta.size):
        eta, variance, first = 0.0, 0.0, 0.0
        for b in range(len(local.mean)):
            eta += local.share[b] * local.mean[b, a]
        for b in range(len(local.mean)):
            scale = model.scale(constants, local.noise[b])
            v, prior, apart = deviations[b, a], local.prior[b, a], local.mean[b, a] - eta
            variance += local.share[b] * (v * v * scale + apart * apart)
            first += local.share[b] * prior * prior * scale
        sight.eta[a], sight.variance[a], sight.first[a] = eta, variance, first
        sight.looked[a] = variance / expected
        sight.worth[a] = expected / max(model.information(constants, eta) * variance, _TINY)


@kernel
def choose(
    policy, model, constants, params, belief, table, x, u, layout, positions, dense, context,
    features, crossed, shape, entries, joint, local, unit, sight, memory, rng, index,
    turn: int,
):  # fmt: skip
    """The place of the arm to play, and how many share its index."""
    lay_out_all(x, u, layout, positions, dense)
    for a in range(len(dense)):
        spell(context, features, crossed, shape, positions[a] + 1, entries, a)
        locate(table, entries, a)
    if shape[JOINT] != 0 and shape[SHARED] != 0:
        unite(entries, joint)
    survey(belief, table, dense, entries, shape, joint, local)
    look(model, constants, local, joint.deviation, sight)
    policy.indices(model, constants, params, local, unit, sight, memory, turn, rng, index)
    return pick_rounded(index, rng)


@kernel
def fade_others(kept, context, shape, arms, arm, table):
    """Let what other arms have for themselves in this context keep a share of what is known."""
    for owner in range(1, arms + 1 if shape[OF_EACH] != 0 else 1):
        for i in range(context.counts[0, 0] if owner != arm + 1 else 0):
            key = owner * _OWNER + context.slot[0, i] * _SIDE
            fade_row(kept, table, table.buckets[bucket_of(table, key), ROW] - 1)


@kernel
def take_in(
    model, constants, belief, table, x, own, layout, row, context, features, crossed, shape,
    entries,
    arm: int, reward: float,
):  # fmt: skip
    """Learn the reward of an arm with these features, and return ln of the chance it had."""
    lay_out(x, own, layout, arm, row)
    spell(context, features, crossed, shape, arm + 1, entries, 0)
    locate_or_add(table, entries, 0)
    if constants[KEEP] < 1.0:
        for i in range(row.size):
            belief.age[i] += 1.0 if row[i] != 0.0 else 0.0
        grow_older(x, layout, arm, belief.age)
        fade(constants, belief)
        for e in range(entries.counts[0]):
            fade_row(constants[KEEP], table, entries.row[0, e])
        fade_others(constants[KEEP], context, shape, len(layout.own), arm, table)
    return learn(model, constants, belief, table, row, entries, reward)


@kernel
def replace(
    model, constants, belief, table, x, own, layout, row, context, features, crossed, shape,
    entries,
    arm: int, old: float, new: float, kept: float,
):  # fmt: skip
    """Let a reward that an arm with these features brought be `new` where it was `old` (NaN for
    none), as far as it is `kept`.
    """
    lay_out(x, own, layout, arm, row)
    spell(context, features, crossed, shape, arm + 1, entries, 0)
    locate_or_add(table, entries, 0)
    correct(model, constants, belief, table, row, entries, old, new, kept)
    return 0


@kernel
def foresee(
    model, constants, belief, table, x, own, layout, row, context, features, crossed, shape,
    entries,
    arm: int,
):  # fmt: skip
    """The expected reward of an arm with these features."""
    lay_out(x, own, layout, arm, row)
    spell(context, features, crossed, shape, arm + 1, entries, 0)
    locate(table, entries, 0)
    eta, variance = marginal(model, constants, belief, table, row, entries)
    return model.expected(constants, eta, variance)


@kernel
def marginal(model, constants, belief, table, row, entries):
    """The mean and the variance of φᵀθ of the first arm, over the whole bank."""
    eta, variance = 0.0, 0.0
    for b in range(len(belief.mean)):
        apart, _ = gathered(table, entries, 0, b)
        eta += belief.share[b] * (apart + dot(belief.mean[b], row))
    for b in range(len(belief.mean)):
        apart, v = gathered(table, entries, 0, b)
        apart += dot(belief.mean[b], row) - eta
        v += project_dense(belief, b, row, belief.scratch[PROJECTED])
        v *= model.scale(constants, belief.noise[b])
        variance += belief.share[b] * (v + apart * apart)
    return eta, variance

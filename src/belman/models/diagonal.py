"""A factorised belief: a mean and a variance for each coefficient that a reward has told of.

A coefficient has a key, and a row of a hash table once a reward came in whose context it is set.
One without a row has its prior: mean 0, and the prior's variance. What is set in a context are a
few *entries* (key, value), and a decision or a reward takes the time of these, however many
coefficients there are. Beside them some features can have a dense belief (`shared.py`).

Covariances between coefficients of the table, and between these and the dense ones, are neglected
after every reward (assumed density). With v the variance of φᵀθ, dense part included, and a reward
whose effect is that of a Gaussian one with noise n (`assimilate`),

    m_i ← m_i + step · s_i φ_i,        s_i ← s_i − (s_i φ_i)²/(n + v),

which are the moments of each coefficient under the exact distribution after this one reward.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import inlined_kernel, kernel
from belman.models.model import Floats
from belman.models.shared import GAIN, PROJECTED, dot, weigh
from belman.models.square_root import filled, observe, project, restore

Places = NDArray[np.int64]
#: The coefficients that are kept. Beyond them, what a reward says of others is taken for noise.
MOST_ROWS = 1 << 22
FIRST_ROWS = 64
KEY, ROW = 0, 1  # of a bucket: a key, and its row plus 1 (0 where it is empty)
MEAN, VARIANCE = 0, 1  # of a row
_KEEP, _LEAN = 2, 3  # rows of belief.scratch
_PRIME, _FACTOR = 1_073_741_789, 2_654_435_761
LEAST = 1e-12  # of the prior's variance: none is below


class Table(NamedTuple):
    """Coefficients by key, in a bank of B distributions."""

    keys: Places  # (C) in the order in which rewards came
    rows: Floats  # (C, 2, B) means and variances
    buckets: Places  # (H, 2) H a power of two, and at least 2 C
    size: Places  # (1) rows in use
    prior: Floats  # (B) the variances of the prior

    @classmethod
    def of(cls, prior: Floats, capacity: int = FIRST_ROWS) -> Table:
        """An empty one."""
        return cls(
            np.zeros(capacity, dtype=np.int64),
            np.zeros((capacity, 2, prior.size)),
            np.zeros((2 * capacity, 2), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.array(prior),
        )

    @property
    def used(self) -> int:
        """How many coefficients there are."""
        return int(self.size[0])


class Entries(NamedTuple):
    """What is set of each of K arms: at most M coefficients."""

    counts: Places  # (K)
    key: Places  # (K, M)
    row: Places  # (K, M) −1 where only the prior is known
    value: Floats  # (K, M)

    @classmethod
    def of(cls, arms: int, most: int) -> Entries:
        """Room for as many."""
        key, row = np.zeros((2, arms, most), dtype=np.int64)
        return cls(np.zeros(arms, dtype=np.int64), key, row, np.zeros((arms, most)))


def widened(table: Table, capacity: int) -> Table:
    """Return the same table with room for more rows (a power of two)."""
    wide = Table.of(table.prior, capacity)
    size = table.used
    wide.keys[:size], wide.rows[:size], wide.size[0] = table.keys[:size], table.rows[:size], size
    return wide


@inlined_kernel
def bucket_of(table, key):
    """Where a key is in the buckets, or the empty one where it belongs."""
    mask = len(table.buckets) - 1
    at = (((key % _PRIME) * _FACTOR) >> 16) & mask
    while table.buckets[at, ROW] != 0 and table.buckets[at, KEY] != key:
        at = (at + 1) & mask
    return at


@kernel
def fill_buckets(table):
    """Find the first rows of a table by their keys from now on; how many keys are there twice."""
    twice = 0
    for row in range(table.size[0]):
        at = bucket_of(table, table.keys[row])
        twice += 1 if table.buckets[at, ROW] != 0 else 0
        table.buckets[at, KEY], table.buckets[at, ROW] = table.keys[row], row + 1
    return twice


@kernel
def locate(table, entries, arm):
    """Find the rows of what is set of an arm."""
    for e in range(entries.counts[arm]):
        at = bucket_of(table, entries.key[arm, e])
        entries.row[arm, e] = table.buckets[at, ROW] - 1


@kernel
def locate_or_add(table, entries, arm):
    """Find the rows of what is set of an arm, new ones with their prior as far as there is room."""
    for e in range(entries.counts[arm]):
        key = entries.key[arm, e]
        at = bucket_of(table, key)
        row = table.size[0]
        if table.buckets[at, ROW] == 0 and row < table.keys.size:
            table.buckets[at, KEY], table.buckets[at, ROW] = key, row + 1
            table.keys[row] = key
            for b in range(table.prior.size):
                table.rows[row, MEAN, b] = 0.0
                table.rows[row, VARIANCE, b] = table.prior[b]
            table.size[0] = row + 1
        entries.row[arm, e] = table.buckets[at, ROW] - 1


@kernel
def drop_last(table, size: int):
    """Have the first rows alone: those that came later go, in reverse."""
    for back in range(table.size[0] - size):
        at = bucket_of(table, table.keys[table.size[0] - 1 - back])
        table.buckets[at, KEY] = table.buckets[at, ROW] = 0
    table.size[0] = size
    return 0


@inlined_kernel
def gathered(table, entries, arm, b):
    """The mean and the variance of what is set of an arm, beside its dense features."""
    eta, variance = 0.0, 0.0
    for e in range(entries.counts[arm]):
        row, value = entries.row[arm, e], entries.value[arm, e]
        if row >= 0:
            eta += table.rows[row, MEAN, b] * value
            variance += table.rows[row, VARIANCE, b] * value * value
        else:
            variance += table.prior[b] * value * value
    return eta, variance


@inlined_kernel
def prior_of(belief, features, b):
    """The variance that the prior gives dense features."""
    total = 0.0
    for i in range(features.size):
        one = belief.prior[b, i] * features[i]
        total += one * one
    return total


@inlined_kernel
def prior_gathered(table, entries, arm, b):
    """The variance that the prior gives what is set of an arm."""
    total = 0.0
    for e in range(entries.counts[arm]):
        total += table.prior[b] * entries.value[arm, e] * entries.value[arm, e]
    return total


@inlined_kernel
def project_dense(belief, b, features, out):
    """Fill out = Lᵀφ of dense features, and return φᵀSφ."""
    low, high = filled(features, belief.begin[0])
    return project(belief.root[b], belief.begin, features, low, high, out)


@kernel
def learn(model, constants, belief, table, features, entries, reward):
    """Learn the reward of the first arm, located before, and return ln of the chance it had."""
    size, scratch = features.size, belief.scratch
    projected, gain = scratch[PROJECTED, :size], scratch[GAIN, :size]
    before = weigh(belief)
    for b in range(len(belief.mean)):
        eta, apart = gathered(table, entries, 0, b)
        eta += dot(belief.mean[b], features)
        v = project_dense(belief, b, features, projected) + apart
        restore(belief.root[b], belief.begin, projected, gain)
        step, noise, fit = model.assimilate(constants, belief.noise[b], eta, v, reward)
        if noise < np.inf:
            keep, lean = scratch[_KEEP], scratch[_LEAN]
            observe(belief.root[b], belief.begin, projected, noise + apart, keep, lean)
        for i in range(size):
            belief.mean[b, i] += step * gain[i]
        narrow(table, entries, b, step, noise, v)
        belief.fit[b] += fit
    belief.clock[0] += 1.0
    return weigh(belief) - before


@kernel
def narrow(table, entries, b, step, noise, v):
    """Move the coefficients that are set by a reward with this noise, v the variance before it."""
    for e in range(entries.counts[0]):
        row, value = entries.row[0, e], entries.value[0, e]
        if row >= 0:
            variance = table.rows[row, VARIANCE, b]
            table.rows[row, MEAN, b] += step * variance * value
            if noise < np.inf:
                others = max(v - variance * value * value, 0.0)
                left = variance * ((noise + others) / (noise + v))
                table.rows[row, VARIANCE, b] = max(left, LEAST * table.prior[b])


@kernel
def fade_row(kept, table, row):
    """Let a coefficient, if it has a row, keep a share of what is known of it."""
    for b in range(table.prior.size if row >= 0 else 0):
        table.rows[row, MEAN, b] *= math.sqrt(kept)
        known = kept * table.rows[row, VARIANCE, b]
        table.rows[row, VARIANCE, b] = known + (1.0 - kept) * table.prior[b]

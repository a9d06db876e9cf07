"""Which arm of equals is played."""

from __future__ import annotations

import numpy as np

from belman import chance
from belman.engine import entry, kernel
from belman.policies.dependent.policy import pick_rounded


@kernel
def picked(index, rng):
    return pick_rounded(index, rng)


def test_arms_that_differ_by_rounding_alone_are_drawn_by_chance():
    """Sums over features end in other bits from one processor to the next; ties must not."""
    rng = chance.generator(3)
    counts, pick = np.zeros(4), entry(picked)
    for _ in range(300):
        index = np.array([0.3, np.nextafter(0.3, 1.0), 0.1 + 0.2, np.nan])
        arm, ties = pick(index=index, rng=rng)
        counts[arm] += 1
        assert ties == 3
        assert (index == index[0]).tolist() == [True, True, True, False]
    assert counts[:3].min() > 60
    assert counts[3] == 0
    assert pick(index=np.array([np.inf, 1.0, np.inf]), rng=rng)[1] == 2
    assert pick(index=np.array([-np.inf, -np.inf]), rng=rng)[1] == 2
    assert pick(index=np.array([1.0, 1.0 + 1e-6]), rng=rng) == (1, 1)

"""How much a segment borrows from the others, learnt from how well that foretells its rewards.

Of an arm in a segment there are two beliefs: *own*, from the rewards of that segment, and *all*,
from those of every segment. A segment that counts a share ρ of the others' rewards believes the
point between the two, (1 − ρ) own + ρ all in natural parameters: their barycentre with these
weights. A *strength* k is how many rewards of others count at most: ρ = min(1, k / their number).
k = 0 borrows nothing, k = ∞ makes one segment of all. Strengths are weighed by the likelihood of
each reward before it was learnt, and what is believed in the end is the barycentre over strengths.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.families import Family

Floats = NDArray[np.float64]

STRENGTHS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, math.inf)


@kernel
def borrow(family, law, own, everywhere, share, out):
    """The belief that counts a share of what others learnt."""
    for i in range(own.size):
        out[i] = own[i]
    if share > 0.0:
        family.belief.blend(law, out, everywhere, 1.0 - share)


@kernel
def weigh(family, law, own, everywhere, shares, reward, evidence, scratch):
    """Add the log-likelihood of a reward to each strength: A after it less A before."""
    for i in range(shares.size):
        borrow(family, law, own, everywhere, shares[i], scratch)
        before = family.belief.log_partition(law, scratch)
        family.update(law, scratch, reward)
        gain = family.belief.log_partition(law, scratch) - before
        if np.isfinite(gain):
            evidence[i] += gain


@kernel
def weigh_by_mean(family, law, own, everywhere, shares, reward, variance, evidence, scratch):
    """The same where beliefs are not conjugate: by a normal law around the expected reward."""
    for i in range(shares.size):
        borrow(family, law, own, everywhere, shares[i], scratch)
        spread = variance * (1.0 + 1.0 / max(family.worth(law, scratch), 1e-9))
        off = reward - family.expected_reward(law, scratch)
        gain = -0.5 * (off * off / spread + math.log(spread))
        if np.isfinite(gain):
            evidence[i] += gain


class Pooling:
    """The weights of the strengths, as rewards come in.

    >>> from belman.families import Bernoulli
    >>> pooling = Pooling(Bernoulli())
    >>> for _ in range(20):  # own rewards that the others do not foretell
    ...     pooling.learn(np.array([9.0, 1.0]), np.array([19.0, 501.0]), 510.0, 1.0, 0.1)
    >>> round(pooling.share(510.0), 2)
    0.0
    """

    def __init__(self, family: Family, evidence: Floats | None = None) -> None:
        self.family = family
        self.evidence = np.zeros(len(STRENGTHS)) if evidence is None else evidence
        self._scratch = np.zeros(family.dimension)

    @property
    def weights(self) -> Floats:
        """How far each strength is believed."""
        weights = np.exp(self.evidence - self.evidence.max())
        found: Floats = weights / weights.sum()
        return found

    def share(self, others: float) -> float:
        """The share of so many rewards of other segments that counts."""
        return float(self.weights @ _shares(others))

    def learn(
        self, own: Floats, everywhere: Floats, others: float, reward: float, variance: float
    ) -> None:
        """Weigh the strengths by a reward, before it is learnt; it says nothing where there are no
        rewards of others.
        """
        if others <= 0.0:
            return
        held: dict[str, Any] = {"own": own, "everywhere": everywhere, "shares": _shares(others)}
        held |= {"reward": reward, "evidence": self.evidence, "scratch": self._scratch}
        if self.family.conjugate:
            self.family.enter(weigh, **held)
        elif variance > 0.0:
            self.family.enter(weigh_by_mean, **held, variance=variance)
        self.evidence -= self.evidence.max()

    def believed(self, own: Floats, everywhere: Floats, share: float) -> Floats:
        """The belief that counts this share of what was learnt elsewhere."""
        return self.family.blend(own, everywhere, 1.0 - share) if share > 0.0 else own


def _shares(others: float) -> Floats:
    found: Floats = np.minimum(np.array(STRENGTHS) / max(others, 1e-300), 1.0)
    return found

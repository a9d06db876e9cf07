"""What choosing an arm now is expected to lose: E[(max_b μ_b − μ_a)₊], by a deterministic rule.

It is ∫ F_a(x) (1 − Π_{b≠a} F_b(x)) dx: a positive integrand, so that nothing cancels. The line is
cut at quantiles of every arm, between which all distribution functions are smooth, and a Gauss–
Legendre rule is used on every piece.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.families.family import Family
from belman.measures.lift import OWN, Units, quantile_at_score

Floats = NDArray[np.float64]

#: Normal scores of the quantiles at which the line is cut: dense in the tails, which may be heavy.
_SCORES = np.concatenate(
    [np.arange(-8.0, -2.5, 0.5), np.arange(-2.0, 2.5), np.arange(3.0, 8.5, 0.5)]
)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


@kernel
def _cuts(family, law, beliefs, scores, out):
    for a in range(len(beliefs)):
        for i in range(scores.size):
            out[a, i] = quantile_at_score(family, law, beliefs[a], 0.0, 1.0, scores[i])


@kernel
def _integrate(family, law, beliefs, cuts, nodes, weights, chances, losses):
    """Add every piece to the losses of all arms, whose products without one arm share their ends.

    `chances` holds F_b(x), and the products of the arms before and after each.
    """
    arms = len(beliefs)
    for piece in range(cuts.size - 1):
        half = 0.5 * (cuts[piece + 1] - cuts[piece])
        if not half > 0.0:
            continue
        middle = 0.5 * cuts[piece + 1] + 0.5 * cuts[piece]
        for i in range(nodes.size):
            x = middle + half * nodes[i]
            for a in range(arms):
                chances[0, a] = family.mean_cdf(law, beliefs[a], x)
            before, after = 1.0, 1.0
            for a in range(arms):
                chances[1, a] = before
                before *= chances[0, a]
                last = arms - 1 - a
                chances[2, last] = after
                after *= chances[0, last]
            for a in range(arms):
                others = chances[1, a] * chances[2, a]
                losses[a] += half * weights[i] * chances[0, a] * (1.0 - others)


def expected_losses(family: Family, beliefs: Floats, units: Units = OWN) -> Floats:
    """The expected loss of choosing each arm now, given independent beliefs (one a row).

    It is what an oracle would be expected to earn more, in the user's units; infinite where an
    expected reward is that the arm could miss, or an expected cost that it could have.

    >>> from belman.families import Bernoulli
    >>> expected_losses(Bernoulli(), np.array([[2.0, 1.0], [1.0, 2.0]])).round(4).tolist()
    [0.0333, 0.3667]
    """
    rows = np.ascontiguousarray(beliefs, dtype=np.float64)
    losses = np.zeros(len(rows))
    if len(rows) < 2:
        return losses
    cuts = np.empty((len(rows), _SCORES.size))
    family.enter(_cuts, beliefs=rows, scores=_SCORES, out=cuts)
    family.enter(
        _integrate,
        beliefs=rows,
        cuts=np.unique(cuts),
        nodes=_NODES,
        weights=_WEIGHTS,
        chances=np.empty((3, len(rows))),
        losses=losses,
    )
    without = np.array([not np.isfinite(family.expected_reward(row)) for row in rows])
    missed = without if units.minimise else without.sum() - without > 0
    return np.where(missed, np.inf, losses * abs(units.slope))

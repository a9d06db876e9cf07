"""What choosing an arm now is expected to lose: E[max_b μ_b − μ_a], by a deterministic rule.

Of the arm l with the largest mean it is ∫ F_l(x) (1 − Π_{b≠l} F_b(x)) dx, a positive integrand, so
that nothing cancels; any other arm loses the difference of two means more. The line is cut so that
no distribution function rises far between two cuts, with a Gauss–Legendre rule on every piece.
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
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@kernel
def _fill_quantiles(family, law, beliefs, scores, out):
    for a in range(len(beliefs)):
        for i in range(scores.size):
            out[a, i] = quantile_at_score(family, law, beliefs[a], 0.0, 1.0, scores[i])


def _quantiles(family: Family, beliefs: Floats, scores: Floats) -> Floats:
    """The means of each arm (a row) at some normal scores."""
    out = np.empty((len(beliefs), scores.size))
    family.enter(_fill_quantiles, beliefs=beliefs, scores=scores, out=out)
    return out


def _cuts(quantiles: Floats, leader: int) -> Floats:
    """From the leader's least to the largest of all, with at most one quantile of an arm between
    two cuts.
    """
    at, end = float(quantiles[leader, 0]), float(quantiles[:, -1].max())
    cuts, last = [at], quantiles.shape[1] - 1
    while at < end:
        beyond = np.minimum((quantiles <= at).sum(axis=1) + 1, last)
        ahead = quantiles[np.arange(len(quantiles)), beyond]
        at = float(ahead[ahead > at].min(initial=end))
        cuts.append(at)
    return np.array(cuts)


@kernel
def _integrate(family, law, beliefs, tops, leader, cuts, nodes, weights, out):
    """The expected loss of the leader; beyond its top an arm's distribution function is 1."""
    for piece in range(cuts.size - 1):
        half = 0.5 * (cuts[piece + 1] - cuts[piece])
        middle = 0.5 * cuts[piece + 1] + 0.5 * cuts[piece]
        for i in range(nodes.size):
            x = middle + half * nodes[i]
            others = 1.0
            for a in range(len(beliefs)):
                if a != leader and x < tops[a]:
                    others *= family.mean_cdf(law, beliefs[a], x)
            mine = family.mean_cdf(law, beliefs[leader], x)
            out[0] += half * weights[i] * mine * (1.0 - others)


def expected_losses(family: Family, beliefs: Floats, units: Units = OWN) -> Floats:
    """The expected loss of choosing each arm now, given independent beliefs (one a row).

    It is what an oracle would be expected to earn more, in the user's units; infinite where an
    expected reward is that the arm could miss, or an expected cost that it could have.

    >>> from belman.families import Bernoulli
    >>> expected_losses(Bernoulli(), np.array([[2.0, 1.0], [1.0, 2.0]])).round(4).tolist()
    [0.0333, 0.3667]
    """
    rows = np.ascontiguousarray(beliefs, dtype=np.float64)
    if len(rows) < 2:
        return np.zeros(len(rows))
    means = np.array([family.expected_reward(row) for row in rows])
    endless = ~np.isfinite(means)
    leader = int(np.argmax(np.where(endless & units.minimise, -np.inf, means)))
    lowest = _quantiles(family, rows[leader : leader + 1], _SCORES[:1])[0, 0]
    contends = _quantiles(family, rows, _SCORES[-1:])[:, 0] > lowest
    contends[leader] = True  # also where all of its quantiles are one
    contenders = np.flatnonzero(contends)
    place = int(np.searchsorted(contenders, leader))
    quantiles = _quantiles(family, rows[contenders], _SCORES)
    loss = np.zeros(1)
    family.enter(
        _integrate,
        beliefs=rows[contenders],
        tops=quantiles[:, -1].copy(),
        leader=place,
        cuts=_cuts(quantiles, place),
        nodes=_NODES,
        weights=_WEIGHTS,
        out=loss,
    )
    missed = endless if units.minimise else endless.sum() - endless > 0
    others = ~missed & (np.arange(len(rows)) != leader)
    losses = np.where(missed, np.inf, loss[0])
    losses[others] += means[leader] - means[others]
    return losses * abs(units.slope)

"""What an arm is believed to be once one of its rewards is replaced by another.

A belief that is a sum, as a conjugate one is in natural parameters, η = η₀ + Σ T(x), has T(x) taken
out and T(x′) put in, however many rewards it has learnt. Where rounding could then be seen (a slip
of the pen of 10¹² leaves nothing of what it was added to), and where beliefs are no sums, only the
rewards themselves can tell, and there is no answer here.
"""

from __future__ import annotations

import numpy as np

from belman.deciders.learnt import Learnt
from belman.errors import BelmanError, RewardError
from belman.families import Family

_EPSILON = float(np.finfo(np.float64).eps)
#: The KL divergence that rounding may cause: a ten-millionth of a belief's standard deviation.
_UNSEEN = 1e-14
#: The same for sums of squares, which no belief bounds: relative.
_UNSEEN_SQUARES = 1e-9


def swapped(family: Family, learnt: Learnt, old: float | None, new: float | None) -> Learnt | None:
    """One reward for another, on the scale of the family; None where rounding could be seen.

    >>> from belman.families import Bernoulli
    >>> one = Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).told(Bernoulli(), 1.0)
    >>> swapped(Bernoulli(), one, 1.0, 0.0).belief
    (2.0, 2.0)
    """
    tells = learnt.tells - (old is not None) + (new is not None)
    if tells == 0:
        return Learnt.nothing(learnt.prior)._replace(pending=learnt.pending)
    out, into = old or 0.0, new or 0.0
    squares = learnt.squares - out * out + into * into
    unit = 0.0 if family.reward_range is None else 1.0
    noise = _EPSILON * max(learnt.squares, out * out)
    if noise > _UNSEEN_SQUARES * max(squares, unit):
        return None
    plays = learnt.plays - (old is not None) + (new is not None)
    after = learnt._replace(
        plays=plays, sum=learnt.sum - out + into, squares=max(squares, 0.0), tells=tells
    )
    belief = _swapped_belief(family, learnt, old, new) if family.adds_up else None
    return None if belief is None else after._replace(belief=belief)


def _swapped_belief(
    family: Family, learnt: Learnt, old: float | None, new: float | None
) -> tuple[float, ...] | None:
    start, eta = family.additive(learnt.prior), family.additive(learnt.belief)
    try:
        taken, put = (
            0.0 * start if x is None else family.additive(family.update(learnt.prior, x)) - start
            for x in (old, new)
        )
    except RewardError:  # within the reach of this belief, and not of the prior
        return None
    after = eta - taken + put
    noise = 2.0 * _EPSILON * np.max(np.abs([start, eta, taken, put]), axis=0)
    try:
        beliefs = [
            family.check_belief(family.from_additive(eta))
            for eta in (after, after + noise, after - noise)
        ]
        seen = max(family.divergence(beliefs[0], beliefs[i]) for i in (1, 2))
    except (BelmanError, ArithmeticError):
        return None
    return beliefs[0] if seen <= _UNSEEN else None

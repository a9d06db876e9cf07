"""What was learnt of one arm: kept while it is not played, and when its past is corrected."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from belman.deciders.decider import Sums
from belman.errors import RewardError
from belman.families import Family
from belman.measures.learnt import learnt as learnt_by
from belman.measures.lift import Units
from belman.measures.report import Known


class Learnt(NamedTuple):
    """The prior and the belief about an arm, the sum of its rewards, its tells and open asks.

    Rewards are on the scale of the family, as the agent's ledger keeps them.
    """

    prior: tuple[float, ...]
    belief: tuple[float, ...]
    plays: float
    sum: float
    squares: float
    tells: int
    pending: int

    @classmethod
    def nothing(cls, prior: tuple[float, ...]) -> Learnt:
        """Of an arm that was never tried."""
        return cls(prior, prior, 0.0, 0.0, 0.0, 0, 0)

    def told(self, family: Family, reward: float) -> Learnt:
        """With one more reward, by Bayes' theorem.

        >>> from belman.families import Bernoulli
        >>> Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).belief
        (2.0, 1.0)
        """
        return Learnt(
            self.prior,
            tuple(map(float, family.update(self.belief, reward))),
            self.plays + 1.0,
            self.sum + reward,
            self.squares + reward * reward,
            self.tells + 1,
            max(self.pending - 1, 0),
        )

    def faded(self, family: Family, discount: float) -> Learnt:
        """Nearer to the prior, as at every reward under a discount.

        >>> from belman.families import Bernoulli
        >>> Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).faded(Bernoulli(), 0.5).belief
        (1.5, 1.0)
        """
        if discount == 1.0:
            return self
        return self._replace(
            belief=tuple(map(float, family.blend(self.belief, self.prior, discount))),
            plays=self.plays * discount,
            sum=self.sum * discount,
            squares=self.squares * discount,
        )


def known_of(
    family: Family, arms: Sequence[Hashable], totals: Mapping[Hashable, Learnt], units: Units
) -> Known:
    """Return what was learnt of some arms, as measures read it."""
    rows = [totals[arm] for arm in arms]
    prior, belief, plays, total, squares = (
        np.array([getattr(row, name) for row in rows], dtype=np.float64)
        for name in ("prior", "belief", "plays", "sum", "squares")
    )
    return Known(family, arms, prior, belief, plays, total, squares, units)


def after_many(family: Family, before: Learnt, sums: Sums, arm: Hashable) -> Learnt:
    """Return what is learnt of an arm once many rewards have counted; RewardError where they cannot
    be learnt, or no rewards have these sums.

    >>> from belman.families import Bernoulli
    >>> after_many(Bernoulli(), Learnt.nothing((1.0, 1.0)), Sums(10, 3.0, 3.0), "a").belief
    (4.0, 8.0)
    """
    try:
        if sums.values is None or family.summed:
            belief = family.update_many(before.belief, sums.n, sums.total, sums.squares)
        else:
            belief = learnt_by(family, before.belief, sums.values)
            if (why := family.beyond_reach(belief)) is not None:
                raise RewardError(why)
    except RewardError as error:
        raise RewardError(f"the outcomes of arm {arm!r} cannot be learnt: {error}") from None
    return before._replace(
        belief=tuple(map(float, belief)),
        plays=before.plays + sums.n,
        sum=before.sum + sums.total,
        squares=before.squares + sums.squares,
        tells=before.tells + sums.n,
    )

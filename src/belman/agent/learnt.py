"""What was learnt of one arm: kept while it is not played, and when its past is corrected."""

from __future__ import annotations

from typing import NamedTuple

from belman.families import Family


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

"""What was learnt of one arm, for as long as it is not played."""

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

"""The ledger: what was observed of every arm, the same for every policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.memory import Floats, part


class Ledger(NamedTuple):
    """What was observed: beliefs; counts, sums and sums of squares of rewards.

    Attributes
    ----------
    beliefs
        The coordinates of the belief about each arm (K × D).
    plays
        The number of rewards of each arm (K).
    sums
        Their sum (K).
    squares
        The sum of their squares (K).
    """

    beliefs: Floats = part("K", "D", told=True)
    plays: Floats = part("K", told=True)
    sums: Floats = part("K", told=True)
    squares: Floats = part("K", told=True)

    @classmethod
    def blank(cls, beliefs: Floats) -> Ledger:
        """Make the ledger of arms with these beliefs (K × D) and no rewards.

        Parameters
        ----------
        beliefs
            The belief about each arm, a row each (K × D).

        Returns
        -------
        Ledger
            The ledger, which holds these beliefs themselves.
        """
        return cls(beliefs, *(np.zeros(len(beliefs)) for _ in cls._fields[1:]))


@kernel
def record(family, constants, ledger, arm, reward):
    """Enter one reward of one arm in the ledger."""
    family.update(constants, ledger.beliefs[arm], reward)
    ledger.plays[arm] += 1.0
    ledger.sums[arm] += reward
    ledger.squares[arm] += reward * reward

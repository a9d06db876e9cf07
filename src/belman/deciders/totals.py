"""What deciders in contexts share: what every arm brought over all contexts is believed apart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from belman.deciders import state_file
from belman.deciders.decider import Decider
from belman.deciders.independent.independent import IndependentDecider
from belman.deciders.learnt import Learnt
from belman.deciders.scale import Scale
from belman.families import Family


class InContexts(Decider):
    """A decider whose choices depend on a context; `totals` believes every arm over all of them,
    and knows which arms are in play and how many of their asks are outstanding.
    """

    totals: IndependentDecider

    @property
    def arms(self) -> tuple[Hashable, ...]:
        return self.totals.arms

    @property
    def retired(self) -> dict[Hashable, Learnt]:
        """What was learnt of the arms that are not in play any more, over all contexts."""
        return self.totals.retired

    @property
    def turn(self) -> int:
        return self.totals.turn

    @property
    def family(self) -> Family:
        """The family by which averages over contexts are believed."""
        return self.totals.family

    @property
    def scale(self) -> Scale:
        """How a reward of the user becomes one of the family."""
        return self.totals.scale

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """The asks without a reward so far, per arm in play."""
        return self.totals.outstanding

    def learnt(self, arm: Hashable) -> Learnt:
        """Return all that was learnt of an arm over all contexts.

        Parameters
        ----------
        arm
            The name of the arm, in play or retired.

        Returns
        -------
        Learnt
            The belief, sums of rewards, and counts.

        Raises
        ------
        ArmError
            If the arm is unknown.
        """
        return self.totals.learnt(arm)


def restored(content: Mapping[str, Any], source: str, **replaced: Any) -> IndependentDecider:
    """Return the totals of a state; StateError where they would not be written as they were."""
    result = IndependentDecider.restore(content, source, **replaced)
    state_file.check_kept(content, result.state(), ("family", "policy"))
    return result

"""Deciders: what decides behind an agent or a study, whichever kind it is."""

from typing import Any

from belman.deciders.decider import Asking, Choice, Decider, Draw
from belman.deciders.featured.featured import FeaturedDecider
from belman.deciders.independent.independent import IndependentDecider
from belman.deciders.learnt import Anew, Learnt, Sums
from belman.deciders.segmented.segmented import SegmentedDecider
from belman.deciders.shares import Shares
from belman.errors import StateError


def decider_named(kind: Any) -> type[Decider]:
    """Return the class of a decider by the name that a state file gives it.

    Parameters
    ----------
    kind
        "independent", "segmented", "featured" or "box".

    Returns
    -------
    type
        The class.

    Raises
    ------
    StateError
        If there is no decider of that name.
    """
    if kind == "box":
        from belman.deciders.box.box_decider import BoxDecider  # which takes a while to import

        return BoxDecider
    for known in (IndependentDecider, SegmentedDecider, FeaturedDecider):
        if known.kind == kind:
            return known
    raise StateError(f"there is no decider {str(kind)[:40]!r}")


__all__ = [
    "Anew",
    "Asking",
    "Choice",
    "Decider",
    "Draw",
    "FeaturedDecider",
    "IndependentDecider",
    "Learnt",
    "SegmentedDecider",
    "Shares",
    "Sums",
    "decider_named",
]

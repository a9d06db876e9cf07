"""EB-TC (Jourdan et al., 2022): the empirical best leads, the least transport cost challenges.

By the family's own divergence. β is tracked, as their later papers do it; the first tossed a coin.
Of two arms that look alike it may stare at the wrong one for long: EB-TCε does not. Cost: a
transport cost an arm and turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.policies.policy import share_of_ties
from belman.policies.top_two import TopTwo, best_average, bundle_with, least_transport

KERNELS = bundle_with(best_average, least_transport, True, share_of_ties)


@dataclass(frozen=True)
class EBTC(TopTwo):
    """Play the best average in a share β of turns, else the arm hardest to tell from it.

    >>> EBTC()
    EBTC(beta=0.5)
    """

    name = "eb-tc"
    kernels = KERNELS

"""Successive Rejects (Audibert, Bubeck and Munos, 2010): each phase drops the worst average.

It is Successive Accepts and Rejects for one best arm: no average is as far above the second as the
last is below the first.
"""

from __future__ import annotations

from belman.policies.elimination import Elimination
from belman.policies.successive_accepts_rejects import KERNELS


class SuccessiveRejects(Elimination):
    """Spend a budget on finding the best arm, rejecting one arm at a time.

    >>> SuccessiveRejects(budget=1_000)
    SuccessiveRejects(budget=1000)
    """

    name = "successive-rejects"
    kernels = KERNELS

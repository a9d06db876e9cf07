"""ExpTS+ (Jin, Xu, Xiao and Anandkumar, 2022): each arm draws with chance 1/K, else θ = μ̂.

With fewer draws it is minimax optimal, where ExpTS misses a factor sqrt(ln K). Cost: an inverse of
d for one arm in K.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.policies.exp_ts import ExpTS, bundle

KERNELS = bundle(True)


@dataclass(frozen=True)
class ExpTSPlus(ExpTS):
    """ExpTS in which an arm that does not draw stands for its average.

    >>> ExpTSPlus()
    ExpTSPlus()
    """

    stays = True

    name = "exp-ts+"
    kernels = KERNELS

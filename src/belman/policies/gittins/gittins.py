"""Policies for rewards that count less and less: a discount, or a horizon that stands for one.

Gittins: play the largest Gittins index, optimal for discounted Bernoulli rewards.

Kept is the lift logit(index) − logit(μ) at counts that are a whole number of rewards from the
prior. There indices are good to 1e-4 (1e-3 for a discount above 0.9999 and counts in the hundreds).
In between, 1/lift², which grows about like αβ/(α + β), is interpolated, good to 3e-3 (5e-2 where a
count is under 1). Beyond α + β = 396 the lift fades as does the boundary for normal rewards of
Chick and Gans (2009).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.gittins import table
from belman.policies.gittins.table import kept_table
from belman.policies.greedy import Held, held_indices
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import Turns, number
from belman.registry import register

_MOST = 1.0 - 1e-6
_DISCOUNT = number("(]", 0.0, _MOST, "above 0 and at most 1 − 1e-6")


@dataclass(frozen=True)
class Discounted(Policy):
    """A policy under a `discount`: else 1 − 1/`horizon`, or else 0.999."""

    discount: Annotated[float, _DISCOUNT] | None = None
    horizon: Turns | None = None

    remembers = Held

    @property
    def rate(self) -> float:
        """The discount that was given, or that of the horizon."""
        if self.discount is not None:
            return float(self.discount)
        return 0.999 if self.horizon is None else min(max(1.0 - 1.0 / self.horizon, 1e-9), _MOST)


_HEADER = 4  # before the table: the edge of interpolation, ln(1/γ), first nodes of α and β above 0
_LEAST_LIFT = 1e-100
_LEAST_START = 1e-6


@functools.lru_cache(maxsize=16)
def _params(discount: float, starts: tuple[float, float]) -> Floats:
    """Header and table, from the cache on disk or computed in a second; per digest of the code."""
    header = [table.COUNTS - 4.0, -math.log(discount), *starts]
    nodes = (table.COUNTS + 1) * (table.COUNTS + 2) // 2

    def make() -> Floats:
        # where the future counts for next to nothing, no more than floats can square is lifted
        return np.maximum(table.lifts(discount, starts), _LEAST_LIFT) ** -2

    return kept_table("gittins", table, (discount, starts), header, nodes, make)


@kernel
def fade(s):
    """Chick and Gans's approximation of the Gittins boundary of normal rewards at scaled time s."""
    if s <= 1.0 / 7.0:
        return s / math.sqrt(2.0)
    log = math.log(s)
    if s <= 100.0:
        return math.exp(-0.02645 * log * log + 0.89106 * log - 0.4873)
    return math.sqrt(s * (2.0 * log - math.log(log) - math.log(16.0 * math.pi)))


@kernel
def _node(x, start):
    """The node at or below x among 0, start, start + 1, …, and how far x is towards the next."""
    if x < start:
        return 0, x / start
    step = int(x - start)
    return step + 1, x - start - step


@kernel
def gittins_index(params, alpha, beta):
    """The index of Beta(α, β) for any α, β > 0."""
    edge, rate, faded = params[0], params[1], 1.0
    count = alpha + beta
    a, b = alpha, beta
    if count > edge:
        faded = fade(1.0 / (rate * count)) / fade(1.0 / (rate * edge))
        a, b = alpha * (edge / count), beta * (edge / count)
    i, u = _node(a, params[2])
    j, v = _node(b, params[3])
    here = _HEADER + (i + j) * (i + j + 1) // 2 + i
    lost = here + i + j + 1
    both = lost + i + j + 3
    below = (1.0 - u) * params[here] + u * params[lost + 1]
    above = (1.0 - u) * params[lost] + u * params[both]
    between = (1.0 - v) * below + v * above
    win = alpha * math.exp(faded / math.sqrt(between))
    return win / (win + beta)


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    memory.held[arm] = gittins_index(params, ledger.beliefs[arm, 0], ledger.beliefs[arm, 1])


@register
class Gittins(Discounted):
    """Play the largest Gittins index under a `discount`: else 1 − 1/`horizon`, or else 0.999.

    For a finite horizon this is the discounted index whose expected lifetime is T, not the
    finite-horizon index.

    Parameters
    ----------
    discount
        What a reward counts for a turn later, below 1; by default 1 − 1/`horizon`, or else 0.999.
    horizon
        The number of turns, from which a discount follows where none is given.

    >>> round(Gittins(discount=0.9).index(1, 1), 4)
    0.7029
    """

    name = "gittins"
    kernels = PolicyKernels(held_indices, refresh)

    def index(self, alpha: float, beta: float) -> float:
        """Compute the index of an arm with belief Beta(α, β), exact for whole counts.

        Parameters
        ----------
        alpha
            The successes of the belief, its prior included.
        beta
            The failures of the belief, its prior included.

        Returns
        -------
        float
            The Gittins index, a chance of success.
        """
        params = _params(self.rate, (1.0, 1.0))
        return float(gittins_index(params, float(alpha), float(beta)))

    def params(self, family: Family) -> Floats:
        starts = (count - math.ceil(count) + 1.0 for count in family.prior)
        # a table that begins nearer to 0, where the limit stands, takes for ever
        alpha, beta = (start if start >= _LEAST_START else 1.0 for start in starts)
        return _params(self.rate, (alpha, beta))

    def check(self, family: Family, arms: int) -> None:
        if not family.coin:
            raise PolicyError(
                f"gittins plays bernoulli rewards only, not {family.name}: its index is tabulated "
                "for Beta beliefs; bayes-ucb and ids play every family"
            )

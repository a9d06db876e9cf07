"""Gittins indices of a known horizon for yes-or-no rewards, exactly.

The largest index for the turns that are left is not quite optimal where play ends at a fixed turn:
of the regret of the best possible policy it has 1.002 to 1.005 at two and three arms (`python -m
benchmarks.limit`). Indices at counts that are a whole number of rewards from the prior are good to
1e-5; in between they are interpolated. An arm of which more is known than turns were played, by a
prior of its own or from past data, is lifted above its expected reward in inverse proportion to its
counts. The table takes O(T³) numbers, 36 MB at 300 turns, and seconds, once per horizon and prior:
it is kept on disk. `gittins-finite` has every horizon and family, by normal beliefs.
"""

from __future__ import annotations

import functools
import math

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.gittins import exact_table
from belman.policies.gittins.exact_table import nodes, position
from belman.policies.gittins.table import kept_table
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import Turns
from belman.registry import register

#: The longest horizon that has a table.
LONGEST = 300
_HEADER = 3  # before the table: the horizon, α and β of the prior


@functools.lru_cache(maxsize=4)
def _params(horizon: int, alpha: float, beta: float) -> Floats:
    def make() -> Floats:
        return exact_table.indices(horizon, alpha, beta)

    key = (horizon, alpha, beta)
    return kept_table(
        "exact-gittins", exact_table, key, [horizon, alpha, beta], nodes(horizon), make
    )


@kernel
def _at(params, played: int, n: int, s: int):
    return params[_HEADER + position(played, n, s)]


@kernel
def exact_index(params, played: int, alpha, beta):
    """The index of Beta(α, β) before a turn that `played` turns precede."""
    if played >= params[0]:
        return alpha / (alpha + beta)
    wins, losses = max(alpha - params[1], 0.0), max(beta - params[2], 0.0)
    known, shrunk = wins + losses, 1.0
    if known > played:  # more is known than the table has
        shrunk = (played + params[1] + params[2]) / (known + params[1] + params[2])
        wins *= played / known
        losses *= played / known
    # between the four states around it, or three at the edge
    i, j = int(wins), int(losses)
    u, v = wins - i, losses - j
    result = (1.0 - u) * (1.0 - v) * _at(params, played, i + j, i)
    if u > 0.0:
        result += u * (1.0 - v) * _at(params, played, min(i + j + 1, played), min(i + 1, played))
    if v > 0.0:
        result += (1.0 - u) * v * _at(params, played, min(i + j + 1, played), i)
    if u > 0.0 and v > 0.0:
        result += u * v * _at(params, played, min(i + j + 2, played), min(i + 1, played))
    if shrunk < 1.0:
        mean = (params[1] + wins) / (params[1] + params[2] + wins + losses)
        lift = math.log(result / (1.0 - result)) - math.log(mean / (1.0 - mean))
        win = alpha * math.exp(max(lift, 0.0) * shrunk)
        return win / (win + beta)
    return result


@kernel
def exact_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        belief = ledger.beliefs[a]
        index[a] = exact_index(params, int(turn) - 1, belief[0], belief[1])


@register
class ExactGittins(Policy):
    """Play the largest Gittins index of yes-or-no rewards for the turns left of a known horizon.

    Parameters
    ----------
    horizon
        The number of turns of play, 300 at most.

    >>> ExactGittins(100)
    ExactGittins(horizon=100)
    """

    horizon: Turns

    name = "gittins-exact"
    kernels = PolicyKernels(exact_indices)

    def index(self, alpha: float, beta: float, turn: int = 1) -> float:
        """Return the index of an arm at a turn, where the prior is Beta(1, 1).

        Parameters
        ----------
        alpha, beta
            The counts of the arm's belief, Beta(α, β).
        turn
            The turn, from 1 up.

        Returns
        -------
        float
            The known reward per turn beside which the arm is just worth playing.

        >>> round(ExactGittins(2).index(1, 1), 4)
        0.5556
        """
        params = _params(self.horizon, 1.0, 1.0)
        return float(exact_index(params, int(turn) - 1, float(alpha), float(beta)))

    def params(self, family: Family) -> Floats:
        alpha, beta = family.prior
        return _params(self.horizon, float(alpha), float(beta))

    def check(self, family: Family, arms: int) -> None:
        if not family.coin:
            raise PolicyError(
                f"gittins-exact plays bernoulli rewards only, not {family.name}: its index is "
                "tabulated for Beta beliefs; gittins-finite plays every family"
            )
        if self.horizon > LONGEST:
            raise PolicyError(
                f"gittins-exact has tables up to {LONGEST} turns, not {self.horizon:,}: "
                "belman-until and gittins-finite play any horizon"
            )

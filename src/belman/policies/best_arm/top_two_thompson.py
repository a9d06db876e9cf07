"""Top-two Thompson sampling (Russo, 2016): the largest of a draw, or of another that disagrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick, to_be_integrated
from belman.policies.settings import PositiveShare
from belman.policies.thompson.thompson import chances_of_largest
from belman.registry import register

_DRAWS = 100  # before the runner-up of the last draw is taken
_BESIDE = 0.3  # below this quantile of the leader another arm's 1 − 0.3 is well in the race
_LEVELS = 1.0 / (
    1.0 + np.exp(-np.arange(-16.0, 16.25, 0.25))
)  # at which distributions of draws are read


@kernel
def _draw(family, constants, beliefs, rng, index):
    """Draw an expected reward for each arm that can be played: the arm with the largest."""
    for a in range(index.size):
        if index[a] == index[a]:
            index[a] = family.sample_mean(constants, beliefs[a], rng)
    return pick(index, rng)[0]


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """The draw in which the arm to play is the largest, so that it also ranks the other arms."""
    leader = _draw(family, constants, ledger.beliefs, rng, index)
    if index.size > 1 and chance.uniform(rng) >= params[0]:
        for _ in range(_DRAWS):
            if _draw(family, constants, ledger.beliefs, rng, index) != leader:
                return
        index[leader] = -np.inf


@kernel
def _race(family, constants, beliefs):
    """Whether another arm is larger than the likeliest one in 9 % of draws or more: the leader of a
    draw wins 100 others in at most 0.91^100.
    """
    first, low = 0, -np.inf
    for a in range(len(beliefs)):
        quantile = family.mean_quantile(constants, beliefs[a], _BESIDE, False)
        if quantile > low:
            first, low = a, quantile
    for a in range(len(beliefs)):
        if a != first and family.mean_quantile(constants, beliefs[a], _BESIDE, True) > low:
            return True
    return False


@kernel
def _mesh(family, constants, beliefs, steps, points):
    """Quantiles of all arms."""
    for a in range(len(beliefs)):
        for i in range(steps.size):
            upper = steps[i] > 0.5
            tail = 1.0 - steps[i] if upper else steps[i]
            points[a * steps.size + i] = family.mean_quantile(constants, beliefs[a], tail, upper)


@kernel
def _distributions(family, constants, beliefs, points, levels):
    """The chance of every arm to draw less than each of the points."""
    for a in range(len(beliefs)):
        for i in range(points.size):
            levels[a, i] = family.mean_cdf(constants, beliefs[a], points[i])


@register
class TopTwoThompson(Policy):
    """With chance β play the largest of a draw, else draw again until another arm is the largest.

    An arm that is best with probability p_a is played with chance β p_a + (1 − β) p_a Σ_{b≠a}
    p_b/(1 − p_b). After 100 draws in vain the runner-up of the last one is played, which is part
    of the chances where the leader is next to sure.

    Parameters
    ----------
    beta
        The chance of the leader's turn.

    >>> [round(float(share), 3) for share in TopTwoThompson().chances(np.array([0.6, 0.3, 0.1]))]
    [0.462, 0.392, 0.146]
    """

    beta: PositiveShare = 0.5

    name = "top-two-thompson"
    kernels = PolicyKernels(indices, propensity=to_be_integrated)

    def chances(self, best: Floats) -> Floats:
        """Where the leader is not next to sure, or there are but two arms."""
        if len(best) == 1:
            return best
        sure = np.maximum(best, 1e-9)  # an arm that cannot be best may still be the runner-up
        p = sure / sure.sum()
        odds = p / (1.0 - p)
        chances: Floats = p * (self.beta + (1.0 - self.beta) * (odds.sum() - odds))
        return chances

    def own_chances(
        self, family: Family, ledger: Ledger, playable: NDArray[np.int64]
    ) -> Floats | None:
        """Where the leader is next to sure, with the runners-up of draws in vain."""
        beliefs = np.ascontiguousarray(ledger.beliefs[playable])
        if len(beliefs) < 3 or family.enter(_race, beliefs=beliefs):
            return None
        points = np.zeros(len(beliefs) * len(_LEVELS))
        family.enter(_mesh, beliefs=beliefs, steps=_LEVELS, points=points)
        points.sort()
        levels = np.zeros((len(beliefs), len(points)))
        family.enter(_distributions, beliefs=beliefs, points=points, levels=levels)
        p = chances_of_largest(levels)
        first = int(p.argmax())
        others = np.arange(len(p)) != first
        vain = p[first] ** _DRAWS
        second = np.zeros(len(p))
        second[others] = np.maximum(chances_of_largest(levels[others]) - p[others], 0.0)
        again = p * others / max(p[others].sum(), 1e-300)
        challenges = (1.0 - vain) * again * p[first] + vain * second
        for leader in np.flatnonzero(others):
            challenges += (
                p[leader] * np.where(np.arange(len(p)) == leader, 0.0, p) / (1 - p[leader])
            )
        chances: Floats = self.beta * p + (1.0 - self.beta) * challenges
        return chances / chances.sum()

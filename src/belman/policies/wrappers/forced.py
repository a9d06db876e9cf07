"""Forced exploration (Krishnasamy et al., 2016): any arm with a falling chance, else a policy's."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.memory import Floats
from belman.policies.policy_kernels import PolicyKernels, learns_nothing, pick
from belman.policies.settings import MOST, MOST_EXPONENT, FromOne, number
from belman.policies.wrappers.wrapper import Wrapper
from belman.registry import register

_OWN = 3  # numbers that the wrapper puts before the params of the policy inside


@kernel
def exploring(params, arms, turn):
    """The chance min(1, c K (ln t)^e / t) of exploring; params begin with c, e, K (0: all arms)."""
    count = params[2] if params[2] > 0.0 else float(arms)
    return min(1.0, params[0] * count * math.log(turn) ** params[1] / turn)


@factory
def _around(inner: PolicyKernels) -> PolicyKernels:
    """The kernels of a policy that now and then plays any arm."""

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        inner.refresh(family, constants, params[_OWN:], ledger, memory, arm)

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        if chance.uniform(rng) < exploring(params, index.size, turn):
            for a in range(index.size):
                index[a] = 0.0
        else:
            inner.indices(
                family, constants, params[_OWN:], ledger, memory, turn, turn_value, rng, index
            )

    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        if chance.uniform(rng) < exploring(params, index.size, turn):
            for a in range(index.size):
                index[a] = 0.0
            return pick(index, rng)
        own = params[_OWN:]
        return inner.choose(
            inner, family, constants, own, ledger, memory, turn, turn_value, rng, index
        )

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        """Known where exploring is sure; else the coin hides what the policy inside would play."""
        return 1.0 / ties if exploring(params, ledger.plays.size, turn) >= 1.0 else np.nan

    @kernel
    def recommend(family, constants, params, ledger, memory, score):
        inner.recommend(family, constants, params[_OWN:], ledger, memory, score)

    @kernel
    def finished(family, constants, params, ledger, memory):
        return inner.finished(family, constants, params[_OWN:], ledger, memory)

    @kernel
    def deal(
        policy, family, constants, params, ledger, memory, turn, turn_value, decisions, rng, deal
    ):
        """Equal parts of what explores, and the rest as the policy inside deals it."""
        share = exploring(params, deal.dealt.size, turn)
        own, left = params[_OWN:], (1.0 - share) * decisions
        if left > 0.0:
            inner.deal(
                inner, family, constants, own, ledger, memory, turn, turn_value, left, rng, deal
            )
        for a in range(deal.dealt.size):
            deal.dealt[a] += share * decisions / deal.dealt.size

    @kernel
    def learn(family, constants, params, ledger, memory, arm, reward):
        inner.learn(family, constants, params[_OWN:], ledger, memory, arm, reward)

    told = learns_nothing if inner.learn is learns_nothing else learn
    return PolicyKernels(indices, refresh, propensity, told, choose, recommend, finished, deal)


@register
class Forced(Wrapper):
    """Play what `policy` plays, and with chance min(1, factor·K·(ln t)^exponent / t) any arm.

    Theory asks for the exponent 3, both public codes use 2: with 3 and five arms everything up to
    turn 10,000 is exploration.

    Parameters
    ----------
    policy
        The policy that chooses in all other turns.
    factor
        The factor of the chance.
    exponent
        The exponent of ln t.
    arms
        K in the chance; by default the number of arms.

    >>> Forced().chance(1000, arms=5)
    0.715756...
    """

    factor: Annotated[float, number("[]", 0.0, MOST, f"a number from 0 to {MOST:g}")] = 3.0
    exponent: Annotated[
        float, number("[]", 0.0, MOST_EXPONENT, f"a number from 0 to {MOST_EXPONENT:g}")
    ] = 2.0
    arms: FromOne | None = None

    name = "forced"

    def __post_init__(self) -> None:
        super().__post_init__()
        allowed = "a policy that learns, such as belman.Thompson(), not forced itself"
        self.require_inside(not isinstance(self.policy, Forced), allowed)

    def chance(self, turn: int, arms: int) -> float:
        """Compute the chance that a turn explores.

        Parameters
        ----------
        turn
            The turn, counted from 1.
        arms
            The number of arms.

        Returns
        -------
        float
            The chance, at most 1.

        Raises
        ------
        PolicyError
            If the turn is below 1.
        """
        if turn < 1:
            raise PolicyError(f"turn={turn!r} is not valid: turns are counted from 1")
        return float(exploring(self._own(), arms, float(turn)))

    def _own(self) -> Floats:
        return np.array([float(self.factor), float(self.exponent), float(self.arms or 0)])

    @property
    def kernels(self) -> PolicyKernels:
        return _around(self.policy.kernels)

    def params(self, family: Family) -> Floats:
        return np.concatenate([self._own(), self.policy.params(family)])

"""KL-UCB and its variants, which differ by their level of exploration.

KL-UCB (Garivier and Cappé, 2011): argmax_a max{q : n_a d(μ̂_a, q) ≤ ln t + c ln ln t}.

KL-UCB+ (Garivier and Cappé, 2011): argmax_a max{q : n_a d(μ̂_a, q) ≤ ln(t/n_a)}.

KL-UCB++ (Ménard and Garivier, 2017): n d(μ̂, q) ≤ ln⁺(x (ln⁺(x)² + 1)) at x = T/(K n).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from belman.engine import kernel
from belman.policies.memory import Floats
from belman.policies.optimism.kl_bound import HORIZON
from belman.policies.optimism.kl_policy import KLPolicy, bundles_with
from belman.policies.policy import log_turns
from belman.policies.settings import FromZero, Turns
from belman.registry import register


@kernel
def kl_ucb_level(params, ledger, arm):
    return 0.0


def with_log_log(policy: Any, turns: Floats, arms: int) -> Floats:
    """ln t + c ln ln t, the second term 0 before it is positive."""
    logs = np.log(turns)
    return logs + policy.c * np.log(np.maximum(logs, 1.0))


@register
class KLUCB(KLPolicy):
    """Play the largest mean that rewards do not refute: c = 0 in practice, c = 3 in theory.

    KL-UCB-exp is `KLUCB(divergence="exponential")`.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.
    c
        The weight of ln ln t in the level of exploration: 0 in practice, 3 in theory.

    >>> KLUCB(divergence="bernoulli", range=(0, 10))
    KLUCB(divergence='bernoulli', range=(0.0, 10.0), c=0.0)
    """

    c: FromZero = 0.0

    name = "kl-ucb"
    bundles = bundles_with(kl_ucb_level)
    turn_values = with_log_log


@kernel
def kl_ucb_plus_level(params, ledger, arm):
    return -math.log(ledger.plays[arm])


@register
class KLUCBPlus(KLPolicy):
    """KL-UCB with less confidence for arms played often.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.

    >>> KLUCBPlus()
    KLUCBPlus(divergence=None, range=None)
    """

    name = "kl-ucb+"
    bundles = bundles_with(kl_ucb_plus_level)
    turn_values = log_turns


@kernel
def kl_ucb_plus_plus_level(params, ledger, arm):
    share = params[HORIZON] / (ledger.plays.size * ledger.plays[arm])
    if share <= 1.0:
        return 0.0
    return math.log(share) + math.log1p(math.log(share) ** 2)


@register
class KLUCBPlusPlus(KLPolicy):
    """KL-UCB for a known horizon, minimax and asymptotically optimal.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.
    horizon
        The number of turns of play.

    >>> KLUCBPlusPlus(1_000)
    KLUCBPlusPlus(divergence=None, range=None, horizon=1000)
    """

    horizon: Turns

    name = "kl-ucb++"
    bundles = bundles_with(kl_ucb_plus_plus_level)

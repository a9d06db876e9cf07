"""Policies as they were published: others under forced exploration, restarts or forgetting.

Policies for queues as they were published: each is another policy under forced exploration.

Rivals in a world that changes, as they are published, told the horizon and how often it does.

With T turns, C changes and K arms: GLR-klUCB (Besson et al., 2022) has δ = 1/√(C T) and explores a
tenth of √(C ln T/T); M-UCB (Cao et al., 2019) a bar of √(w/2 · ln(2KT²)) and explores
√(C K (2b + 3√w)/(2T)); CUSUM-UCB (Liu et al., 2018) a bar of ln(T/C) and explores √(C/T · ln(T/C)).
EXP3.S (Auer et al., 2002) has α = 1/T and γ = √(K (C ln(KT) + e)/((e − 1) T)), at most 1. Windows
and discounts are those of Garivier and Moulines (2011).
"""

from __future__ import annotations

import math

from belman.errors import PolicyError
from belman.exposure import Paper
from belman.policies.adversarial.exp3 import EXP3S
from belman.policies.belman.belman import BelMan
from belman.policies.change.detectors import CUSUMTest, GLRTest, WindowTest
from belman.policies.optimism.kl_ucb import KLUCB
from belman.policies.optimism.ucb1 import UCB1, LogUCB
from belman.policies.policy import Policy
from belman.policies.settings import is_whole
from belman.policies.thompson.thompson import Thompson
from belman.policies.wrappers.forced import Forced
from belman.policies.wrappers.forgetting import Forgetting
from belman.policies.wrappers.restarting import Restarting


def q_ucb(exponent: float = 2.0) -> Forced:
    """Q-UCB (Krishnasamy et al., 2016): LogUCB under forced exploration, chance 3K (ln t)^e / t.

    Parameters
    ----------
    exponent
        The exponent e of ln t.

    Returns
    -------
    Forced
        The policy.

    >>> q_ucb().policy
    LogUCB(range=None, exponent=2.0)
    """
    return Forced(LogUCB(exponent=exponent), exponent=exponent)


def q_ths(exponent: float = 2.0) -> Forced:
    """Q-ThS (Krishnasamy et al., 2016): Thompson under forced exploration, 3K (ln t)^e / t.

    Parameters
    ----------
    exponent
        The exponent e of ln t.

    Returns
    -------
    Forced
        The policy.
    """
    return Forced(Thompson(), exponent=exponent)


def qbelman(exponent: float = 2.0, arms: int | None = None) -> Forced:
    """QBelMan as the authors code it: natural barycentre, C = 200, forced exploration.

    Parameters
    ----------
    exponent
        The exponent of ln t in the chance to explore.
    arms
        K in that chance; by default the number of arms.

    Returns
    -------
    Forced
        The policy.

    >>> qbelman().policy
    BelMan(exposure=Paper(C=200.0, unit=None), reading='natural')
    """
    return Forced(BelMan(Paper(C=200.0), "natural"), exponent=exponent, arms=arms)


def _told(horizon: int, changes: int, arms: int = 1) -> tuple[float, float]:
    for name, value, least in (("horizon", horizon, 2), ("changes", changes, 1), ("arms", arms, 1)):
        if not is_whole(value, least):
            raise PolicyError(
                f"{name}={value!r} is not valid: it must be a whole number from {least} up"
            )
    return float(horizon), float(changes)


def glr_klucb(horizon: int, changes: int = 5, scope: str = "local") -> Restarting:
    """GLR-klUCB: KL-UCB that restarts, one arm or all ("global"), on a likelihood ratio.

    Parameters
    ----------
    horizon
        The number of turns of play.
    changes
        The number of changes that are expected by then.
    scope
        What begins anew at a change: 'local' is the arm that changed, 'global' all of them.

    Returns
    -------
    Restarting
        The policy, with the settings that its authors prove bounds for.

    Raises
    ------
    PolicyError
        If a number is not a whole one in its range.

    >>> glr_klucb(horizon=5_000, changes=4).detector
    GLRTest(delta=0.0070..., every=5)
    """
    total, count = _told(horizon, changes)
    share = 0.1 * math.sqrt(count * math.log(total) / total)
    risk = 1.0 / math.sqrt(count * total)
    return Restarting(KLUCB(), GLRTest(delta=risk), scope, min(share, 1.0))


def m_ucb(horizon: int, changes: int = 5, arms: int = 10, last: int = 100) -> Restarting:
    """M-UCB: UCB1 that restarts where the two halves of an arm's window differ.

    Parameters
    ----------
    horizon
        The number of turns of play.
    changes
        The number of changes that are expected by then.
    arms
        The number of arms.
    last
        The number of rewards in the window.

    Returns
    -------
    Restarting
        The policy, with the settings that its authors prove bounds for.

    Raises
    ------
    PolicyError
        If a number is not a whole one in its range.

    >>> m_ucb(horizon=5_000, changes=4, arms=3).policy.name
    'ucb1'
    """
    total, count = _told(horizon, changes, arms)
    bar = math.sqrt(0.5 * last * math.log(2.0 * arms * total * total))
    share = math.sqrt(count * arms * (2.0 * bar + 3.0 * math.sqrt(last)) / (2.0 * total))
    return Restarting(UCB1(), WindowTest(last=last, bar=bar), "global", min(share, 1.0))


def cusum_ucb(horizon: int, changes: int = 5, basis: int = 50, slack: float = 0.1) -> Restarting:
    """CUSUM-UCB: UCB1 that restarts an arm whose rewards walk away from their first ones.

    Parameters
    ----------
    horizon
        The number of turns of play.
    changes
        The number of changes that are expected by then.
    basis
        The number of first rewards whose mean is compared with.
    slack
        The move of the mean that is no change.

    Returns
    -------
    Restarting
        The policy, with the settings that its authors prove bounds for.

    Raises
    ------
    PolicyError
        If a number is not a whole one in its range.

    >>> cusum_ucb(horizon=5_000, changes=4).scope
    'local'
    """
    total, count = _told(horizon, changes)
    bar = math.log(max(total / count, 2.0))
    share = math.sqrt(count / total * bar)
    return Restarting(UCB1(), CUSUMTest(basis, slack, bar), "local", min(share, 1.0))


def exp3_s(horizon: int, changes: int = 5, arms: int = 10) -> EXP3S:
    """EXP3.S with the shares that its bound asks for.

    Parameters
    ----------
    horizon
        The number of turns of play.
    changes
        The number of changes that are expected by then.
    arms
        The number of arms.

    Returns
    -------
    EXP3S
        The policy, with the settings that its authors prove bounds for.

    Raises
    ------
    PolicyError
        If a number is not a whole one in its range.

    >>> round(exp3_s(horizon=5_000, changes=4, arms=3).gamma, 3)
    0.12...
    """
    total, count = _told(horizon, changes, arms)
    hardness = arms * (count * math.log(arms * total) + math.e) / ((math.e - 1.0) * total)
    return EXP3S(gamma=min(1.0, math.sqrt(hardness)), alpha=1.0 / total)


def sliding_window(policy: Policy, horizon: int, changes: int = 5) -> Forgetting:
    """A policy that sees the last 2√(T ln T/C) rewards: SW-KL-UCB, sliding-window Thompson.

    >>> sliding_window(KLUCB(), horizon=5_000, changes=4).last
    206
    """
    total, count = _told(horizon, changes)
    last = max(int(2.0 * math.sqrt(total * math.log(total) / count)), 10)
    return Forgetting(policy, last=last)


def discounted(policy: Policy, horizon: int, changes: int = 5) -> Forgetting:
    """A policy to which rewards fade by 1 − √(C/T)/4 a turn: D-UCB, discounted Thompson.

    >>> discounted(UCB1(), horizon=5_000, changes=2).discount
    0.995
    """
    total, count = _told(horizon, changes)
    return Forgetting(policy, discount=1.0 - 0.25 * math.sqrt(min(count / total, 1.0)))

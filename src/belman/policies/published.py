"""Policies for queues as they were published: each is another policy under forced exploration."""

from __future__ import annotations

from belman.exposure import Paper
from belman.policies.belman import BelMan
from belman.policies.log_ucb import LogUCB
from belman.policies.thompson import Thompson
from belman.policies.wrappers.forced import Forced


def q_ucb(exponent: float = 2.0) -> Forced:
    """Q-UCB (Krishnasamy et al., 2016): LogUCB under forced exploration, chance 3K (ln t)^e / t.

    >>> q_ucb().policy
    LogUCB(range=None, exponent=2.0)
    """
    return Forced(LogUCB(exponent=exponent), exponent=exponent)


def q_ths(exponent: float = 2.0) -> Forced:
    """Q-ThS (Krishnasamy et al., 2016): Thompson under forced exploration, 3K (ln t)^e / t."""
    return Forced(Thompson(), exponent=exponent)


def qbelman(exponent: float = 2.0, arms: int | None = None) -> Forced:
    """QBelMan as the authors code it: natural barycentre, C = 200, forced exploration.

    >>> qbelman().policy
    BelMan(exposure=Paper(C=200.0, unit=None), reading='natural')
    """
    return Forced(BelMan(Paper(C=200.0), "natural"), exponent=exponent, arms=arms)

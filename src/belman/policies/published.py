"""Policies for queues as they were published: each is another policy under forced exploration."""

from __future__ import annotations

from belman.exposure import Paper
from belman.policies.belman import BelMan
from belman.policies.forced import Forced
from belman.policies.log_ucb import LogUCB
from belman.policies.thompson import Thompson


def q_ucb(exponent: float = 2.0) -> Forced:
    """Q-UCB (Krishnasamy et al., 2016): μ̂ + sqrt((ln t)^e / (2n)) under forced exploration with
    chance 3K (ln t)^e / t.

    >>> q_ucb().policy
    LogUCB(range=None, exponent=2.0)
    """
    return Forced(LogUCB(exponent=exponent), exponent=exponent)


def q_ths(exponent: float = 2.0) -> Forced:
    """Q-ThS (Krishnasamy et al., 2016): Thompson sampling under forced exploration with chance 3K
    (ln t)^e / t.
    """
    return Forced(Thompson(), exponent=exponent)


def qbelman(exponent: float = 2.0, arms: int | None = None) -> Forced:
    """QBelMan as in the authors' code: BelMan with the natural barycentre and C = 200 under forced
    exploration.

    >>> qbelman().policy
    BelMan(exposure=Paper(C=200.0), reading='natural')
    """
    return Forced(BelMan(Paper(C=200.0), "natural"), exponent=exponent, arms=arms)

"""Who chooses: one algorithm a file, all behind the contract of `policy.py`."""

from __future__ import annotations

from belman.policies.bayes_ucb import BayesUCB
from belman.policies.belman import BelMan
from belman.policies.gittins import Gittins
from belman.policies.ids import IDS
from belman.policies.oracle import Oracle
from belman.policies.policy import Ledger, Policy, PolicyKernels
from belman.policies.thompson import Thompson
from belman.policies.top_two_thompson import TopTwoThompson
from belman.policies.ts_ucb import TSUCB

_MEMBERS: tuple[type[Policy], ...] = (
    BelMan,
    Thompson,
    TopTwoThompson,
    TSUCB,
    BayesUCB,
    Gittins,
    IDS,
    Oracle,
)

#: Every policy by its name.
POLICIES: dict[str, type[Policy]] = {member.name: member for member in _MEMBERS}

__all__ = [
    "IDS",
    "POLICIES",
    "TSUCB",
    "BayesUCB",
    "BelMan",
    "Gittins",
    "Ledger",
    "Oracle",
    "Policy",
    "PolicyKernels",
    "Thompson",
    "TopTwoThompson",
]

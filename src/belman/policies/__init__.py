"""Who chooses: one algorithm a file, all behind the contract of `policy.py`."""

from __future__ import annotations

from belman.policies.belman import BelMan
from belman.policies.policy import Ledger, Policy, PolicyKernels
from belman.policies.thompson import Thompson

_MEMBERS: tuple[type[Policy], ...] = (BelMan, Thompson)

#: Every policy by its name.
POLICIES: dict[str, type[Policy]] = {member.name: member for member in _MEMBERS}

__all__ = ["POLICIES", "BelMan", "Ledger", "Policy", "PolicyKernels", "Thompson"]

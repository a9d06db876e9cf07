"""An agent in a world that changes: who follows it, what is believed now, and what was noticed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from belman.errors import SettingError
from belman.policies import BelMan, Drift, Policy
from belman.table import Table


def check_drift(drift: object, policy: Policy | None, discount: float) -> Policy | None:
    """The policy that follows a changing world, or the one that was given where none is asked for.

    >>> check_drift("auto", None, 1.0).name
    'belman-drift'
    """
    if drift is None or drift is False:
        return policy
    if drift is True or drift == "auto":
        drift = Drift()
    if not isinstance(drift, Drift):
        allowed = '"auto", belman.Drift(…), or None'
        raise SettingError(f"drift={drift!r} follows no change: give {allowed}")
    if policy is not None and policy != BelMan():
        who = f"policy={policy!r} follows no change by itself"
        raise SettingError(f"{who}: give drift=… alone, or policy=… alone")
    if discount < 1.0:
        raise SettingError(f"discount={discount!r} forgets, and drift={drift!r} too: give one")
    return drift


def changes_table(
    policy: Policy, memory: Any, arms: Sequence[Hashable], outward: Callable[[float], float]
) -> Table:
    """What a policy noticed, a line a change; empty for policies that watch for none."""
    found = policy.changes(memory) if isinstance(policy, Drift) else []
    known = [change for change in found if 0 <= change.arm < len(arms)]
    return Table(
        {
            "turn": [change.turn for change in known],
            "arm": [arms[change.arm] for change in known],
            "after turn": [change.after for change in known],
            "from": [outward(change.before) for change in known],
            "to": [outward(change.now) for change in known],
            "sure": [round(change.sure, 4) for change in known],
        }
    )

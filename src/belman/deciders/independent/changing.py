"""An agent in a world that changes: who follows it, what is believed now, and what was noticed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from belman.errors import SettingError
from belman.policies import BelMan, Drift, Forgetting, Policy
from belman.policies.policy import Change
from belman.table import Table


def check_drift(drift: object, policy: Policy | None, discount: float) -> Policy | None:
    """The policy that follows a changing world, or the one that was given where none is asked for.

    >>> check_drift("auto", None, 1.0).name
    'belman-drift'
    """
    if drift is None or drift is False or drift == policy:
        return policy
    if drift is True or drift == "auto":
        drift = Drift()
    if not isinstance(drift, Drift):
        allowed = '"auto", belman.Drift(…), or None'
        raise SettingError(f"drift={drift!r} is not valid: give {allowed}")
    if policy is not None and policy != BelMan():
        who = f"policy={policy!r} is given beside drift, which chooses the policy itself"
        raise SettingError(f"{who}: give drift=… alone, or policy=… alone")
    if discount < 1.0:
        raise SettingError(f"discount={discount!r} forgets, and drift={drift!r} too: give one")
    return drift


def check_last(last: object, policy: Policy | None, discount: float) -> Policy | None:
    """The policy that sees the last rewards alone, or the one that was given where all count.

    >>> check_last(1_000, None, 1.0).last
    1000
    """
    if last is None:
        return policy
    if discount < 1.0 or (isinstance(policy, Policy) and policy.forgets):
        other = f"discount={discount!r}" if discount < 1.0 else repr(policy)
        raise SettingError(f"last={last!r} forgets, and {other} too: give one")
    return Forgetting(BelMan() if policy is None else policy, last=last)  # type: ignore[arg-type]


def changes_of(
    policy: Policy, memory: Any, arms: Sequence[Hashable], outward: Callable[[float], float]
) -> list[tuple[Hashable | None, Change]]:
    """What a policy noticed, oldest first, in the user's units, with the name of each arm; None for
    arms that are not played any more.
    """
    return [
        (
            arms[change.arm] if 0 <= change.arm < len(arms) else None,
            change._replace(before=outward(change.before), now=outward(change.now)),
        )
        for change in policy.changes(memory)
    ]


def changes_table(found: Sequence[tuple[Hashable | None, Change]]) -> Table:
    """A line for each change of an arm that is played."""
    known = [(arm, change) for arm, change in found if change.arm >= 0]
    return Table(
        {
            "turn": [change.turn for _, change in known],
            "arm": [arm for arm, _ in known],
            "after turn": [change.after for _, change in known],
            "from": [change.before for _, change in known],
            "to": [change.now for _, change in known],
            "sure": [round(change.sure, 4) for _, change in known],
        }
    )

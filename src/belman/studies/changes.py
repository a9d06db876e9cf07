"""What the events of arms that come and go keep, checked against the state that they change."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from numpy.typing import ArrayLike

from belman.agent import doors, state_file
from belman.errors import ArmError, PolicyError
from belman.policies import Policy
from belman.studies.contexts.features import FeatureContexts
from belman.studies.rules import floors
from belman.studies.settings.checks import check_serves_segments
from belman.studies.state import State


def added(state: State, arm: Hashable, prior: ArrayLike | None) -> dict[str, Any]:
    """A new arm with its prior, or one that was retired."""
    doors.check_new(arm, state.agent.arms)
    if arm in state.places:
        if prior is not None:
            back = f"arm {arm!r} was retired and comes back with what was learnt of it"
            raise ArmError(f"{back}: it takes no prior")
        return {"arm": state.places[arm]}
    if state.contexts is not None:
        remedy = "features=[names] without arms makes a study of candidates that come and go"
        raise ArmError(f"arm {arm!r} cannot come to a study with contexts: {remedy}")
    family = state.agent.family
    belief = family.check_prior(family.prior if prior is None else prior)
    state.agent.policy.check(family, len(state.agent.arms) + 1)
    rule, arms = state.settings, (*state.agent.arms, arm)
    floors.check_sum(floors.shares(arms, rule.floor, rule.control, rule.control_share))
    encoded = state_file.encode_arm(arm)
    return {"arm": len(state.register), "name": encoded, "prior": belief}


def check_policy(state: State, policy: Policy | None = None) -> None:
    """Refuse another policy, or the same with another exposure, where contexts do not allow it."""
    if isinstance(state.contexts, FeatureContexts):
        remedy = "it was chosen when the study was created"
        raise PolicyError(f"the policy of a study along features cannot change: {remedy}")
    if state.contexts is not None:
        check_serves_segments(policy)


def retired(state: State, arm: Hashable) -> dict[str, Any]:
    """An arm that is played, and not the last one."""
    state.agent.belief(arm)  # refuses an arm that it does not play
    if len(state.agent.arms) == 1:
        raise ArmError(f"arm {arm!r} is the last one: a study needs at least one arm")
    return {"arm": state.places[arm]}

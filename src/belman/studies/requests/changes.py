"""What the events keep that change a study, checked against the state that they change."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, replace
from typing import Any

from numpy.typing import ArrayLike

from belman import codec
from belman.deciders import validate
from belman.deciders.segmented.segmented import check_segmented_policy
from belman.errors import ArmError, PolicyError, RewardError, StudyError, shown
from belman.exposure import Exposure
from belman.policies import Policy
from belman.studies.consequences import standing
from belman.studies.rules.attributes import check_few
from belman.studies.rules.guards import Guard
from belman.studies.rules.metrics import MOST, check_metrics
from belman.studies.rules.written import kept
from belman.studies.settings.checks import check_priced
from belman.studies.state import State

Body = dict[str, Any]


def paused(state: State, study: str) -> Body:
    """A study that decides."""
    if state.paused:
        raise StudyError(f"study {study!r} is paused already")
    return {}


def resumed(state: State, study: str) -> Body:
    """A study that decides nothing."""
    if not state.paused:
        raise StudyError(f"study {study!r} is not paused")
    return {}


def added(state: State, study: str, arm: Hashable, prior: ArrayLike | None) -> Body:
    """A new arm with its prior, or one that was retired."""
    validate.check_new(arm, state.arms)
    if arm in state.positions:
        if prior is not None:
            back = f"arm {arm!r} was retired and comes back with what was learnt of it"
            raise ArmError(f"{back}: it takes no prior")
        return {"arm": state.positions[arm]}
    family = state.decider.family
    if state.settings.has_features:
        belief = prior
    else:
        belief = family.check_prior(family.prior if prior is None else prior)
    state.decider.copy().add(arm, belief)  # refuses what it could not take in
    state.settings.shares.check((*state.arms, arm))
    encoded = codec.encode_arm(arm)
    return {"arm": len(state.register), "name": encoded, "prior": belief}


def _check_changeable(state: State) -> None:
    if state.settings.has_features:
        remedy = "it was chosen when the study was created"
        raise PolicyError(f"the policy of a study along features cannot change: {remedy}")


def exposed(state: State, study: str, exposure: Exposure) -> Body:
    """The policy with another exposure."""
    _check_changeable(state)
    policy = state.decider.policy
    if "exposure" not in {field.name for field in fields(policy)}:
        raise PolicyError(f"policy {policy.name!r} has no exposure to set: BelMan has one")
    return {"policy": kept(replace(policy, exposure=exposure))}


def decided(state: State, study: str, policy: Policy) -> Body:
    """Another policy."""
    _check_changeable(state)
    if state.spending is not None:
        check_priced(policy)
    if state.in_contexts:
        check_segmented_policy(policy)
    validate.check_policy(policy, state.decider.family, len(state.arms))
    return {"policy": kept(policy)}


def retired(state: State, study: str, arm: Hashable) -> Body:
    """An arm that is played, and not the last one."""
    if not isinstance(arm, Hashable) or arm not in state.arms:
        raise validate.unknown_arm(arm, list(state.arms))
    if len(state.arms) == 1:
        raise ArmError(f"arm {arm!r} is the last one: a study needs at least one arm")
    return {"arm": state.positions[arm]}


def shipped(state: State, study: str, arm: Hashable | None) -> Body:
    """What the event of shipping an arm keeps; None is the most likely best."""
    if state.settings.has_candidates:
        raise StudyError(f"study {study!r} plays candidates: none of them stays to be shipped")
    if state.shipped is not None:
        now = state.register[state.shipped]
        raise StudyError(f"study {study!r} has shipped {now!r} already: unship it first")
    chosen = standing(state).leader.arm if arm is None else arm
    if not isinstance(chosen, Hashable) or chosen not in state.arms:
        raise validate.unknown_arm(chosen, state.arms, "this study plays")
    return {"arm": state.positions[chosen]}


def guarded(state: State, study: str, guard: Guard) -> Body:
    """What the event of other limits on metrics keeps."""
    if state.settings.has_candidates:
        raise StudyError(f"study {study!r} plays candidates: none of them stays to be guarded")
    if guard == state.guards.limits:
        raise StudyError(f"study {study!r} has these limits already")
    check_few(state.tally.metrics.names, guard, "metrics", MOST)
    return {"guard": {name: limit.text for name, limit in guard.items()}}


def spent(state: State, study: str, cost: Any, arm: Hashable | None) -> Body:
    """What the event of a cost of no ask keeps."""
    if state.spending is None:
        words = "open_study(…, budget={'dollars': '25 a day'}) gives it one"
        raise StudyError(f"study {study!r} has no budget that could be spent: {words}")
    (result,) = check_metrics({state.spending.budget.metric: cost}).values()
    if result < 0.0:
        raise RewardError(f"a cost of {shown(cost)} cannot be: it must be 0 or more")
    if arm is None:
        return {"cost": result}
    if not isinstance(arm, Hashable) or arm not in state.positions:
        raise validate.unknown_arm(arm, list(state.arms))
    return {"arm": state.positions[arm], "cost": result}


def unshipped(state: State, study: str) -> Body:
    """What the event of undoing it keeps."""
    if state.shipped is None:
        raise StudyError(f"study {study!r} has shipped no arm")
    return {"arm": state.shipped}

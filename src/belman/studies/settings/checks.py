"""The checks of a study's settings: each by itself, and which have no meaning beside others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from belman.agent.making import ALONG_FEATURES, FADES, MODEL, check_either
from belman.deciders import FeaturedDecider, validate
from belman.deciders.featured.settings import family_of
from belman.deciders.independent import settings as independent
from belman.deciders.independent.settings import check_drift, check_last
from belman.deciders.scale import Scale
from belman.deciders.segmented.segment_beliefs import check_names
from belman.deciders.segmented.segmented import check_segmented_policy
from belman.deciders.shares import Shares, check_control_share, check_floor
from belman.errors import ArmError, PolicyError, SettingError, listing, nearest, shown
from belman.families import Family, family_named
from belman.measures.stop_rules import MOST_SHARE, Separated, StopRule, check_rule
from belman.policies import BelMan, Drift, Forgetting, Policy, Thompson
from belman.studies.rules.budgets import check_budget
from belman.studies.rules.guards import check_guard
from belman.studies.rules.metrics import check_utility
from belman.studies.rules.window_rule import check_early, check_flag, check_window, why_not_early
from belman.studies.rules.written import check_arm, check_policy, kept

#: The one arm of a study whose arms are candidates that come with every ask.
CANDIDATE = "candidate"
_DEPENDS = "which arm is best depends on the context there"
_COMES = "candidates come with every ask, and none of them stays"
#: Why a setting has no meaning in studies of a kind; what a default says is let in.
_NOT_IN_CONTEXTS = dict.fromkeys(("stop_when", "then", "negligible"), _DEPENDS)
_NOT_IN_CONTEXTS |= {"early": "tickets count when their windows close there"}
_FADING = ("discount", "drift", "last")
_NOT_BY_SEGMENT = dict.fromkeys(_FADING, "beliefs by segment do not fade: leave it out")
_NOT_ALONG_FEATURES = dict.fromkeys(("prior", "priors", "range", "clip"), MODEL)
_NOT_ALONG_FEATURES["last"] = FADES
_NOT_FOR_CANDIDATES = dict.fromkeys(("control", "floor", "control_share", "guard"), _COMES)
_THEN = ("say", "ship")
_DEFAULTS: dict[str, Any] = {"then": "say", "discount": 1.0, "priors": {}}


def checked(given: dict[str, Any], **merged: Any) -> dict[str, Any]:
    """Check every setting and fill in those that are None.

    `prior`, `drift`, `last` and `negligible` are `merged` into the family, the policy and the rule.
    """
    told = SimpleNamespace(**given)
    told.budget = check_budget(given["budget"])
    told.policy = _priced(validate.policy_named(told.policy), told, given | merged)
    for name in ("clip", "minimise", "accumulate"):
        setattr(told, name, check_flag(given[name] or False, name))
    _check_contexts(told, given | merged)
    told.family = _family(told, merged["prior"])
    told.discount = 1.0 if told.discount is None else told.discount
    told.policy = _policy(told, merged["drift"], merged["last"])
    told.arms = tuple(check_arm(arm) for arm in validate.check_names(told.arms, "arms"))
    apart = independent.checked(
        told.arms,
        told.family,
        told.policy if told.model is None else BelMan(),
        priors=told.priors,
        range=told.range,
        clip=told.clip,
        minimise=told.minimise,
        discount=told.discount,
    )
    validate.check_seed(told.seed)
    told.priors, told.range, told.discount = apart.priors, apart.scale.range, apart.discount
    _check_window(told, apart.scale)
    if told.seed is None:
        told.seed = np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1
    told.seed = int(told.seed)
    told.reward, told.guard = check_utility(told.reward), check_guard(told.guard)
    _check_shares(told)
    told.stop_when = _rule(told, merged["negligible"])
    told.then = _check_then(told.then, told.stop_when)
    told.goal = _check_goal(told)
    return vars(told)


def _priced(policy: Any, told: SimpleNamespace, given: Mapping[str, Any]) -> Any:
    """Return the policy that was given, or Thompson's where a budget decides and none was."""
    if told.budget is None:
        return policy
    if any(given[name] is not None for name in ALONG_FEATURES):
        remedy = "give segments=… in place of context=… and features=…"
        raise SettingError(f"a budget is not for studies along features: {remedy}")
    check_priced(policy)
    return Thompson() if policy is None and given["drift"] in (None, False) else policy


def check_priced(policy: Any) -> None:
    """Refuse a policy that would have no say under a budget."""
    inside = policy.policy if isinstance(policy, Forgetting) else policy
    if policy is not None and type(inside) not in (Thompson, Drift):
        why = "a budget draws arms by their chance of being worth most less what they cost"
        remedy = 'that is policy="thompson", which may follow changes: drift="auto", or last=…'
        raise PolicyError(
            f"policy {policy.name!r} is not for a study with a budget: {why}; {remedy}"
        )


def _check_contexts(told: SimpleNamespace, given: Mapping[str, Any]) -> None:
    """Check what makes a study one with contexts, and what has no meaning beside it."""
    along = {name: given[name] for name in ALONG_FEATURES if given[name] is not None}
    check_either(told.segments, sorted(along))
    if told.segments is not None:
        told.segments = check_names(told.segments)
        _refuse(given, _NOT_BY_SEGMENT, "studies by segments")
        if isinstance(told.policy, Policy):
            check_segmented_policy(told.policy)
    elif along:
        _check_features(told, along, given)
    if told.arms is None:
        raise ArmError("a study needs arms, or names of features for candidates")
    if told.segments is not None or along:
        _refuse(given, _NOT_IN_CONTEXTS, "studies with contexts")
        told.early = False


def _check_features(told: SimpleNamespace, along: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Check what a contextual agent is made of, and keep it as the agent has it."""
    arms = [] if told.arms is None else validate.check_names(told.arms, "arms")
    named = isinstance(told.features, Iterable) and not isinstance(told.features, Mapping)
    if arms == [CANDIDATE] and named:  # as settings of candidates keep it
        arms = []
    if not arms and isinstance(told.features, (str, bytes, Mapping)):
        remedy = "without arms, features are the names of what candidates come with: ['price']"
        raise SettingError(f"features={told.features!r}: {remedy}")
    fading = {"discount": given["discount"], "drift": given["drift"]}
    rest = {"policy": told.policy, "minimise": told.minimise}
    trial = FeaturedDecider(arms, **along, **fading, **rest)
    told.policy, told.model, told.discount = trial.policy, trial.model, None
    told.pooling, told.scale = trial.pooling, trial.spread
    told.context = tuple(trial.context_names)
    told.interactions = tuple(map(tuple, trial.knowledge.interactions))
    told.arms, told.features = arms or [CANDIDATE], tuple(trial.feature_names)
    kept(told.policy)
    kept(told.model)
    _refuse(given, _NOT_ALONG_FEATURES, "studies along features")
    if not arms:
        _refuse(given, _NOT_FOR_CANDIDATES, "studies of candidates")
    elif told.features:
        told.features = trial.features
    else:
        told.features = None


def _refuse(given: Mapping[str, Any], why: Mapping[str, str], studies: str) -> None:
    for name, words in why.items():
        value = given[name]
        if value is not None and value is not False and value != _DEFAULTS.get(name):
            raise SettingError(f"{name}={value!r} is not for {studies}: {words}")


def _family(told: SimpleNamespace, prior: Any) -> Family:
    """The family that was given, or that of a model's rewards, or of those in a range."""
    if told.family is not None:
        result = family_named(told.family)
    elif told.model is None:
        result = family_named("bernoulli" if told.range is None else "bounded")
    else:
        result = family_of(told.model, None)
    if prior is not None:
        result = replace(result, prior=result.check_prior(prior))
    kept(result)
    return result


def _policy(told: SimpleNamespace, drift: Any, last: Any) -> Any:
    """The policy that was given, or one that follows changes, or the default."""
    if told.model is not None:
        return told.policy
    chosen = check_last(last, check_drift(drift, told.policy, told.discount), told.discount)
    return check_policy(BelMan() if chosen is None else chosen)


def _check_window(told: SimpleNamespace, scale: Scale) -> None:
    """Check when a ticket counts, and as what."""
    given = told.window, told.silence, told.accumulate
    told.window, told.silence = check_window(*given, scale)
    if told.model is not None and isinstance(told.silence, float):
        told.model.check_reward(told.silence)
    why_not = why_not_early(scale, told.window, told.silence, told.accumulate)
    told.early = check_early(told.early, why_not)


def _check_shares(told: SimpleNamespace) -> None:
    """Check the settings that share out traffic, and what has no meaning beside another."""
    told.control = check_control(told.control, told.arms)
    least = check_floor(told.floor, told.arms)
    told.control_share = check_control_share(told.control_share, told.control)
    if told.uniform_share and (least is not None or told.control_share is not None):
        remedy = "floors of all arms are a uniform share too: leave out uniform_share"
        raise SettingError(f"uniform_share={told.uniform_share!r} beside floors: {remedy}")
    told.uniform_share = _check_uniform(told.uniform_share)
    Shares(least, told.control, told.control_share).check(told.arms)
    told.floor = dict(least) if isinstance(least, tuple) else least


def _check_goal(told: SimpleNamespace) -> str:
    """What a study is for; by default it earns and decides where there is something to decide."""
    in_contexts = told.segments is not None or told.model is not None
    if told.goal is None:
        return "both" if told.control is not None and not in_contexts else "earn"
    if told.goal not in MOST_SHARE:
        near = nearest(told.goal, MOST_SHARE)
        raise SettingError(f"goal={shown(told.goal)} is none of {listing(MOST_SHARE)}{near}")
    if told.goal != "earn" and told.arms == (CANDIDATE,) and told.model is not None:
        raise SettingError(f"goal={told.goal!r} is not for studies of candidates: {_COMES}")
    return str(told.goal)


def check_control(control: Hashable | None, arms: Sequence[Hashable]) -> Hashable | None:
    """One of the arms, or None."""
    if control is None:
        return None
    if control not in arms:
        there = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={shown(control)} is not one of the arms: {there}")
    return arms[arms.index(control)]


def _check_uniform(share: float | None) -> float:
    """A share of traffic that is assigned uniformly, which may be none or all."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
        allowed = "it must be a number from 0 to 1"
        raise SettingError(f"uniform_share={share!r} is not a share of traffic: {allowed}")
    return float(share)


def _rule(told: SimpleNamespace, negligible: Any) -> StopRule | None:
    """The stopping rule; beside a control by default the one with a guarantee."""
    rule = check_rule(told.stop_when)
    in_contexts = told.segments is not None or told.model is not None
    if rule is None and told.control is not None and not in_contexts:
        rule = Separated()
    if negligible is None:
        return rule
    if told.control is None or not isinstance(rule, Separated):
        remedy = (
            "it needs a control to differ from, and stop_when=belman.measures.Separated(…) or none"
        )
        raise SettingError(f"negligible={negligible!r} cannot be kept: {remedy}")
    return replace(rule, within=negligible)


def _check_then(then: object, rule: StopRule | None) -> str:
    """What happens when the stopping rule has decided."""
    if then is None:
        return "say"
    if then not in _THEN:
        raise SettingError(f"then={shown(then)} is neither 'say' nor 'ship'")
    if then == "ship" and rule is None:
        remedy = "give stop_when=belman.measures.Sure(0.95), or another rule, too"
        raise SettingError(f"then='ship' follows a stopping rule: {remedy}")
    return str(then)

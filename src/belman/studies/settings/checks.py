"""The checks of a study's settings: each by itself, and which have no meaning beside others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from belman.deciders import Asking, FeaturedDecider, IndependentDecider, validate
from belman.deciders.independent.changing import check_drift, check_last
from belman.deciders.segmented.segment_beliefs import check_names
from belman.deciders.segmented.segmented import check_segmented_policy
from belman.deciders.shares import Shares, check_control_share, check_floor
from belman.errors import ArmError, SettingError, listing, nearest
from belman.families import Family, family_named
from belman.measures.stop_rules import StopRule, check_rule
from belman.models import Linear, Logistic
from belman.policies import BelMan, Policy
from belman.studies.rules.guards import check_guard
from belman.studies.rules.metrics import check_utility
from belman.studies.rules.window_rule import check_early, check_flag, check_window, why_not_early
from belman.studies.rules.written import check_arm, check_policy, kept

#: The one arm of a study whose arms are candidates that come with every ask.
CANDIDATE = "candidate"
#: The settings of one belief along features.
ALONG_FEATURES = ("context", "features", "model", "pooling", "interactions", "scale")

_DEPENDS = "which arm is best depends on the context there"
_FADES = "beliefs fade by their model there: model=belman.models.Linear(keep=0.999)"
_MODEL = "the model says what rewards are, and scale= how large coefficients may be"
_COMES = "candidates come with every ask, and none of them stays"
#: Why a setting has no meaning in studies of a kind; what a default says is let in.
_NOT_IN_CONTEXTS = {"stop_when": _DEPENDS, "then": _DEPENDS, "discount": _FADES, "drift": _FADES}
_NOT_IN_CONTEXTS |= {"last": _FADES, "early": "tickets count when their windows close there"}
_NOT_ALONG_FEATURES = dict.fromkeys(("prior", "priors", "range", "clip"), _MODEL)
_NOT_FOR_CANDIDATES = dict.fromkeys(("control", "floor", "control_share", "guard"), _COMES)
_THEN = ("say", "ship")
_DEFAULTS: dict[str, Any] = {"then": "say", "discount": 1.0, "priors": {}}


def checked(given: dict[str, Any], **merged: Any) -> dict[str, Any]:
    """Check every setting and fill in those that are None.

    `prior`, `drift` and `last` are `merged` into the family and the policy.
    """
    told = SimpleNamespace(**given)
    for name in ("clip", "minimise", "accumulate"):
        setattr(told, name, check_flag(given[name] or False, name))
    _check_contexts(told, given | merged)
    told.family = _family(told, merged["prior"])
    told.discount = 1.0 if told.discount is None else told.discount
    told.policy = _policy(told, merged["drift"], merged["last"])
    told.arms = tuple(check_arm(arm) for arm in validate.check_names(told.arms, "arms"))
    told.priors = validate.check_priors(told.priors)
    trial = IndependentDecider(
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
    told.priors = {arm: told.family.check_prior(prior) for arm, prior in told.priors.items()}
    told.range, told.discount = trial.scale.range, float(told.discount)
    _check_window(told, trial)
    if told.seed is None:
        told.seed = np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1
    told.seed = int(told.seed)
    told.reward, told.guard = check_utility(told.reward), check_guard(told.guard)
    told.stop_when = check_rule(told.stop_when)
    told.then = _check_then(told.then, told.stop_when)
    _check_shares(told)
    return vars(told)


def _check_contexts(told: SimpleNamespace, given: Mapping[str, Any]) -> None:
    """Check what makes a study one with contexts, and what has no meaning beside it."""
    along = {name: given[name] for name in ALONG_FEATURES if given[name] is not None}
    if told.segments is not None and along:
        remedy = "segments are beliefs apart, features one belief: choose either"
        raise SettingError(f"segments={told.segments!r} beside {sorted(along)[0]}: {remedy}")
    if told.segments is not None:
        told.segments = check_names(told.segments)
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
    trial = FeaturedDecider(arms, **along, policy=told.policy, minimise=told.minimise)
    told.policy, told.model = trial.policy, trial.model
    told.pooling, told.scale = trial.pooling, trial.spread
    told.context = tuple(trial.context_names)
    told.interactions = tuple(map(tuple, trial.knowledge.columns.interactions))
    told.arms, told.features = arms or [CANDIDATE], tuple(trial.feature_names)
    kept(told.policy)
    kept(told.model)
    _refuse(given, _NOT_ALONG_FEATURES, "studies along features")
    if not arms:
        _refuse(given, _NOT_FOR_CANDIDATES, "studies of candidates")
    elif told.features:
        told.features = dict(zip(arms, trial.at_hand(Asking())[1], strict=True))
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
        found = family_named(told.family)
    elif told.model is None:
        found = family_named("bernoulli" if told.range is None else "bounded")
    elif isinstance(told.model, Linear):
        found = family_named("gaussian-unknown")
    else:
        found = family_named("bernoulli" if isinstance(told.model, Logistic) else "poisson")
    if prior is not None:
        found = replace(found, prior=found.check_prior(prior))
    kept(found)
    return found


def _policy(told: SimpleNamespace, drift: Any, last: Any) -> Any:
    """The policy that was given, or one that follows changes, or the default."""
    if told.model is not None:
        return told.policy
    chosen = check_last(last, check_drift(drift, told.policy, told.discount), told.discount)
    return check_policy(BelMan() if chosen is None else chosen)


def _check_window(told: SimpleNamespace, trial: IndependentDecider) -> None:
    """Check when a ticket counts, and as what."""
    given = told.window, told.silence, told.accumulate
    told.window, told.silence = check_window(*given, trial.scale)
    if told.model is not None and isinstance(told.silence, float):
        told.model.check_reward(told.silence)
    why_not = why_not_early(trial.scale, told.window, told.silence, told.accumulate)
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


def check_control(control: Hashable | None, arms: Sequence[Hashable]) -> Hashable | None:
    """One of the arms, or None."""
    if control is None:
        return None
    if control not in arms:
        there = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={control!r} is not one of the arms: {there}")
    return arms[arms.index(control)]


def _check_uniform(share: float | None) -> float:
    """A share of traffic that is assigned uniformly, which may be none or all."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
        allowed = "it must be a number from 0 to 1"
        raise SettingError(f"uniform_share={share!r} is not a share of traffic: {allowed}")
    return float(share)


def _check_then(then: object, rule: StopRule | None) -> str:
    """What happens when the stopping rule has decided."""
    if then is None:
        return "say"
    if then not in _THEN:
        raise SettingError(f"then={str(then)[:80]!r} is neither 'say' nor 'ship'")
    if then == "ship" and rule is None:
        remedy = "give stop_when=belman.Sure(0.95), or another rule, too"
        raise SettingError(f"then='ship' follows a stopping rule: {remedy}")
    return str(then)

"""The checks of a study's settings: each by itself, and which have no meaning beside others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from belman.agent import Agent, ContextualAgent, doors
from belman.agent.changing import check_drift, check_last
from belman.agent.reporting import check_rule
from belman.errors import ArmError, PolicyError, SettingError
from belman.families import Family, family_named
from belman.models import Linear, Logistic
from belman.policies import BelMan, Policy
from belman.segments.segment_beliefs import check_names
from belman.studies.rules import floors
from belman.studies.rules.guards import check_guard
from belman.studies.rules.metrics import check_utility
from belman.studies.rules.shipping import check_then
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
_NOT_ALONG_FEATURES = dict.fromkeys(("prior", "priors", "range"), _MODEL)
_NOT_FOR_CANDIDATES = dict.fromkeys(("control", "floor", "control_share", "guard"), _COMES)
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
    told.arms = tuple(check_arm(arm) for arm in doors.check_names(told.arms, "arms"))
    told.priors = doors.check_priors(told.priors)
    trial = Agent(
        told.arms,
        told.family,
        told.policy if told.model is None else BelMan(),
        priors=told.priors,
        range=told.range,
        clip=told.clip,
        minimise=told.minimise,
        discount=told.discount,
        seed=told.seed,
    )
    told.priors = {arm: told.family.check_prior(prior) for arm, prior in told.priors.items()}
    told.range, told.discount = trial.scale.range, float(told.discount)
    _check_window(told, trial)
    if told.seed is None:
        told.seed = np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1
    told.seed = int(told.seed)
    told.reward, told.guard = check_utility(told.reward), check_guard(told.guard)
    told.stop_when = check_rule(told.stop_when)
    told.then = check_then(told.then, told.stop_when)
    floors.check_shares(told)
    return vars(told)


def _check_contexts(told: SimpleNamespace, given: Mapping[str, Any]) -> None:
    """Check what makes a study one with contexts, and what has no meaning beside it."""
    along = {name: given[name] for name in ALONG_FEATURES if given[name] is not None}
    if told.segments is not None and along:
        remedy = "segments are beliefs apart, features one belief: choose either"
        raise SettingError(f"segments={told.segments!r} beside {sorted(along)[0]}: {remedy}")
    if told.segments is not None:
        told.segments = check_names(told.segments)
        check_serves_segments(told.policy)
    elif along:
        _check_features(told, along, given)
    if told.arms is None:
        raise ArmError("a study needs arms, or names of features for candidates")
    if told.segments is not None or along:
        _refuse(given, _NOT_IN_CONTEXTS, "studies with contexts")
        told.early = False


def check_serves_segments(policy: object) -> None:
    """Refuse a policy that keeps more than the beliefs which segments lend it."""
    if isinstance(policy, Policy) and (policy.learns or policy.learns_from_asks):
        words = "it keeps more than beliefs, which segments share"
        raise PolicyError(f"policy {policy.name!r} cannot serve segments: {words}")


def _check_features(told: SimpleNamespace, along: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Check what a contextual agent is made of, and keep it as the agent has it."""
    arms = [] if told.arms is None else doors.check_names(told.arms, "arms")
    named = isinstance(told.features, Iterable) and not isinstance(told.features, Mapping)
    if arms == [CANDIDATE] and named:  # as settings of candidates keep it
        arms = []
    if not arms and isinstance(told.features, (str, bytes, Mapping)):
        remedy = "without arms, features are the names of what candidates come with: ['price']"
        raise SettingError(f"features={told.features!r}: {remedy}")
    rest: dict[str, Any] = {"policy": told.policy, "minimise": told.minimise, "seed": 0}
    trial = ContextualAgent(arms, **along, **rest)
    made = trial.definition()
    told.policy, told.model = trial.policy, trial.model
    told.pooling, told.scale = made["pooling"], made["scale"]
    told.context = tuple(trial.context_names)
    told.interactions = tuple(map(tuple, made["interactions"]))
    told.arms, told.features = arms or [CANDIDATE], tuple(trial.feature_names)
    kept(told.policy)
    kept(told.model)
    _refuse(given, _NOT_ALONG_FEATURES, "studies along features")
    if not arms:
        _refuse(given, _NOT_FOR_CANDIDATES, "studies of candidates")
    elif told.features:
        told.features = dict(zip(arms, made["rows"], strict=True))
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


def _check_window(told: SimpleNamespace, trial: Agent) -> None:
    """Check when a ticket counts, and as what."""
    given = told.window, told.silence, told.accumulate
    told.window, told.silence = check_window(*given, trial.scale)
    if told.model is not None and isinstance(told.silence, float):
        told.model.check_reward(told.silence)
    why_not = why_not_early(trial.scale, told.window, told.silence, told.accumulate)
    told.early = check_early(told.early, why_not)

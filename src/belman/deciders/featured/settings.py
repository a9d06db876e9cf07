"""What a contextual agent lets in at its making: models, names, features and interactions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from belman.deciders.featured.arrays import Arrays
from belman.deciders.featured.columns import POOLINGS
from belman.deciders.featured.slots import Slots
from belman.deciders.featured.words import WideSlots
from belman.errors import ArmError, FamilyError, PolicyError, SettingError, listing, unknown
from belman.families import Family, family_named
from belman.models import Linear, Logistic, Model, PoissonLog
from belman.policies.dependent import (
    DEPENDENT_POLICIES,
    DependentPolicy,
    SharedBelMan,
)
from belman.policies.dependent.policy import COEFFICIENTS

_MODELS = {
    "linear": Linear(unknown=True),
    "logistic": Logistic(),
    "poisson": PoissonLog(),
}
MOST_NAMES = 200
#: The default where each arm answers contexts in its own way, settled on the development tables of
#: the bake-off.
IN_CONTEXTS = SharedBelMan(known=3.0)


def check_model(model: str | Model | None) -> Model:
    """A model, or the one of a name; logistic by default."""
    if model is None:
        return _MODELS["logistic"]
    if isinstance(model, Model):
        return model
    if model not in _MODELS:
        raise FamilyError(unknown("model", model, _MODELS))
    return _MODELS[model]


def check_fading(model: Model, discount: Any, drift: Any) -> Model:
    """The model of a world that changes: what is kept at every reward, or found out."""
    if drift not in (None, False, True, "auto"):
        remedy = 'give "auto", or discount=… for a belief that fades steadily'
        raise SettingError(f"drift={drift!r} is not for beliefs along features: {remedy}")
    if discount not in (None, 1.0):
        if drift:
            raise SettingError(f"discount={discount!r} forgets, and drift={drift!r} too: give one")
        is_number = isinstance(discount, (int, float)) and not isinstance(discount, bool)
        if not is_number or not 0.0 < discount <= 1.0:
            allowed = "it must be above 0 and at most 1 (1 never forgets)"
            raise SettingError(f"discount={discount!r} is not valid: {allowed}")
        model = replace(model, keep=float(discount))
    return replace(model, drift=True) if drift else model


def check_policy(policy: DependentPolicy | None, pooling: str, wide: bool) -> DependentPolicy:
    """A policy for arms that share a belief; the default explores less where each arm answers
    contexts in its own way. With a `wide` belief, one that reads no coefficients.
    """
    if policy is None:
        return IN_CONTEXTS if pooling == "disjoint" else SharedBelMan()
    if not isinstance(policy, DependentPolicy):
        remedy = "give one of belman.policies.dependent, such as SharedBelMan()"
        raise PolicyError(f"policy={policy!r} is not a policy for arms with features: {remedy}")
    if policy.keeps:
        where = "it keeps a design of its own, and plays in simulations only"
        raise PolicyError(f"policy {policy.name!r} cannot serve an agent: {where}")
    if wide and policy.sees == COEFFICIENTS:
        able = [name for name, kind in DEPENDENT_POLICIES.items() if kind.sees != COEFFICIENTS]
        where = f'with covariance="diagonal" there are {listing(able)}'
        raise PolicyError(f"policy {policy.name!r} reads all coefficients: {where}")
    return policy


def check_scale(scale: Any) -> float:
    """The prior's standard deviation of coefficients."""
    if scale is None:
        return 1.0
    is_number = isinstance(scale, (int, float)) and not isinstance(scale, bool)
    if not is_number or not 1e-6 <= scale <= 1e6:
        raise SettingError(f"scale={scale!r} is not valid: it must be from 1e-6 to 1e6")
    return float(scale)


def check_minimise(minimise: Any, model: Model) -> bool:
    """Whether rewards are costs, which counts cannot be."""
    if not isinstance(minimise, bool):
        raise SettingError(f"minimise={minimise!r} is neither True nor False")
    if minimise and isinstance(model, PoissonLog):
        remedy = "take model='linear', for which costs may be any number"
        raise SettingError(f"minimise=True is not for {model.name} rewards: {remedy}")
    return minimise


def family_of(model: Model, family: str | Family | None) -> Family:
    """The family by which averages over contexts are believed: that of a model's rewards."""
    if family is None:
        coin = "bernoulli" if isinstance(model, Logistic) else "poisson"
        return family_named("gaussian-unknown" if isinstance(model, Linear) else coin)
    return family_named(family)


def check_kinds(rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a feature that is a number in one row and a word in another."""
    first: dict[str, Any] = {}
    for row in rows:
        for name, value in row.items():
            if value is None:
                continue
            before = first.setdefault(name, value)
            if isinstance(before, float) != isinstance(value, float):
                both = f"{before!r} for one arm and {value!r} for another"
                raise SettingError(f"{name} is {both}: give numbers alone, or words alone")


def slots_for(
    model: Model, pooling: str, context: list[str], features: list[str]
) -> tuple[Slots, Slots]:
    """The slots of contexts and of features, before a value was seen."""
    if model.is_wide:
        return WideSlots(context, "context"), WideSlots(features, "features")
    return Slots(context, "context", squared=pooling == "disjoint"), Slots(features, "features")


def check_names(names: Any, option: str) -> list[str]:
    """Different names of values."""
    if isinstance(names, (str, bytes)):
        raise SettingError(f"{option}={names!r} is one name: write [{names!r}]")
    try:
        result = list(names)
    except TypeError:
        remedy = "of a function give what it returns, by the names that it has"
        raise SettingError(f"{option}={names!r} is not a list of names: {remedy}") from None
    wrong = [name for name in result if not isinstance(name, str) or not 0 < len(name) <= 200]
    every = [] if wrong else [*(arrays := Arrays(result)).names, *arrays.bags]
    if wrong or len(set(every)) < len(every) or len(every) > MOST_NAMES or "constant" in every:
        allowed = f"up to {MOST_NAMES} different words, 'constant' not among them"
        raise SettingError(f"{option}={result!r} cannot be names: give {allowed}")
    return result


def check_features(features: Any, arms: Sequence[Hashable]) -> dict[Hashable, Mapping[str, Any]]:
    """What is known of every arm: {arm: {name: value}}, or a data frame with a row an arm."""
    if features is None:
        return {}
    if hasattr(features, "to_dict") and hasattr(features, "index"):
        features = features.to_dict(orient="index")
    if not isinstance(features, Mapping):
        remedy = "give {arm: {name: value}} or a data frame with a row an arm"
        raise SettingError(f"features={features!r} are not valid: {remedy}")
    for arm in features:
        if arm not in arms:
            raise ArmError(unknown("arm in features", arm, arms))
    for arm in arms:
        if not isinstance(features.get(arm), Mapping):
            raise ArmError(f"arm {arm!r} has no features: give {{name: value}} for every arm")
    return dict(features)


def check_pooling(pooling: str | None, features: bool) -> str:
    """How arms share coefficients."""
    if pooling is None:
        return "hybrid" if features else "disjoint"
    if pooling not in POOLINGS:
        raise SettingError(unknown("pooling", pooling, POOLINGS))
    if pooling == "disjoint" and features:
        remedy = "with pooling='shared' or 'hybrid' they count"
        raise SettingError(f"pooling='disjoint' does not use features of arms: {remedy}")
    if pooling == "shared" and not features:
        remedy = "give features=…, or pooling='disjoint'"
        raise SettingError(f"pooling='shared' cannot tell arms without features apart: {remedy}")
    return pooling


def pairs_of(interactions: str | Iterable[Sequence[str]]) -> list[Any]:
    """The pairs of a list, or of a formula.

    >>> pairs_of("country:price + hour:price")
    [('country', 'price'), ('hour', 'price')]
    """
    if not isinstance(interactions, str):
        return list(interactions)
    terms = interactions.split("+") if interactions.strip() else []
    return [tuple(name.strip() for name in term.split(":")) for term in terms]


def check_interactions(
    interactions: str | Iterable[Sequence[str]] | None, context: Arrays, features: Arrays
) -> list[tuple[str, str]]:
    """Pairs of a name of the context and one of the arms' features; all of them by default. A name
    of an array stands for all of its numbers.
    """
    if interactions is None:
        return [(first, second) for first in context.pairable for second in features.pairable]
    result = []
    for pair in pairs_of(interactions):
        ends = tuple(pair) if not isinstance(pair, str) else ()
        if len(ends) != 2 or not (context.knows(ends[0]) and features.knows(ends[1])):
            known = f"{listing(context.declared)} and {listing(features.declared)}"
            allowed = f"(name of the context, feature), of {known}"
            raise SettingError(f"interaction {pair!r} is not allowed: give {allowed}")
        result += [
            (one, two) for one in context.within(ends[0]) for two in features.within(ends[1])
        ]
    return result

"""What every log can keep and give back: texts, names of arms, families, models and policies."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from belman import spec
from belman.deciders import state_file, validate
from belman.errors import (
    ArmError,
    BelmanError,
    FamilyError,
    PolicyError,
    SettingError,
    StudyError,
)
from belman.families import Family
from belman.models import Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy


def is_encodable(text: str) -> bool:
    """Whether a text can be written in any encoding: it holds no half of a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_texts(values: Mapping[str, Any]) -> None:
    """Refuse values that no log could keep."""
    for name, value in values.items():
        if isinstance(value, str) and not is_encodable(value):
            words = "it holds half of a surrogate pair, which no encoding has"
            raise SettingError(f"{name}={value!r} cannot be kept in a log: {words}")


def check_arm(arm: Hashable) -> Hashable:
    """A name that a log can keep and give back."""
    validate.check_new(arm, ())
    encoded = state_file.encode_arm(arm)
    if _lost(encoded):
        allowed = "a study's arms are named by strings, numbers or tuples of them"
        raise ArmError(f"arm {arm!r} cannot be kept in a log: {allowed}")
    return state_file.decode_arm(encoded, "the study")


def _lost(encoded: Any) -> bool:
    """Whether a name would not come back: JSON lacks its kind, or no encoding has the string."""
    if isinstance(encoded, str):
        return not is_encodable(encoded)
    return isinstance(encoded, dict) and ("repr" in encoded or any(map(_lost, encoded["tuple"])))


def check_policy(policy: Policy) -> Policy:
    """A policy that a log can keep and give back."""
    if not isinstance(policy, Policy):
        remedy = "give one of belman.policies, such as belman.BelMan()"
        raise PolicyError(f"policy={policy!r} is not a policy: {remedy}")
    if policy.learns_from_asks:
        why = "what it learns depends on its asks too, which a log of rewards does not say"
        raise PolicyError(f"policy {policy.name!r} has no place in a study: {why}")
    kept(policy)
    return policy


def kept(part: Family | Model | Policy | DependentPolicy) -> dict[str, Any]:
    """The description of a part, from which a log gives it back to whoever opens the study."""
    try:
        description = spec.describe(part)
        spec.build(description, trust="imported")
    except BelmanError as error:
        words = f"={part!r} cannot be kept in a log: {error}"
        if isinstance(part, (Family, Model)):
            what = "family" if isinstance(part, Family) else "model"
            raise FamilyError(what + words) from None
        raise PolicyError("policy" + words) from None
    return description


def given_back(description: Any, kind: type) -> Any:
    """The part that a log describes; a user's own has to be imported already."""
    try:
        return spec.build(description, kind, trust="imported")
    except BelmanError as error:
        raise StudyError(f"this study cannot be opened here: {error}") from None

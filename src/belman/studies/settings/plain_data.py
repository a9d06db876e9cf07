"""A study's settings as plain data, for the log, and back: one pair of functions for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from belman import codec, spec
from belman.deciders import state_file
from belman.errors import StateError
from belman.families import Family
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.rules.written import given_back

#: The settings that are objects with a description, and what each is.
PARTS: dict[str, type] = {"family": Family, "policy": Policy, "model": Model, "stop_when": StopRule}


def _arm(encoded: Any) -> Any:
    return codec.decode_arm(encoded)


def _arms(encoded: Any) -> list[Any]:
    if not isinstance(encoded, list):
        raise StateError("the arms of a study are a list of names")
    return list(map(_arm, encoded))


def _by_arm(value: Any) -> Any:
    """Values by arm as pairs, since JSON has no tuples and numbers for names."""
    if not isinstance(value, Mapping):
        return value
    return [[codec.encode_arm(arm), one] for arm, one in value.items()]


def _from_pairs(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        return value
    return {_arm(arm): one for arm, one in value}


#: How the settings that JSON lacks are written, and how they are read; all others are as they are.
_KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "arms": (lambda arms: list(map(codec.encode_arm, arms)), _arms),
    "control": (codec.encode_arm, _arm),
    "budget": (lambda budget: {budget.metric: budget.text}, dict),
    "guard": (lambda guard: {name: limit.text for name, limit in guard.items()}, dict),
    "reward": (lambda utility: utility.text, str),
    **dict.fromkeys(("priors", "floor", "features"), (_by_arm, _from_pairs)),
}


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as JSON has them, without those that are None."""
    result = {name: value for name, value in settings.items() if value is not None}
    for name in result:
        if name in PARTS:
            result[name] = spec.describe(result[name])
        elif name in _KINDS:
            result[name] = _KINDS[name][0](result[name])
    return dict(state_file.plain(result))


def given(content: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that `plain` gave."""
    result = dict(content)
    kinds = PARTS | ({"policy": DependentPolicy} if "model" in content else {})
    for name in result:
        if name in PARTS:
            result[name] = given_back(result[name], kinds[name])
        elif name in _KINDS:
            result[name] = _KINDS[name][1](result[name])
    return result

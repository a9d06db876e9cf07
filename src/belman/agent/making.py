"""Which decider an agent's settings ask for, and which settings do not go together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.agent.features import Features, Functions, features_of, of_arms
from belman.deciders import Decider, FeaturedDecider, IndependentDecider, SegmentedDecider
from belman.deciders.independent.settings import of_counts, of_decider
from belman.deciders.validate import check_names
from belman.errors import ArmError, PriorError, SettingError

#: Settings of a belief along features.
ALONG_FEATURES = ("context", "features", "model", "pooling", "interactions", "scale")
#: Why a setting has no meaning along features.
MODEL = "the model says what rewards are, and scale= how large coefficients may be"
FADES = 'rewards in contexts are not kept one by one: discount=0.99 fades, drift="auto" follows'
_APART = "every segment is learnt from its first reward"
_BOX = "a box has points of its own and no arms"
_OF_A_BOX = ("minimise", "context")
_NOT_ALONG = dict.fromkeys(("family", "prior", "priors", "range", "clip"), MODEL)
_NOT_ALONG["last"] = FADES
_NOT_ALONG["start"] = "past rewards are told with their contexts: tell(arm, reward, context)"
_NOT_BY_SEGMENT = dict.fromkeys(("discount", "drift", "last", "start"), _APART)


def functions_of(settings: dict[str, Any]) -> Functions:
    """Return the functions among settings, in whose place there are names or values then."""
    result: dict[str, Features | None] = {}
    if settings["context"] is not None:
        result["context"] = features_of(settings["context"])
    if settings["features"] is not None and settings["arms"] is None:
        result["features"] = features_of(settings["features"])
    elif settings["features"] is not None:
        settings["arms"] = check_names(settings["arms"], "arms")
        settings["features"] = of_arms(settings["features"], settings["arms"])
    for name, function in result.items():
        if function is not None:
            settings[name] = function.names
    return Functions(**result)


def decider_of(settings: dict[str, Any], words: chance.Words) -> Decider:
    """Return the decider that these settings ask for; None stands for what is not given."""
    given = {name: value for name, value in settings.items() if value is not None}
    if "space" in given:
        from belman.deciders.box.box_decider import BoxDecider  # which takes a while to import

        own = {name: given.pop(name) for name in ("space", *_OF_A_BOX) if name in given}
        _refuse(given, dict.fromkeys(given, _BOX), "an agent of a box")
        sides = len(own["space"]) if hasattr(own["space"], "sides") else 1
        return BoxDecider(**own, shift=np.resize(words, sides) / 2.0**64)
    along = [name for name in ALONG_FEATURES if name in given]
    if "segments" in given:
        _refuse(given, _NOT_BY_SEGMENT, "an agent by segments")
        check_either(given["segments"], along)
        names = given.pop("segments")
        return SegmentedDecider(names, _independent(given))
    if along:
        _refuse(given, _NOT_ALONG, "an agent along features")
        return FeaturedDecider(**given)
    return _independent(given)


def check_either(segments: Any, along: Sequence[str]) -> None:
    """Refuse segments beside settings of a belief along features."""
    if segments is not None and along:
        remedy = "segments are beliefs apart, features one belief: choose either"
        raise SettingError(f"segments={segments!r} beside {along[0]}: {remedy}")


def _refuse(given: Mapping[str, Any], why: Mapping[str, str], what: str) -> None:
    for name, reason in why.items():
        if name in given:
            raise SettingError(f"{name}={given[name]!r} is not for {what}: {reason}")


def _independent(given: dict[str, Any]) -> IndependentDecider:
    if "arms" not in given:
        raise ArmError("an agent needs arms: give a list of names, or space=… or features=…")
    start = given.pop("start", None)
    decider = IndependentDecider(given.pop("arms"), **given)
    if start is not None:
        _start(decider, start)
    return decider


def _start(decider: IndependentDecider, start: Any) -> None:
    from belman.agent.agent import Agent  # which is made here

    if isinstance(start, (str, os.PathLike)):
        start = Agent.load(start)
    if isinstance(start, Agent):
        other = start._decider
        if not isinstance(other, IndependentDecider):
            raise PriorError(f"start={start!r} does not believe its arms one by one")
        known = of_decider(other, decider)
    elif isinstance(start, Mapping):
        known = of_counts(start, decider.scale, lambda arm: decider.learnt(arm).prior)
    else:
        raise SettingError(
            f"start={start!r} is not a start: give an agent, the path of a saved one, or "
            "{arm: (plays, sum)}"
        )
    decider.start_with(known)

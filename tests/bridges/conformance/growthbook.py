"""GrowthBook's published cases: hashes, ranges, conditions, experiments and whole features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from belman.analysis import past
from belman.analysis.histories import Held
from belman.analysis.past import Log
from belman.assignment.assigners import Filter, GrowthBook, cuts_of_ranges
from belman.bridges.growthbook import bucket_ranges
from belman.bridges.growthbook_conditions import holds, leaves
from belman.bridges.growthbook_history import PayloadHistory, features_of
from belman.bridges.growthbook_rules import word
from belman.errors import BelmanError, SettingError
from belman.frames import Frame
from tests.bridges.conformance import REFUSED, Outcome, judged

Json = Any
#: What belman has no part in, and why.
NOT_OURS = {
    "decrypt": "payloads are given decrypted",
    "getQueryStringOverride": "no payload says what a program forces by an address",
    "stickyBucket": "no payload says what a client has kept of a unit",
    "urlRedirect": "belman redirects nobody",
}
_OF_PROGRAM = ("forcedVariations", "url", "qaMode", "enabled")
_SOURCES = {
    past.LOT: "experiment",
    past.HOLDOUT: "experiment",
    past.FORCED: "force",
    past.PREREQUISITE: "prerequisite",
    past.NO_FEATURE: "unknownFeature",
}


def outcomes(cases: Mapping[str, Json]) -> Iterator[Outcome]:
    """Run all cases of a file."""
    for section, several in cases.items():
        if section == "versionCompare":
            several = [(*one, op) for op, own in several.items() for one in own]
        for one in several if isinstance(several, list) else ():
            yield _outcome(section, one)


def _outcome(section: str, case: list[Json]) -> Outcome:
    if section not in SECTIONS:
        why = NOT_OURS.get(section, "a section that this runner does not know")
        return Outcome(section, str(case[0]), REFUSED, why)
    try:
        return judged(section, case[0], *SECTIONS[section](*case))
    except BelmanError as error:
        return Outcome(section, str(case[0]), REFUSED, str(error))


def _hash(seed: str, value: str, version: int, wanted: Json) -> tuple[Json, Json]:
    book = GrowthBook(version)
    return book.point(seed, value) / book.points, wanted


def _ranges(_: str, given: list[Json], wanted: Json) -> tuple[Json, Json]:
    result = [list(one) for one in bucket_ranges(*given)]
    return result, [pytest.approx(one, abs=1e-9) for one in wanted]


def _equal_weights(arms: int, wanted: list[float]) -> tuple[Json, Json]:
    result = [end - start for start, end in bucket_ranges(arms)]
    return result, pytest.approx(wanted, abs=1e-8)


def _choose(_: str, at: float, ranges: Json, wanted: int) -> tuple[Json, Json]:
    cuts = cuts_of_ranges(ranges, 10_000)
    return next(arm for end, arm in cuts if end > round(at * 10_000)), wanted


def _namespace(_: str, user: str, given: list[Json], wanted: bool) -> tuple[Json, Json]:
    return Filter.of_namespace(*given).takes(user), wanted


def _condition(
    _: str, condition: Json, attributes: Json, wanted: bool, groups: Json = None
) -> tuple[Json, Json]:
    asked = [leaf.attribute for leaf in leaves(condition)]
    log = _log(attributes, asked)
    return bool(holds(condition, log, np.arange(1), groups or {}, {})[0]), wanted


def _version(one: str, other: str, wanted: bool, op: str) -> tuple[Json, Json]:
    return _condition("", {"v": {f"$v{op}": other}}, {"v": one}, wanted)


def _feature(_: str, context: Json, name: str, wanted: Json) -> tuple[Json, Json]:
    result = _evaluated(context, name)
    told = wanted.get("experimentResult")
    more = {} if told is None else {"variationId": told["variationId"], "key": told["key"]}
    asked = {"value": word(wanted["value"]), "source": wanted["source"], **more}
    return {one: result.get(one) for one in asked}, asked


def _run(
    _: str, context: Json, experiment: Json, value: Json, is_in: bool, hashed: bool
) -> tuple[Json, Json]:
    if "force" in experiment or not experiment.get("active", True):
        raise SettingError("set by a program, not by a payload: force, active")
    rule = {key: one for key, one in experiment.items() if key != "active"}
    own = {"f": {"defaultValue": experiment["variations"][0], "rules": [rule]}}
    features = {**context.get("features", {}), **own}
    result = _evaluated({**context, "features": features}, "f")
    in_experiment = result["source"] == "experiment"
    return (result["value"], in_experiment, in_experiment), (word(value), is_in, hashed)


def _evaluated(context: Json, name: str) -> dict[str, Json]:
    """What the time machine says that a client with this context answered."""
    if own := [one for one in _OF_PROGRAM if one in context]:
        raise SettingError(f"set by a program, not by a payload: {', '.join(own)}")
    groups = {"savedGroups": context.get("savedGroups", {})}
    payload = {"features": context.get("features", {}), **groups}
    features = features_of(payload, name) if name in payload["features"] else {}
    history = PayloadHistory(name, (Held(0.0, "the case", payload),), (features,))
    rules = [rule for one in features.values() for rule in one.rules]
    needed = [one for rule in rules for one in rule.hashed()]
    asked = [leaf.attribute for rule in rules for leaf in rule.leaves()]
    log = history.checked(_log(context.get("attributes", {}), [*needed, *asked]))

    def called(spelling: str) -> Json:
        given = history.assigned(0, log, np.arange(1), spelling)
        return given, given.names[given.seen[0]] if given.seen[0] >= 0 else "null"

    given, value = called("value")
    reason = given.reasons[0]
    result = {"value": value, "source": _SOURCES.get(reason, "defaultValue")}
    if reason == past.LOT:
        assert given.chances[0, given.seen[0]] > 0.0
        assert given.chances[0].sum() == pytest.approx(1.0)
    if result["source"] == "experiment":
        result |= {"variationId": int(called("index")[1]), "key": called("key")[1]}
    return result


def _log(attributes: Json, asked: list[str]) -> Log:
    """A log of one row, with columns for all attributes that are asked."""
    names = dict.fromkeys([*attributes, *(one.split(".")[0] for one in asked), "id"])
    columns = {one: [attributes.get(one)] for one in names}
    return Log(Frame("the case", columns, typed=True), "id")


SECTIONS: dict[str, Callable[..., tuple[Json, Json]]] = {
    "evalCondition": _condition,
    "versionCompare": _version,
    "hash": _hash,
    "getBucketRange": _ranges,
    "chooseVariation": _choose,
    "getEqualWeights": _equal_weights,
    "inNamespace": _namespace,
    "feature": _feature,
    "run": _run,
}

"""GrowthBook: studies as its features, its exposures as rows, its experiments as studies.

A client of GrowthBook assigns units by itself, by FNV-1a. Served are the studies whose weights are
published for that (`publish(by="growthbook")`), each as a feature with one rule; with one rule a
segment where the study learns by segment, and one a leaf where it decides along features. The
`phase` of a rule is the version of its weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from belman.assignment import GrowthBook, Weights
from belman.assignment.allotment import lay_out
from belman.assignment.assigners import Filter, Range, cuts_of_ranges
from belman.assignment.documents import Arm
from belman.assignment.leaves import BELOW, IS, NOT_BELOW, Asked, Leaves
from belman.bridges.flags import Flag
from belman.errors import SettingError, shown


def payload(flags: Iterable[Flag]) -> dict[str, Any]:
    """Return the features of studies, as `/api/features/{key}` answers."""
    known = [(flag, feature(flag)) for flag in flags]
    served = {flag.name: one for flag, one in known if one is not None}
    times = [one.published or 0.0 for flag, of in known if of for one in flag.weights.values()]
    newest = datetime.fromtimestamp(max(times, default=0.0), UTC).isoformat()
    return {"status": 200, "features": served, "experiments": [], "dateUpdated": newest}


def feature(flag: Flag) -> dict[str, Any] | None:
    """Return a flag as a feature; None where its weights are for other clients."""
    if flag.contexts is None:
        weights = flag.chosen(_is_ours)
        rules = [] if weights is None else list(_rules(flag.name, weights))
    else:
        rules = [
            rule(flag.name, flag.weights[segment], condition(context))
            for segment, context in flag.contexts.items()
            if _is_ours(flag.weights[segment])
        ]
    return {"defaultValue": flag.default, "rules": rules} if rules else None


def _rules(name: str, weights: Weights) -> Iterator[dict[str, Any]]:
    """Yield a rule for all units, or one for each leaf of a study along features."""
    if isinstance(weights.contexts, Leaves):
        for leaf in weights.contexts.leaves:
            yield rule(name, weights, in_leaf(leaf.where) or None, leaf.points)
    else:
        yield rule(name, weights)


def _is_ours(weights: Weights) -> bool:
    return isinstance(weights.assigner, GrowthBook)


def condition(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a segment as a targeting condition.

    >>> condition({"country": "fr", "age": None})
    {'country': 'fr', 'age': {'$exists': False}}
    """
    return {name: {"$exists": False} if value is None else value for name, value in context.items()}


def in_leaf(where: Sequence[Asked]) -> dict[str, Any]:
    """Return the tests of a leaf as a targeting condition; {} without any.

    >>> in_leaf([("age", "not below", 30.0)])
    {'age': {'$not': {'$exists': True, '$lt': 30.0}}}
    """
    matches = [{name: _asked(test, value)} for name, test, value in where]
    return matches[0] if len(matches) == 1 else {"$and": matches} if matches else {}


def _asked(test: str, value: float | str) -> Any:
    if test in (BELOW, NOT_BELOW):
        below = {"$exists": True, "$lt": value}
        return below if test == BELOW else {"$not": below}
    same = [value, *({"True": [True], "False": [False]}.get(str(value), []))]  # words of a context
    return {"$in" if test == IS else "$nin": same}


def rule(
    name: str,
    weights: Weights,
    where: Mapping[str, Any] | None = None,
    counts: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return weights as the rule of a feature: the ranges of buckets are those of the document, or
    those of so many `counts` for every arm.
    """
    matches: dict[str, Any] = {} if where is None else {"condition": dict(where)}
    if len(weights.arms) == 1:  # of which the clients make no experiment
        return matches | {"force": weights.arms[0]}
    points = weights.cuts[-1][0]
    ranges = [[0.0, 0.0] for _ in weights.arms]
    cuts = weights.cuts if counts is None else lay_out(counts)
    shares = weights.weights if counts is None else [count / points for count in counts]
    start = 0
    for end, arm in cuts:
        ranges[arm] = [start / points, end / points]
        start = end
    return matches | {
        "key": name,
        "name": name,
        "phase": str(weights.version),
        "seed": weights.salt,
        "hashAttribute": "id",
        "hashVersion": 2,
        "coverage": 1,
        "variations": list(weights.arms),
        "weights": list(shares),
        "ranges": ranges,
        "meta": [{"key": str(arm), "name": str(arm)} for arm in weights.arms],
        "disableStickyBucketing": True,
    }


def row(
    experiment: Any,
    result: Any,
    reward: float,
    time: float | None = None,
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an exposure and what came of it as a row that `observe` takes.

    Parameters
    ----------
    experiment, result
        What GrowthBook hands to a tracking callback, as its objects or as JSON.
    reward
        What came of it.
    time
        Seconds since 1970 at which the unit was assigned, where the study has a window.
    context
        The attributes that a study along features decides by, as the unit had them.

    Raises
    ------
    SettingError
        If nobody drew a lot: a variation was forced, or the experiment is none of belman's.

    >>> told = {"hashUsed": True, "inExperiment": True, "value": "blue", "hashValue": "user-1"}
    >>> row({"key": "checkout", "phase": "7"}, told, 1.0)
    {'unit': 'user-1', 'version': 7, 'arm': 'blue', 'reward': 1.0}
    """
    phase = str(_part(experiment, "phase"))
    if not (_part(result, "inExperiment") and _part(result, "hashUsed")):
        raise SettingError(f"variation {_part(result, 'value')!r} was forced: no lot was drawn")
    if not phase.isdecimal():
        key = _part(experiment, "key")
        raise SettingError(
            f"experiment {key!r} has phase {phase!r}, which is no version of weights"
        )
    matches = {"unit": _part(result, "hashValue"), "version": int(phase)}
    matches |= {"arm": _part(result, "value"), "reward": float(reward)}
    matches |= {} if time is None else {"time": time}
    return matches if context is None else {**matches, "context": dict(context)}


def _part(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


# Experiments of GrowthBook as studies


class Imported(NamedTuple):
    """An experiment as a study: its name, its arms, and the weights to be declared."""

    name: str
    arms: tuple[Arm, ...]
    weights: Weights


def read(text: str | bytes, feature: str | None = None) -> Imported:
    """Read an experiment of GrowthBook from JSON.

    Parameters
    ----------
    text
        An experiment as its clients take it, a rule of a feature, or an answer of
        `/api/features/{key}`.
    feature
        The feature of an answer whose first experiment is meant; needed where there are several.

    Raises
    ------
    SettingError
        If it is no experiment, or one whose units are not known by a hash.

    >>> made = read('{"key": "old", "variations": ["a", "b"], "weights": [0.9, 0.1]}')
    >>> made.arms, made.weights.weights
    (('a', 'b'), (0.9, 0.1))
    """
    try:
        matches = json.loads(text)
    except (ValueError, RecursionError):
        matches = None
    if not isinstance(matches, dict):
        raise SettingError("this is not an experiment of GrowthBook: give its JSON")
    return experiment_of(_in_payload(matches, feature) if "features" in matches else matches)


def _in_payload(matches: Mapping[str, Any], feature: str | None) -> dict[str, Any]:
    rules = {
        name: {"key": name, **one}
        for name, of in matches["features"].items()
        for one in reversed(of.get("rules", ()))
        if "variations" in one
    }
    if feature is None and len(rules) == 1:
        feature = next(iter(rules))
    if feature not in rules:
        there = ", ".join(rules) or "none"
        raise SettingError(f"feature={shown(feature)} has no experiment: give one of {there}")
    return rules[feature]


def experiment_of(matches: Mapping[str, Any]) -> Imported:
    """Return an experiment, as GrowthBook's clients take it, as a study and its weights."""
    variations, key = matches.get("variations"), matches.get("key")
    if not isinstance(variations, list) or len(variations) < 2 or not isinstance(key, str):
        raise SettingError("an experiment of GrowthBook has a key and two variations at least")
    meta = matches.get("meta") or [{}] * len(variations)
    arms: tuple[Arm, ...] = tuple(
        _arm(*one) for one in zip(variations, meta, range(len(meta)), strict=False)
    )
    if len(set(arms)) < len(arms):
        arms = tuple(f"{arm} ({position})" for position, arm in enumerate(arms))
    version = matches.get("hashVersion") or 1
    filters = [Filter(str(one.get("seed", "")), one.get("hashVersion", 2), _pairs(one["ranges"]))
               for one in matches.get("filters") or ()]  # fmt: skip
    if not filters and matches.get("namespace"):
        filters = [Filter.of_namespace(*matches["namespace"])]
    salt = matches.get("seed") or key
    if any((one.seed, one.hash_version) == (salt, version) for one in filters):
        raise SettingError("a filter by the seed of the experiment itself says nothing of chances")
    assigner = GrowthBook(version, tuple(filters))
    given = matches.get("ranges")
    ranges = _pairs(given) if given else bucket_ranges(
        len(arms), matches.get("coverage", 1.0), matches.get("weights")
    )  # fmt: skip
    cuts = cuts_of_ranges(ranges, assigner.points)
    floors = (0.0,) * len(arms)
    return Imported(key, arms, Weights(key, 1, salt, arms, cuts, floors, assigner=assigner))


def _arm(value: Any, meta: Mapping[str, Any], position: int) -> Arm:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    return str(meta.get("key") or (json.dumps(value) if isinstance(value, bool) else position))


def _pairs(ranges: Sequence[Sequence[float]]) -> tuple[Range, ...]:
    return tuple((float(start), float(end)) for start, end in ranges)


def bucket_ranges(
    arms: int, coverage: float | None = 1.0, weights: Sequence[float] | None = None
) -> tuple[Range, ...]:
    """Return the ranges of buckets of an experiment, as GrowthBook's clients lay them out.

    >>> bucket_ranges(2, 0.5, [0.4, 0.6])
    ((0.0, 0.2), (0.4, 0.7))
    """
    part = 1.0 if coverage is None else min(max(float(coverage), 0.0), 1.0)
    own = list(weights or ())
    if len(own) != arms or not 0.99 <= sum(own) <= 1.01:
        own = [1.0 / max(arms, 1)] * arms
    matches, start = [], 0.0
    for weight in own:
        matches.append((start, start + part * weight))
        start += weight
    return tuple(matches)

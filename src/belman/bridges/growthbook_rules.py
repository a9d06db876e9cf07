"""The rules of a feature, as GrowthBook's clients read them from a payload."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.analysis.past import Whole
from belman.assignment import GrowthBook
from belman.bridges.growthbook import bucket_ranges
from belman.bridges.growthbook_conditions import Leaf, leaves
from belman.errors import SettingError, shown

Ranges = tuple[tuple[float, float], ...]


class Circle(NamedTuple):
    """What is hashed into buckets: an attribute of the unit with a seed, by a version of the hash.
    Buckets of different circles are independent.
    """

    attribute: str
    seed: str
    version: int

    @property
    def points(self) -> int:
        """How many buckets there are."""
        return GrowthBook(self.version).points


class Within(NamedTuple):
    """A condition for going on: the bucket on a circle lies in one of the ranges."""

    circle: Circle
    ranges: Ranges

    @property
    def inside(self) -> NDArray[np.bool_]:
        """For every bucket of the circle, whether it lies in one of the ranges."""
        return owners(self.ranges, self.circle.points) >= 0


class Needed(NamedTuple):
    """A prerequisite: what the value of another feature has to be. Where it is not, the rule is
    passed over, or with a `gate` the feature has no value.
    """

    feature: str
    condition: Mapping[str, Any]
    gate: bool


class Part(NamedTuple):
    """Units with a condition (None: all others) and the ranges of buckets of their arms."""

    condition: Any
    ranges: Ranges


@dataclass(frozen=True)
class Rule:
    """A rule of a feature: a value that is `forced`, or an experiment with `values` for arms.

    A forced value has a `part` at most, whose range is the share of units that get it. Units with
    an arm that is `passing` go on to the next rule.
    """

    key: str
    needs: tuple[Needed, ...]
    condition: Any
    tests: tuple[Within, ...]
    circle: Circle
    forced: Any
    values: tuple[Any, ...]
    keys: tuple[str, ...]
    parts: tuple[Part, ...]
    passing: frozenset[int] = frozenset()

    @property
    def is_holdout(self) -> bool:
        """Whether units that do not go on to the next rule all get the same arm."""
        return bool(self.passing) and len(self.values) - len(self.passing) == 1

    def leaves(self) -> Iterator[Leaf]:
        """What its conditions ask of attributes."""
        yield from leaves(self.condition or {})
        for part in self.parts:
            yield from leaves(part.condition or {})

    def hashed(self) -> set[str]:
        """The attributes that are hashed."""
        result = {one.circle.attribute for one in self.tests}
        return result | {self.circle.attribute} if self.parts else result


def owners(ranges: Ranges, points: int) -> Whole:
    """The place of the first range that each bucket lies in; −1 for none.

    >>> owners(((0.0, 0.001), (0.001, 0.002)), 1_000)[:3].tolist()
    [0, 1, -1]
    """
    share = np.arange(points) / points
    result = np.full(points, -1, dtype=np.int64)
    for position in reversed(range(len(ranges))):
        start, end = ranges[position]
        result[(start <= share) & (share < end)] = position
    return result


def word(value: Any) -> str:
    """A value as it is called in a log.

    >>> [word(one) for one in ("blue", True, 2.0, {"size": 1})]
    ['blue', 'true', '2', '{"size": 1}']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def rules_of(feature: str, result: Mapping[str, Any], bandits: Mapping[str, Any]) -> list[Rule]:
    """Read the rules of a feature; SettingError if chances cannot be computed by one of them."""
    rules = result.get("rules") or []
    if not isinstance(rules, list) or not all(isinstance(one, Mapping) for one in rules):
        raise SettingError(f"the rules of feature {feature!r} are not a list of objects")
    made = []
    for position, one in enumerate(rules, start=1):
        try:
            made.append(_rule(feature, one, bandits))
            list(made[-1].leaves())
        except SettingError as error:
            raise SettingError(f"rule {position} of feature {feature!r}: {error}") from None
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise SettingError(f"rule {position} of feature {feature!r}: {error!r}") from None
    return made


def _rule(feature: str, result: Mapping[str, Any], bandits: Mapping[str, Any]) -> Rule:
    needs = tuple(_needed(one) for one in result.get("parentConditions") or ())
    key = str(result.get("key") or feature)
    attribute, version = result.get("hashAttribute") or "id", result.get("hashVersion") or 1
    tests = [_filter(one) for one in result.get("filters") or ()]
    values = result.get("contextualVariations", result.get("variations"))
    forced = result.get("force")
    seed = str(result.get("seed") or (feature if forced is not None else key))
    circle = _circle(attribute, seed, version)
    if forced is not None:
        parts = _share(result)
        return Rule(
            key, needs, result.get("condition"), tuple(tests), circle, forced, (), (), parts
        )
    if not isinstance(values, list) or len(values) < 2:  # of which the clients make no experiment
        return Rule(key, needs, result.get("condition"), tuple(tests), circle, None, (), (), ())
    if not tests and result.get("namespace"):
        name, start, end = result["namespace"]
        ranges = ((float(start), float(end)),)
        tests = [Within(_circle(attribute, f"__{name}", 1), ranges)]
    meta = [*(result.get("meta") or ()), *({} for _ in values)][: len(values)]
    passing = frozenset(position for position, one in enumerate(meta) if one.get("passthrough"))
    keys = tuple(str(one.get("key", position)) for position, one in enumerate(meta))
    parts = tuple(_parts(result, len(values), bandits))
    of = (needs, result.get("condition"), tuple(tests), circle)
    return Rule(key, *of, None, tuple(values), keys, parts, passing)


def _needed(result: Mapping[str, Any]) -> Needed:
    condition = result.get("condition") or {}
    list(leaves(condition))
    return Needed(str(result["id"]), condition, bool(result.get("gate")))


def _circle(attribute: Any, seed: str, version: Any) -> Circle:
    if version not in (1, 2):
        raise SettingError(f"hashVersion={shown(version)} is not 1 or 2")
    return Circle(str(attribute), seed, int(version))


def _filter(result: Mapping[str, Any]) -> Within:
    seed, version = str(result.get("seed", "")), result.get("hashVersion", 2)
    return Within(_circle(result.get("attribute", "id"), seed, version), _pairs(result["ranges"]))


def _share(result: Mapping[str, Any]) -> tuple[Part, ...]:
    """The share of units that a forced value is for; none for all of them."""
    if result.get("range") is not None:
        return (Part(None, _pairs([result["range"]])),)
    if result.get("coverage") is not None:
        return (Part(None, ((0.0, float(result["coverage"])),)),)
    return ()


def _parts(result: Mapping[str, Any], arms: int, bandits: Mapping[str, Any]) -> Iterator[Part]:
    if result.get("ranges"):
        ranges = _pairs(result["ranges"])
        if len(ranges) > arms:
            raise SettingError(f"it has {len(ranges)} ranges for {arms} variations")
        yield Part(None, ranges)
        return
    coverage = result.get("coverage")
    leaf = bandits.get(result.get("contextualBanditRef") or "")
    for one in (leaf.get("contexts") or ()) if isinstance(leaf, Mapping) else ():
        weights = one.get("weights")
        known = weights is not None and isinstance(one.get("leafId"), int)
        own = _weights(weights if known else result.get("weights"))
        yield Part(one.get("condition") or {}, bucket_ranges(arms, coverage, own))
    yield Part(None, bucket_ranges(arms, coverage, _weights(result.get("weights"))))


def _weights(given: Any) -> list[float] | None:
    if given is None:
        return None
    result = [float(one) for one in given]
    if not all(0.0 <= one < np.inf for one in result):
        raise SettingError(f"weights={shown(given)} are not all from 0 up: clients read them apart")
    return result


def _pairs(given: Any) -> Ranges:
    return tuple((float(start), float(end)) for start, end in given)

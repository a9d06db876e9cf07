"""What GrowthBook's clients assigned in the past, from the payloads that they had.

Buckets are drawn again by the public hash. The chance of an arm is that among all units with the
same attributes that came to the same rule and took part in it: which buckets they may have is
followed from rule to rule, also where rules share a seed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.analysis import past
from belman.analysis.histories import Held, in_order, read_history
from belman.analysis.past import Assigned, Log, Truths, Whole
from belman.bridges.growthbook_conditions import Groups, fits, holds, kinds
from belman.bridges.growthbook_rules import Circle, Needed, Rule, owners, rules_of, word
from belman.bulk_hashes import buckets
from belman.errors import SettingError, listing, nearest

Payload = Mapping[str, Any]
SPELLINGS = ("value", "key", "index")
_JSON = "json"  # how values of prerequisites are called
_WRITTEN: Mapping[str, Callable[[Any], str]] = {"value": word, _JSON: json.dumps}


class Feature(NamedTuple):
    """The rules of a feature in one payload, and its value where none of them decides."""

    rules: list[Rule]
    default: Any


@dataclass(frozen=True)
class PayloadHistory:
    """A feature as the payloads of a history had it, one after the other.

    `features` has for every payload the feature and its prerequisites, by name, of those that were
    there.
    """

    feature: str
    held: tuple[Held[Payload], ...]
    features: tuple[Mapping[str, Feature], ...]

    @property
    def times(self) -> Sequence[float]:
        """Seconds since 1970 from which each payload held."""
        return [one.since for one in self.held]

    @cached_property
    def spellings(self) -> Mapping[str, Collection[str]]:
        """What arms may be called in a log: their values, their keys, or their numbers."""
        lists = {one: [_names(rule, one) for of in self._own for rule in of.rules]
                 for one in SPELLINGS}  # fmt: skip
        different = {str(names): one for one, names in reversed(lists.items())}
        result = {one: {name for names in lists[one] for name in names}
                 for one in SPELLINGS if one in different.values()}  # fmt: skip
        for rules, default in self._own:
            forced = {word(rule.forced) for rule in rules if rule.forced is not None}
            result["value"] |= {word(default), *forced}
        return result

    @property
    def topics(self) -> Collection[str]:
        """The names of the feature and of its experiments."""
        rules = (rule for of in self._own for rule in of.rules)
        return {self.feature, *(rule.key for rule in rules if not rule.is_holdout)}

    @property
    def _own(self) -> list[Feature]:
        return [of[self.feature] for of in self.features if self.feature in of]

    @property
    def _rules(self) -> Iterator[tuple[Rule, Groups]]:
        """All rules, those of prerequisites too, with the saved groups of their payload."""
        for payload, of in zip(self.held, self.features, strict=True):
            groups = _groups(payload.what)
            yield from ((rule, groups) for one in of.values() for rule in one.rules)

    def checked(self, log: Log) -> Log:
        """The log with a column for each attribute by which the feature was decided."""
        hashed = {one for rule, _ in self._rules for one in rule.hashed()}
        asked = {leaf.attribute for rule, _ in self._rules for leaf in rule.leaves()}
        self._kinds(log)
        return past.with_columns(log, sorted(hashed), sorted(asked), deep=True)

    def _kinds(self, log: Log) -> dict[str, type]:
        """As what kind the texts of a file are read for conditions, by attribute."""
        return {} if log.frame.typed else self._of_texts

    @cached_property
    def _of_texts(self) -> dict[str, type]:
        known: dict[str, set[type]] = {}
        for rule, groups in self._rules:
            for leaf in rule.leaves():
                known.setdefault(leaf.attribute, set()).update(kinds(leaf.asked, groups))
        for attribute, several in known.items():
            if several == {str, bool}:  # as leaves have it of a word that may be a truth
                several.remove(bool)
            if len(several) > 1 and list not in several:
                words = "texts in one condition and with others in another"
                raise SettingError(f"attribute {attribute!r} is compared with {words}")
        kind_of = {name: list if list in all_of else next(iter(all_of), None)
                   for name, all_of in known.items()}  # fmt: skip
        return {name: kind for name, kind in kind_of.items() if kind is not None}

    def assigned(self, version: int, log: Log, rows: Whole, spelling: str) -> Assigned:
        """Assign rows again by one payload.

        Parameters
        ----------
        version
            The place of the payload.
        log, rows
            The log, and the places of its rows.
        spelling
            What arms are called: by their value, key or index.
        """
        if self.feature not in self.features[version]:
            nothing = np.full(rows.size, -1, dtype=np.int64)
            reasons = np.full(rows.size, past.NO_FEATURE, dtype=np.int64)
            return Assigned((), nothing, np.zeros((rows.size, 0)), reasons)
        groups = _groups(self.held[version].what)
        units = _Units(log, rows, groups, self._kinds(log), self.features[version], {})
        run = _Run(units, self.feature, np.arange(rows.size), spelling)
        run.follow_all()
        return run.done()


def read_payloads(
    history: str | os.PathLike[str] | Mapping[float, Payload], feature: str | None = None
) -> PayloadHistory:
    """Read a history of GrowthBook's payloads.

    Parameters
    ----------
    history
        A folder with a file of JSON for every payload, as `/api/features/…` answers; the name of
        a file begins with the time from which the payload held, or else `dateUpdated` inside says
        it. Or payloads by that time, in seconds since 1970.
    feature
        The feature whose assignments are asked about; needed where several have experiments.

    Raises
    ------
    SettingError
        If times are missing or ambiguous, the feature is not there, or a rule of it cannot be
        followed.

    >>> rule = {"variations": ["a", "b"], "weights": [0.9, 0.1], "hashVersion": 2}
    >>> payload = {"features": {"offer": {"defaultValue": "a", "rules": [rule]}}}
    >>> result = read_payloads({0.0: payload})
    >>> result.feature, sorted(result.spellings["value"])
    ('offer', ['a', 'b'])
    """
    if isinstance(history, Mapping):
        given = [
            Held(float(since), f"the payload of {since}", _payload(one))
            for since, one in history.items()
        ]
        source, held = "the history", in_order(given, "the history")
    else:
        source = str(history)
        held = read_history(history, _payload, lambda one: _dict(one).get("dateUpdated"))
    names = dict.fromkeys(
        name
        for one in held
        for name, result in one.what["features"].items()
        if any("variations" in rule or "contextualVariations" in rule for rule in _rules(result))
    )
    if feature is None and len(names) == 1:
        feature = next(iter(names))
    if feature is None or feature not in names:
        has = f"it has experiments of {listing(names)}" if names else "it has no experiments"
        near = "" if feature is None else nearest(feature, names)
        asked = "which feature?" if feature is None else f"no experiment of feature {feature!r}:"
        raise SettingError(f"{source}: {asked} {has}{near}")
    made = []
    for one in held:
        try:
            made.append(features_of(one.what, feature))
        except SettingError as error:
            raise SettingError(f"{source}, {one.name}: {error}") from None
    return PayloadHistory(feature, tuple(held), tuple(made))


def features_of(payload: Payload, feature: str) -> dict[str, Feature]:
    """Read a feature and its prerequisites, those that the payload has; SettingError if chances
    cannot be computed by one of their rules.
    """
    bandits = _dict(payload.get("contextualBandits"))
    result: dict[str, Feature] = {}

    def read(name: str, below: tuple[str, ...]) -> None:
        if name in below:
            raise SettingError(f"prerequisites of feature {name!r} form a circle")
        if name in result or name not in payload["features"]:
            return
        own = _dict(payload["features"][name])
        made = Feature(rules_of(name, own, bandits), own.get("defaultValue"))
        for needed in (one for rule in made.rules for one in rule.needs):
            read(needed.feature, (*below, name))
        result[name] = made

    read(feature, ())
    return result


def _payload(result: Any) -> Payload:
    if isinstance(result, Mapping) and result.get("encryptedFeatures"):
        raise SettingError("this payload is encrypted: give it as the clients decrypt it")
    if not isinstance(result, Mapping) or not isinstance(result.get("features"), Mapping):
        raise SettingError('this is no payload of GrowthBook: {"features": …}')
    return result


def _dict(result: Any) -> Mapping[str, Any]:
    return result if isinstance(result, Mapping) else {}


def _rules(result: Any) -> list[Mapping[str, Any]]:
    rules = _dict(result).get("rules")
    return [one for one in rules if isinstance(one, Mapping)] if isinstance(rules, list) else []


def _groups(payload: Payload) -> Groups:
    return _dict(payload.get("savedGroups"))


def _names(rule: Rule, spelling: str) -> list[str]:
    """What the arms of a rule are called."""
    if spelling == "index":
        return [str(position) for position in range(len(rule.values))]
    if spelling == "key":
        return list(rule.keys)
    return [_WRITTEN[spelling](value) for value in rule.values]


class _Buckets:
    """The buckets of some rows on a circle, and which of all buckets each may have by what is known
    of its way through the rules.
    """

    def __init__(self, circle: Circle, log: Log, rows: Whole) -> None:
        hashed = log.hashed(circle.attribute)
        self.there: Truths = hashed.there[rows]
        self.result = buckets(circle.seed, circle.version, hashed.texts[rows])
        self.known = np.zeros(rows.size, dtype=np.int64)
        self.may_have: list[NDArray[np.bool_]] = [np.ones(circle.points, dtype=bool)]

    def split(self, at: Whole, inside: NDArray[np.bool_]) -> Truths:
        """Say which rows lie inside, and remember it."""
        result: Truths = inside[self.result[at]]
        before = self.known[at].copy()
        for one in np.unique(before):
            for is_in, part in ((True, inside), (False, ~inside)):
                self.known[at[(before == one) & (result == is_in)]] = len(self.may_have)
                self.may_have.append(self.may_have[one] & part)
        return result


class _Units(NamedTuple):
    """Rows of a log with the features of a payload, and the buckets that have been drawn."""

    log: Log
    rows: Whole
    groups: Groups
    of: Mapping[str, type]
    features: Mapping[str, Feature]
    circles: dict[Circle, _Buckets]


class _Run:
    """Rows `at` some places on their way through the rules of a feature."""

    def __init__(self, units: _Units, feature: str, at: Whole, spelling: str) -> None:
        self.units, self.spelling = units, spelling
        self.rules, default = units.features[feature]
        known = [name for rule in self.rules for name in _names(rule, spelling)]
        write = _WRITTEN.get(spelling)
        if write is not None:
            known += [write(rule.forced) for rule in self.rules if rule.forced is not None]
            known.append(write(default))
        self.names = {name: position for position, name in enumerate(dict.fromkeys(known))}
        last = next((_names(rule, spelling)[0] for rule in reversed(self.rules) if rule.values), "")
        nobody = self.names.get(last if write is None else write(default), -1)
        self.seen = np.full(units.rows.size, nobody, dtype=np.int64)
        self.chances = np.zeros((units.rows.size, len(self.names)))
        self.reasons = np.full(units.rows.size, past.TARGETING, dtype=np.int64)
        self.open = np.zeros(units.rows.size, dtype=bool)
        self.open[at] = True

    def done(self) -> Assigned:
        """What came of all rows."""
        return Assigned(tuple(self.names), self.seen, self.chances, self.reasons)

    def follow_all(self) -> None:
        """Follow every rule."""
        for rule in self.rules:
            self._follow(rule)

    def _follow(self, rule: Rule) -> None:
        """Let the rows that no rule before has decided come to this one."""
        at = np.flatnonzero(self.open)
        for needed in rule.needs:
            at = self._fit(at, needed)
        at = self._where(at, rule.condition)
        for test in rule.tests:
            at = self._inside(at, test.circle, test.inside, past.NAMESPACE)
        if rule.forced is not None:
            for part in rule.parts:
                share = owners(part.ranges, rule.circle.points) >= 0
                at = self._inside(at, rule.circle, share, past.COVERAGE)
            forced = _WRITTEN.get(self.spelling, word)(rule.forced)
            self._close(at, self.names.get(forced, -1), past.FORCED)
            return
        for part in rule.parts:
            own = at if part.condition is None else self._where(at, part.condition)
            at = np.setdiff1d(at, own, assume_unique=True)
            self._draw(rule, own, owners(part.ranges, rule.circle.points))

    def _close(self, at: Whole, seen: Whole | int, reason: int) -> None:
        self.seen[at], self.reasons[at], self.open[at] = seen, reason, False

    def _fit(self, at: Whole, needed: Needed) -> Whole:
        """The rows for which another feature has the value that it has to have.

        What that says of their buckets is kept, arm by arm, so that chances are those among units
        for which the other feature had the same value.
        """
        values: list[Any] = [None]
        positions = np.zeros(self.units.rows.size, dtype=np.int64)
        if needed.feature in self.units.features:
            run = _Run(self.units, needed.feature, at, _JSON)
            run.follow_all()
            values, positions = [*map(json.loads, run.names), None], run.seen
        fitting = [fits(needed.condition, {"value": one}, self.units.groups) for one in values]
        met = np.array(fitting, dtype=bool)[positions[at]]
        if needed.gate:
            self._close(at[~met], -1, past.PREREQUISITE)
        result: Whole = at[met]
        return result

    def _where(self, at: Whole, condition: Any) -> Whole:
        if not condition or not at.size:
            return at
        own = self.units
        chosen = holds(condition, own.log, own.rows[at], own.groups, own.of)
        return at[chosen]

    def _inside(self, at: Whole, circle: Circle, inside: NDArray[np.bool_], reason: int) -> Whole:
        """The rows with a bucket inside; the reason of the others is kept."""
        circles = self.units.circles
        if circle not in circles:
            circles[circle] = _Buckets(circle, self.units.log, self.units.rows)
        own = circles[circle]
        there = own.there[at]
        self._give(at[~there], past.NO_UNIT)
        at = at[there]
        result = own.split(at, inside)
        self._give(at[~result], reason)
        return at[result]

    def _give(self, at: Whole, reason: int) -> None:
        self.reasons[at] = np.maximum(self.reasons[at], reason)

    def _draw(self, rule: Rule, at: Whole, owner: Whole) -> None:
        """Give arms to rows by their buckets, with the chances of all who may be there."""
        at = self._inside(at, rule.circle, owner >= 0, past.COVERAGE)
        if rule.passing:
            stays = ~np.isin(owner, list(rule.passing))
            at = self._inside(at, rule.circle, stays, past.TARGETING)
        if not at.size:
            return
        own, names = self.units.circles[rule.circle], _names(rule, self.spelling)
        positions = np.array([self.names[name] for name in names], dtype=np.int64)
        self._close(at, positions[owner[own.result[at]]], past.LOT)
        if rule.is_holdout:
            self.reasons[at] = past.HOLDOUT
            return
        for one in np.unique(own.known[at]):
            counts = np.bincount(owner[own.may_have[one]], minlength=len(names))
            chances = np.bincount(positions, weights=counts, minlength=len(self.names))
            self.chances[at[own.known[at] == one]] = chances / counts.sum()
        if self.spelling == _JSON:  # a prerequisite: its arms are known from here on
            for arm in range(len(names)):
                own.split(at, owner == arm)

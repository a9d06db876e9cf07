"""What GrowthBook's clients assigned in the past, from the payloads that they had.

Buckets are drawn again by the public hash. The chance of an arm is that among all units with the
same attributes that came to the same rule and took part in it: which buckets they may have is
followed from rule to rule, also where rules share a seed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.analysis import past
from belman.analysis.histories import Held, in_order, read_history
from belman.analysis.past import Assigned, Log, Truths, Whole
from belman.bridges.growthbook_conditions import Groups, holds, kinds
from belman.bridges.growthbook_rules import Circle, Rule, owners, rules_of, word
from belman.bulk_hashes import buckets
from belman.errors import SettingError, listing, nearest

Payload = Mapping[str, Any]
SPELLINGS = ("value", "key", "index")


@dataclass(frozen=True)
class PayloadHistory:
    """A feature as the payloads of a history had it, one after the other.

    `rules` has the rules and the default value of the feature for every payload, None where it was
    not there.
    """

    feature: str
    held: tuple[Held[Payload], ...]
    rules: tuple[tuple[list[Rule], Any] | None, ...]

    @property
    def times(self) -> Sequence[float]:
        """Seconds since 1970 from which each payload held."""
        return [one.since for one in self.held]

    @cached_property
    def spellings(self) -> Mapping[str, Collection[str]]:
        """What arms may be called in a log: their values, their keys, or their numbers."""
        lists = {one: [_names(rule, one) for rules in self._all for rule in rules]
                 for one in SPELLINGS}  # fmt: skip
        different = {str(names): one for one, names in reversed(lists.items())}
        found = {one: {name for names in lists[one] for name in names}
                 for one in SPELLINGS if one in different.values()}  # fmt: skip
        for rules, default in filter(None, self.rules):
            forced = {word(rule.forced) for rule in rules if rule.forced is not None}
            found["value"] |= {word(default), *forced}
        return found

    @property
    def topics(self) -> Collection[str]:
        """The names of the feature and of its experiments."""
        return {self.feature, *(rule.key for rules in self._all for rule in rules)}

    @property
    def _all(self) -> list[list[Rule]]:
        return [rules for rules, _ in filter(None, self.rules)]

    def checked(self, log: Log) -> Log:
        """The log with a column for each attribute by which the feature was decided."""
        hashed = {one for rules in self._all for rule in rules for one in rule.hashed()}
        return past.with_columns(log, sorted(hashed), sorted(self._kinds))

    @cached_property
    def _kinds(self) -> dict[str, type | None]:
        """The attributes of all conditions, and as what kind texts of a file are read for them."""
        known: dict[str, set[type]] = {}
        for payload, of in zip(self.held, self.rules, strict=True):
            for rule in of[0] if of else ():
                for leaf in rule.leaves():
                    own = known.setdefault(leaf.attribute, set())
                    own |= kinds(leaf.asked, _groups(payload.what))
        for attribute, several in known.items():
            if several == {str, bool}:  # as leaves have it of a word that may be a truth
                several.remove(bool)
            if len(several) > 1:
                words = "texts in one condition and with others in another"
                raise SettingError(f"attribute {attribute!r} is compared with {words}")
        return {name: next(iter(several), None) for name, several in known.items()}

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
        of = self.rules[version]
        if of is None:
            nothing = np.full(rows.size, -1, dtype=np.int64)
            reasons = np.full(rows.size, past.NO_FEATURE, dtype=np.int64)
            return Assigned((), nothing, np.zeros((rows.size, 0)), reasons)
        kinds_of = {name: kind for name, kind in self._kinds.items() if kind is not None}
        run = _Run(of[0], of[1], log, rows, _groups(self.held[version].what), kinds_of, spelling)
        for rule in of[0]:
            run.follow(rule)
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
    >>> found = read_payloads({0.0: payload})
    >>> found.feature, sorted(found.spellings["value"])
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
        for name, found in one.what["features"].items()
        if any("variations" in rule or "contextualVariations" in rule for rule in _rules(found))
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
        found = one.what["features"].get(feature)
        try:
            bandits = _dict(one.what.get("contextualBandits"))
            rules = None if found is None else rules_of(feature, _dict(found), bandits)
        except SettingError as error:
            raise SettingError(f"{source}, {one.name}: {error}") from None
        made.append(None if rules is None else (rules, found.get("defaultValue")))
    return PayloadHistory(feature, tuple(held), tuple(made))


def _payload(found: Any) -> Payload:
    if isinstance(found, Mapping) and found.get("encryptedFeatures"):
        raise SettingError("this payload is encrypted: give it as the clients decrypt it")
    if not isinstance(found, Mapping) or not isinstance(found.get("features"), Mapping):
        raise SettingError('this is no payload of GrowthBook: {"features": …}')
    return found


def _dict(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _rules(found: Any) -> list[Mapping[str, Any]]:
    rules = _dict(found).get("rules")
    return [one for one in rules if isinstance(one, Mapping)] if isinstance(rules, list) else []


def _groups(payload: Payload) -> Groups:
    return _dict(payload.get("savedGroups"))


def _names(rule: Rule, spelling: str) -> list[str]:
    """What the arms of a rule are called."""
    if spelling == "index":
        return [str(place) for place in range(len(rule.values))]
    return list(rule.keys) if spelling == "key" else [word(value) for value in rule.values]


class _Buckets:
    """The buckets of some rows on a circle, and which of all buckets each may have by what is known
    of its way through the rules.
    """

    def __init__(self, circle: Circle, log: Log, rows: Whole) -> None:
        hashed = log.hashed(circle.attribute)
        self.there: Truths = hashed.there[rows]
        self.found = buckets(circle.seed, circle.version, hashed.texts[rows])
        self.known = np.zeros(rows.size, dtype=np.int64)
        self.may_have: list[NDArray[np.bool_]] = [np.ones(circle.points, dtype=bool)]

    def split(self, at: Whole, inside: NDArray[np.bool_]) -> Truths:
        """Say which rows lie inside, and remember it."""
        found: Truths = inside[self.found[at]]
        before = self.known[at].copy()
        for one in np.unique(before):
            for is_in, part in ((True, inside), (False, ~inside)):
                self.known[at[(before == one) & (found == is_in)]] = len(self.may_have)
                self.may_have.append(self.may_have[one] & part)
        return found


class _Run:
    """Rows on their way through the rules of a feature."""

    def __init__(
        self,
        rules: Sequence[Rule],
        default: Any,
        log: Log,
        rows: Whole,
        groups: Groups,
        of: Mapping[str, type],
        spelling: str,
    ) -> None:
        self.log, self.rows, self.groups, self.of, self.spelling = log, rows, groups, of, spelling
        told = [name for rule in rules for name in _names(rule, spelling)]
        if spelling == "value":
            told += [word(rule.forced) for rule in rules if rule.forced is not None]
            told.append(word(default))
        self.names = {name: place for place, name in enumerate(dict.fromkeys(told))}
        last = next((_names(rule, spelling)[0] for rule in reversed(rules) if rule.values), "")
        nobody = self.names.get(word(default) if spelling == "value" else last, -1)
        self.seen = np.full(rows.size, nobody, dtype=np.int64)
        self.chances = np.zeros((rows.size, len(self.names)))
        self.reasons = np.full(rows.size, past.TARGETING, dtype=np.int64)
        self.open = np.ones(rows.size, dtype=bool)
        self.circles: dict[Circle, _Buckets] = {}

    def done(self) -> Assigned:
        """What came of all rows."""
        return Assigned(tuple(self.names), self.seen, self.chances, self.reasons)

    def follow(self, rule: Rule) -> None:
        """Let the rows that no rule before has decided come to this one."""
        at = self._where(np.flatnonzero(self.open), rule.condition)
        for test in rule.tests:
            at = self._inside(at, test.circle, test.inside, past.NAMESPACE)
        if rule.forced is not None:
            for part in rule.parts:
                share = owners(part.ranges, rule.circle.points) >= 0
                at = self._inside(at, rule.circle, share, past.COVERAGE)
            self.seen[at] = self.names.get(word(rule.forced), -1)
            self.reasons[at], self.open[at] = past.FORCED, False
            return
        for part in rule.parts:
            own = at if part.condition is None else self._where(at, part.condition)
            at = np.setdiff1d(at, own, assume_unique=True)
            self._draw(rule, own, owners(part.ranges, rule.circle.points))

    def _where(self, at: Whole, condition: Any) -> Whole:
        if not condition or not at.size:
            return at
        chosen = holds(condition, self.log, self.rows[at], self.groups, self.of)
        return at[chosen]

    def _inside(self, at: Whole, circle: Circle, inside: NDArray[np.bool_], reason: int) -> Whole:
        """The rows with a bucket inside; the reason of the others is kept."""
        if circle not in self.circles:
            self.circles[circle] = _Buckets(circle, self.log, self.rows)
        own = self.circles[circle]
        there = own.there[at]
        self._give(at[~there], past.NO_UNIT)
        at = at[there]
        found = own.split(at, inside)
        self._give(at[~found], reason)
        return at[found]

    def _give(self, at: Whole, reason: int) -> None:
        self.reasons[at] = np.maximum(self.reasons[at], reason)

    def _draw(self, rule: Rule, at: Whole, owner: Whole) -> None:
        """Give arms to rows by their buckets, with the chances of all who may be there."""
        at = self._inside(at, rule.circle, owner >= 0, past.COVERAGE)
        own = self.circles[rule.circle] if at.size else None
        if own is None:
            return
        names = _names(rule, self.spelling)
        places = np.array([self.names[name] for name in names], dtype=np.int64)
        self.seen[at] = places[owner[own.found[at]]]
        for one in np.unique(own.known[at]):
            counts = np.bincount(owner[own.may_have[one]], minlength=len(names))
            chances = np.bincount(places, weights=counts, minlength=len(self.names))
            self.chances[at[own.known[at] == one]] = chances / counts.sum()
        self.reasons[at], self.open[at] = past.LOT, False

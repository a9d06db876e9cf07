"""What weights documents assigned in the past, by belman's hash, GrowthBook's or Eppo's."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from belman.analysis import past
from belman.analysis.histories import Held, in_order, read_history
from belman.analysis.past import Assigned, Log, Whole
from belman.assignment import Weights
from belman.assignment.assigners import Elsewhere
from belman.assignment.contexts import NUMBER
from belman.assignment.documents import Arm
from belman.bulk_assignment import assign_many
from belman.errors import SettingError

#: What a log calls the attribute by which units of weights documents are hashed.
UNIT = "unit"


@dataclass(frozen=True)
class WeightsHistory:
    """Versions of a study's weights, one after the other."""

    study: str
    held: tuple[Held[Weights], ...]

    @property
    def times(self) -> Sequence[float]:
        """Seconds since 1970 from which each version held."""
        return [one.since for one in self.held]

    @cached_property
    def spellings(self) -> Mapping[str, Collection[str]]:
        """What arms may be called in a log: their names."""
        return {"value": {_word(arm) for one in self.held for arm in one.what.arms}}

    @property
    def topics(self) -> Collection[str]:
        """The name of the study."""
        return {self.study}

    def checked(self, log: Log) -> Log:
        """The log with the column of units and those of contexts."""
        named = {
            name
            for one in self.held
            if one.what.contexts is not None
            for name in one.what.contexts.names
        }
        return past.with_columns(log, [UNIT], sorted(named))

    def assigned(self, version: int, log: Log, rows: Whole, spelling: str) -> Assigned:
        """Assign rows again by one version of the weights."""
        weights, hashed = self.held[version].what, log.hashed(UNIT)
        names = tuple(map(_word, weights.arms))
        units, there = hashed.texts[rows], hashed.there[rows]
        reasons = np.where(there, past.LOT, past.NO_UNIT)
        chances = np.tile(np.array(weights.weights), (rows.size, 1))
        if weights.contexts is None:
            seen = assign_many(weights, units).positions
        else:
            seen, chances = _in_contexts(weights, log, rows, units)
        reasons[there & (seen < 0)] = past.COVERAGE
        seen[~there] = -1
        chances[reasons != past.LOT] = 0.0
        return Assigned(names, seen, chances, reasons)


def read_weights(
    history: str | os.PathLike[str] | Iterable[Weights], study: str | None = None
) -> WeightsHistory:
    """Read a history of weights documents.

    Parameters
    ----------
    history
        A folder with a JSON file for every version, as `study.weights().to_json()` and
        `/api/studies/…/weights` give it; the name of a file begins with the time from which it
        held, or else `published` inside says it. Signed ones are read too, and signatures are not
        checked. Or the weights themselves, which say when they were published.
    study
        The study whose documents they must be.

    Returns
    -------
    WeightsHistory
        The versions in the order of time, for `time_machine`.

    Raises
    ------
    SettingError
        If a document cannot be read, says nothing of its time, or is of another study or segment.

    >>> first = Weights.of("checkout", {"blue": 0.9, "green": 0.1}, salt="s1", published=10.0)
    >>> second = first.following({"blue": 0.5, "green": 0.5}, published=20.0)
    >>> read_weights([second, first]).times
    [10.0, 20.0]
    """
    if isinstance(history, (str, os.PathLike)):
        source = str(history)
        held = read_history(history, _document, _published)
    else:
        source, result = "the history", list(history)
        if any(one.published is None for one in result):
            raise SettingError("weights that were never published held at no time")
        held = in_order(
            [Held(one.published or 0.0, f"version {one.version}", one) for one in result], source
        )
    first = held[0].what
    for one in held:
        of = one.what
        if (of.study, of.segment) != (first.study, first.segment):
            words = f"is of {_called(of)}, and {held[0].name} of {_called(first)}"
            raise SettingError(f"{source}: {one.name} {words}: give the documents of one")
        if isinstance(of.assigner, Elsewhere):
            raise SettingError(f"{source}: {one.name}: its lots cannot be drawn again")
    if study is not None and study != first.study:
        raise SettingError(f"{source} has the weights of {first.study!r}, and not of {study!r}")
    return WeightsHistory(first.study, tuple(held))


def _document(result: Any) -> Weights:
    return Weights.from_described(_inner(result))


def _published(result: Any) -> Any:
    inner = _inner(result)
    return inner.get("published") if isinstance(inner, Mapping) else None


def _inner(result: Any) -> Any:
    """A document without the envelope of its signature."""
    text = result.get("payload") if isinstance(result, Mapping) else None
    return json.loads(text) if isinstance(text, str) else result


def _called(weights: Weights) -> str:
    own = "" if weights.segment is None else f", segment {weights.segment!r}"
    return f"study {weights.study!r}{own}"


def _word(arm: Arm) -> str:
    return str(arm).lower() if isinstance(arm, bool) else str(arm)


def _in_contexts(weights: Weights, log: Log, rows: Whole, units: Any) -> tuple[Whole, Any]:
    """The arms of units by their contexts: each context's chances are computed once."""
    assert weights.contexts is not None
    named = weights.contexts.names
    columns = [log.column(one, float if kind == NUMBER else str) for one, kind in named.items()]
    positions = np.stack([column.positions[rows] for column in columns], axis=1)
    different, of = np.unique(positions, axis=0, return_inverse=True)
    seen = np.full(rows.size, -1, dtype=np.int64)
    chances = np.zeros((rows.size, len(weights.arms)))
    for one, positions_of in enumerate(different):
        own = np.flatnonzero(of.ravel() == one)
        context = {
            name: column.values[position]
            for name, column, position in zip(named, columns, positions_of, strict=True)
        }
        shares = weights.chances(context)
        of_arms = dict(zip(weights.arms, shares, strict=True))
        there = Weights.of(weights.study, of_arms, salt=weights.salt, assigner=weights.assigner)
        seen[own], chances[own] = assign_many(there, units[own]).positions, shares
    return seen, chances

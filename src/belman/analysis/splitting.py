"""Segments: columns to split by, texts as they are, numbers cut in groups, rare values taken
together; and how the leader does in each.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.analysis.estimates import Metric, estimate, from_totals, sample
from belman.analysis.known import Kind, beliefs_of
from belman.analysis.rows import Account, Rows
from belman.errors import SettingError
from belman.families import Family
from belman.frames import Frame
from belman.measures.lift import Units
from belman.measures.report import Report
from belman.measures.segments import Segments, compared, segments
from belman.table import number

_MOST_NUMBERS = 12  # different numbers that are left as they are
_GROUPS = 4
_MOST_TEXTS = 20
OTHER = "(others)"


def split_by(texts: NDArray[np.str_], name: str) -> tuple[NDArray[np.str_], list[str]]:
    """The segment of every row, and what was done to the column.

    >>> result, said = split_by(np.array([str(age) for age in range(20, 60)]), "age")
    >>> sorted(set(result.tolist())), said
    (['20 to 29', '30 to 39', '40 to 49', '50 to 59'], ['age was cut in 4 groups of like size.'])
    """
    values, counts = np.unique(texts, return_counts=True)
    if values.size > _MOST_NUMBERS:
        numbers = Frame("", {name: texts.tolist()}).values(name)
        if all(isinstance(one, (float, type(None))) for one in numbers):
            return _cut(np.array([np.nan if x is None else x for x in numbers]), name)
    if values.size <= _MOST_TEXTS:
        return texts, []
    kept = values[np.argsort(-counts, kind="stable")[: _MOST_TEXTS - 1]]
    rest = values.size - kept.size
    said = f"{rest:,} rarer values of {name} were taken together as {OTHER}."
    return np.where(np.isin(texts, kept), texts, OTHER), [said]


def _cut(values: NDArray[np.float64], name: str) -> tuple[NDArray[np.str_], list[str]]:
    known = values[~np.isnan(values)]
    ends = np.unique(np.quantile(known, np.arange(1, _GROUPS) / _GROUPS, method="inverted_cdf"))
    position = np.searchsorted(ends, values)  # NaN sorts last
    labels = []
    for group in range(ends.size + 1):
        own = known[np.searchsorted(ends, known) == group]
        labels.append(
            f"{number(float(own.min()))} to {number(float(own.max()))}" if own.size else ""
        )
    result = np.array(labels)[np.minimum(position, ends.size)]
    result = np.where(np.isnan(values), "(none)", result)
    groups = np.unique(result).size
    return result, [f"{name} was cut in {groups} groups of like size."]


def segments_by(
    name: str, rows: Rows, metric: Metric, kind: Kind, base: Report, units: Units, account: Account
) -> Segments:
    """The leader beside control, or beside the runner-up, in every segment that has both."""
    mine, other = map(str, compared(base))
    positions = [rows.names.index(one) for one in (mine, other)]
    texts, words = split_by(rows.texts[name], name)
    account.said += words
    beliefs, plays = {}, {}
    distribution: Family | None = None
    for value in np.unique(texts):
        part = rows.where(texts == value)
        if not all((part.arms == position).any() for position in positions):
            continue
        if rows.counts is not None:
            some = from_totals(part, metric.column)
        else:
            some = estimate(sample(part, metric, None), metric, len(rows.names))
        pair = [some.arms[position] for position in positions]
        if all(one.units >= 2 and math.isfinite(one.error) for one in pair):
            distribution, *both = beliefs_of(kind, pair, units.minimise)
            beliefs[str(value)] = (both[0], both[1])
            plays[str(value)] = float(sum(one.units for one in pair))
    if distribution is None:
        raise SettingError(f"no {name} has rewards of both {mine!r} and {other!r}")
    return segments(name, distribution, beliefs, plays, mine, other, units)

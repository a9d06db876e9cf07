"""What a metric is for each arm, with its error: means, ratios, percentiles, by independent units.

Units are rows, or whoever had several of them: users, shops, hours of a switchback. A mean or a
ratio of sums R = ΣY/ΣN has the error of the mean of (Y − R·N)/N̄ over units (the delta method), so
that rows of one unit may depend on one another as they like. A covariate from before the experiment
takes out what it foretells (CUPED), with one slope for all arms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.analysis.rows import Rows
from belman.errors import SettingError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

ROW = "row"
_KIND = re.compile(r"(?:(mean|total|median|p\d{1,2}(?:\.\d+)?|winsor\d{0,2}(?:\.\d+)?):)?(.+)")
_CAPPED = 0.99  # the share of units below the cap of `winsor`


@dataclass(frozen=True)
class Metric:
    """What is asked of a column: its mean over units, or over rows or another column (`per`), a
    percentile of rows (`level`), or a mean of values that are cut at a percentile (`cap`).
    """

    text: str
    column: str
    per: str | None = None
    level: float | None = None
    cap: float | None = None

    @classmethod
    def read(cls, text: str) -> Metric:
        """Read the words of a metric.

        >>> Metric.read("p90:latency").level, Metric.read("revenue/sessions").per
        (0.9, 'sessions')
        >>> Metric.read("winsor95:revenue").cap
        0.95
        """
        result = _KIND.fullmatch(text.strip())
        assert result is not None or not text.strip()
        if result is None:
            raise SettingError("metric='' is empty: write a column, revenue/sessions, p90:latency")
        kind, rest = result[1] or "mean", result[2]
        column, _, per = (part.strip() for part in rest.partition("/"))
        level = 0.5 if kind == "median" else float(kind[1:]) / 100.0 if kind[0] == "p" else None
        cap = None
        if kind.startswith("winsor"):
            cap = float(kind[6:]) / 100.0 if kind[6:] else _CAPPED
        if level == 0.0 or (cap is not None and not 0.5 < cap < 1.0) or (level and per):
            allowed = "p1 to p99.9 of a column, or winsor51 to winsor99.9"
            raise SettingError(f"metric={text!r} is not valid: write {allowed}")
        return cls(text.strip(), column, per or None, level, cap)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return (self.column, *((self.per,) if self.per not in (None, ROW) else ()))


class Sample(NamedTuple):
    """Independent units: the arm of each, sums of the metric and of what it is per, a covariate,
    when each began, and the rows of each (for percentiles: their unit and value).
    """

    arms: Whole
    sums: Floats
    sizes: Floats
    before: Floats | None
    times: Floats | None
    values: tuple[Whole, Floats] | None = None

    @property
    def is_coin(self) -> bool:
        """Whether every unit has a 0 or a 1."""
        return bool((self.sizes == 1.0).all() and np.isin(self.sums, (0.0, 1.0)).all())


class Estimate(NamedTuple):
    """One arm: its units, the value of the metric, its standard error, degrees of freedom."""

    units: int
    value: float
    error: float
    freedom: float


class Estimates(NamedTuple):
    """All arms, and the share of the variance that a covariate took out (None without one)."""

    arms: tuple[Estimate, ...]
    gain: float | None = None


def sample(rows: Rows, metric: Metric, before: str | None) -> Sample:
    """Sum rows by unit; rows without a value of the metric must have been left out."""
    y = rows.numbers[metric.column]
    per = np.ones(len(rows)) if metric.per in (None, ROW) else rows.numbers[metric.per or ""]
    x = None if before is None else rows.numbers[before]
    if rows.units is None:
        own = np.arange(len(rows))
        return Sample(rows.arms, y, per, x, rows.times, (own, y) if metric.level else None)
    _, first, position = np.unique(rows.units, return_index=True, return_inverse=True)
    sums: Floats = np.bincount(position, y).astype(np.float64)
    sizes: Floats = np.bincount(position, per).astype(np.float64)
    if metric.per is None and metric.level is None:
        sizes = np.ones(first.size)
        if np.isin(y, (0.0, 1.0)).all():
            sums = np.minimum(sums, 1.0)  # whoever converted, however often
    if x is not None:
        known = ~np.isnan(x)
        of = np.bincount(position, known)
        with np.errstate(invalid="ignore"):
            x = np.bincount(position, np.where(known, x, 0.0)) / np.where(of > 0, of, np.nan)
    times = None if rows.times is None else rows.times[first]  # rows are in the order of time
    values = (position, y) if metric.level else None
    return Sample(rows.arms[first], sums, sizes, x, times, values)


def capped(result: Sample, cap: float) -> Sample:
    """Cut sums of units at the percentile of all of them, below as well where there are losses."""
    high = float(np.quantile(result.sums, cap))
    low = float(np.quantile(result.sums, 1.0 - cap)) if (result.sums < 0.0).any() else -math.inf
    return result._replace(sums=np.clip(result.sums, low, high))


def estimate(result: Sample, metric: Metric, arms: int) -> Estimates:
    """The metric of every arm; SettingError where an arm has fewer than two units.

    >>> result = Sample(np.array([0, 0, 1, 1]), np.array([1.0, 3, 5, 5]), np.ones(4), None, None)
    >>> [one[:3] for one in estimate(result, Metric.read("x"), 2).arms]
    [(2, 2.0, 1.0), (2, 5.0, 0.0)]
    """
    if metric.cap is not None:
        result = capped(result, metric.cap)
    if metric.level is not None:
        return Estimates(tuple(_percentile(result, metric.level, a) for a in range(arms)))
    values, parts = np.zeros(arms), np.zeros(result.sums.size)
    for a in range(arms):
        own = result.arms == a
        total = float(result.sizes[own].sum())
        values[a] = float(result.sums[own].sum()) / total if total else math.nan
        mean = total / max(int(own.sum()), 1)
        parts[own] = (result.sums[own] - values[a] * result.sizes[own]) / (mean or math.nan)
    if result.before is None:
        return Estimates(_errors(values, parts, result.arms))
    plain = _errors(values, parts, result.arms)
    x = np.where(np.isnan(result.before), np.nanmean(result.before), result.before)
    slope, centred = _slope(x, parts, result.arms, arms)
    shifts = [slope * (float(x[result.arms == a].mean()) - float(x.mean())) for a in range(arms)]
    adjusted = _errors(values - np.array(shifts), parts - slope * centred, result.arms)
    was, now = (sum(one.error**2 for one in some) for some in (plain, adjusted))
    return Estimates(adjusted, 1.0 - now / was if was else 0.0)


def _errors(values: Floats, parts: Floats, of: Whole) -> tuple[Estimate, ...]:
    result = []
    for a, value in enumerate(values.tolist()):
        own = parts[of == a]
        error = math.sqrt(float(own.var(ddof=1)) / own.size) if own.size > 1 else math.nan
        result.append(Estimate(own.size, value, error, max(own.size - 1.0, 0.0)))
    return tuple(result)


def _slope(x: Floats, parts: Floats, of: Whole, arms: int) -> tuple[float, Floats]:
    """The slope of parts on a covariate within arms, and the covariate about each arm's mean."""
    centred = x.copy()
    for a in range(arms):
        own = of == a
        if own.any():
            centred[own] -= x[own].mean()
    spread = float(centred @ centred)
    return (float(centred @ parts) / spread if spread > 0.0 else 0.0), centred


def _percentile(result: Sample, level: float, arm: int) -> Estimate:
    """A percentile of an arm's rows, its error from that of the share below it (Woodruff)."""
    assert result.values is not None
    position, values = result.values
    own = result.arms[position] == arm
    mine, unit = values[own], position[own]
    units = np.unique(unit)
    if units.size < 2:
        return Estimate(units.size, math.nan, math.nan, 0.0)
    value = float(np.quantile(mine, level))
    rows = np.bincount(unit, minlength=result.arms.size)[units].astype(np.float64)
    below = np.bincount(unit, (mine <= value) - level, minlength=result.arms.size)[units]
    part = (below - below.sum() / rows.sum() * rows) / rows.mean()
    doubt = math.sqrt(float(part.var(ddof=1)) / units.size)
    ends = np.clip([level - 1.959964 * doubt, level + 1.959964 * doubt], 0.0, 1.0)
    low, high = np.quantile(mine, ends)
    return Estimate(units.size, value, float(high - low) / (2.0 * 1.959964), units.size - 1.0)


def from_totals(rows: Rows, column: str) -> Estimates:
    """The mean of every arm from visitors, sums and, where they are not conversions, squares."""
    assert rows.counts is not None
    result = []
    for a in range(len(rows.names)):
        own = rows.arms == a
        n, total = float(rows.counts[own].sum()), float(rows.numbers[column][own].sum())
        squares = total if rows.squares is None else float(rows.squares[own].sum())
        mean = total / n if n else math.nan
        variance = (squares - n * mean * mean) / (n - 1.0) if n > 1.0 else math.nan
        error = math.sqrt(max(variance, 0.0) / n) if n > 1.0 else math.nan
        result.append(Estimate(int(n), mean, error, max(n - 1.0, 0.0)))
    return Estimates(tuple(result))


def covered(names: Sequence[str], result: Estimates, metric: str) -> None:
    """Refuse a metric if some arm has fewer than two units with it."""
    for name, one in zip(names, result.arms, strict=True):
        if one.units < 2 or not math.isfinite(one.error):
            raise SettingError(
                f"arm {name!r} has {one.units} units with {metric}: two are needed for an error"
            )

"""Do means, or differences between arms, change over time? At one look, by days or other blocks.

A mean that changes in all arms alike (weekends, seasons) does not spoil a comparison whose shares
of traffic stay the same; a difference that changes (novelty that wears off) does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.measures.sentences import percent
from belman.measures.soundness import RISK, Finding
from belman.table import number

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_DAY = 86_400.0
_MOST, _OTHERWISE = 60, 12  # blocks: days at most; and parts of a shorter time
_LEAST = 30.0  # rewards of an arm in a block
_SATURDAY = 2  # days after the first of January 1970, a Thursday


class Series(NamedTuple):
    """Rewards in the order of time: arm, time (None: in order alone), how many, sum and squares."""

    arms: Whole
    times: Floats | None
    counts: Floats
    sums: Floats
    squares: Floats


class Blocks(NamedTuple):
    """By arm and block: how many rewards, their mean, and the variance of that mean."""

    counts: Floats
    means: Floats
    variances: Floats

    @property
    def values(self) -> Floats:
        """The mean of each arm."""
        return np.asarray((self.counts * self.means).sum(1) / self.counts.sum(1))


def findings(names: tuple[str, ...], series: Series, pair: tuple[int, int]) -> list[Finding]:
    """Whether rewards change over time, and whether the difference of two arms does."""
    block, label = _blocks(series)
    result = _table(series, block, len(names))
    if result is None:
        return []
    if series.times is None:
        one = _difference(names, result, pair, label)
        return [replace(one, sentence=f"{one.sentence[:-1]}, if rows are in the order of time.")]
    weekend = _weekend(series, len(names))
    return [_means(result, label, weekend), _difference(names, result, pair, label)]


def _blocks(series: Series) -> tuple[Whole, str]:
    """The block of every reward, and what blocks are called."""
    if series.times is not None:
        days = np.floor(series.times / _DAY)
        span = int(days.max() - days.min()) + 1
        if span >= 4:
            width = math.ceil(span / _MOST)
            return ((days - days.min()) // width).astype(np.int64), "days"
    done = np.cumsum(series.counts) - 0.5 * series.counts
    part = done / max(float(series.counts.sum()), 1.0) * _OTHERWISE
    return np.minimum(part.astype(np.int64), _OTHERWISE - 1), "parts of the time"


def _table(series: Series, block: Whole, arms: int) -> Blocks | None:
    """Sums by arm and block, neighbouring blocks taken together until each arm has enough."""
    size = int(block.max()) + 1
    cell = series.arms * size + block
    counts, sums, squares = (
        np.bincount(cell, values, arms * size).reshape(arms, size).astype(np.float64)
        for values in (series.counts, series.sums, series.squares)
    )
    starts, filled = [0], np.zeros(arms)
    for j in range(size):
        if (filled >= _LEAST).all():
            starts.append(j)
            filled = np.zeros(arms)
        filled = filled + counts[:, j]
    if (filled < _LEAST).any() and len(starts) > 1:
        starts.pop()
    if len(starts) < 2:
        return None
    counts, sums, squares = (np.add.reduceat(x, starts, axis=1) for x in (counts, sums, squares))
    total, means = counts.sum(1, keepdims=True), sums / counts
    # one variance an arm, within blocks: that of a block with few conversions is too often near 0
    within = (squares - counts * means**2).sum(1, keepdims=True) / np.maximum(
        total - len(starts), 1
    )
    return Blocks(counts, means, np.maximum(within, 1e-300) / counts)


def _changes(values: Floats, variances: Floats) -> float:
    """The chance that equal values differ as much: of their spread, or of a trend among them."""
    from scipy.special import chdtrc, ndtr

    weights = 1.0 / variances
    gaps = values - (weights * values).sum() / weights.sum()
    spread = float(chdtrc(values.size - 1, float((weights * gaps**2).sum())))
    order = np.arange(values.size) - (weights * np.arange(values.size)).sum() / weights.sum()
    slope = float((weights * order * gaps).sum()) / math.sqrt(float((weights * order**2).sum()))
    return min(2.0 * min(spread, 2.0 * float(ndtr(-abs(slope)))), 1.0)


def _means(result: Blocks, label: str, weekend: tuple[float, float, float] | None) -> Finding:
    """Whether the mean of any arm changes."""
    chances = [_changes(m, v) for m, v in zip(result.means, result.variances, strict=True)]
    p_value = min(len(chances) * min(chances), 1.0)
    if weekend is not None:
        p_value = min(2.0 * min(p_value, weekend[0]), 1.0)
    odds, question = 1.0 / max(p_value, 1e-300), "over time"
    if p_value >= RISK:
        return Finding(question, False, odds, "Rewards show no change over time.")
    if weekend is not None and weekend[0] < RISK:
        _, mid, end = weekend
        size = percent(abs(end / mid - 1.0)).lstrip("+") if mid else number(end - mid)
        side = "lower" if end < mid else "higher"
        what = f"they are {size} {side} at weekends"
    else:
        means = (result.counts * result.means).sum(0) / result.counts.sum(0)
        low, high = float(means.min()), float(means.max())
        what = f"from {number(low)} to {number(high)} on average, by {label}"
    shares = result.counts / result.counts.sum(0)
    if not _same_shares(result.counts):
        worst = int(np.argmax(np.ptp(shares, axis=1)))
        least, most = percent(shares[worst].min()), percent(shares[worst].max())
        return Finding(
            question,
            True,
            odds,
            f"Rewards change over time ({what}), and so do the shares of traffic "
            f"({least.lstrip('+')} to {most.lstrip('+')} of one arm).",
            "Compare the arms within days, or from the day on which shares stayed the same: an arm "
            "that was shown more on good days looks better than it is.",
        )
    return Finding(
        question,
        False,
        odds,
        f"Rewards change over time: {what}. Shares of traffic do not: arms can be compared.",
    )


def _same_shares(counts: Floats) -> bool:
    """Whether the shares of traffic are the same in all blocks."""
    from scipy.special import chdtrc

    expected = counts.sum(1, keepdims=True) * counts.sum(0) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chdtrc((counts.shape[0] - 1) * (counts.shape[1] - 1), statistic)) >= RISK


def _weekend(series: Series, arms: int) -> tuple[float, float, float] | None:
    """The chance that weekends differ from other days by luck, and both averages."""
    from scipy.special import ndtr

    assert series.times is not None
    days = np.floor(series.times / _DAY)
    is_end = (days.astype(np.int64) - _SATURDAY) % 7 < 2
    if np.unique(days[is_end]).size < 2 or np.unique(days[~is_end]).size < 3:
        return None
    result = _table(series, is_end.astype(np.int64), arms)
    if result is None or result.means.shape[1] < 2:
        return None
    gaps, variances = result.means[:, 1] - result.means[:, 0], result.variances.sum(1)
    score = float((gaps / variances).sum()) / math.sqrt(float((1.0 / variances).sum()))
    mid, end = ((result.counts * result.means).sum(0) / result.counts.sum(0)).tolist()
    return 2.0 * float(ndtr(-abs(score))), mid, end


def _difference(
    names: tuple[str, ...], result: Blocks, pair: tuple[int, int], label: str
) -> Finding:
    """Whether the difference between two arms changes, as a share where both stay above 0."""
    (a, b), question = pair, "difference over time"
    means, variances = result.means[[a, b]], result.variances[[a, b]]
    is_share = bool((means > 2.0 * np.sqrt(variances)).all())
    if is_share:  # what is left of the arm at one ratio; variances go with the level of a block
        ratio = float(result.values[a] / result.values[b])
        counts = result.counts[[a, b]]
        level = (counts * means).sum(0) / counts.sum(0)
        level = level / ((counts * means).sum() / counts.sum())
        values = means[0] - ratio * means[1]
        spread = level * (variances[0] + ratio**2 * variances[1])
    else:
        values, spread = means[0] - means[1], variances.sum(0)
    p_value = _changes(values, spread)
    odds = 1.0 / max(p_value, 1e-300)
    arm, other = names[a], names[b]
    if p_value >= RISK:
        sentence = f"The difference between {arm} and {other} shows no change over time."
        return Finding(question, False, odds, sentence)
    third = max(values.size // 3, 1)
    first, last = (
        (result.counts[[a, b], part] * means[:, part]).sum(1) / result.counts[[a, b], part].sum(1)
        for part in (slice(0, third), slice(values.size - third, None))
    )
    if is_share:
        ends = [percent(float(one[0] / one[1]) - 1.0) for one in (first, last)]
    else:
        ends = [f"{float(one[0] - one[1]):+.4g}" for one in (first, last)]
    return Finding(
        question,
        True,
        odds,
        f"The difference between {arm} and {other} changes over time: {ends[0]} in the first third "
        f"of the {label}, {ends[1]} in the last.",
        "Look for novelty that wears off, a release or a season: the difference of the whole time "
        "describes neither its beginning nor its end.",
    )

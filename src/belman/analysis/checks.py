"""Is a table sound? Shares of traffic, missing rewards, repeated users, covariates, and time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from belman.analysis import over_time as course
from belman.analysis.estimates import Metric, Sample, estimate
from belman.analysis.rows import Rows, arm_named
from belman.errors import SettingError
from belman.measures.soundness import RISK, Finding, SampleRatio, told_shares
from belman.table import number

_ONE_ARM = 0.95  # of users with several rows, from which arms were given to users, not to rows


def arms_with_rows(rows: Rows) -> Rows:
    """The same rows, arms without any left out of the names."""
    there = np.unique(rows.arms)
    positions = np.full(len(rows.names), -1)
    positions[there] = np.arange(there.size)
    names = tuple(rows.names[position] for position in there.tolist())
    return replace(rows, names=names, arms=positions[rows.arms])


def units_by_arm(rows: Rows) -> list[int]:
    """How many units each arm has."""
    if rows.counts is not None:
        counts = np.bincount(rows.arms, rows.counts, len(rows.names))
    elif rows.units is not None:
        _, first = np.unique(rows.units, return_index=True)
        counts = np.bincount(rows.arms[first], minlength=len(rows.names))
    else:
        counts = np.bincount(rows.arms, minlength=len(rows.names))
    return [round(count) for count in counts.tolist()]


def sample_ratio(rows: Rows, split: Mapping[str, float] | str | None) -> Finding:
    """Whether arms got their shares of traffic: the intended ones, or even ones by default."""
    names = rows.names
    shares = intended(split, names)
    test = SampleRatio(names)
    counts = units_by_arm(rows)
    test.add(counts, shares)
    result = test.finding()
    if split is not None:
        return result
    if not result.alarm:
        return replace(result, sentence="Traffic shares are even.")
    total = sum(counts)
    got = ", ".join(
        f"{name} {100.0 * n / total:.4g} %" for name, n in zip(names, counts, strict=True)
    )
    write = ",".join(f"{name}={_round(n / total)}" for name, n in zip(names, counts, strict=True))
    return replace(
        result,
        sentence=f"Traffic shares are not even: {got}.",
        look_at="If they were meant to be, look for rows that are lost or double for one arm: "
        "redirects, caches, crashes, bots, a filter after the assignment. If shares were meant to "
        f"differ, say so: --split {write}",
    )


def _round(share: float) -> str:
    return f"{max(round(share, 2 if share >= 0.02 else 4), 1e-4):g}"


def intended(split: Mapping[str, float] | str | None, names: Sequence[str]) -> list[float]:
    """The shares of traffic that arms were meant to get: even ones where nothing is said."""
    if split is None or split == "even":
        return [1.0 / len(names)] * len(names)
    if isinstance(split, str):
        raise SettingError(f"split={split!r} is not valid: write even, or shares by arm")
    result = dict.fromkeys(names, 0.0)
    for key, share in split.items():
        if not isinstance(share, (int, float)) or not 0.0 <= share < math.inf:
            raise SettingError(f"split gives {key!r} no share: write {key}=0.5")
        result[arm_named(str(key), names, "split", "the data")] = float(share)
    total = sum(result.values())
    if not total > 0.0:
        raise SettingError("split gives no arm a share: write blue=0.5,green=0.5")
    return [share / total for share in result.values()]


def missing(rows: Rows, told: NDArray[np.bool_]) -> Finding:
    """Whether rewards are missing for one arm more than for another."""
    asked = np.bincount(rows.arms, minlength=len(rows.names)).tolist()
    have = np.bincount(rows.arms[told], minlength=len(rows.names)).tolist()
    return told_shares(
        dict(zip(rows.names, asked, strict=True)), dict(zip(rows.names, have, strict=True))
    )


def repeated(column: str, units: Sequence[str | None], arms: Sequence[str]) -> Finding | None:
    """Whether arms were given to users who have several rows, and rows are taken for users."""
    seen: dict[str, set[str]] = {}
    rows = 0
    for unit, arm in zip(units, arms, strict=True):
        if unit is not None and arm:
            seen.setdefault(unit, set()).add(arm.casefold())
            rows += 1
    several = rows - len(seen)
    if several <= 0.02 * rows:
        return None
    alike = sum(len(some) == 1 for some in seen.values()) / len(seen)
    if alike < _ONE_ARM:
        return None
    return Finding(
        "repeated units",
        True,
        math.inf,
        f"{rows:,} rows are of {len(seen):,} {column}: rows of one are alike, and intervals that "
        "take them for independent are too narrow.",
        f"Write --unit {column}: then each counts once.",
    )


def balanced(column: str, made: Sample, names: Sequence[str]) -> Finding:
    """Whether a covariate is the same in all arms, as one from before the experiment must be."""
    from scipy.special import ndtr

    assert made.before is not None
    known = ~np.isnan(made.before)
    plain = Sample(made.arms[known], made.before[known], np.ones(int(known.sum())), None, None)
    result = estimate(plain, Metric.read(column), len(names)).arms
    worst, pair = 1.0, (0, 0)
    for a in range(len(names)):
        for b in range(a):
            error = math.hypot(result[a].error, result[b].error)
            score = abs(result[a].value - result[b].value) / error if error > 0.0 else 0.0
            chance = 2.0 * float(ndtr(-score)) * len(names) * (len(names) - 1) / 2.0
            if chance < worst:
                worst, pair = chance, (a, b)
    if worst >= RISK:
        sentence = f"{column} is alike in all arms, as a covariate from before has to be."
        return Finding("covariate", False, 1.0 / max(worst, 1e-300), sentence)
    first, second = (f"{number(result[a].value)} for {names[a]}" for a in pair)
    return Finding(
        "covariate",
        True,
        1.0 / max(worst, 1e-300),
        f"{column} differs between arms: {first}, {second}.",
        "It cannot have been measured before the experiment, or arms were not given at random: "
        "leave it out.",
    )


def over_time(
    rows: Rows, metric: Metric, made: Sample | None, pair: tuple[int, ...]
) -> list[Finding]:
    """What changes over time; nothing where rows have no time and are totals."""
    if made is None:
        if rows.times is None:
            return []
        assert rows.counts is not None
        sums = rows.numbers[metric.column]
        squares = sums if rows.squares is None else rows.squares
        series = course.Series(rows.arms, rows.times, rows.counts, sums, squares)
    elif metric.level is not None:
        return []
    else:
        arms = made.arms
        totals = [float(made.sizes[arms == a].sum()) for a in range(len(rows.names))]
        means = np.array(totals) / np.maximum(np.bincount(arms, minlength=len(totals)), 1)
        values = made.sums / means[arms]
        order = (
            np.arange(values.size) if made.times is None else np.argsort(made.times, kind="stable")
        )
        times = None if made.times is None else made.times[order]
        values = values[order]
        series = course.Series(arms[order], times, np.ones(values.size), values, values**2)
    return course.findings(rows.names, series, (pair[0], pair[1]))


def money_words(column: str, rows: Rows, made: Sample | None) -> str:
    """What money is made of: who buys, and how much."""
    assert made is not None
    parts = []
    for a, name in enumerate(rows.names):
        own = made.sums[made.arms == a]
        spent = own[own > 0.0]
        each = number(float(spent.mean())) if spent.size else "–"
        parts.append(f"{name} {100.0 * spent.size / own.size:.2f} % × {each}")
    what = f"{column} is mostly 0, else an amount, and read as money"
    return f"{what}: the share that is not 0 × its average is {', '.join(parts)}."

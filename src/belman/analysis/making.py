"""From a table to an analysis: what a person asks for, and the rows that are read for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from belman import frames
from belman.analysis import checks
from belman.analysis.analysis import Analysis
from belman.analysis.assembling import Making
from belman.analysis.columns import Roles, roles, units_seen
from belman.analysis.estimates import ROW, Metric
from belman.analysis.rows import arm_named, read_rows
from belman.errors import SettingError
from belman.families import Family
from belman.measures.stop_rules import StopRule

_BLOCK = re.compile(r"time:(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)")
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_EMPTY = (None, "zero", "missing")


def analyse(
    data: Any,
    *,
    control: str | None = None,
    arm: str | None = None,
    reward: str | None = None,
    time: str | None = None,
    metrics: Sequence[str] = (),
    unit: str | None = None,
    before: str | None = None,
    by: Sequence[str] = (),
    split: Mapping[str, float] | str | None = None,
    holdout: str | None = None,
    visitors: str | None = None,
    squares: str | None = None,
    empty: str | None = None,
    minimise: bool = False,
    family: Family | None = None,
    level: float = 0.95,
    stop_when: StopRule | None = None,
) -> Analysis:
    """Report on past data: one row a decision, or totals of many.

    Parameters
    ----------
    data
        A file, a data frame, columns by name or rows (see the guide on tables).
    control
        The arm that the others are compared with.
    arm, reward, time
        The columns; by default found by the names that such columns have.
    metrics
        What to compare: `revenue`, `revenue/sessions`, `revenue/row`, `p90:latency`,
        `winsor99:revenue`. The first decides; errors are shared by all of them.
    unit
        The column of whom arms were given to, where one has several rows: users, shops; or
        `time:1h` for the blocks of a switchback.
    before
        A column that was known before the experiment and foretells the metric (CUPED).
    by
        Columns to split by; those of numbers are cut in groups.
    split
        The intended shares of traffic by arm; an even split is assumed where nothing is said.
    holdout
        An arm that was kept out of everything: all others together are compared with it.
    visitors, squares
        Columns of totals: how many visitors a row stands for, and the sum of squared rewards.
    empty
        What an empty reward is: "zero", or "missing"; by default the column tells.
    family
        A distribution of rewards, for beliefs by it; by default large samples, or coins.
    minimise
        Whether rewards are costs: less is better.
    level
        The probability of intervals.
    stop_when
        The rule that the verdict goes by; by default one look, at a risk of 1 − level.

    Returns
    -------
    Analysis
        The verdict, lifts with intervals, tests of the data, and what was done with the rows.

    Raises
    ------
    SettingError
        Where columns cannot be found or read: all that is wrong with them in one message.

    >>> result = analyse({"arm": ["a", "b"] * 500, "converted": ([1, 0] * 50 + [0, 0] * 450)})
    >>> result.account.sentence
    '1,000 rows read, 1,000 used, 0 dropped.'
    """
    if not 0.0 < level < 1.0:
        raise SettingError(f"level={level!r} is not valid: it must lie between 0 and 1")
    if empty not in _EMPTY:
        raise SettingError(f"empty={empty!r} is not valid: write zero or missing")
    frame = data if isinstance(data, frames.Frame) else frames.read(data)
    asked = [Metric.read(text) for text in metrics]
    needed = [name for metric in asked for name in metric.columns]
    role = roles(frame, arm, reward, time, visitors, squares, needed)
    wanted = asked or [Metric.read(role.reward)]
    block = _block(unit, role)
    if block is not None:
        wanted = [one if one.per or one.level else replace(one, per=ROW) for one in wanted]
    extra = [name for metric in wanted for name in metric.columns] + ([before] if before else [])
    read_unit = None if block is not None else unit
    rows, account = read_rows(frame, role, extra, by, read_unit, empty, block)
    if role.visitors is not None:
        _only_means(frame.source, unit, before, wanted)
    control = None if control is None else arm_named(control, rows.names, "control", frame.source)
    kept_out = None
    if holdout is not None:
        kept_out = arm_named(holdout, rows.names, "holdout", frame.source)
    made = Making(rows, account, wanted, unit, before, level, minimise)
    repeated = None
    if unit is None and role.visitors is None and (seen := units_seen(frame)) is not None:
        repeated = checks.repeated(seen, frame.texts(seen), frame.names(role.arm, missing=True))
    return made.analysis(control, kept_out, family, stop_when, split, by, repeated)


def _block(unit: str | None, role: Roles) -> float | None:
    """The seconds of a block of a switchback."""
    if unit is None or not unit.startswith("time:"):
        return None
    result = _BLOCK.fullmatch(unit.strip())
    if result is None or float(result[1]) <= 0.0:
        raise SettingError(f"unit={unit!r} is not valid: write time:30m, time:1h or time:1d")
    if role.time is None:
        raise SettingError(f"unit={unit!r} needs a column of times: write --time")
    return float(result[1]) * _SECONDS[result[2]]


def _only_means(source: str, unit: str | None, before: str | None, wanted: list[Metric]) -> None:
    plain = all(one.per is None and one.level is None and one.cap is None for one in wanted)
    if unit is not None or before is not None or not plain or len(wanted) > 1:
        what = "units, covariates, ratios, percentiles and several metrics need rows"
        raise SettingError(f"{source} has totals: {what}, one a decision")

"""Which column of a table is what: the arm, the reward, the time, or totals of many visitors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belman.errors import SettingError, listing, nearest
from belman.frames import Frame

#: Names that columns have, in the order in which they are looked for.
ARM = (
    "arm", "variant", "variation", "group", "treatment", "bucket", "test_group", "ab_group",
    "experiment_group", "condition", "branch", "cell",
)  # fmt: skip
REWARD = (
    "reward", "converted", "conversion", "conversions", "purchased", "purchase", "clicked", "click",
    "success", "signup", "revenue", "amount", "spent", "spend", "order_value", "sales", "value",
    "outcome", "cost", "latency",
)  # fmt: skip
TIME = (
    "time", "timestamp", "datetime", "date", "day", "created_at", "event_time", "exposed_at", "ts",
)  # fmt: skip
UNIT = ("user_id", "userid", "user", "visitor_id", "customer_id", "client_id", "account_id")
VISITORS = (
    "visitors", "users", "impressions", "participants", "exposures", "visits", "views", "trials",
    "sessions", "samples", "count", "n",
)  # fmt: skip
CONVERSIONS = (
    "conversions", "converted", "successes", "clicks", "purchases", "orders", "signups", "buyers",
)  # fmt: skip
SUMS = ("sum", "total", "revenue", "total_revenue", "sum_revenue", "amount", "sales")
SQUARES = (
    "squares", "sum_squares", "sum_of_squares", "sumsq", "sum_sq", "squared", "revenue_squared",
)  # fmt: skip
_TOTALS = 20.0  # visitors a row, on average, from which rows are totals


class Roles(NamedTuple):
    """The names of columns: `visitors` and `squares` where rows are totals; else None."""

    arm: str
    reward: str
    time: str | None
    visitors: str | None
    squares: str | None


def roles(
    frame: Frame,
    arm: str | None = None,
    reward: str | None = None,
    time: str | None = None,
    visitors: str | None = None,
    squares: str | None = None,
    several: Sequence[str] = (),
) -> Roles:
    """Say which column is what: those that were named, else by the names that such columns have.

    `several` are columns of metrics, the first of which stands for a reward that nobody named.

    >>> frame = Frame("totals.csv", {"Variant": "ab", "Visitors": [900, 910], "orders": [41, 52]})
    >>> roles(frame)[:4]
    ('Variant', 'orders', None, 'Visitors')
    """
    named = [name for name in (arm, reward, time, visitors, squares, *several) if name is not None]
    frame.require(*dict.fromkeys(named))
    the_arm = arm or found_column(frame, ARM, "arms", "--arm")
    totals = visitors or _totals(frame, reward)
    if reward is None and several:
        reward = several[0]
    if reward is None:
        names = (*CONVERSIONS, *SUMS) if totals else REWARD
        reward = found_column(frame, names, "rewards", "--reward")
    if totals and squares is None:
        squares = next(iter(_those(frame, SQUARES)), None)
    the_time = time or next(iter(_those(frame, TIME)), None)
    return Roles(the_arm, reward, the_time, totals, squares if totals else None)


def found_column(frame: Frame, names: Sequence[str], what: str, option: str) -> str:
    """The one column that has such a name; SettingError where there is none, or several."""
    there = _those(frame, names)
    if len(there) == 1 or (there and _bare(there[0]) == names[0]):
        return there[0]
    if there:
        write = " or ".join(f"{option} {name!r}" for name in there)
        raise SettingError(f"{frame.source} may have its {what} in several columns: write {write}")
    has = f"it has {listing(frame.columns)}{nearest(names[0], frame.columns)}"
    write = f"write {option} with the column of {what}"
    raise SettingError(f"{frame.source} has no column {names[0]!r}: {has}; {write}")


def _those(frame: Frame, names: Sequence[str]) -> list[str]:
    """The columns with such a name, in the order of the names."""
    known = {_bare(column): column for column in frame.columns}
    return [known[name] for name in names if name in known]


def _bare(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def units_seen(frame: Frame) -> str | None:
    """Return the column that names users, by its name."""
    return next(iter(_those(frame, UNIT)), None)


def _totals(frame: Frame, reward: str | None) -> str | None:
    """The column of visitors, if rows are totals of many: it has whole numbers, and large ones."""
    for name in _those(frame, VISITORS):
        try:
            counts = frame.numbers(name)
        except SettingError:
            continue
        whole = bool((counts >= 0.0).all() and (counts == np.round(counts)).all())
        named = reward is not None or bool(_those(frame, (*CONVERSIONS, *SUMS)))
        if whole and named and counts.mean() >= _TOTALS and name != reward:
            return name
    return None

"""Budgets: so much of a metric, a cost, that a study may spend in a day, an hour or a week."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from belman.errors import SettingError, shown
from belman.studies.rules.attributes import check_name

#: Seconds of the periods that a budget may have, by their names.
PERIODS = {"day": 86_400, "hour": 3_600, "week": 604_800}
LARGEST = 1e15
_WORDS = re.compile(
    r"(?P<amount>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?:an?|per)\s+(?P<period>[a-z]+)"
)


@dataclass(frozen=True)
class Budget:
    """At most `amount` of a metric in each period; days begin at midnight UTC, weeks on Thursdays
    (the first day of 1970 was one).

    >>> Budget.parse("dollars", "25 a day")
    Budget(metric='dollars', amount=25.0, period='day')
    >>> Budget.parse("dollars", 25).text
    '25.0 a day'
    """

    metric: str
    amount: float
    period: str = "day"

    @classmethod
    def parse(cls, metric: object, given: object) -> Budget:
        """Return the budget of a metric that is described as "25 a day", or as a number a day."""
        amount, period = given, "day"
        if isinstance(given, str) and len(given) <= 100:
            result = _WORDS.fullmatch(given.strip().lower())
            amount, period = (float(result["amount"]), result["period"]) if result else (None, "")
        is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
        if not is_number or period not in PERIODS:
            allowed = "write a number a day, or '25 a day', '2 an hour', '100 a week'"
            raise SettingError(f"budget={shown(given)} of {shown(metric)} is none: {allowed}")
        if not 0.0 < amount <= LARGEST:  # type: ignore[operator]
            allowed = f"it must be above 0 and at most {LARGEST:g}"
            raise SettingError(f"budget={shown(given)} of {shown(metric)} cannot be: {allowed}")
        return cls(check_name(metric, "a metric"), float(amount), period)  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """The amount and the period as `parse` takes them."""
        article = "an" if self.period == "hour" else "a"
        return f"{self.amount!r} {article} {self.period}"

    @property
    def seconds(self) -> int:
        """How long a period lasts."""
        return PERIODS[self.period]

    def period_of(self, time: float) -> int:
        """Return the number of the period, since 1970, that a moment lies in."""
        return math.floor(time / self.seconds)


def check_budget(given: Any) -> Budget | None:
    """Return the budget of a study; a study has at most one.

    >>> check_budget({"dollars": "2 an hour"}).seconds
    3600
    """
    if given is None or isinstance(given, Budget):
        return given
    if not isinstance(given, Mapping) or len(given) != 1:
        write = "name one metric that is a cost: budget={'dollars': '25 a day'}"
        raise SettingError(f"budget={shown(given)} is not valid: {write}")
    ((metric, amount),) = given.items()
    return Budget.parse(metric, amount)

"""How a budget stands, as data, as a sentence and as a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from belman.studies.traffic.spending import Spending
from belman.table import Table


def row(spending: Spending, time: float) -> dict[str, Any]:
    """Return how the budget stands at a time, as plain data."""
    is_now = spending.budget.period_of(time) <= spending.now and bool(spending.periods)
    spent = float(spending.periods[spending.now].spent) if is_now else 0.0
    expected = float(spending.open) if is_now else 0.0
    before = spending.periods.get(spending.now)
    price = spending.price if is_now or before is None else before.price
    return {
        "metric": spending.budget.metric,
        "amount": spending.budget.amount,
        "period": spending.budget.period,
        "spent": spent,
        "expected": expected,
        "left": spending.budget.amount - spent - expected,
        "price": price,
    }


def sentence(spending: Spending, time: float) -> str:
    """Say how the budget stands."""
    now = row(spending, time)
    whole = f"{now['spent']:.6g} of {now['amount']:.6g} {now['metric']} are spent"
    when = {"day": "today", "hour": "this hour", "week": "this week"}[now["period"]]
    rest = f"open asks are expected to cost {now['expected']:.6g}"
    return f"{whole} {when} and {rest}; a cost of 1 counts as {now['price']:.4g} of the reward."


def table(spending: Spending) -> Table:
    """Return what was spent in every period, the newest last."""
    names = ("from", "budget", "spent", "expected", "asks", "price", "low", "high")
    rows = []
    for number, own in spending.periods.items():
        expected = float(spending.open) if number == spending.now else 0.0
        begins = float(number * spending.budget.seconds)
        spent = (spending.budget.amount, float(own.spent), expected)
        rows.append((begins, *spent, own.asks, own.price, own.low, own.high))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Table(columns, f"{spending.budget.metric}, {spending.budget.text}")


def refusal(spending: Spending, time: float, times: int, study: str) -> str:
    """Say that this number of asks fits in the budget for no arm."""
    end = (spending.budget.period_of(time) + 1) * spending.budget.seconds
    until = datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds")
    asked = "one more ask" if times == 1 else f"{times:,} more asks"
    remedy = f"wait until {until}" + ("" if times == 1 else ", or ask for fewer at once")
    words = f"study {study!r} has no room in its budget for {asked} of any arm"
    return f"{words}: {sentence(spending, time)} Tell costs that are out, or {remedy}"


def with_dates(spent: Table) -> Table:
    """Return a table of periods with the dates at which they begin, in UTC, for people.

    >>> with_dates(Table({"from": [1_762_128_000.0], "budget": [5.0]}))["from"]
    ['2025-11-03 00:00']
    """
    begins = (datetime.fromtimestamp(time, UTC) for time in spent["from"])
    dates = [time.isoformat(sep=" ", timespec="minutes")[:16] for time in begins]
    return Table({**spent.columns, "from": dates}, spent.title)

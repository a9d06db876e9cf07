"""How often reports on tables err: A/A tests of every kind, coverage, alarms, and CUPED's gain.

    python -m benchmarks.analyst_errors [--runs 2000]

Each line is a share of runs with its 95 % interval. Estimates are those of `belman report`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

from belman.analysis import checks, over_time
from belman.analysis.comparing import compare
from belman.analysis.estimates import Estimates, Metric, Sample, estimate, sample
from belman.analysis.one_look import rates_differ
from belman.analysis.rows import Rows

NAMES = ("old", "new")


def interval(share: float, runs: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    z = 1.96
    centre = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs**2))
    return f"{100 * share:5.2f} % ({100 * (centre - half):.2f} to {100 * (centre + half):.2f})"


def differs(whole: Estimates) -> bool:
    """Whether an interval of the difference leaves out 0."""
    low, high = compare("", ("new", "old"), whole.arms[1], whole.arms[0], 0.05, 1).one_look
    return low > 0.0 or high < 0.0


def sessions(rng: np.random.Generator, by_user: bool) -> bool:
    """Sessions of users who differ: A/A, by rows or by users."""
    users = 400
    arm = rng.integers(0, 2, users)
    who = np.repeat(np.arange(users), 1 + rng.poisson(3.0, users))
    spent = np.exp(rng.normal(0.0, 0.8, users))[who] * rng.exponential(5.0, who.size)
    rows = Rows(NAMES, arm[who], {"x": spent}, {}, None, who if by_user else None)
    metric = Metric.read("x/row")
    return differs(estimate(sample(rows, metric, None), metric, 2))


def percentile(rng: np.random.Generator) -> bool:
    """The 90th percentile of latencies, by users with several of them: A/A."""
    users = 400
    arm = rng.integers(0, 2, users)
    who = np.repeat(np.arange(users), 1 + rng.poisson(3.0, users))
    slow = np.exp(rng.normal(0.0, 0.5, users))[who] * rng.gamma(3.0, 30.0, who.size)
    rows = Rows(NAMES, arm[who], {"x": slow}, {}, None, who)
    metric = Metric.read("p90:x")
    return differs(estimate(sample(rows, metric, None), metric, 2))


def money(rng: np.random.Generator, cap: str = "") -> bool:
    """Revenue, log-normal with σ = 1.5 for 4 % of 20,000: A/A."""
    n = 20_000
    spent = np.where(rng.random(n) < 0.04, np.exp(rng.normal(3.0, 1.5, n)), 0.0)
    result = Sample(rng.integers(0, 2, n), spent, np.ones(n), None, None)
    metric = Metric.read(f"{cap}x")
    return differs(estimate(result, metric, 2))


def clusters(rng: np.random.Generator) -> bool:
    """Twelve blocks of a switchback with moods of their own: A/A with few units."""
    arm = rng.permutation(np.arange(12) % 2)
    who = np.repeat(np.arange(12), 50)
    value = rng.normal(0.0, 1.0, 12)[who] + rng.normal(0.0, 2.0, who.size) + 20.0
    rows = Rows(NAMES, arm[who], {"x": value}, {}, None, who)
    metric = Metric.read("x/row")
    return differs(estimate(sample(rows, metric, None), metric, 2))


def rates(rng: np.random.Generator, n: int, rate: float) -> bool:
    """Conversions at one look: A/A."""
    first, second = ((float(rng.binomial(n, rate)), float(n)) for _ in range(2))
    return rates_differ(first, second) <= 0.05


def cuped(rng: np.random.Generator) -> tuple[bool, float]:
    """A covariate with correlation 0.7: whether 0 is left out, and variance beside without."""
    n = 2_000
    x = rng.normal(size=n)
    y = 0.7 * x + math.sqrt(0.51) * rng.normal(size=n)
    result = Sample(rng.integers(0, 2, n), y, np.ones(n), x, None)
    whole = estimate(result, Metric.read("y"), 2)
    return differs(whole), 1.0 - (whole.gain or 0.0)


def alarms(rng: np.random.Generator, swing: float) -> list[bool]:
    """A sound test whose rate swings with the weekday: alarms of shares and of time."""
    n = 20_000
    when = np.sort(rng.integers(0, 21 * 86_400, n)).astype(float) + 1_709_510_400.0
    arm = rng.integers(0, 2, n)
    dip = np.where((when - 1_709_510_400.0) // 86_400 % 7 >= 5, 1.0 - swing, 1.0)
    won = (rng.random(n) < 0.1 * dip).astype(float)
    rows = Rows(NAMES, arm, {"x": won}, {}, when)
    series = over_time.Series(arm, when, np.ones(n), won, won)
    result = over_time.findings(NAMES, series, (1, 0))
    changed = result[0].sentence != "Rewards show no change over time."
    return [checks.sample_ratio(rows, None).alarm, changed, *(one.alarm for one in result)]


def money_over_time(rng: np.random.Generator) -> bool:
    """Revenue of two weeks, log-normal with σ = 1.5 for 4 %: whether a sound test is not."""
    n = 20_000
    when = np.sort(rng.integers(0, 14 * 86_400, n)).astype(float)
    spent = np.where(rng.random(n) < 0.04, np.exp(rng.normal(3.0, 1.5, n)), 0.0)
    series = over_time.Series(rng.integers(0, 2, n), when, np.ones(n), spent, spent**2)
    return any(one.alarm for one in over_time.findings(NAMES, series, (1, 0)))


def line(words: str, share: float, runs: int) -> None:
    """Print a share."""
    print(f"{words:64s} {interval(share, runs)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    runs = parser.parse_args().runs
    kinds: dict[str, Callable[[np.random.Generator], bool]] = {
        "A/A sessions, rows taken for units": lambda rng: sessions(rng, False),
        "A/A sessions, revenue/row by user": lambda rng: sessions(rng, True),
        "A/A p90 by user": percentile,
        "A/A revenue, log-normal 1.5": money,
        "A/A revenue, winsor99": lambda rng: money(rng, "winsor99:"),
        "A/A switchback, 12 blocks": clusters,
        "A/A rates 0.03 of 2 × 10,000": lambda rng: rates(rng, 10_000, 0.03),
        "A/A rates 0.01 of 2 × 300": lambda rng: rates(rng, 300, 0.01),
    }
    for words, one in kinds.items():
        rng = np.random.default_rng(7)
        line(f"{words}: 0 left out at one look", np.mean([one(rng) for _ in range(runs)]), runs)
    rng = np.random.default_rng(7)
    result = [cuped(rng) for _ in range(runs)]
    line("CUPED, correlation 0.7, A/A: 0 left out", np.mean([out for out, _ in result]), runs)
    share = np.mean([part for _, part in result])
    print(f"CUPED, correlation 0.7: variance {share:.3f} of that without")
    rng = np.random.default_rng(7)
    share = np.mean([money_over_time(rng) for _ in range(runs)])
    line("sound revenue of two weeks: alarm", share, runs)
    for swing in (0.0, 0.43):
        rng = np.random.default_rng(7)
        means = np.mean([alarms(rng, swing) for _ in range(runs)], axis=0)
        said = ("shares alarm", "change said", "time alarm", "difference alarm")
        for words, part in zip(said, means.tolist(), strict=True):
            line(f"sound test, weekends {100 * swing:.0f} % lower: {words}", part, runs)


if __name__ == "__main__":
    main()

"""Metrics by units: identities with plain formulas, errors that hold, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import belman
from belman.analysis import over_time
from belman.analysis.comparing import any_look_score, compare
from belman.analysis.estimates import Estimate, Metric, Sample, estimate, sample
from belman.analysis.one_look import rates_differ
from belman.analysis.rows import Rows
from belman.errors import SettingError

pytestmark = pytest.mark.interpreted
NAMES = ("old", "new")


def test_a_mean_is_welchs_test():
    rng = np.random.default_rng(1)
    first, second = rng.normal(5.0, 1.0, 40), rng.normal(5.5, 3.0, 25)
    arms = np.repeat([0, 1], [40, 25])
    result = Sample(arms, np.concatenate([first, second]), np.ones(65), None, None)
    old, new = estimate(result, Metric.read("x"), 2).arms
    one = compare("x", ("new", "old"), new, old, 0.05, 1)
    known = stats.ttest_ind(second, first, equal_var=False)
    assert one.p_value == pytest.approx(known.pvalue)
    assert one.one_look == pytest.approx(tuple(known.confidence_interval(0.95)))


def test_a_ratio_of_one_row_a_unit_is_a_mean():
    rng = np.random.default_rng(2)
    values, arms = rng.exponential(2.0, 300), rng.integers(0, 2, 300)
    plain = Rows(NAMES, arms, {"x": values}, {})
    by_unit = Rows(NAMES, arms, {"x": values}, {}, None, rng.permutation(300))
    result = [
        estimate(sample(rows, Metric.read(text), None), Metric.read(text), 2).arms
        for rows, text in ((plain, "x"), (plain, "x/row"), (by_unit, "x"), (by_unit, "x/row"))
    ]
    for other in result[1:]:
        assert np.array(other) == pytest.approx(np.array(result[0]))


def test_rows_that_are_doubled_say_nothing_more():
    """Every row twice, by unit: the same ratio, and the same error."""
    rng = np.random.default_rng(3)
    values, arms = rng.exponential(2.0, 200), rng.integers(0, 2, 200)
    metric = Metric.read("x/row")
    once = Rows(NAMES, arms, {"x": values}, {}, None, np.arange(200))
    twice = once.where(np.repeat(np.arange(200), 2))
    first, second = (estimate(sample(rows, metric, None), metric, 2) for rows in (once, twice))
    assert np.array(second.arms) == pytest.approx(np.array(first.arms))


def test_fisher_and_scores():
    table = [[5, 995], [0, 1000]]
    assert rates_differ((5, 1000), (0, 1000)) == pytest.approx(stats.fisher_exact(table).pvalue)
    many = [[700, 9300], [800, 9200]]
    known = stats.chi2_contingency(many, correction=False).pvalue
    assert rates_differ((700, 10_000), (800, 10_000)) == pytest.approx(known)
    assert rates_differ((0, 50), (0, 60)) == 1.0


def test_fieller_holds_where_the_ratio_is_known():
    """2,000 ratios of normal means 3 and 2, whose 95 % intervals hold 1.5: 93.5 to 96.5 %."""
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(2_000):
        arm, base = rng.normal(3.0, 0.3), rng.normal(2.0, 0.3)
        one = compare(
            "", NAMES, Estimate(9**9, arm, 0.3, 1e9), Estimate(9**9, base, 0.3, 1e9), 0.05, 1
        )
        low, high = one.relative_one_look
        inside += low <= 0.5 <= high
    assert 0.935 <= inside / 2_000 <= 0.965


def test_a_walk_is_seldom_ever_beyond_the_bound_at_any_look():
    """400 walks of 3,000 units: at most 5 % are ever beyond, and 9 % but for a chance of 1e-3."""
    rng = np.random.default_rng(5)
    walks = np.cumsum(rng.normal(size=(400, 3_000)), axis=1) / np.sqrt(np.arange(1, 3_001))
    bounds = np.array([any_look_score(n, 0.05) for n in range(1, 3_001)])
    assert (np.abs(walks[:, 100:]) > bounds[100:]).any(1).mean() <= 0.09


def test_a_covariate_takes_out_what_it_foretells():
    rng = np.random.default_rng(6)
    n = 4_000
    x = rng.normal(size=n)
    arms = rng.integers(0, 2, n)
    table = {
        "arm": np.array(NAMES)[arms],
        "spend": 10.0 + 0.7 * x + np.sqrt(0.51) * rng.normal(size=n) + 0.1 * arms,
        "past": x,
    }
    plain = belman.analyse(table, control="old", reward="spend")
    better = belman.analyse(table, control="old", reward="spend", before="past")

    def width(result):
        low, high = result.comparison.one_look
        return high - low

    assert (width(better) / width(plain)) ** 2 < 0.55
    assert re.search(r"past explains (4[6-9]|5[0-2]) % of the variance", better.account.said[0])
    table["past"] = x + 0.5 * arms
    alarm = belman.analyse(table, control="old", reward="spend", before="past")
    assert "past differs between arms" in str(alarm)
    assert "not sound" in alarm.sentence


@pytest.mark.parametrize("text", ["", "p0:x", "winsor30:x", "p90:x/y"])
def test_metrics_that_are_none(text):
    with pytest.raises(SettingError, match="metric="):
        Metric.read(text)


def test_ratios_of_columns_and_several_metrics():
    rng = np.random.default_rng(7)
    n = 2_000
    arms = rng.choice(NAMES, n)
    sessions = 1 + rng.poisson(2.0, n)
    table = {
        "group": arms,
        "sessions": sessions,
        "revenue": sessions * rng.exponential(3.0, n),
        "latency": rng.gamma(3.0, 50.0, n),
    }
    asked = ["revenue/sessions", "p90:latency", "winsor95:revenue"]
    result = belman.analyse(table, control="old", metrics=asked)
    ratio, tail, cut = result.beside
    own = arms == "new"
    assert ratio.value == pytest.approx(table["revenue"][own].sum() / sessions[own].sum())
    assert tail.value == pytest.approx(np.quantile(table["latency"][own], 0.9))
    assert cut.value < table["revenue"][own].mean()
    assert all(one.corrected == min(3.0 * one.p_value, 1.0) for one in result.beside)
    assert list(result.metrics()["metric"]) == [
        "revenue/sessions",
        "p90:latency",
        "winsor95:revenue",
    ]
    with pytest.raises(SettingError, match="no column 'latencies'"):
        belman.analyse(table, metrics=["p90:latencies"])


def test_shares_that_change_with_the_rate_are_an_alarm():
    """New gets more traffic on good days, and looks better than it is."""
    rng = np.random.default_rng(8)
    n = 20_000
    when = np.sort(rng.random(n)) * 10 * 86_400.0
    late = when > 5 * 86_400.0
    arms = (rng.random(n) < np.where(late, 0.8, 0.2)).astype(int)
    won = (rng.random(n) < np.where(late, 0.2, 0.1)).astype(float)
    first, _ = over_time.findings(NAMES, over_time.Series(arms, when, np.ones(n), won, won), (1, 0))
    assert first.alarm
    assert "so do the shares of traffic" in first.sentence


def test_costs_are_better_when_they_are_lower():
    rng = np.random.default_rng(9)
    table = {"arm": ["a", "b"] * 400, "cost": rng.gamma(3.0, [30.0, 25.0] * 400)}
    result = belman.analyse(table, control="a", minimise=True)
    assert result.leader.arm == "b"
    assert result.verdict.decided
    assert result["b"].lift.beats > 0.95
    assert "lower than a" in result.sentence

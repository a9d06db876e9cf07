"""Measures of queues: the trend against SciPy's rank correlation, unstable queues, tables."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from scipy import stats

import belman
from belman import measures
from belman.errors import SettingError
from belman.measures.queueing import _trend

pytestmark = pytest.mark.compiled  # queues of many turns


def result_of(late, regret, horizon=1_000):
    """A result of one player whose runs have these late backlogs and this final queue regret."""
    late, regret = np.atleast_2d(late)[None], np.atleast_1d(regret)[None]
    return xarray.Dataset(
        {
            "late_backlog": (("player", "run", "batch"), late),
            "queue_regret": (("player", "run", "turn"), regret[..., None]),
        },
        coords={"player": ["one"], "turn": [horizon]},
        attrs={"horizon": horizon},
    )


def test_the_trend_is_kendalls():
    """Without the correction for continuity, S over its deviation is Kendall's τ_b in the normal
    limit, ties and all.
    """
    rng = np.random.default_rng(1)
    late = np.concatenate([rng.normal(size=(20, 20)), rng.integers(0, 4, (20, 20))])
    z = _trend(result_of(late, np.zeros(40))).values[0]
    for row, result in zip(late, z, strict=True):
        score = np.sign(row[None, :] - row[:, None])[np.triu_indices(20, 1)].sum()
        exact = stats.kendalltau(np.arange(20), row, method="asymptotic", alternative="greater")
        assert result * (
            score / (score - np.sign(score)) if abs(score) > 1 else 1.0
        ) == pytest.approx(stats.norm.isf(exact.pvalue), abs=0.02 if abs(score) > 1 else 0.1)


@pytest.mark.parametrize(
    ("late", "regret", "expected"),
    [
        (np.zeros(20), 0, False),
        (np.arange(20.0), 0, True),
        (-np.arange(20.0), 0, False),
        (np.zeros(20), 10, False),
        (np.zeros(20), 11, True),
        (np.tile([1.0, 5.0], 10), 0, False),
    ],
)
def test_a_run_is_unstable_if_it_ends_high_or_grows(late, regret, expected):
    assert bool(measures.unstable(result_of(late, regret))[0, 0]) is expected


def test_the_genie_is_never_called_unstable():
    """2,000 runs of a stationary queue: the test for a trend has a false alarm of 1e-5 for
    independent parts.
    """
    result = belman.simulate(
        [belman.policies.Oracle()],
        belman.problems.queue([0.5, 0.3], 0.35),
        horizon=5_000,
        runs=2_000,
        seed=6,
    )
    assert not measures.unstable(result).any()


def test_a_result_without_queues_says_so():
    with pytest.raises(SettingError, match="no queues"):
        measures.unstable(result_of(np.zeros(20), 0).drop_vars("queue_regret"))


def test_tables_and_other_measures_take_queues():
    players = {"OPT": belman.policies.Oracle(), "Random": belman.policies.Random()}
    result = belman.simulate(
        players,
        belman.problems.queue([[0.6, 0.2], [0.2, 0.6]], [0.3, 0.3]),
        horizon=2_000,
        runs=10,
        seed=1,
    )
    table = measures.queueing(result)
    assert table["player"] == ["OPT", "Random"]
    assert table.row("OPT")["queue regret"] == 0
    assert table.row("Random")["wait p95"] > table.row("OPT")["wait p95"]
    assert set(measures.summary(result, "queue").dims) == {"player", "turn", "queue"}
    one = belman.simulate(
        players, belman.problems.queue([0.6, 0.2], 0.5), horizon=200, runs=10, seed=1
    )
    assert belman.compare(one, against="OPT", variable="queue_regret")["verdict"][1] == "more"


def test_a_result_without_queues_is_refused():
    result = belman.simulate(
        [belman.policies.Random()], belman.problems.bernoulli([0.5, 0.6]), horizon=10, runs=2
    )
    with pytest.raises(SettingError, match="no queues"):
        measures.queueing(result)

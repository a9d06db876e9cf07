"""Policies that keep rewards on a grid: K_inf by published numbers and a twin, and NPTS."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize

import belman
from belman.families import Bounded
from belman.lab import simulate
from belman.policies import NPTS, IMEDKinf, KLUCBEmpirical
from belman.policies.optimism.kl_ucb_empirical import bound
from belman.policies.resampling.empirical import CELLS, Memory, k_inf
from belman.policies.resampling.empirical import empirical_learn as learn
from belman.problems import problem


def grid(rewards) -> Memory:
    memory = Memory(np.zeros((1, CELLS + 1)), np.zeros((2, 1)))
    for reward in rewards:
        learn(None, None, np.array([0.0, 1.0]), None, memory, 0, reward)
    return memory


def test_reference_values() -> None:
    assert k_inf(grid([0.0, 1.0]).counts[0], 0.75) / 2 == pytest.approx(0.143841036, abs=1e-9)
    assert k_inf(grid([0.5]).counts[0], 0.75) == pytest.approx(math.log(2.0), abs=1e-12)


@given(
    st.lists(st.integers(0, CELLS), min_size=1, max_size=8).map(
        lambda positions: [position / CELLS for position in positions]
    ),
    st.floats(0.01, 0.99),
)
def test_k_inf_is_the_largest_over_tilts(rewards, mean) -> None:
    values = np.array(rewards)

    def cost(share: float) -> float:
        return -float(np.sum(np.log1p(-share / (1.0 - mean) * (values - mean))))

    ends = {"bounds": (0.0, 1.0), "method": "bounded", "options": {"xatol": 1e-12}}
    best = max(0.0, -optimize.minimize_scalar(cost, **ends).fun, -cost(1.0 - 1e-15))
    assert k_inf(grid(rewards).counts[0], mean) == pytest.approx(best, rel=1e-6, abs=1e-8)


@given(
    st.lists(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.5, 1.0])), min_size=1),
    st.integers(1, 1_000),
    st.one_of(st.just(0.0), st.floats(0.01, 20.0)),
)
@example([0.9999999999999999], 1, 1.0)
def test_the_bound_is_where_k_inf_meets_the_level(rewards, times, level) -> None:
    memory = grid(rewards)
    counts, mean = times * memory.counts[0], memory.seen[1, 0] / memory.seen[0, 0]
    result = bound(counts, mean, level)
    assert mean <= result <= 1.0
    below = result - 1e-6 * (result - mean)
    if below < 1.0 or mean == 1.0:  # none lies between a mean just below 1 and 1
        assert k_inf(counts, below) <= level + 1e-6
    if level > 0.0 and result < 1.0 - 1e-9:
        assert k_inf(counts, result + 1e-6 * (1.0 - result)) >= level - 1e-6


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_the_grid_keeps_the_mean(rewards) -> None:
    counts = grid(rewards).counts[0]
    assert counts @ np.arange(CELLS + 1) / CELLS == pytest.approx(sum(rewards), abs=1e-9)
    assert counts.sum() == pytest.approx(len(rewards))


def test_they_play_the_reference_problem() -> None:
    """IMED-K_inf loses 11.6 there; 60 runs have an error of 0.4, and the band is of five."""
    arms = problem(Bounded(8.0), [0.5, 0.45, 0.4, 0.35, 0.3])
    players = {
        "imed": IMEDKinf(),
        "npts": NPTS(),
        "kl": KLUCBEmpirical(),
        "ucb": belman.policies.UCB1(),
    }
    result = simulate(players, arms, 1_000, 60, 3, progress=False).regret.isel(turn=-1).mean("run")
    assert 9.6 < float(result.sel(player="imed")) < 13.6
    assert float(result.sel(player="npts")) < 0.5 * float(result.sel(player="ucb"))
    assert float(result.sel(player="kl")) < 0.5 * float(result.sel(player="ucb"))

"""Claims: verdicts follow from intervals, and the checks see what they are made to see."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from belman.figures import CLAIMS, FIGURES
from belman.figures.checks import growth, less, locked
from belman.figures.claim import Check, Judgement, Verdict
from belman.measures import condense

MIND = np.random.default_rng(5)


def made(**players):
    """Condensed curves over 100 turns, one array (run, turn) a player."""
    curves = np.stack(list(players.values()))
    dims = ("player", "run", "turn")
    return condense(
        xarray.Dataset(
            {"regret": (dims, curves), "suboptimal_draws": (dims, curves)},
            {"player": list(players), "run": range(curves.shape[1]), "turn": np.arange(1, 101)},
        )
    )


def lines(slope, noise=0.1):
    return slope * np.arange(1, 101) + noise * MIND.normal(size=(50, 1))


@pytest.mark.parametrize(
    ("estimate", "half", "below", "holds"),
    [
        (1, 0.5, True, True),
        (3, 0.5, True, False),
        (2.2, 0.5, True, None),
        (1, 0.5, False, False),
        (3, 0.5, False, True),
    ],
)
def test_a_check_holds_by_its_whole_interval(estimate, half, below, holds):
    assert Check("it", estimate, half, 2.0, below).holds is holds


@pytest.mark.parametrize(
    ("estimates", "verdict"),
    [
        ((1, 1), Verdict.REPRODUCED),
        ((1, 3), Verdict.IN_PART),
        ((3, 3), Verdict.NOT),
        ((1, 2), Verdict.UNDECIDED),
        ((3, 2), Verdict.UNDECIDED),
        ((1, 2, 3), Verdict.IN_PART),
    ],
)
def test_verdicts(estimates, verdict):
    judgement = Judgement(
        [Check("it", estimate, 0.5, 2.0) for estimate in estimates], [Check("cause", 9.0, 0.0, 2.0)]
    )
    assert judgement.verdict == verdict
    assert judgement.table()["counts"] == ["yes"] * len(estimates) + ["no"]


def test_less_is_paired_and_knows_the_margin():
    part = made(a=lines(0.10), b=lines(0.09))
    assert less([part], "b", "a").holds is True
    assert less([part], "a", "b").holds is False
    assert less([part], "a", "b", times=1.25).holds is True


def test_growth_tells_a_line_in_time_from_one_in_its_logarithm():
    turns = np.arange(1, 101)
    noise = 0.01 * MIND.normal(size=(50, 1)) * turns
    part = made(linear=turns + noise, logarithmic=np.log(turns) + 0.01 * noise)
    assert growth([part], "linear").holds is False
    assert growth([part], "logarithmic").holds is True


def test_locked_runs_are_counted():
    turns = np.arange(1, 101.0)
    stuck = np.where(np.arange(50)[:, None] < 20, turns, np.minimum(turns, 30))
    found = locked([made(a=stuck, b=np.minimum(turns, 30) + np.zeros((50, 1)))], "a")
    assert found.estimate == pytest.approx(0.4)
    assert found.holds is True


def test_claims_rest_on_figures_that_exist():
    assert all(name in FIGURES for claim in CLAIMS for name in claim.figures)
    assert len({claim.number for claim in CLAIMS}) == len(CLAIMS)

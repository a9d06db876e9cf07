"""Claims: verdicts follow from intervals, and the checks see what they are made to see."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from scipy.special import psi

from belman.figures import CLAIMS, FIGURES, limit_theorems
from belman.figures.checks import growth, judge_panel, less, locked
from belman.figures.claim import Check, Judgement, Verdict, verdict
from belman.figures.curves import Curves, Panel
from belman.measures import condense
from belman.problems import bernoulli

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
        {"": [Check("it", estimate, 0.5, 2.0) for estimate in estimates]},
        [Check("cause", 9.0, 0.0, 2.0)],
    )
    assert judgement.verdict == verdict
    assert judgement.table()["counts"] == ["yes"] * len(estimates) + ["no"]


YES, NO, OPEN = (Check("it", estimate, 0.5, 2.0) for estimate in (1.0, 3.0, 2.0))


def test_readings_exclude_each_other_and_the_nearest_is_named():
    judgement = Judgement({"a": [YES, NO], "b": [YES, YES], "c": [NO, NO]})
    assert (judgement.reading, judgement.verdict) == ("b", Verdict.REPRODUCED)
    assert judgement.table()["reading"] == ["b", "b", "a", "a", "c", "c"]
    assert judgement.table()["counts"] == ["yes"] * 2 + ["no"] * 4
    nearest = Judgement({"a": [NO, NO], "b": [YES, NO], "c": [OPEN, OPEN]})
    assert (nearest.reading, nearest.verdict) == ("b", Verdict.IN_PART)
    unsure = Judgement({"a": [NO], "b": [OPEN]})
    assert (unsure.reading, unsure.verdict) == ("b", Verdict.UNDECIDED)


@pytest.mark.parametrize(
    ("checks", "against", "verdict"),
    [
        ([YES], [YES], Verdict.PICTURE),
        ([NO], [YES], Verdict.REFUTED),
        ([YES], [NO, YES], Verdict.PICTURE),
        ([YES], [NO, OPEN], Verdict.REPRODUCED),
        ([NO], [NO], Verdict.NOT),
    ],
)
def test_what_speaks_against_a_claim_leaves_its_picture_or_refutes_it(checks, against, verdict):
    assert Judgement({"": checks}, (), against).verdict is verdict


def test_the_chance_that_a_protocol_shows_a_claim_is_that_of_its_binomial():
    """A third of a player's runs are 1: the mean of five is below 0.3 if at most one of them is."""
    third = np.tile([1.0, 0.0, 0.0], 100)
    part = made(a=third[:, None] * np.ones(100), b=np.zeros((300, 100)))
    result = Judgement({"": [less([part], "a", "b")._replace(limit=0.3)]})
    exact = (2 / 3) ** 5 + 5 * (1 / 3) * (2 / 3) ** 4
    assert result.chance(5) == pytest.approx(exact, abs=4.5 * (exact / 2_000) ** 0.5)
    assert Judgement({"": [YES]}).chance(5) is None


def test_players_of_different_games_are_not_compared():
    """The tests of a panel see its own players, and the reading names the panel."""
    panels = tuple(Panel(title, bernoulli([0.5, 0.4]), {}) for title in ("a", "b"))
    figure = Curves("it", "It", "shows", panels=panels)
    judge = judge_panel(figure, [(less, "BelMan (paper)", "Thompson")])
    good = made(**{"BelMan (joint)": lines(0.1), "Thompson": lines(0.2)})
    bad = made(**{"BelMan (joint)": lines(0.4), "Thompson": lines(0.3)})
    result = judge({"it": {"a": bad, "b": good}})
    assert {name: verdict(checks) for name, checks in result.readings.items()} == {
        "joint": Verdict.NOT,
        "joint, b": Verdict.REPRODUCED,
    }
    assert (result.reading, result.verdict) == ("joint, b", Verdict.REPRODUCED)


def test_exact_central_limit_is_what_many_agents_show():
    """A twin that draws: its shares below five points are the computed ones, to 4.5 deviations."""
    turns, agents = 40, 20_000
    exact = limit_theorems._errors(turns)
    wins = np.random.default_rng(2).binomial(10, limit_theorems.ARMS, (agents, 4))
    points = (psi(1.0 + wins) - psi(12.0)).mean(axis=1)
    error = np.sqrt(turns) * (points - np.log(limit_theorems.ARMS).mean())
    assert np.var(error) == pytest.approx(float(exact.covariance[0, 0]), rel=0.06)
    error /= np.sqrt(limit_theorems.limit_covariance()[0, 0])
    for position in (-2.0, -1.0, 0.0, 1.0, 2.0):
        share = float(exact.below[0].sel(error=position, method="nearest"))
        width = 4.5 * (share * (1 - share) / agents) ** 0.5
        assert (error <= position).mean() == pytest.approx(share, abs=width)


def test_the_counter_example_is_that_of_the_page_on_theorem_3():
    result = [round(limit_theorems._behind(t, "barycentre", 0.0), 1) for t in (1e3, 1e6, 1e9, 1e12)]
    assert result == [-1.6, -2.3, -3.0, -3.7]


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
    result = locked([made(a=stuck, b=np.minimum(turns, 30) + np.zeros((50, 1)))], "a")
    assert result.estimate == pytest.approx(0.4)
    assert result.holds is True


def test_claims_rest_on_figures_that_exist():
    assert all(name in FIGURES for claim in CLAIMS for name in claim.figures)
    assert len({claim.number for claim in CLAIMS}) == len(CLAIMS)

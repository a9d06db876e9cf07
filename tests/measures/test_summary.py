"""Means and comparisons of players: what their columns are called, and what they refuse."""

from __future__ import annotations

import pytest

import belman
from belman.errors import SettingError
from belman.measures import difference, summary

PLAYERS = {"Random": belman.policies.Random(), "Thompson": belman.Thompson()}
RESULT = belman.simulate(
    PLAYERS,
    belman.problems.bernoulli([0.1, 0.9]),
    20,
    5,
)


def test_every_column_has_a_name_of_its_own_that_can_be_typed():
    table = belman.compare(RESULT, against="Thompson")
    assert list(table.columns) == [
        "player",
        "regret",
        "± regret",
        "difference",
        "± difference",
        "P(less)",
        "verdict",
    ]


def test_the_share_of_runs_with_less_counts_ties_half():
    ours, theirs = (RESULT["regret"].isel(turn=-1).sel(player=name).values for name in PLAYERS)
    wanted = sum((a < b) + 0.5 * (a == b) for a, b in zip(ours, theirs, strict=True)) / len(ours)
    result = belman.compare(RESULT, against="Thompson")
    assert dict(zip(result["player"], result["P(less)"], strict=True)) == {
        "Random": pytest.approx(wanted),
        "Thompson": 0.5,
    }


@pytest.mark.parametrize(
    "given", [belman.Agent(["a", "b"]).beliefs(), None, [1.0, 2.0], RESULT.isel(run=0)]
)
@pytest.mark.parametrize(
    "measure",
    [
        lambda given: belman.compare(given, against="Thompson"),
        lambda given: difference(given, "Random", "Thompson"),
        summary,
    ],
)
def test_what_is_no_result_of_runs_is_refused_by_name(measure, given):
    with pytest.raises(SettingError, match=f"a {type(given).__name__} has no players .*simulate"):
        measure(given)

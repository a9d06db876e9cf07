"""What claims are tested by: paired differences, runs that are locked, growth over a doubling.

"BelMan (paper)" is judged, as the paper has it; tests of our default, of causes and of other
readings are shown and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import xarray

from belman.figures.claim import AllData, Check, Judgement
from belman.figures.curves import Curves, last
from belman.measures import half_width

PAPER, OURS = "BelMan (paper)", "BelMan"
#: "Comparable" and "competitive" mean: at most a quarter more regret than Thompson sampling.
MARGIN = 1.25
#: Standard errors in half of a 95 % interval.
SCORE = 1.96

Parts = Sequence[xarray.Dataset]  # of a panel: its players, and its slow ones
Test = Sequence[Any]  # a function that takes the parts of a panel, and what else it takes


def check(states: str, values: xarray.DataArray, limit: float = 0.0, below: bool = True) -> Check:
    """Check the mean over runs of some values."""
    return Check(states, float(values.mean()), float(half_width(values)), limit, below, values.size)


def less(parts: Parts, player: str, rival: str, times: float = 1.0) -> Check:
    """A player has less regret than a rival (or than so many times as much), run by run."""
    of = "" if times == 1.0 else f"{times:g} × "
    words = f"{player}: less regret than {of}{rival}"
    return check(words, last(parts, player) - times * last(parts, rival))


def late_draws(parts: Parts, player: str) -> xarray.DataArray:
    """Suboptimal draws of a player in the second half of every run."""
    draws = parts[0].suboptimal_draws_at.sel(player=player)
    return draws.isel(mark=-1) - draws.isel(mark=-2)


def locked(parts: Parts, player: str) -> Check:
    """The share of runs that play nothing but a suboptimal arm in the second half."""
    turns = int(parts[0].mark[-1] - parts[0].mark[-2])
    words = f"{player}: some runs are locked on a wrong arm (share of runs)"
    return check(words, (late_draws(parts, player) >= turns).astype(float), below=False)


def growth(parts: Parts, player: str) -> Check:
    """Regret per doubling of time does not grow by half (linear in ln t: equal; in t: doubled)."""
    regret = parts[0].regret_at.sel(player=player)
    third, second, first = (regret.isel(mark=place) for place in (-3, -2, -1))
    over = "(last doubling minus 1.5 × the one before)"
    words = f"{player}: regret grows no faster than ln t {over}"
    return check(words, (first - second) - 1.5 * (second - third))


def judge_panels(
    figure: Curves, checks: Sequence[Test], causes: Sequence[Test] = ()
) -> Callable[[AllData], Judgement]:
    """The judge of a claim by the same tests of every panel of a figure.

    Panels are told apart by the first words of their titles, which name a reading.
    """

    def judge(everything: AllData) -> Judgement:
        return Judgement(run(everything, checks), run(everything, causes))

    def run(everything: AllData, tests: Sequence[Test]) -> list[Check]:
        found: list[Check] = []
        for panel in figure.panels:
            parts = panel.data(everything[figure.name])
            where = f" ({panel.title.split()[0]})" if len(figure.panels) > 1 else ""
            made = [test(parts, *given) for test, *given in tests]
            found += [one._replace(states=f"{one.states}{where}") for one in made]
        return found

    return judge

"""What claims are tested by: paired differences, runs that are locked, growth over a doubling.

"BelMan (paper)" is judged, as the paper has it; tests of our default, of causes and of other
readings are shown and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
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


def sooner(parts: Parts, player: str, rival: str) -> Check:
    """A player has fewer suboptimal draws than a rival in the second half."""
    words = f"{player}: fewer suboptimal draws than {rival} in the second half"
    return check(words, late_draws(parts, player) - late_draws(parts, rival))


def steadier(parts: Parts, player: str, rival: str) -> Check:
    """The regret of a player varies less between runs than that of a rival."""
    (own, own_half), (other, half) = (_log_variance(last(parts, name)) for name in (player, rival))
    words = f"{player}: smaller variance of regret than {rival} (ln of the ratio)"
    both = float(np.hypot(own_half, half))
    return Check(words, own - other, both, 0.0, runs=last(parts, player).size)


def _log_variance(values: xarray.DataArray) -> tuple[float, float]:
    """ln of a variance and the half-width of its interval, from the fourth moment."""
    off = values.values - values.values.mean()
    square = float((off**2).mean())
    spread = max((off**4).mean() / square**2 - 1.0, 0.0) / off.size
    return float(np.log(square)), SCORE * float(np.sqrt(spread))


def few_draws(parts: Parts, player: str, most: float) -> Check:
    """A player has no more suboptimal draws than the paper's largest number of them."""
    words = f"{player}: at most {most:.0f} suboptimal draws, the paper's largest"
    return check(words, last(parts, player, "suboptimal_draws"), most)


def settled(parts: Parts, player: str, most: float) -> Check:
    """A player has hardly any suboptimal draw in the second half."""
    turn = int(parts[0].mark[-2])
    words = f"{player}: hardly any suboptimal draw after turn {turn} (less than {most:g})"
    return check(words, late_draws(parts, player), most)


def as_published(parts: Parts, player: str, published: float) -> Check:
    """A player's suboptimal draws are as many as the paper has, where it reads rates."""
    draws = last(parts, player, "suboptimal_draws")
    size = f"the paper's {published:.0f} (relative difference)"
    words = f"{player} (rates): suboptimal draws within 15 % of {size}"
    off, half = abs(draws.mean() / published - 1.0), float(half_width(draws)) / published
    return Check(words, float(off), half, 0.15, runs=draws.size)


#: Tests that a figure's declaration names.
TESTS = {
    test.__name__: test
    for test in (less, locked, growth, sooner, steadier, few_draws, settled, as_published)
}


def judge_panels(
    figure: Curves,
    checks: Sequence[Test],
    causes: Sequence[Test] = (),
    of_the_first: Sequence[Test] = (),
) -> Callable[[AllData], Judgement]:
    """The judge of a claim by the same tests of every panel of a figure.

    Panels are told apart by the first words of their titles, which name a reading. There may be
    more causes, of the first panel alone.
    """

    def judge(everything: AllData) -> Judgement:
        panels = {panel.title: panel.data(everything[figure.name]) for panel in figure.panels}
        first = run(next(iter(panels.values())), of_the_first)
        return Judgement(both(panels, checks), [*both(panels, causes), *first])

    def both(panels: Mapping[str, Parts], tests: Sequence[Test]) -> list[Check]:
        found: list[Check] = []
        for title, parts in panels.items():
            where = f" ({title.split()[0]})" if len(panels) > 1 else ""
            found += [one._replace(states=f"{one.states}{where}") for one in run(parts, tests)]
        return found

    def run(parts: Parts, tests: Sequence[Test]) -> list[Check]:
        return [test(parts, *given) for test, *given in tests]

    return judge

"""What claims are tested by: paired differences, runs that are locked, growth over a doubling.

The paper's BelMan is judged, under each reading that its panel has; tests of our default and of
causes are shown and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray
from numpy.typing import NDArray

from belman.figures.claim import AllData, Check, Draw, Judgement
from belman.figures.curves import Curves, last
from belman.figures.figure import SEED
from belman.figures.players import PAPERS
from belman.measures import half_width

#: In a declared test: the player of the reading that is judged.
PAPER, OURS = "BelMan (paper)", "BelMan"
#: "Comparable" and "competitive" mean: at most a quarter more regret than Thompson sampling.
MARGIN = 1.25
#: Standard errors in half of a 95 % interval.
SCORE = 1.96

Parts = Sequence[xarray.Dataset]  # of a panel: its players, and its slow ones
Floats = NDArray[np.float64]
Values = tuple[str, xarray.DataArray]  # a player, and a number of each of its runs
Test = Sequence[Any]  # a function that takes the parts of a panel, and what else it takes


def check(
    states: str, values: xarray.DataArray, limit: float = 0.0, below: bool = True, player: str = ""
) -> Check:
    """Check the mean over runs of some values, of a player."""
    mean, half, array = float(values.mean()), float(half_width(values)), values.values

    def redrawn(draw: Draw) -> Floats:
        result: Floats = array[draw(player, array.size)].mean(axis=1)
        return result

    return Check(states, mean, half, limit, below, array.size, redrawn)


def compare(states: str, own: Values, other: Values, times: float = 1.0) -> Check:
    """Check that the mean of a player is less than some times a rival's, run by run."""
    (player, values), (rival, others) = own, other
    result = check(states, values - times * others)  # xarray keeps the runs that both have played

    def redrawn(draw: Draw) -> Floats:
        mine, theirs = values.values, others.values
        first = mine[draw(player, mine.size)].mean(axis=1)
        second: Floats = theirs[draw(rival, theirs.size)].mean(axis=1)
        return np.asarray(first - times * second, dtype=np.float64)

    return result._replace(redrawn=redrawn)


def less(parts: Parts, player: str, rival: str, times: float = 1.0) -> Check:
    """A player has less regret than a rival (or than `times` as much), run by run."""
    of = "" if times == 1.0 else f"{times:g} × "
    words = f"{player}: less regret than {of}{rival}"
    return compare(words, (player, last(parts, player)), (rival, last(parts, rival)), times)


def fewer(parts: Parts, player: str, rival: str) -> Check:
    """A player has fewer suboptimal draws than a rival, run by run."""
    own, other = ((name, last(parts, name, "suboptimal_draws")) for name in (player, rival))
    return compare(f"{player}: fewer suboptimal draws than {rival}", own, other)


def late_draws(parts: Parts, player: str) -> xarray.DataArray:
    """Suboptimal draws of a player in the second half of every run."""
    draws = parts[0].suboptimal_draws_at.sel(player=player)
    return draws.isel(mark=-1) - draws.isel(mark=-2)


def locked(parts: Parts, player: str) -> Check:
    """The share of runs that play nothing but a suboptimal arm in the second half."""
    turns = int(parts[0].mark[-1] - parts[0].mark[-2])
    words = f"{player}: some runs are locked on a wrong arm (share of runs)"
    stuck = (late_draws(parts, player) >= turns).astype(float)
    return check(words, stuck, below=False, player=player)


def growth(parts: Parts, player: str) -> Check:
    """Regret per doubling of time does not grow by half (linear in ln t: equal; in t: doubled)."""
    regret = parts[0].regret_at.sel(player=player)
    third, second, first = (regret.isel(mark=position) for position in (-3, -2, -1))
    over = "(last doubling minus 1.5 × the one before)"
    words = f"{player}: regret grows no faster than ln t {over}"
    return check(words, (first - second) - 1.5 * (second - third), player=player)


def sooner(parts: Parts, player: str, rival: str) -> Check:
    """A player has fewer suboptimal draws than a rival in the second half."""
    words = f"{player}: fewer suboptimal draws than {rival} in the second half"
    return compare(words, (player, late_draws(parts, player)), (rival, late_draws(parts, rival)))


def steadier(parts: Parts, player: str, rival: str) -> Check:
    """The regret of a player varies less between runs than that of a rival."""
    (own, own_half), (other, half) = (_log_variance(last(parts, name)) for name in (player, rival))
    words = f"{player}: smaller variance of regret than {rival} (ln of the ratio)"
    both = float(np.hypot(own_half, half))
    ends = {name: last(parts, name) for name in (player, rival)}

    def redrawn(draw: Draw) -> Floats:
        values = [end.values[draw(name, end.size)] for name, end in ends.items()]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (np.log(each.var(axis=1)) for each in values)
            return np.asarray(first - second, dtype=np.float64)

    return Check(words, own - other, both, 0.0, runs=ends[player].size, redrawn=redrawn)


def _log_variance(values: xarray.DataArray) -> tuple[float, float]:
    """ln of a variance and the half-width of its interval, from the fourth moment."""
    off = values.values - values.values.mean()
    square = float((off**2).mean())
    spread = max((off**4).mean() / square**2 - 1.0, 0.0) / off.size
    return float(np.log(square)), SCORE * float(np.sqrt(spread))


def few_draws(parts: Parts, player: str, most: float, runs: int) -> Check:
    """How often the mean of a few runs has no more suboptimal draws than the paper's."""
    draws = last(parts, player, "suboptimal_draws").values
    which = np.random.default_rng([SEED, runs]).integers(draws.size, size=(100_000, runs))
    share = float((draws[which].mean(axis=1) <= most).mean())
    words = f"{player}: chance of at most {most:.0f} suboptimal draws, the paper's, in {runs} runs"
    return Check(words, share, 0.0, 0.0, False, draws.size)


def settled(parts: Parts, player: str, most: float) -> Check:
    """A player has hardly any suboptimal draw in the second half."""
    turn = int(parts[0].mark[-2])
    words = f"{player}: hardly any suboptimal draw after turn {turn} (less than {most:g})"
    return check(words, late_draws(parts, player), most, player=player)


def as_published(parts: Parts, player: str, published: float) -> Check:
    """A player's suboptimal draws are as many as the paper has."""
    draws = last(parts, player, "suboptimal_draws")
    size = f"the paper's {published:.0f} (relative difference)"
    words = f"{player}: suboptimal draws within 15 % of {size}"
    off, half = abs(draws.mean() / published - 1.0), float(half_width(draws)) / published
    return Check(words, float(off), half, 0.15, runs=draws.size)


#: Tests that a figure's declaration names.
TESTS = {
    test.__name__: test
    for test in (less, fewer, locked, growth, sooner, steadier, few_draws, settled, as_published)
}


def judge_panel(
    figure: Curves, checks: Sequence[Test], causes: Sequence[Test] = ()
) -> Callable[[AllData], Judgement]:
    """The judge of a claim by tests of a figure, for each reading of the paper.

    A reading is a projection, and for panels after the first the title of the panel: all players
    of a panel play the same game, and no player is compared with one of another game. Causes are
    those of the first panel.
    """

    def judge(everything: AllData) -> Judgement:
        result: dict[str, list[Check]] = {}
        for panel in figure.panels:
            parts = panel.data(everything[figure.name])
            where = "" if panel is figure.panels[0] else f", {panel.title}"
            for reading, player in PAPERS.items():
                if any(player in part.player.values for part in parts):
                    result[reading + where] = run(parts, checks, player)
        judgement = Judgement(result)
        parts = figure.panels[0].data(everything[figure.name])
        player = PAPERS[judgement.reading.split(",")[0]]
        return judgement._replace(causes=run(parts, causes, player))

    def run(parts: Parts, tests: Sequence[Test], player: str) -> list[Check]:
        return [
            test(parts, *(player if each == PAPER else each for each in given))
            for test, *given in tests
        ]

    return judge

"""What claims are tested by: paired differences, runs that are locked, growth over a doubling.

"BelMan (paper)" is judged, as the paper has it; tests of our default, of causes and of other
readings are shown and not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import xarray

from belman.figures.claim import Check
from belman.figures.figure import Data
from belman.figures.numbers import last
from belman.measures import half_width

PAPER, OURS = "BelMan (paper)", "BelMan"
#: "Comparable" and "competitive" mean: at most a quarter more regret than Thompson sampling.
MARGIN = 1.25
BERNOULLI_RIVALS = ("Bayes-UCB", "Thompson", "UCB", "KL-UCB", "Gittins", "Random")
#: Standard errors in half of a 95 % interval.
SCORE = 1.96


def parts_of(data: Data, panel: str) -> list[xarray.Dataset]:
    """The data of a panel and of its slow players."""
    return [found for name, found in data.items() if name in (panel, f"{panel}, slow")]


def interval(values: xarray.DataArray) -> tuple[float, float, int]:
    """Mean over runs, half-width of its interval, runs."""
    return float(values.mean()), float(half_width(values)), values.size


def less(
    parts: Sequence[xarray.Dataset], player: str, rival: str, times: float = 1.0, where: str = ""
) -> Check:
    """A player has less regret than a rival (or than so many times as much), run by run."""
    of = "" if times == 1.0 else f"{times:g} × "
    words = f"{player}: less regret than {of}{rival}{where}"
    estimate, half, runs = interval(last(parts, player) - times * last(parts, rival))
    return Check(words, estimate, half, 0.0, runs=runs)


def locked(part: xarray.Dataset, player: str) -> Check:
    """The share of runs that play nothing but a suboptimal arm in the second half."""
    draws = part.suboptimal_draws_at.sel(player=player)
    late = draws.isel(mark=-1) - draws.isel(mark=-2)
    turns = int(part.mark[-1] - part.mark[-2])
    estimate, half, runs = interval((late >= turns).astype(float))
    words = f"{player}: some runs are locked on a wrong arm (share of runs)"
    return Check(words, estimate, half, 0.0, below=False, runs=runs)


def growth(
    part: xarray.Dataset, player: str, words: str = "regret grows no faster than ln t"
) -> Check:
    """Regret per doubling of time does not grow by half (linear in ln t: equal; in t: doubled)."""
    regret = part.regret_at.sel(player=player)
    third, second, first = (regret.isel(mark=place) for place in (-3, -2, -1))
    last_octave, before = first - second, second - third
    estimate, half, runs = interval(last_octave - 1.5 * before)
    said = f"{player}: {words} (last doubling minus 1.5 × the one before)"
    return Check(said, estimate, half, 0.0, runs=runs)

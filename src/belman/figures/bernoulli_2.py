"""Two Bernoulli arms of 0.8 and 0.9."""

from __future__ import annotations

import numpy as np
import xarray

from belman.figures.checks import MARGIN, OURS, PAPER, SCORE, interval, less, locked, parts_of
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.numbers import last
from belman.figures.players import SLOW, bernoulli_players
from belman.problems import bernoulli

FIGURE = Curves(
    name="bernoulli-2",
    title="Two arms, 0.8 and 0.9",
    shows="Few arms with a gap of 0.1: what it costs to be too sure too soon.",
    paper="BelMan is comparable to the others, turns to exploitation sooner, and varies less "
    "between runs.",
    panels=(
        Panel("Bernoulli 0.8, 0.9", bernoulli([0.8, 0.9]), bernoulli_players(1_000), slow=SLOW),
    ),
)


def _two_arms(everything: AllData) -> Judgement:
    parts = parts_of(everything["bernoulli-2"], "Bernoulli 0.8, 0.9")
    players = parts[0]
    draws = players.suboptimal_draws_at.isel(mark=-1) - players.suboptimal_draws_at.isel(mark=-2)
    early = interval(draws.sel(player=PAPER) - draws.sel(player="Thompson"))
    spread = _log_variance(last(parts, PAPER)), _log_variance(last(parts, "Thompson"))
    ratio = spread[0][0] - spread[1][0], float(np.hypot(spread[0][1], spread[1][1]))
    runs = last(parts, PAPER).size
    return Judgement(
        [
            less(parts, PAPER, "Thompson", MARGIN),
            Check(
                f"{PAPER}: fewer suboptimal draws than Thompson in the second half",
                early[0],
                early[1],
                0.0,
                runs=early[2],
            ),
            Check(
                f"{PAPER}: smaller variance of regret than Thompson (ln of the ratio)",
                *ratio,
                0.0,
                runs=runs,
            ),
        ],
        [locked(players, PAPER), less(parts, OURS, "Thompson")],
    )


def _log_variance(values: xarray.DataArray) -> tuple[float, float]:
    """ln of a variance and the half-width of its interval, from the fourth moment."""
    off = values.values - values.values.mean()
    square = float((off**2).mean())
    spread = max((off**4).mean() / square**2 - 1.0, 0.0) / off.size
    return float(np.log(square)), SCORE * float(np.sqrt(spread))


CLAIM = Claim(
    1,
    "Two arms, 0.8 and 0.9",
    "BelMan is comparable, reaches exploitation sooner, with significantly less variance.",
    ("bernoulli-2",),
    _two_arms,
    "The paper's exposure is the same for both arms and shrinks fast: a run whose better arm "
    "starts badly never returns to it.",
)

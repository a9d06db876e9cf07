"""Figures that the paper has not: exposures, and every rival on random arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.exposure import Constant, Evidence, Infinite, Paper, SquareRoot, two_phase
from belman.figures.curves import Curves, Panel, last
from belman.figures.declared import said
from belman.figures.figure import Data, canvas
from belman.figures.players import SLOW, bernoulli_players
from belman.measures import half_width
from belman.plots import Rows, curve_data, draw_curves, draw_rows, style
from belman.policies import (
    DMED,
    MOSS,
    TSUCB,
    BelMan,
    Greedy,
    KLUCBPlusPlus,
    TopTwoThompson,
    UCBTuned,
)
from belman.problems import bernoulli, random_bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_ALL = {
    **bernoulli_players(1_000),
    "KL-UCB++": KLUCBPlusPlus(horizon=1_000),
    "UCB-tuned": UCBTuned(),
    "MOSS": MOSS(),
    "DMED": DMED(),
    "TS-UCB": TSUCB(),
    "top-two": TopTwoThompson(),
    "greedy": Greedy(),
}
#: Ten arms, a tenth apart.
_APART = tuple(round(0.05 + 0.1 * a, 2) for a in range(10))
_SCHEDULES = {
    "evidence": Evidence(),
    "paper": Paper(),
    "constant τ = 0.1": Constant(0.1),
    "square root": SquareRoot(),
    "two phases": two_phase(200),
    "infinite": Infinite(),
}


@dataclass(frozen=True)
class Averages(Curves):
    """One row a player and one column a problem: its mean with the 95 % interval."""

    def draw(self, data: Data) -> Picture:
        columns = []
        for panel in self.panels:
            parts = panel.data(data)
            names = [str(name) for part in parts for name in part.player.values]
            ends = {name: last(parts, name) for name in names}
            means = {name: float(end.mean()) for name, end in ends.items()}
            widths = {name: float(half_width(end)) for name, end in ends.items()}
            columns.append(Rows(panel.title, f"regret at turn {panel.horizon:,}", means, widths))
        return draw_rows(columns)


@dataclass(frozen=True)
class Exposures(Curves):
    """Regret above, and below it where the plays went."""

    def draw(self, data: Data) -> Picture:
        result = data[self.panels[0].title]
        figure, (above, below) = canvas(2, high=1.8)
        draw_curves(curve_data(result), above, logarithmic=True)
        share = result.plays.mean("run") / result.plays.mean("run").sum("arm")
        for position, name in enumerate(result.player.values):
            look: Any = {"color": style.colour(position), "marker": "o", "label": str(name)}
            below.plot(_APART, share.sel(player=name), **look)
        below.set_yscale("log")
        below.set_xticks(np.array(_APART))
        below.set(xlabel="mean of the arm", ylabel="share of the plays")
        below.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return figure


EXPOSURES = Exposures(
    **said("exposures"),
    panels=(
        Panel(
            "Bernoulli 0.05 to 0.95",
            bernoulli(_APART),
            {name: BelMan(kind) for name, kind in _SCHEDULES.items()},
            runs=500,
        ),
    ),
    against="evidence",
)
BAYES_AVERAGE = Averages(
    **said("bayes-average"),
    panels=tuple(
        Panel(
            f"{arms} arms", random_bernoulli(arms), _ALL, runs=runs, slow=SLOW, slow_runs=slow_runs
        )
        for arms, runs, slow_runs in ((2, 1_000, 200), (10, 1_000, 200), (50, 400, 40))
    ),
    variables=("regret",),
)

"""Regret on random Bernoulli arms, averaged over the prior, of every rival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from belman.figures.figure import Curves, Data, Panel
from belman.figures.numbers import last
from belman.figures.players import SLOW, bernoulli_players
from belman.measures import half_width
from belman.plots import Rows, draw_rows
from belman.policies import DMED, MOSS, TSUCB, Greedy, KLUCBPlusPlus, TopTwoThompson, UCBTuned
from belman.problems import random_bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

HORIZON = 1_000
_PLAYERS = {
    **bernoulli_players(HORIZON),
    "KL-UCB++": KLUCBPlusPlus(horizon=HORIZON),
    "UCB-tuned": UCBTuned(),
    "MOSS": MOSS(),
    "DMED": DMED(),
    "TS-UCB": TSUCB(),
    "top-two": TopTwoThompson(),
    "greedy": Greedy(),
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


FIGURE = Averages(
    name="bayes-average",
    title="Uniform random arms",
    shows="New means from the uniform distribution in every run, so that no instance is favoured: "
    "2, 10 and 50 arms, all rivals.",
    panels=tuple(
        Panel(
            f"{arms} arms",
            random_bernoulli(arms),
            _PLAYERS,
            runs=runs,
            slow=SLOW,
            slow_runs=slow_runs,
        )
        for arms, runs, slow_runs in ((2, 1_000, 200), (10, 1_000, 200), (50, 400, 40))
    ),
    variables=("regret",),
)

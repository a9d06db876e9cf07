"""What each exposure does to the same ten arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.exposure import Constant, Evidence, Infinite, Paper, SquareRoot, two_phase
from belman.figures.figure import Curves, Data, Panel
from belman.plots import curve_data, draw_curves, style
from belman.policies import BelMan
from belman.problems import bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

#: Ten arms, a tenth apart.
ARMS = tuple(round(0.05 + 0.1 * a, 2) for a in range(10))
_SCHEDULES = {
    "evidence": Evidence(),
    "paper": Paper(),
    "constant τ = 0.1": Constant(0.1),
    "square root": SquareRoot(),
    "two phases": two_phase(200),
    "infinite": Infinite(),
}


@dataclass(frozen=True)
class Exposures(Curves):
    """Regret above, and below it where the plays went."""

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        found = data[self.panels[0].title]
        width, height, _ = style.SIZES["screen"]
        figure, (above, below) = pyplot.subplots(2, 1, figsize=(width, 1.8 * height))
        draw_curves(curve_data(found), above, logarithmic=True)
        share = found.plays.mean("run") / found.plays.mean("run").sum("arm")
        for place, name in enumerate(found.player.values):
            look: Any = {"color": style.colour(place), "marker": "o", "label": str(name)}
            below.plot(ARMS, share.sel(player=name), **look)
        below.set_yscale("log")
        below.set_xticks(np.array(ARMS))
        below.set_xlabel("mean of the arm")
        below.set_ylabel("share of the plays")
        below.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return figure


FIGURE = Exposures(
    name="exposures",
    title="Exposures",
    shows="One algorithm under six exposures, on ten arms a tenth apart: who pays what, and where "
    "the plays go.",
    panels=(
        Panel(
            "Bernoulli 0.05 to 0.95",
            bernoulli(ARMS),
            {name: BelMan(kind) for name, kind in _SCHEDULES.items()},
            runs=500,
        ),
    ),
    against="evidence",
)

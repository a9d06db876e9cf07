"""Theorem 3: whether the average reward tends to the best mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from belman.figures.checks import OURS, PAPER, growth, interval, locked, parts_of
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import Curves, Data, Panel
from belman.figures.numbers import last
from belman.figures.players import BELMAN
from belman.plots import curve_data, draw_curves, style
from belman.policies import IMED, Thompson
from belman.problems import bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

HORIZON = 100_000


@dataclass(frozen=True)
class PerTurn(Curves):
    """Regret divided by the turn."""

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        found = curve_data(data[self.panels[0].title])
        width, height, _ = style.SIZES["screen"]
        figure, ax = pyplot.subplots(figsize=(width, height))
        lines = ("mean", "low", "high", "q25", "q75")
        rows = {name: getattr(found, name) / found.turn for name in lines}
        draw_curves(found._replace(**rows), ax, log=True, logarithmic=True, quartiles=False)
        ax.set_ylabel("regret per turn")
        return figure


FIGURE = PerTurn(
    name="consistency",
    title="Does the average reward tend to the best mean?",
    shows="Regret per turn on two arms of 0.9 and 0.8: what tends to 0 is consistent, what levels "
    "off is not.",
    paper="Theorem 3: with the paper's exposure the average reward tends to the best mean.",
    panels=(
        Panel(
            "Bernoulli 0.9, 0.8",
            bernoulli([0.9, 0.8]),
            {**BELMAN, "Thompson": Thompson(), "IMED": IMED()},
            horizon=HORIZON,
            runs=200,
        ),
    ),
)


def _theorem_3(everything: AllData) -> Judgement:
    parts = parts_of(everything["consistency"], "Bernoulli 0.9, 0.8")
    turn = int(parts[0].mark[-1])

    def tends(player: str) -> Check:
        estimate, half, runs = interval(last(parts, player) / turn)
        words = f"{player}: regret per turn below 0.001 at turn {turn:,}"
        return Check(words, estimate, half, 0.001, runs=runs)

    causes = [locked(parts[0], PAPER), tends(OURS), tends("Thompson"), growth(parts[0], OURS)]
    return Judgement([tends(PAPER)], causes)


CLAIM = Claim(
    14,
    "Theorem 3, consistency",
    "The average reward tends to the best mean.",
    ("consistency",),
    _theorem_3,
    "A return to an unlucky best arm needs s(t)·gap < ½ ln(t/n), and with C = 15 that hardly ever "
    "comes.",
)

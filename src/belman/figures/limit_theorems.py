"""Theorems 2 and 3: a central limit for the pseudobelief, and the best mean in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray
from numpy.typing import NDArray
from scipy.special import ndtr, psi

from belman.figures.checks import OURS, PAPER, SCORE, check, growth, locked
from belman.figures.claim import AllData, Check, Judgement
from belman.figures.curves import Curves, Panel, last
from belman.figures.declared import claimed, said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.figures.players import BELMAN
from belman.plots import curve_data, draw_curves, style
from belman.policies import IMED, Thompson
from belman.problems import bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS = np.array([0.2, 0.4, 0.5, 0.7])
TURNS = (40, 400, 4_000)
REPLICATIONS = 20_000


def limit_covariance() -> NDArray[np.float64]:
    """Σ̄ = Σ_a λ_a Σ_a, λ_a = 1/K; Σ_a is the Bernoulli variance carried to (ln p, ln(1 − p))."""
    slopes = np.stack([1.0 / ARMS, -1.0 / (1.0 - ARMS)])
    return np.einsum("ia,ja,a->ij", slopes, slopes, ARMS * (1.0 - ARMS)) / len(ARMS)


def _errors(turns: int, replications: int) -> xarray.Dataset:
    """√T(m̄ − m̄_∞) of as many agents, each arm played T/K times from a uniform prior."""
    mind, plays = np.random.default_rng([SEED, turns]), turns // len(ARMS)
    wins = mind.binomial(plays, ARMS, size=(replications, len(ARMS)))
    both = psi(2.0 + plays)
    points = np.stack([psi(1.0 + wins) - both, psi(1.0 + plays - wins) - both]).mean(axis=2)
    truth = np.stack([np.log(ARMS), np.log1p(-ARMS)]).mean(axis=1)
    error = np.sqrt(turns) * (points - truth[:, None])
    return xarray.Dataset({"error": (("coordinate", "replication"), error)})


@dataclass(frozen=True)
class CentralLimit(Figure):
    """The law of the error at growing T beside its limit."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        replications = effort.runs(REPLICATIONS, REPLICATIONS)

        def part(turns: int) -> Part:
            words = {"arms": ARMS.tolist(), "turns": turns, "seed": SEED}
            words["replications"] = replications
            return Part(words, lambda _: _errors(turns, replications))

        return {f"T = {turns}": part(turns) for turns in TURNS}

    def draw(self, data: Data) -> Picture:
        figure, panels = canvas(1, 2, 1.4, sharey=True)
        scales = np.sqrt(np.diag(limit_covariance()))
        words = ("error of E[ln θ]", "error of E[ln(1 − θ)]")
        x = np.linspace(-4.0, 4.0, 201)
        for coordinate, ax in enumerate(panels):
            for place, turns in enumerate(TURNS):
                values = np.sort(data[f"T = {turns}"].error.values[coordinate]) / scales[coordinate]
                shares, look = np.linspace(0.0, 1.0, len(values)), style.colour(place)
                ax.plot(values, shares, color=look, label=f"T = {turns:,}")
            ax.plot(x, ndtr(x), color=style.ink(ax), linestyle=":", label="limit")
            ax.set_xlim(-4.0, 4.0)
            ax.set_xlabel(f"√T · {words[coordinate]}, in limit deviations")
        panels[0].set_ylabel("share of agents below")
        panels[1].legend(loc="lower right")
        return figure


CENTRAL_LIMIT = CentralLimit(**said("central-limit"))


def _theorem_2(everything: AllData) -> Judgement:
    limit = limit_covariance()
    tests: list[Check] = []
    causes: list[Check] = []
    for turns in TURNS:
        error = everything["central-limit"][f"T = {turns}"].error.values
        count = error.shape[1]
        off = float(np.abs(np.cov(error) / limit - 1.0).max())
        score = np.sort(error[0]) / np.sqrt(limit[0, 0])
        steps = np.arange(count + 1) / count
        distance = float(max((steps[1:] - ndtr(score)).max(), (ndtr(score) - steps[:-1]).max()))
        covariance = f"T = {turns:,}: covariance off its limit, relative"
        law = f"T = {turns:,}: distance of the distribution from its limit (Kolmogorov)"
        half = SCORE * float(np.sqrt(2.0 / count))
        pair = [
            Check(covariance, off, half, 0.05, runs=count),
            Check(law, distance, 1.36 / count**0.5, 0.05, runs=count),
        ]
        (tests if turns == TURNS[-1] else causes).extend(pair)
    return Judgement(tests, causes)


HORIZON = 100_000


@dataclass(frozen=True)
class PerTurn(Curves):
    """Regret divided by the turn."""

    def draw(self, data: Data) -> Picture:
        found = curve_data(data[self.panels[0].title])
        figure, ax = canvas()
        lines = ("mean", "low", "high", "q25", "q75")
        rows = {name: getattr(found, name) / found.turn for name in lines}
        draw_curves(found._replace(**rows), ax, log=True, logarithmic=True, quartiles=False)
        ax.set_ylabel("regret per turn")
        return figure


CONSISTENCY = PerTurn(
    **said("consistency"),
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
    parts = CONSISTENCY.panels[0].data(everything[CONSISTENCY.name])
    turn = int(parts[0].mark[-1])

    def tends(player: str) -> Check:
        words = f"{player}: regret per turn below 0.001 at turn {turn:,}"
        return check(words, last(parts, player) / turn, 0.001)

    causes = [locked(parts, PAPER), tends(OURS), tends("Thompson"), growth(parts, OURS)]
    return Judgement([tends(PAPER)], causes)


CLAIMS = (claimed("central-limit", _theorem_2), claimed("consistency", _theorem_3))

"""Theorems 2 and 3: a central limit for the pseudobelief, and the best mean in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, psi, xlog1py, xlogy

from belman.exposure import Paper
from belman.families import Bernoulli
from belman.figures.checks import OURS, check, growth, locked
from belman.figures.claim import AllData, Check, Judgement
from belman.figures.curves import Curves, Panel, last
from belman.figures.declared import claimed, said
from belman.figures.figure import Data, Effort, Figure, Part, canvas
from belman.figures.players import BELMAN, PAPERS
from belman.manifold import least_kl_from_arms, least_kl_from_arms_tilted, nearness
from belman.plots import curve_data, draw_curves, style
from belman.policies import IMED, Thompson
from belman.problems import bernoulli

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS = np.array([0.2, 0.4, 0.5, 0.7])
TURNS = (40, 400, 4_000)
_STEP = 1e-5  # between sums that are told apart
_SHOWN = np.linspace(-4.0, 4.0, 801)  # in limit deviations


def limit_covariance() -> NDArray[np.float64]:
    """Σ̄ = Σ_a λ_a Σ_a, λ_a = 1/K; Σ_a is the Bernoulli variance carried to (ln p, ln(1 − p))."""
    slopes = np.stack([1.0 / ARMS, -1.0 / (1.0 - ARMS)])
    return np.einsum("ia,ja,a->ij", slopes, slopes, ARMS * (1.0 - ARMS)) / len(ARMS)


def _errors(turns: int) -> xarray.Dataset:
    """The distribution of √T(m̄ − m̄_∞), each arm played T/K times from a uniform prior.

    The arms' successes are binomial and independent, so that covariances add up and distributions
    convolve; sums are told apart to `_STEP`.
    """
    plays = turns // len(ARMS)
    wins = np.arange(plays + 1)
    ways = gammaln(plays + 1.0) - gammaln(wins + 1.0) - gammaln(plays - wins + 1.0)
    chances = np.exp(ways + xlogy(wins, ARMS[:, None]) + xlog1py(plays - wins, -ARMS[:, None]))
    points = np.stack([psi(1.0 + wins), psi(1.0 + plays - wins)]) - psi(2.0 + plays)
    means = np.einsum("iw,aw->ai", points, chances)
    squares = np.einsum("iw,jw,aw->aij", points, points, chances)
    covariance = (squares - np.einsum("ai,aj->aij", means, means)).sum(axis=0)
    truth = np.stack([np.log(ARMS), np.log1p(-ARMS)]).sum(axis=1)
    scales = np.sqrt(np.diag(limit_covariance()) / turns) * len(ARMS)
    below, distance = [], []
    for coordinate in range(2):
        low = points[coordinate].min()
        positions = np.rint((points[coordinate] - low) / _STEP).astype(int)
        count = len(ARMS) * int(positions.max()) + 1
        distributions = [np.fft.rfft(np.bincount(positions, chance), count) for chance in chances]
        sums = np.fft.irfft(np.prod(distributions, axis=0), count)
        values = len(ARMS) * low + _STEP * np.arange(count) - truth[coordinate]
        values /= scales[coordinate]
        shares, normal = np.cumsum(sums), ndtr(values)
        before = np.concatenate([[0.0], shares[:-1]])
        distance.append(float(max(np.abs(shares - normal).max(), np.abs(before - normal).max())))
        below.append(shares[np.searchsorted(values, _SHOWN, side="right") - 1])
    return xarray.Dataset(
        {
            "below": (("coordinate", "error"), np.array(below)),
            "distance": ("coordinate", distance),
            "covariance": (("row", "column"), turns * covariance / len(ARMS) ** 2),
        },
        {"error": _SHOWN},
    )


@dataclass(frozen=True)
class CentralLimit(Figure):
    """The distribution of the error at growing T beside its limit, exactly."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        def part(turns: int) -> Part:
            words = {"arms": ARMS.tolist(), "turns": turns, "step": _STEP}
            return Part(words, lambda _: _errors(turns))

        return {f"T = {turns}": part(turns) for turns in TURNS}

    def draw(self, data: Data) -> Picture:
        figure, panels = canvas(1, 2, 1.4, sharey=True)
        words = ("error of E[ln θ]", "error of E[ln(1 − θ)]")
        for coordinate, ax in enumerate(panels):
            for position, turns in enumerate(TURNS):
                shares, look = data[f"T = {turns}"].below.values[coordinate], style.colour(position)
                ax.plot(_SHOWN, shares, color=look, label=f"T = {turns:,}")
            ax.plot(_SHOWN, ndtr(_SHOWN), color=style.ink(ax), linestyle=":", label="limit")
            ax.set_xlim(-4.0, 4.0)
            ax.set_xlabel(f"√T · {words[coordinate]}, in limit deviations")
        panels[0].set_ylabel("chance of being below")
        panels[1].legend(loc="lower right")
        return figure


CENTRAL_LIMIT = CentralLimit(**said("central-limit"))


def _theorem_2(everything: AllData) -> Judgement:
    limit = limit_covariance()
    tests: list[Check] = []
    causes: list[Check] = []
    for turns in TURNS:
        result = everything["central-limit"][f"T = {turns}"]
        off = float(np.abs(result.covariance.values / limit - 1.0).max())
        covariance = f"T = {turns:,}: covariance off its limit, relative"
        distribution = f"T = {turns:,}: distance of the distribution from its limit (Kolmogorov)"
        pair = [
            Check(covariance, off, 0.0, 0.05),
            Check(distribution, float(result.distance.max()), 0.0, 0.05),
        ]
        (tests if turns == TURNS[-1] else causes).extend(pair)
    return Judgement({"": tests}, causes)


HORIZON = 100_000


@dataclass(frozen=True)
class PerTurn(Curves):
    """Regret divided by the turn."""

    def draw(self, data: Data) -> Picture:
        result = curve_data(data[self.panels[0].title])
        figure, ax = canvas()
        lines = ("mean", "low", "high", "q25", "q75")
        rows = {name: getattr(result, name) / result.turn for name in lines}
        draw_curves(result._replace(**rows), ax, log=True, logarithmic=True, quartiles=False)
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
        return check(words, last(parts, player) / turn, 0.001, player=player)

    causes = [locked(parts, player) for player in PAPERS.values()]
    causes += [tends(OURS), tends("Thompson"), growth(parts, OURS)]
    against = [
        _falls(reading, constant) for reading in ("barycentre", "joint") for constant in (0.0, 15.0)
    ]
    readings = {reading: [tends(player)] for reading, player in PAPERS.items()}
    return Judgement(readings, causes, against)


def _behind(turn: float, reading: str, constant: float) -> float:
    """Index of the best arm, three failures in three plays, less that of the other of mean 0.8."""
    family, plays = Bernoulli(), turn - 4.0
    beliefs = [(1.0, 4.0), (1.0 + 0.8 * plays, 1.0 + 0.2 * plays)]
    pull = float(Paper(C=constant).pull(np.array([turn]), arms=2)[0])
    if reading == "joint":
        centre = least_kl_from_arms_tilted(family, beliefs, pull)
    else:
        centre = least_kl_from_arms(family, beliefs)
    best, other = nearness(family, beliefs, centre, pull)
    return float(best - other)


def _falls(reading: str, constant: float) -> Check:
    """The counter-example: an unlucky best arm falls behind by more and more, for ever."""
    indices = [_behind(turn, reading, constant) for turn in (1e3, 1e6, 1e9, 1e12)]
    words = f"{reading}, C = {constant:g}, best arm 0 of 3: index behind the leader's at turn 10¹²"
    steps = np.diff(indices)
    return Check(words, indices[-1] if (steps < 0.0).all() else np.inf, 0.0, 0.0)


CLAIMS = (claimed("central-limit", _theorem_2), claimed("consistency", _theorem_3))

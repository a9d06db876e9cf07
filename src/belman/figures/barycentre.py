"""Theorem 1: the pseudobelief is the one minimum of the sum of KL, and the mixture's projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from belman.families import Bernoulli, Exponential, Family, Gaussian
from belman.figures.claim import AllData, Check, Judgement
from belman.figures.declared import claimed, said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.manifold import least_kl_from_arms
from belman.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

FAMILIES: dict[str, Family] = {"Beta": Bernoulli(), "Gamma": Exponential(), "Normal": Gaussian()}
_ARMS, _LINES = 5, 30
_STEPS = np.linspace(-0.8, 0.8, 33)


def _beliefs(name: str, rng: np.random.Generator) -> np.ndarray:
    """Five beliefs with counts from 1 to 100 or so; a Normal one is (mean, precision)."""
    first, second = np.exp(rng.uniform(0.0, 4.5, _ARMS)), np.exp(rng.uniform(0.0, 4.5, _ARMS))
    return np.column_stack([rng.normal(size=_ARMS) if name == "Normal" else first, second])


def _lines(name: str) -> xarray.Dataset:
    """The objective on lines through the barycentre, its mismatch, the mixture's projection."""
    family, rng = FAMILIES[name], np.random.default_rng(SEED)
    arms = _beliefs(name, rng)
    centre = least_kl_from_arms(family, arms)

    def objective(belief: np.ndarray) -> float:
        return sum(family.divergence(arm, belief) for arm in arms) / _ARMS

    least = objective(centre)
    excess, apart = np.empty((_LINES, len(_STEPS))), np.empty((_LINES, len(_STEPS)))
    for line in range(_LINES):
        way = rng.normal(size=2)
        for i, step in enumerate(_STEPS):
            move = step * way / np.linalg.norm(way)
            aside = np.array([move[0] / np.sqrt(centre[1]), 0.0])
            shift = aside if name == "Normal" else np.zeros(2)
            scale = np.exp([0.0, move[1]] if name == "Normal" else move)
            belief = (centre + shift) * scale
            excess[line, i] = objective(belief) - least
            apart[line, i] = family.divergence(centre, belief)
    average = np.mean([family.mean_parameters(arm) for arm in arms], axis=0)
    mismatch = np.abs(family.mean_parameters(centre) - average).max() / np.abs(average).max()
    return xarray.Dataset(
        {
            "excess": (("line", "step"), excess),
            "apart": (("line", "step"), apart),
            "mismatch": float(mismatch),
        },
        {"step": _STEPS},
    )


@dataclass(frozen=True)
class Barycentre(Figure):
    """The objective of Theorem 1 on lines through its minimum."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        def part(name: str) -> Part:
            described = {"family": name, "arms": _ARMS, "lines": _LINES, "seed": SEED}
            return Part(described, lambda _: _lines(name))

        return {name: part(name) for name in FAMILIES}

    def draw(self, data: Data) -> Picture:
        figure, panels = canvas(1, len(FAMILIES), 1.5, sharex=True)
        for position, (ax, name) in enumerate(zip(panels, FAMILIES, strict=True)):
            look: Any = {"color": style.colour(position), "alpha": 0.4, "linewidth": 0.8}
            ax.plot(_STEPS, data[name].excess.values.T, **look)
            ax.set(title=f"{name} beliefs", xlabel="distance from the barycentre")
        panels[0].set_ylabel("mean KL from the arms, above its least")
        return figure


BARYCENTRE = Barycentre(**said("barycentre"))


def _theorem_1(everything: AllData) -> Judgement:
    tests = []
    for name, result in everything["barycentre"].items():
        away = result.excess.where(result.step != 0.0, drop=True)
        runs = int(away.size)
        off, apart = float(result.mismatch), float(abs(result.excess - result.apart).max())
        mixture = f"{name}: excess of KL from the mixture minus KL(b̄ ‖ b), at most"
        above = f"{name}: least mean KL of other points above the barycentre's"
        average = f"{name}: mean parameters off the arms' average, relative"
        tests += [
            Check(above, float(away.min()), 0.0, 0.0, False, runs),
            Check(average, off, 0.0, 1e-10, runs=1),
            Check(mixture, apart, 0.0, 1e-9, runs=runs),
        ]
    return Judgement({"": tests})


CLAIM = claimed("barycentre", _theorem_1)

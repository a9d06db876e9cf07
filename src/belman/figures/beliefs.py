"""What is believed, as pictures: the focal distribution, densities of an agent, the manifold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.agent import Agent
from belman.exposure import Evidence, Exposure, Infinite, Paper, two_phase
from belman.figures.declared import said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.figures.players import TWENTY
from belman.plots import (
    BeliefDensities,
    FocalDensities,
    Paths,
    Trail,
    belief_densities,
    draw_beliefs,
    draw_focal,
    draw_manifold,
    focal_densities,
)
from belman.policies import BelMan
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_FOCAL_TURNS = (1, 10, 100, 1_000)
_MOMENTS = (50, 200, 1_000)
_NAMES = tuple(f"arm {a + 1}" for a in range(len(TWENTY)))
_SHOWN = ("arm 1", "arm 2", "arm 3", "arm 6")  # the four best of the twenty
_COLUMNS = {
    "plays": "plays",
    "expected reward": "expected",
    "low": "low",
    "high": "high",
    "P(best)": "best",
}
#: What is kept of densities, and of paths: the name and the dims of every array.
_DENSITIES = {
    "x": ("x", ("arm", "point")),
    "density": ("density", ("arm", "point")),
    "pseudobelief_x": ("pseudobelief_x", ("point",)),
    "pseudobelief_density": ("pseudobelief_density", ("point",)),
    "best": ("chance", ("arm",)),
}
_PATHS = {
    "mean": ("turn", "arm"),
    "precision": ("turn", "arm"),
    "pseudobelief_mean": ("turn",),
    "pseudobelief_precision": ("turn",),
    "best": ("arm",),
}
_ARMS = {"0.3": 0.3, "0.5": 0.5, "0.6": 0.6, "0.8": 0.8}
_TURNS = 300
_MODES: dict[str, Exposure] = {
    "pure exploration": Infinite(),
    "exploration and exploitation": Evidence(),
    "two phases": two_phase(150),
}


def _densities(_: bool | None) -> xarray.Dataset:
    result = focal_densities(Paper(), _FOCAL_TURNS)
    return xarray.Dataset(
        {"density": (("turn", "x"), result.density), "tau": ("turn", result.tau)},
        {"turn": list(_FOCAL_TURNS), "x": result.x},
    )


@dataclass(frozen=True)
class Focal(Figure):
    """The focal distribution itself; nothing is simulated."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        return {"densities": Part({"exposure": repr(Paper()), "turns": _FOCAL_TURNS}, _densities)}

    def draw(self, data: Data) -> Picture:
        kept = data["densities"]
        density = np.asarray(kept.density.values)
        result = FocalDensities(_FOCAL_TURNS, kept.tau.values, kept.x.values, density)
        picture, ax = canvas()
        draw_focal(result, ax)
        return picture


FOCAL = Focal(**said("focal"))


def _watch(_: bool | None) -> xarray.Dataset:
    """One agent on the twenty arms."""
    agent, nature = Agent(list(_NAMES), seed=SEED), np.random.default_rng(SEED)
    means = dict(zip(_NAMES, TWENTY, strict=True))
    seen: list[BeliefDensities] = []
    for turn in range(1, _MOMENTS[-1] + 1):
        arm = agent.ask()
        agent.tell(arm, float(nature.random() < means[str(arm)]))
        if turn in _MOMENTS:
            seen.append(belief_densities(agent))
    believed = agent.beliefs()
    curves = {
        kept: (("moment", *dims), np.stack([getattr(result, name) for result in seen]))
        for name, (kept, dims) in _DENSITIES.items()
    }
    table = {
        f"final_{name}": ("arm", np.array(believed[column], dtype=float))
        for column, name in _COLUMNS.items()
    }
    coords = {"moment": list(_MOMENTS), "arm": list(_NAMES)}
    return xarray.Dataset({**curves, **table}, coords, {"quantity": seen[0].quantity})


@dataclass(frozen=True)
class Beliefs(Figure):
    """One panel a moment, on one axis of rewards."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        described = {"arms": TWENTY, "moments": _MOMENTS, "seed": SEED, "policy": "BelMan()"}
        return {"one agent": Part(described, _watch)}

    def draw(self, data: Data) -> Picture:
        kept = data["one agent"]
        figure, panels = canvas(len(_MOMENTS), high=2.0, sharex=True)
        # all titles first: they take room from what labels are placed in
        for ax, turn in zip(panels, _MOMENTS, strict=True):
            ax.set_title(f"after {turn:,} rewards")
        for position, ax in enumerate(panels):
            now = kept.isel(moment=position)
            arrays = {name: now[key].values for name, (key, _) in _DENSITIES.items()}
            quantity = str(kept.attrs["quantity"])
            result = BeliefDensities(_NAMES, **arrays, window=(0.0, 0.6), quantity=quantity)
            draw_beliefs(result, ax, highlight=_SHOWN)
            ax.set_xlabel(result.quantity if ax is panels[-1] else "")
        return figure

    def tables(self, data: Data) -> list[Table]:
        kept = data["one agent"]
        cells = {column: kept[f"final_{name}"].values for column, name in _COLUMNS.items()}
        columns = {column: [float(value) for value in values] for column, values in cells.items()}
        title = f"after {_MOMENTS[-1]:,} rewards; low and high are ends of a 95 % credible interval"
        return [Table({"arm": list(_NAMES), "mean": list(TWENTY), **columns}, title)]


BELIEFS = Beliefs(**said("beliefs"))


def _trail(mode: Exposure) -> xarray.Dataset:
    """One run, against the same luck in every mode."""
    agent = Agent(list(_ARMS), policy=BelMan(mode), seed=SEED)
    trail, nature = Trail(_TURNS), np.random.default_rng(SEED)
    for _ in range(_TURNS):
        arm = agent.ask()
        agent.tell(arm, float(nature.random() < _ARMS[str(arm)]))
        trail.record(agent)
    result = trail.paths()
    return xarray.Dataset(
        {name: (dims, getattr(result, name)) for name, dims in _PATHS.items()},
        {"turn": list(result.turns), "arm": list(_ARMS)},
        {"quantity": result.quantity},
    )


@dataclass(frozen=True)
class Manifold(Figure):
    """One panel a mode."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        def part(mode: Exposure) -> Part:
            described = {"exposure": repr(mode), "arms": _ARMS, "turns": _TURNS, "seed": SEED}
            return Part(described, lambda _: _trail(mode))

        return {name: part(mode) for name, mode in _MODES.items()}

    def draw(self, data: Data) -> Picture:
        figure, panels = canvas(1, len(_MODES), 1.7, 1.2, sharex=True, sharey=True)
        for ax, (name, kept) in zip(panels, data.items(), strict=True):
            arms = tuple(str(arm) for arm in kept.arm.values)
            turns = tuple(int(turn) for turn in kept.turn.values)
            arrays = {key: kept[key].values for key in _PATHS}
            result = Paths(arms, turns, **arrays, quantity=str(kept.attrs["quantity"]))
            draw_manifold(result, ax, highlight=tuple(_ARMS))
            ax.set_title(name)
            if ax is not panels[0]:
                ax.set_ylabel("")
        return figure


MANIFOLD = Manifold(**said("manifold"))

"""The trail of beliefs and pseudobelief on the manifold, in one run of each mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.agent import Agent
from belman.exposure import Evidence, Exposure, Infinite, two_phase
from belman.figures.figure import SEED, Data, Effort, Figure, Part
from belman.plots import Paths, Trail, draw_manifold, style
from belman.policies import BelMan

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS = {"0.3": 0.3, "0.5": 0.5, "0.6": 0.6, "0.8": 0.8}
TURNS = 300
MODES: dict[str, Exposure] = {
    "pure exploration": Infinite(),
    "exploration and exploitation": Evidence(),
    "two phases": two_phase(150),
}


def _trail(mode: Exposure) -> xarray.Dataset:
    """One run, against the same luck in every mode."""
    agent = Agent(list(ARMS), policy=BelMan(mode), seed=SEED)
    trail, nature = Trail(TURNS), np.random.default_rng(SEED)
    for _ in range(TURNS):
        arm = agent.ask()
        agent.tell(arm, float(nature.random() < ARMS[str(arm)]))
        trail.record(agent)
    found = trail.paths()
    return xarray.Dataset(
        {
            "mean": (("turn", "arm"), found.mean),
            "precision": (("turn", "arm"), found.precision),
            "pseudobelief_mean": ("turn", found.pseudobelief_mean),
            "pseudobelief_precision": ("turn", found.pseudobelief_precision),
            "best": ("arm", found.best),
        },
        {"turn": list(found.turns), "arm": list(ARMS)},
        {"quantity": found.quantity},
    )


def _paths(kept: xarray.Dataset) -> Paths:
    return Paths(
        arms=tuple(str(arm) for arm in kept.arm.values),
        turns=tuple(int(turn) for turn in kept.turn.values),
        mean=kept["mean"].values,
        precision=kept["precision"].values,
        pseudobelief_mean=kept["pseudobelief_mean"].values,
        pseudobelief_precision=kept["pseudobelief_precision"].values,
        best=kept["best"].values,
        quantity=str(kept.attrs["quantity"]),
    )


@dataclass(frozen=True)
class Manifold(Figure):
    """One panel a mode."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        def part(mode: Exposure) -> Part:
            described = {"exposure": repr(mode), "arms": ARMS, "turns": TURNS, "seed": SEED}
            return Part(described, lambda _: _trail(mode))

        return {name: part(mode) for name, mode in MODES.items()}

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        width, height, _ = style.SIZES["screen"]
        size = (1.7 * width, 1.2 * height)
        figure, panels = pyplot.subplots(1, len(MODES), figsize=size, sharex=True, sharey=True)
        for ax, name in zip(panels, MODES, strict=True):
            draw_manifold(_paths(data[name]), ax, highlight=tuple(ARMS))
            ax.set_title(name)
            if ax is not panels[0]:
                ax.set_ylabel("")
        return figure


FIGURE = Manifold(
    name="manifold",
    title="Beliefs on the manifold",
    shows="Every belief is a point, its mean against its precision, with its trail over 300 "
    "turns: exploration lifts all arms alike, exploitation lifts the best, two phases do one "
    "after the other. The pseudobelief follows.",
)

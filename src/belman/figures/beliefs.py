"""What one agent believes after 50, 200 and 1,000 rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.agent import Agent
from belman.figures.figure import SEED, Data, Effort, Figure, Part
from belman.figures.players import TWENTY
from belman.plots import BeliefDensities, belief_densities, draw_beliefs, style
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

MOMENTS = (50, 200, 1_000)
_NAMES = tuple(f"arm {a + 1}" for a in range(len(TWENTY)))
_SHOWN = ("arm 1", "arm 2", "arm 3", "arm 6")  # the four best of the twenty
_COLUMNS = {
    "plays": "plays",
    "expected reward": "expected",
    "low": "low",
    "high": "high",
    "P(best)": "best",
}


def _watch(_: bool | None) -> xarray.Dataset:
    """One agent on the twenty arms."""
    agent, nature = Agent(list(_NAMES), seed=SEED), np.random.default_rng(SEED)
    means = dict(zip(_NAMES, TWENTY, strict=True))
    seen: list[BeliefDensities] = []
    for turn in range(1, MOMENTS[-1] + 1):
        arm = agent.ask()
        agent.tell(arm, float(nature.random() < means[str(arm)]))
        if turn in MOMENTS:
            seen.append(belief_densities(agent))
    believed = agent.beliefs()
    curves = {
        "x": (("moment", "arm", "point"), np.stack([found.x for found in seen])),
        "density": (("moment", "arm", "point"), np.stack([found.density for found in seen])),
        "pseudobelief_x": (("moment", "point"), np.stack([found.pseudobelief_x for found in seen])),
        "pseudobelief_density": (
            ("moment", "point"),
            np.stack([found.pseudobelief_density for found in seen]),
        ),
        "chance": (("moment", "arm"), np.stack([found.best for found in seen])),
    }
    table = {
        f"final_{name}": ("arm", np.array(believed[column], dtype=float))
        for column, name in _COLUMNS.items()
    }
    coords = {"moment": list(MOMENTS), "arm": list(_NAMES)}
    return xarray.Dataset({**curves, **table}, coords, {"quantity": seen[0].quantity})


@dataclass(frozen=True)
class Beliefs(Figure):
    """One panel a moment, on one axis of rewards."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        described = {"arms": TWENTY, "moments": MOMENTS, "seed": SEED, "policy": "BelMan()"}
        return {"one agent": Part(described, _watch)}

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        kept = data["one agent"]
        width, height, _ = style.SIZES["screen"]
        size = (width, 2.0 * height)
        figure, panels = pyplot.subplots(len(MOMENTS), 1, figsize=size, sharex=True)
        # all titles first: they take room from what labels are placed in
        for ax, turn in zip(panels, MOMENTS, strict=True):
            ax.set_title(f"after {turn:,} rewards")
        for place, ax in enumerate(panels):
            now = kept.isel(moment=place)
            found = BeliefDensities(
                arms=_NAMES,
                x=now["x"].values,
                density=now["density"].values,
                best=now["chance"].values,
                pseudobelief_x=now["pseudobelief_x"].values,
                pseudobelief_density=now["pseudobelief_density"].values,
                window=(0.0, 0.6),
                quantity=str(kept.attrs["quantity"]),
            )
            draw_beliefs(found, ax, highlight=_SHOWN)
            ax.set_xlabel(found.quantity if ax is panels[-1] else "")
        return figure

    def tables(self, data: Data) -> list[Table]:
        kept = data["one agent"]
        cells = {column: kept[f"final_{name}"].values for column, name in _COLUMNS.items()}
        columns = {column: [float(value) for value in values] for column, values in cells.items()}
        title = f"after {MOMENTS[-1]:,} rewards; low and high are ends of a 95 % credible interval"
        return [Table({"arm": list(_NAMES), "mean": list(TWENTY), **columns}, title)]


FIGURE = Beliefs(
    name="beliefs",
    title="What an agent believes",
    shows="One agent on the twenty arms, the four best of them named. Each belief about an "
    "expected reward narrows where the agent looks; the dashed pseudobelief sums up what is known "
    "of all.",
)

"""The focal distribution at four turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.exposure import Paper
from belman.figures.figure import Data, Effort, Figure, Part
from belman.plots import FocalDensities, draw_focal, focal_densities

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

TURNS = (1, 10, 100, 1_000)


def _densities(_: bool | None) -> xarray.Dataset:
    found = focal_densities(Paper(), TURNS)
    return xarray.Dataset(
        {"density": (("turn", "x"), found.density), "tau": ("turn", found.tau)},
        {"turn": list(TURNS), "x": found.x},
    )


@dataclass(frozen=True)
class Focal(Figure):
    """The focal distribution itself; nothing is simulated."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        return {"densities": Part({"exposure": repr(Paper()), "turns": TURNS}, _densities)}

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        kept = data["densities"]
        density = np.asarray(kept.density.values)
        found = FocalDensities(TURNS, kept.tau.values, kept.x.values, density)
        picture, ax = pyplot.subplots()
        draw_focal(found, ax)
        return picture


FIGURE = Focal(
    name="focal",
    title="The focal distribution",
    shows="How strongly high rewards are in focus under the paper's schedule: not at all at "
    "first, then more and more.",
    paper="The distribution steepens towards 1 as t grows.",
)

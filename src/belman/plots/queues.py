"""Curves of queues: how many more jobs wait than with the genie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from belman.plots.curves import curve_data, draw_curves

if TYPE_CHECKING:
    import xarray


def queue_regret(
    result: xarray.Dataset,
    ax: Axes | None = None,
    *,
    log: bool = True,
    quartiles: bool = False,
    size: str = "screen",
) -> Axes:
    """Queue regret of every player, all queues together: the mean over runs with its 95 % interval."""
    together = result[["queue_regret"]].drop_vars("queue", errors="ignore")
    if "queue" in together.dims:
        together = together.sum("queue")
    return draw_curves(
        curve_data(together, "queue_regret"), ax, log=log, quartiles=quartiles, size=size
    )

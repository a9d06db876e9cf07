"""The numbers of a panel: each player's final mean with interval, and paired differences to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from belman.measures import half_width
from belman.table import Table

if TYPE_CHECKING:
    import xarray

    from belman.figures.figure import Panel


def last(
    parts: Sequence[xarray.Dataset], player: str, variable: str = "regret"
) -> xarray.DataArray:
    """Every run of a player at the end (dim run)."""
    for part in parts:
        if player in part.player.values:
            return part[f"{variable}_at"].sel(player=player).isel(mark=-1)
    raise KeyError(player)


def paired(
    parts: Sequence[xarray.Dataset], player: str, against: str, variable: str = "regret"
) -> tuple[float, float]:
    """Mean and half-width of a difference, run by run, over the runs that both have played."""
    # xarray keeps the runs of both
    difference = last(parts, player, variable) - last(parts, against, variable)
    return float(difference.mean()), float(half_width(difference))


def panel_table(
    panel: Panel,
    parts: Sequence[xarray.Dataset],
    variables: Sequence[str],
    against: str,
    published: Mapping[str, str],
) -> Table:
    """Players ranked by the first variable at the last turn."""
    players = [str(player) for part in parts for player in part.player.values]
    means = {player: float(last(parts, player, variables[0]).mean()) for player in players}
    order = sorted(players, key=means.__getitem__)
    runs: list[object] = [last(parts, player, variables[0]).size for player in order]
    columns: dict[str, list[object]] = {"player": list(order), "runs": runs}
    for variable in variables:
        ends = [last(parts, player, variable) for player in order]
        name = variable.replace("_", " ")
        columns[name] = [float(end.mean()) for end in ends]
        columns[f"± {name}"] = [float(half_width(end)) for end in ends]
    if against in players:
        pairs = [paired(parts, player, against, variables[0]) for player in order]
        columns[f"minus {against}"] = [pair[0] for pair in pairs]
        columns[f"± minus {against}"] = [pair[1] for pair in pairs]
    if published:
        columns["paper"] = [published.get(player, "–") for player in order]
    title = f"{panel.title}, turn {panel.horizon:,}; ± are half-widths of 95 % intervals"
    return Table(columns, title)

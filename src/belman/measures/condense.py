"""A result small enough to keep beside a figure: statistics of curves, every run at a few turns.

A thousand runs of twelve players at a thousand checkpoints are a quarter of a gigabyte; condensed
they are one megabyte.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from belman.measures.summary import summary

if TYPE_CHECKING:
    import xarray

STATISTICS = ("mean", "low", "high", "q25", "q50", "q75")
_MARKS = 10
_NUMBERS = ",".join(["%.6g"] * len(STATISTICS))


def condense(result: xarray.Dataset) -> xarray.Dataset:
    """Statistics over runs of every curve (dims statistic, player, turn, …), runs at a few turns.

    Those are T, T/2, T/4, …, kept as `NAME_at` (dim mark). What has no turns is kept as it is.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.8, 0.9])
    >>> small = condense(belman.simulate([belman.BelMan()], problem, horizon=40, runs=10, seed=7))
    >>> small.regret.dims, small.regret_at.dims, small.mark.values.tolist()
    (('statistic', 'player', 'turn'), ('player', 'run', 'mark'), [1, 2, 5, 10, 20, 40])
    """
    import xarray

    turns = result.turn.values
    wanted = turns[-1] / 2.0 ** np.arange(_MARKS)
    places = np.unique(np.abs(turns[:, None] - np.maximum(wanted, 1.0)[None, :]).argmin(axis=0))
    kept: dict[str, xarray.DataArray] = {}
    for name, values in result.data_vars.items():
        if "turn" in values.dims:
            found = summary(result, str(name))
            parts = xarray.concat([found[part] for part in STATISTICS], "statistic")
            kept[str(name)] = parts.assign_attrs(values.attrs)
            kept[f"{name}_at"] = values.isel(turn=places).rename(turn="mark")
        else:
            kept[str(name)] = values
    return xarray.Dataset(kept, attrs=result.attrs).assign_coords(statistic=list(STATISTICS))


def curves_csv(small: xarray.Dataset) -> str:
    """Condensed curves as comma-separated lines: variable, player, turn and the statistics.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.8, 0.9])
    >>> small = condense(belman.simulate([belman.BelMan()], problem, horizon=40, runs=10, seed=7))
    >>> curves_csv(small).splitlines()[0]
    'variable,player,turn,mean,low,high,q25,q50,q75'
    """
    curves = [name for name, values in small.data_vars.items() if "statistic" in values.dims]
    dims = {str(dim) for name in curves for dim in small[name].dims}
    others = sorted(dims - {"statistic", "player", "turn"})
    lines = [",".join(("variable", "player", *others, "turn", *STATISTICS))]
    for name in curves:
        here = [dim for dim in others if dim in small[name].dims]
        table = small[name].transpose("player", *here, "turn", "statistic").values
        rows = table.reshape(-1, len(STATISTICS)).tolist()
        players = [f'"{player}"' for player in small.player.values]
        places = (small[dim].values.astype(str) if dim in here else [""] for dim in others)
        keys = itertools.product([str(name)], players, *places, small.turn.values.astype(str))
        pairs = zip(keys, rows, strict=True)
        lines += [f"{','.join(key)},{_NUMBERS % tuple(row)}" for key, row in pairs]
    return "\n".join(lines) + "\n"

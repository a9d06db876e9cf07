"""What queues mean: queue regret Ψ(t) = E[Q(t) − Q_OPT(t)], backlogs, waits, unstable runs.

A run is unstable if at its end more jobs wait than with the genie by 1 % of the horizon, or if its
backlog grows significantly over the last half: Mann and Kendall's test for a trend in the means of
twenty parts, which needs no distribution and no slope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from belman.errors import SettingError
from belman.measures.summary import half_width
from belman.table import Table

if TYPE_CHECKING:
    import xarray

_EXCESS = 0.01  # jobs per turn of the horizon
#: The chance of calling a backlog without trend a growing one. Parts of a run are nearly
#: independent once they are longer than a busy period; neighbours that hang together make the true
#: chance larger, so it is set far below one in the runs of a study.
_FALSE_ALARM = 1e-5


def unstable(result: xarray.Dataset) -> xarray.DataArray:
    """Say which runs became unstable; all queues of a run count together.

    Parameters
    ----------
    result
        What `belman.simulate` returned for a `belman.problems.queue`.

    Returns
    -------
    xarray.DataArray
        True or False by player and run.

    Raises
    ------
    SettingError
        If the result has no queues.

    >>> import belman
    >>> problem = belman.problems.queue([0.5, 0.3], 0.35)
    >>> result = belman.simulate([belman.policies.Oracle()], problem, horizon=500, runs=10, seed=7)
    >>> int(unstable(result).sum())
    0
    """
    _check(result)
    excess = _total(result["queue_regret"]).isel(turn=-1) > _EXCESS * result.attrs["horizon"]
    from scipy.special import ndtri  # a fifth of a second, for those who queue

    return (excess | (_trend(result) > -float(ndtri(_FALSE_ALARM)))).rename("unstable")


def _trend(result: xarray.Dataset) -> xarray.DataArray:
    """Mann and Kendall's z, standardised: pairs of parts with a growing backlog minus others."""
    late = _total(result["late_backlog"]).dropna("batch", how="all")
    means = late.transpose(..., "batch").values
    count = means.shape[-1]
    first, second = np.triu_indices(count, 1)
    score = np.sign(means[..., second] - means[..., first]).sum(axis=-1)
    # the size of each part's group of equals
    ties = (means[..., :, None] == means[..., None, :]).sum(axis=-1)
    spread = count * (count - 1) * (2 * count + 5) - ((ties - 1) * (2 * ties + 5)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(spread > 0, (score - np.sign(score)) / np.sqrt(spread / 18.0), 0.0)
    return late.isel(batch=0, drop=True).copy(data=z)


def queueing(result: xarray.Dataset, level: float = 0.95) -> Table:
    """Rank players by queue regret at the end, with backlogs, waits and unstable runs.

    Parameters
    ----------
    result
        What `belman.simulate` returned for a `belman.problems.queue`.
    level
        The level of the interval of the mean, half of which is the column `±`.

    Returns
    -------
    Table
        One row a player. Waiting times are turns from arrival to completion, averaged over runs
        and queues.

    Raises
    ------
    SettingError
        If the result has no queues.
    """
    _check(result)
    regret = _total(result["queue_regret"]).isel(turn=-1)
    mean, half = regret.mean("run"), half_width(regret, level)
    share = unstable(result).mean("run")
    backlog = _total(result["mean_backlog"]).mean("run")
    largest = _over_queues(result["largest_backlog"], "max").mean("run")
    waits = {
        f"wait {name}": _over_queues(result[f"waiting_{name}"], "mean").mean("run")
        for name in ("mean", "p95", "p99")
    }
    order = np.argsort(mean.values, kind="stable")
    columns = {
        "player": [str(result.player.values[position]) for position in order],
        "queue regret": mean.values[order].tolist(),
        "±": half.values[order].tolist(),
        "unstable": share.values[order].tolist(),
        "mean backlog": backlog.values[order].tolist(),
        "largest": largest.values[order].tolist(),
        **{name: wait.values[order].tolist() for name, wait in waits.items()},
    }
    turn = int(result.turn[-1])
    return Table(columns, f"queues at turn {turn:,}, {result.sizes['run']:,} runs")


def _total(array: xarray.DataArray) -> xarray.DataArray:
    """The sum over queues, if there are several."""
    return array.sum("queue", skipna=False) if "queue" in array.dims else array


def _over_queues(array: xarray.DataArray, how: str) -> xarray.DataArray:
    return getattr(array, how)("queue") if "queue" in array.dims else array


def _check(result: xarray.Dataset) -> None:
    if "queue_regret" not in result.variables:
        how = "simulate players on belman.problems.queue(services=…, arrivals=…)"
        raise SettingError(f"this result has no queues: {how}")

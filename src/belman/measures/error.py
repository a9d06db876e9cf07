"""The chance of recommending a wrong arm, with an interval that is honest where errors are rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    import xarray


def chance_of_error(result: xarray.Dataset, level: float = 0.95) -> xarray.Dataset:
    """The share of runs that recommended a wrong arm, between the ends of Clopper and Pearson's
    interval.

    >>> import belman
    >>> found = belman.explore([belman.Uniform()], belman.problems.bernoulli([0.9, 0.1]), runs=100, seed=7, budget=50)
    >>> last = chance_of_error(found).isel(turn=-1, player=0)
    >>> float(last["mean"]), round(float(last["high"]), 4)
    (0.0, 0.0362)
    """
    import xarray

    runs = result.sizes["run"]
    wrong = result["error"].sum("run").astype(np.float64)
    tail = 0.5 * (1.0 - level)
    with np.errstate(invalid="ignore"):
        low = xarray.where(
            wrong > 0, betaincinv(np.maximum(wrong, 1.0), runs - wrong + 1.0, tail), 0.0
        )
        high = xarray.where(
            wrong < runs, betaincinv(wrong + 1.0, np.maximum(runs - wrong, 1.0), 1.0 - tail), 1.0
        )
    return xarray.Dataset(
        {"mean": wrong / runs, "low": low, "high": high}, attrs={**result.attrs, "level": level}
    )

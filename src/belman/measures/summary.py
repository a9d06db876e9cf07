"""From runs to statements: means and quantiles of curves, 95 % intervals, paired differences.

Runs are independent, so the interval of a mean is Student's. Players of one run meet the same
nature, so a difference between two players is taken run by run, and its interval is far narrower
than the two intervals of the means suggest. The interval of a chance is Clopper and Pearson's,
which is honest where errors are rare.

A result of a thousand runs of twelve players is a quarter of a gigabyte; condensed to statistics of
its curves, and to every run at a few turns, it is one megabyte and kept beside a figure.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from belman.errors import SettingError, unknown
from belman.table import Table

if TYPE_CHECKING:
    import xarray

STATISTICS = ("mean", "low", "high", "q25", "q50", "q75")
_MARKS = 10
_NUMBERS = ",".join(["%.6g"] * len(STATISTICS))


def half_width(runs: xarray.DataArray, level: float = 0.95) -> xarray.DataArray:
    """Compute half the width of the confidence interval of the mean over runs (Student's).

    Parameters
    ----------
    runs
        Values with a dimension `run`.
    level
        The level of the interval.

    Returns
    -------
    xarray.DataArray
        Half-widths, without that dimension; NaN where there is one run.
    """
    count = runs.sizes["run"]
    if count < 2:
        return runs.mean("run") * np.nan
    from scipy.special import stdtrit  # a fifth of a second, for those who measure

    score = float(stdtrit(count - 1, 0.5 + 0.5 * level))
    return runs.std("run", ddof=1) * (score / np.sqrt(count))


def summary(
    result: xarray.Dataset, variable: str = "regret", level: float = 0.95
) -> xarray.Dataset:
    """Summarise a variable over runs: mean, its confidence interval, and quartiles.

    Parameters
    ----------
    result
        What `belman.simulate` or `belman.explore` returned.
    variable
        The name of a variable of the result.
    level
        The level of the interval.

    Returns
    -------
    xarray.Dataset
        `mean`, `low`, `high`, `q25`, `q50` and `q75` at every checkpoint.

    Raises
    ------
    SettingError
        If the result has no such variable.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.8, 0.9])
    >>> result = belman.simulate([belman.BelMan()], problem, horizon=20, runs=10, seed=7)
    >>> sorted(summary(result).data_vars)
    ['high', 'low', 'mean', 'q25', 'q50', 'q75']
    """
    curves = _variable(result, variable)
    mean, half = curves.mean("run"), half_width(curves, level)
    quantiles = curves.quantile([0.25, 0.5, 0.75], dim="run", skipna=False)
    import xarray

    return xarray.Dataset(
        {
            "mean": mean,
            "low": mean - half,
            "high": mean + half,
            **{f"q{int(100 * q)}": quantiles.sel(quantile=q, drop=True) for q in (0.25, 0.5, 0.75)},
        },
        attrs={**result.attrs, "variable": variable, "level": level},
    )


def chance_of_error(result: xarray.Dataset, level: float = 0.95) -> xarray.Dataset:
    """Compute the share of runs that recommended a wrong arm, with Clopper and Pearson's ends.

    Parameters
    ----------
    result
        What `belman.explore` returned.
    level
        The level of the interval.

    Returns
    -------
    xarray.Dataset
        `mean`, `low` and `high`.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.9, 0.1])
    >>> matches = belman.explore([belman.Uniform()], problem, runs=100, seed=7, budget=50)
    >>> last = chance_of_error(matches).isel(turn=-1, player=0)
    >>> float(last["mean"]), round(float(last["high"]), 4)
    (0.0, 0.0362)
    """
    import xarray
    from scipy.special import betaincinv

    runs = result.sizes["run"]
    wrong = result["error"].sum("run").astype(np.float64)
    tail = 0.5 * (1.0 - level)
    with np.errstate(invalid="ignore"):
        low = betaincinv(np.maximum(wrong, 1.0), runs - wrong + 1.0, tail)
        low = xarray.where(wrong > 0, low, 0.0)
        high = betaincinv(wrong + 1.0, np.maximum(runs - wrong, 1.0), 1.0 - tail)
        high = xarray.where(wrong < runs, high, 1.0)
    ends = {"mean": wrong / runs, "low": low, "high": high}
    return xarray.Dataset(ends, attrs={**result.attrs, "level": level})


def difference(
    result: xarray.Dataset, player: str, against: str, variable: str = "regret"
) -> tuple[float, float]:
    """Compute the paired difference of two players at the last checkpoint.

    Parameters
    ----------
    result
        What `belman.simulate` or `belman.explore` returned.
    player, against
        The names of the two players.
    variable
        The name of a variable of the result.

    Returns
    -------
    tuple of float
        The mean over runs, and half the width of its 95 % interval.

    Raises
    ------
    SettingError
        If the result has no such player or variable.
    """
    last = _last(result, variable)
    paired = last.sel(player=_player(result, player)) - last.sel(player=_player(result, against))
    return float(paired.mean()), float(half_width(paired))


def compare(
    result: xarray.Dataset, against: str, variable: str = "regret", level: float = 0.95
) -> Table:
    """Rank players by their mean at the last checkpoint, with paired differences to one of them.

    Parameters
    ----------
    result
        What `belman.simulate` returned.
    against
        The name of the player that others are compared with.
    variable
        What to compare: a variable of the result.
    level
        The probability of confidence intervals.

    Returns
    -------
    Table
        A row for each player. Columns that start with `±` are half-widths of intervals; `P(less)`
        is the share of runs in which the player has less than the other, ties counting half;
        `verdict` says what the interval of the difference allows.

    >>> import belman
    >>> players = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}
    >>> problem = belman.problems.bernoulli([0.2, 0.9])
    >>> result = belman.simulate(players, problem, horizon=200, runs=200, seed=7)
    >>> compare(result, against="Thompson")["player"]
    ['BelMan', 'Thompson']
    """
    rival = _player(result, against)
    last = _last(result, variable)
    mean, half = last.mean("run"), half_width(last, level)
    order = np.argsort(mean.values, kind="stable")
    numbers = (variable, f"± {variable}", "difference", "± difference", "P(less)")
    columns: dict[str, list[object]] = {name: [] for name in ("player", *numbers, "verdict")}
    for position in order:
        name = str(result.player.values[position])
        paired = last.sel(player=name) - last.sel(player=rival)
        shift, width = float(paired.mean()), float(half_width(paired, level))
        own = name == rival
        less = float((paired < 0).mean() + 0.5 * (paired == 0).mean())
        side = "less" if shift < 0 else "more"
        verdict = "–" if own else side if abs(shift) > width else "undecided"
        cells = (name, float(mean[position]), float(half[position]), shift, width, less, verdict)
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    when = f"{variable} at turn {int(result.turn[-1]):,}" if "turn" in result.coords else variable
    title = f"{when}, {result.sizes['run']:,} runs, differences paired with {rival}"
    return Table(columns, title)


def _check(result: xarray.Dataset) -> None:
    if not {"player", "run"} <= set(getattr(result, "sizes", ())):
        raise SettingError(
            f"a {type(result).__name__} has no players and runs to take means of: "
            "give the Dataset that belman.simulate or belman.explore returns"
        )


def _player(result: xarray.Dataset, name: str) -> str:
    _check(result)
    known = [str(player) for player in result.player.values]
    if name not in known:
        raise SettingError(unknown("player", name, known, "this result has"))
    return name


def _variable(result: xarray.Dataset, name: str) -> xarray.DataArray:
    _check(result)
    known = [
        str(matches)
        for matches, values in result.variables.items()
        if "run" in values.dims and len(values.dims) > 1 and "arm" not in values.dims
    ]
    if name not in known:
        raise SettingError(unknown("variable", name, known, "this result has"))
    return result[name] * 1.0  # a question of yes or no has a mean too


def _last(result: xarray.Dataset, name: str) -> xarray.DataArray:
    """A variable at the last checkpoint, or as it is where it is told once a run."""
    matches = _variable(result, name)
    return matches.isel(turn=-1) if "turn" in matches.dims else matches


def condense(result: xarray.Dataset) -> xarray.Dataset:
    """Compute statistics over runs of every curve, with runs kept at a few turns.

    These turns are T, T/2, T/4, …, kept as `NAME_at` (dim mark). Variables without turns are kept
    as they are.

    Parameters
    ----------
    result
        What `belman.simulate` returned.

    Returns
    -------
    xarray.Dataset
        Dims statistic, player, turn, …

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.8, 0.9])
    >>> small = condense(belman.simulate([belman.BelMan()], problem, horizon=40, runs=10, seed=7))
    >>> small.regret.dims, small.regret_at.dims, small.mark.values.tolist()
    (('statistic', 'player', 'turn'), ('player', 'run', 'mark'), [1, 2, 5, 10, 20, 40])
    """
    import xarray

    turns = result.turn.values
    wanted = turns[-1] / 2.0 ** np.arange(_MARKS)
    positions = np.unique(np.abs(turns[:, None] - np.maximum(wanted, 1.0)[None, :]).argmin(axis=0))
    kept: dict[str, xarray.DataArray] = {}
    for name, values in result.data_vars.items():
        if "turn" in values.dims:
            matches = summary(result, str(name))
            parts = xarray.concat([matches[part] for part in STATISTICS], "statistic")
            kept[str(name)] = parts.assign_attrs(values.attrs)
            kept[f"{name}_at"] = values.isel(turn=positions).rename(turn="mark")
        else:
            kept[str(name)] = values
    return xarray.Dataset(kept, attrs=result.attrs).assign_coords(statistic=list(STATISTICS))


def curves_csv(small: xarray.Dataset) -> str:
    """Write condensed curves as comma-separated lines: variable, player, turn and the statistics.

    Parameters
    ----------
    small
        What `condense` returned.

    Returns
    -------
    str
        The lines.

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
        positions = (small[dim].values.astype(str) if dim in here else [""] for dim in others)
        keys = itertools.product([str(name)], players, *positions, small.turn.values.astype(str))
        pairs = zip(keys, rows, strict=True)
        lines += [f"{','.join(key)},{_NUMBERS % tuple(row)}" for key, row in pairs]
    return "\n".join(lines) + "\n"

"""What the suite says: ranks, ratios to the best rival, their geometric mean, the worst cell.

Only anytime rivals with a guarantee are ranked with *ours*, BelMan unless another is asked for;
those that know the horizon and those without a guarantee are set apart. All players of a cell meet
the same nature, so differences are paired run by run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from belman.suite.cells import Cell, Records, Suite
from belman.table import Table

ANYTIME = "anytime"
#: The share of the rewards that the best possible policy earns, or at least, where that is a bound.
LIMIT = "of the attainable"


def half_interval(values: NDArray[np.float64]) -> float:
    """Half of Student's 95 % interval of the mean."""
    if len(values) < 2:
        return math.nan
    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / math.sqrt(len(values)))


def geometric_mean(ratios: list[float]) -> float:
    """The geometric mean.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _best(records: Records, names: list[str]) -> str | None:
    return min(names, key=lambda name: records[name].mean(), default=None)


def _ratio(records: Records, ours: str, rival: str | None) -> float:
    if rival is None or rival not in records:
        return math.nan
    return float(records[ours].mean() / records[rival].mean())


Played = Mapping[Cell, Records]
CELL_COLUMNS = "cell|regret|±|rank|/ Thompson|best rival|/ best|best of all|/ of all|p99 / Thompson"
CELL_COLUMNS += f"|{LIMIT}"
SUMMARY_COLUMNS = "split|cells|/ Thompson|worst|/ best|worst |/ of all|worst  |p99 no worse"
SUMMARY_COLUMNS += f"|{LIMIT}"


def _table(columns: str, rows: list[Sequence[object]], title: str) -> Table:
    names = columns.split("|")
    return Table({name: [row[i] for row in rows] for i, name in enumerate(names)}, title)


def cell_table(given: Suite, played: Played, split: str, ours: str = "belman") -> Table:
    """Put the cells of a split into a table, with the ratios of our regret to that of rivals.

    Parameters
    ----------
    given
        The suite, which says what group a rival is in.
    played
        The regrets of every cell, as `play` gives them.
    split
        "development" or "validation".
    ours
        The player that is compared with the others.

    Returns
    -------
    Table
        A row for each cell: our mean regret, its rank among anytime rivals, and ratios, below 1
        where we are better; NaN where a rival was not played.
    """
    rows: list[Sequence[object]] = []
    for cell, records in played.items():
        if cell.split != split:
            continue
        regrets = records[ours]
        others = [name for name in records if name != ours]
        fair = [name for name in others if given.group(name) == ANYTIME]
        rival, anyone = _best(records, fair), _best(records, others)
        rank = 1 + sum(bool(records[name].mean() < regrets.mean()) for name in fair)
        tail = math.nan
        if "thompson" in records:
            tail = float(np.quantile(regrets, 0.99) / np.quantile(records["thompson"], 0.99))
        ratio = partial(_ratio, records, ours)
        row = (
            cell.name,
            float(regrets.mean()),
            half_interval(regrets),
            f"{rank} of {len(fair) + 1}",
        )
        best = (rival or "–", ratio(rival), anyone or "–", ratio(anyone))
        rows.append((*row, ratio("thompson"), *best, tail, cell.share(float(regrets.mean()))))
    return _table(CELL_COLUMNS, rows, f"{split}: regret of {ours}, and its ratio to rivals")


def summary_table(tables: Mapping[str, Table]) -> Table:
    """Sum up the tables of several splits.

    Parameters
    ----------
    tables
        The tables of `cell_table`, by split.

    Returns
    -------
    Table
        A row for each split: geometric means of the ratios and the worst ones, and how often the
        99th percentile of regret is no worse than Thompson sampling's.
    """
    rows: list[Sequence[object]] = []
    for split, table in tables.items():
        row: list[object] = [split, len(table)]
        for name in ("/ Thompson", "/ best", "/ of all"):
            ratios = [float(value) for value in table[name] if math.isfinite(value)]
            row += [geometric_mean(ratios), max(ratios)] if ratios else [math.nan, math.nan]
        tails = [value for value in table["p99 / Thompson"] if math.isfinite(value)]
        row.append(f"{100 * sum(value <= 1.0 for value in tails) / max(len(tails), 1):.0f} %")
        shares = [value for value in table[LIMIT] if math.isfinite(value)]
        row.append(sum(shares) / len(shares) if shares else math.nan)
        rows.append(row)
    title = "ratios of regret: geometric mean over cells, and the worst cell"
    return _table(SUMMARY_COLUMNS, rows, title)


def player_csv(given: Suite, played: Played, ours: str = "belman") -> str:
    """Write what every player of every cell did, as CSV.

    Parameters
    ----------
    given
        The suite, which says what group a rival is in.
    played
        The regrets of every cell, as `play` gives them.
    ours
        The player that the others are compared with, run by run.

    Returns
    -------
    str
        A header, and a line for each player of a cell: mean regret, its interval, high percentiles,
        and the mean of our regret less the player's.
    """
    header = "split,cell,group,player,runs,mean,half_width,p95,p99,difference,difference_half_width"
    lines = [header]
    for cell, records in played.items():
        for name, regrets in records.items():
            paired = records[ours] - regrets
            own = (regrets.mean(), half_interval(regrets), *np.quantile(regrets, [0.95, 0.99]))
            numbers = (*own, paired.mean(), half_interval(paired))
            words = (cell.split, cell.key, given.group(name), name, str(len(regrets)))
            lines.append(",".join((*words, *(f"{number:.6g}" for number in numbers))))
    return "\n".join(lines) + "\n"

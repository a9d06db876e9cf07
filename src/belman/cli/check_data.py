"""`belman check-drift` and `belman check-family`: what rewards that one has are like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.cli.commands import app, command
from belman.cli.output import print_json, progress, say, write_picture
from belman.cli.parse import table, title
from belman.families import check
from belman.measures import drift_check

_OPTIONS: dict[str, Any] = {
    "column": "The column of the rewards.",
    "arm": "The column of the arms, where there are several.",
    "plot": "Also draw a picture into this PNG, SVG or PDF file.",
}


@command(
    app,
    "check-drift",
    data="A table, rows in the order of time: .csv, .parquet, …, - for stdin.",
    **_OPTIONS,
)
def check_drift(
    data: Path,
    *,
    column: str = "reward",
    arm: str | None = None,
    as_json: bool = False,
    plot: Path | None = None,
) -> None:
    """Test whether the mean rewards of arms change over time."""
    rewards, arms = columns(data, column, arm)
    with progress(f"{title(data)}", rewards.size) as advance:
        result = drift_check.check_drift(rewards, arms, advance)
    _print(result, as_json, plot, "drift_check")


@command(
    app, "check-family", data="A table with a header: .csv, .parquet, …, - for stdin.", **_OPTIONS
)
def check_family(
    data: Path,
    *,
    column: str = "reward",
    arm: str | None = None,
    as_json: bool = False,
    plot: Path | None = None,
) -> None:
    """Say which family fits your rewards: how each predicts, whether its intervals hold."""
    result = check(*columns(data, column, arm))
    if not as_json:
        say(f"{result.rewards:,} rewards of {title(data)}\n")
    _print(result, as_json, plot, "family_check")


def _print(result: Any, as_json: bool, plot: Path | None, drawn_by: str) -> None:
    """Print what was found, and draw it by that function of `plots` where a file is named."""
    if as_json:
        print_json(result, indent=None)
    else:
        say(str(result))
    if plot is not None:
        from belman import plots

        write_picture(plot, lambda: getattr(plots, drawn_by)(result))


def columns(
    data: Path, column: str, arm: str | None
) -> tuple[NDArray[np.float64], list[str] | None]:
    """Read the rewards and the arms of a table."""
    frame = table(data)
    frame.require(column, *(() if arm is None else (arm,)))
    return frame.numbers(column), None if arm is None else frame.names(arm)

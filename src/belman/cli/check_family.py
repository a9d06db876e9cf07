"""`belman check-family`: which family fits rewards that one has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from belman.cli.commands import app, command
from belman.cli.output import say, write_picture
from belman.cli.past_data import table, title
from belman.families import check

#: The help of options for a file of rewards.
OF_A_FILE = {
    "column": "The column of the rewards.",
    "arm": "The column of the arms, where there are several.",
    "plot": "Also draw a picture into this PNG, SVG or PDF file.",
}


@command(app, data="A table with a header: .csv, .parquet, …, - for stdin.", **OF_A_FILE)
def check_family(
    data: Path,
    *,
    column: str = "reward",
    arm: str | None = None,
    as_json: bool = False,
    plot: Path | None = None,
) -> None:
    """Say which family fits your rewards: how each predicts, whether its intervals hold."""
    rewards, arms = columns(data, column, arm)
    found = check(rewards, arms)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        say(f"{found.rewards:,} rewards of {title(data)}\n")
        say(str(found))
    if plot is not None:
        from belman import plots

        write_picture(plot, lambda: plots.family_check(found))


def columns(
    data: Path, column: str, arm: str | None
) -> tuple[NDArray[np.float64], list[str] | None]:
    """The rewards and the arms of a table."""
    frame = table(data)
    frame.require(column, *(() if arm is None else (arm,)))
    return frame.numbers(column), None if arm is None else frame.names(arm)

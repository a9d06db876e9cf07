"""`belman check-family`: which family fits rewards that one has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from belman.cli.past_data import table, title
from belman.cli.picture import write_picture
from belman.cli.show import console
from belman.families import check


def check_family(
    data: Annotated[
        Path, typer.Argument(help="A table with a header: .csv, .parquet, …, - for stdin.")
    ],
    column: Annotated[str, typer.Option(help="The column of the rewards.")] = "reward",
    arm: Annotated[
        str | None, typer.Option(help="The column of the arms, where there are several.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw a picture into this PNG, SVG or PDF file.")
    ] = None,
) -> None:
    """Say which family fits your rewards: how each predicts, whether its intervals hold."""
    rewards, arms = columns(data, column, arm)
    found = check(rewards, arms)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        console.print(f"{found.rewards:,} rewards of {title(data)}\n", highlight=False)
        console.print(str(found), soft_wrap=True, markup=False, highlight=False)
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

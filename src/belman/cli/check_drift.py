"""`belman check-drift`: whether the world that one's rewards come from changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from belman.cli.check_family import columns
from belman.cli.picture import write_picture
from belman.cli.show import console
from belman.measures.drift_check import check_drift as check


def check_drift(
    data: Annotated[
        Path,
        typer.Argument(help="A table, rows in the order of time: .csv, .parquet, …, - for stdin."),
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
    """Test whether the mean rewards of arms change over time."""
    found = check(*columns(data, column, arm))
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        console.print(str(found), soft_wrap=True, markup=False, highlight=False)
    if plot is not None:
        from belman import plots

        write_picture(plot, lambda: plots.drift_check(found))

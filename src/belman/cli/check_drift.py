"""`belman check-drift`: whether the world that one's rewards come from changes."""

from __future__ import annotations

import json
from pathlib import Path

from belman.cli.check_family import OF_A_FILE, columns
from belman.cli.commands import app, command
from belman.cli.output import say, write_picture
from belman.measures.drift_check import check_drift as check


@command(
    app, data="A table, rows in the order of time: .csv, .parquet, …, - for stdin.", **OF_A_FILE
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
    found = check(*columns(data, column, arm))
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        say(str(found))
    if plot is not None:
        from belman import plots

        write_picture(plot, lambda: plots.drift_check(found))

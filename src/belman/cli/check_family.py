"""`belman check-family`: which family fits rewards that one has."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from belman.cli.commands import app, command
from belman.cli.output import say, write_picture
from belman.errors import SettingError, listing, nearest
from belman.families import check

#: The help of options for a file of rewards.
OF_A_FILE = {
    "column": "The column of the rewards.",
    "arm": "The column of the arms, where there are several.",
    "plot": "Also draw a picture into this PNG, SVG or PDF file.",
}


@command(app, data="A CSV file with a header.", **OF_A_FILE)
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
        say(f"{found.rewards:,} rewards of {data.name}\n")
        say(str(found))
    if plot is not None:
        from belman import plots

        write_picture(plot, lambda: plots.family_check(found))


def columns(
    data: Path, column: str, arm: str | None
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[str] | None]:
    """The rewards and the arms of a file; SettingError says which line or column is wrong."""
    try:
        with data.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines)
            names = next(rows, [])
            places = [_place(names, name, data) for name in (column, arm) if name is not None]
            cells = [[row[place] for place in places] for row in rows if row]
    except OSError as error:
        raise SettingError(f"{data} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingError(f"{data} is not text in UTF-8") from None
    except csv.Error as error:
        raise SettingError(f"{data} cannot be read: {error}") from None
    except IndexError:
        raise SettingError(f"{data} has a line with fewer columns than {listing(names)}") from None
    rewards = np.empty(len(cells))
    for line, row in enumerate(cells):
        try:
            rewards[line] = float(row[0])
        except ValueError:
            raise SettingError(
                f"{row[0]!r} in line {line + 2} of {data}, column {column!r}, is not a number"
            ) from None
    return rewards, None if arm is None else [row[1] for row in cells]


def _place(names: list[str], name: str, data: Path) -> int:
    if name not in names:
        there = f"there are {listing(names)}{nearest(name, names)}"
        raise SettingError(f"{data} has no column {name!r}: {there}")
    return names.index(name)

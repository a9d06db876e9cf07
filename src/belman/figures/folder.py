"""A figure on disk: `FOLDER/NAME/` holds its parts as NetCDF and CSV, and its picture.

A part that is there, has the same description and was computed by the same code is not computed
again; what is equal in these is equal to the last byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from belman.errors import SettingError, unknown
from belman.figures.figure import Effort, Figure, Part
from belman.files import replacing, write_atomically
from belman.lab.design import sources, versions
from belman.measures import curves_csv
from belman.plots import style

if TYPE_CHECKING:
    import xarray

FORMATS = ("png", "svg", "pdf")


def part_file(name: str) -> str:
    """A part's name as a file's: letters, digits and dashes.

    >>> part_file("rates 1, 1/2, 1/3; slow")
    'rates-1-1-2-1-3-slow'
    """
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def kept_part(figure: Figure, name: str, part: Part, folder: Path) -> xarray.Dataset | None:
    """A part's data from disk, if they were computed from this description by this code."""
    return _read(folder / figure.name / f"{part_file(name)}.nc", _design(part))


def figure_data(
    figure: Figure,
    effort: Effort,
    folder: Path,
    say: Callable[[str], object],
    progress: bool | None = None,
) -> dict[str, xarray.Dataset]:
    """Get the data of a figure: from its folder where they are there, else computed and kept.

    A part is computed anew where its description, the code or its versions have changed.

    Parameters
    ----------
    figure
        What is computed, such as one of `FIGURES`.
    effort
        How much to play.
    folder
        The folder of all figures; that of this one has its name.
    say
        A function that is called with a few words before a part is computed.
    progress
        None for a bar on a terminal, True for a bar, False to print nothing.

    Returns
    -------
    dict of Dataset
        The data of its parts, by name.
    """
    here = folder / figure.name
    here.mkdir(parents=True, exist_ok=True)
    result = {}
    for name, part in figure.parts(effort).items():
        kept = kept_part(figure, name, part, folder)
        if kept is None:
            say(f"{figure.name}: {name}")
            path = here / f"{part_file(name)}.nc"
            kept = part.compute(progress).assign_attrs(design=_design(part))
            with replacing(path) as draft:
                kept.to_netcdf(draft, engine="scipy")
            if any("statistic" in values.dims for values in kept.data_vars.values()):
                write_atomically(path.with_suffix(".csv"), curves_csv(kept))
            kept = kept_part(figure, name, part, folder)
            assert kept is not None
        result[name] = kept
    return result


def _design(part: Part) -> str:
    made_by = {"versions": versions(), "sources": sources()}
    return json.dumps({"part": part.description, **made_by}, sort_keys=True)


def _read(path: Path, design: str) -> xarray.Dataset | None:
    import xarray

    if not path.exists():
        return None
    try:
        with xarray.open_dataset(path, engine="scipy") as opened:
            kept = opened.load()
    except (
        OSError,
        ValueError,
        TypeError,
    ):  # another program's file, or a torn one of an older time
        return None
    return kept if kept.attrs.get("design") == design else None


def picture_path(figure: Figure, folder: Path, ending: str = "png") -> Path:
    """Where a picture is kept: `NAME/NAME.png`, or another format."""
    return folder / figure.name / f"{figure.name}.{ending}"


def draw_into(
    figure: Figure, data: dict[str, xarray.Dataset], folder: Path, ending: str = "png"
) -> Path:
    """Draw the picture of a figure, and keep it.

    Parameters
    ----------
    figure
        What is drawn, such as one of `FIGURES`.
    data
        The data of its parts, by name.
    folder
        The folder of all figures, in which that of this one has to be.
    ending
        The format: "png", "svg" or "pdf".

    Returns
    -------
    Path
        The file of the picture, NAME/NAME.png or with another ending.

    Raises
    ------
    SettingError
        If the format is another one.
    """
    import matplotlib as mpl

    if ending not in FORMATS:
        raise SettingError(unknown("format", ending, FORMATS))
    mpl.use("Agg")
    from matplotlib import pyplot

    path = picture_path(figure, folder, ending)
    with style.theme(), mpl.rc_context({"svg.hashsalt": figure.name}):
        picture = figure.draw(data)
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        with replacing(path) as draft:
            style.save(picture, draft, format=ending, dpi=150, metadata=metadata)
        pyplot.close(picture)
    return path

"""A picture that a command draws into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from belman.errors import SettingError, listing
from belman.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Kinds of pictures, which are the endings of their files.
FORMATS = ("png", "svg", "pdf")


def write_picture(plot: Path, draw: Callable[[], Figure]) -> None:
    """Draw, in the style of the package, into a file whose name says of which kind it is."""
    import matplotlib

    matplotlib.use("Agg")
    from belman import plots

    kind = plot.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise SettingError(f"plot={plot} is not a picture: its name must end in {listing(FORMATS)}")
    with plots.style.theme(), replacing(plot) as path:
        plots.style.save(draw(), path, kind)

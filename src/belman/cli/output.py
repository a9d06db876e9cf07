"""What a command shows: sentences and tables in the terminal, pictures and pages in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table as RichTable

from belman.errors import SettingError, listing
from belman.files import replacing, write_atomically
from belman.table import Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

console = Console()

#: Kinds of pictures, which are the endings of their files.
FORMATS = ("png", "svg", "pdf")
_NO_LIMIT = 10_000  # columns


def say(text: str, style: str | None = None) -> None:
    """Print a sentence as it is, in as many columns as it takes."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def show(table: Table) -> None:
    """Print a table with lines around it, or plain where those would cut its cells."""
    drawn = RichTable(title=table.title or None, title_justify="left", header_style="bold")
    for name, values in table.columns.items():
        numeric = all(isinstance(value, (int, float)) for value in values)
        drawn.add_column(name.strip(), justify="right" if numeric else "left")
    for row in table:
        drawn.add_row(*(number(cell) for cell in row.values()))
    options = console.options.update(max_width=_NO_LIMIT)
    if console.measure(drawn, options=options).maximum > console.width:
        say(str(table))
    else:
        console.print(drawn)


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


def write_page(page: Path, text: str, *, quiet: bool, browser: bool) -> None:
    """Write a web page, say where unless `quiet`, and open it in the `browser`."""
    write_atomically(page, text)
    if not quiet:
        say(f"wrote {page}")
    if browser:
        typer.launch(str(page.resolve()))

"""What a command shows: sentences and tables in the terminal, pictures and pages in files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from belman.errors import SettingError, listing
from belman.escaping import for_terminal
from belman.files import replacing, write_atomically
from belman.table import Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

console = Console()
errors = Console(stderr=True)

#: Kinds of pictures, which are the endings of their files.
FORMATS = ("png", "svg", "pdf")
_NO_LIMIT = 10_000  # columns


def say(text: str, style: str | None = None) -> None:
    """Print a sentence as it is, in as many columns as it takes."""
    text = for_terminal(text, lines=True)
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def print_plain(*parts: object) -> None:
    """Print a line, or JSON, for a program to read: parts with a tab between them."""
    print(*(for_terminal(str(part), lines=len(parts) == 1) for part in parts), sep="\t")


def show(table: Table) -> None:
    """Print a table with lines around it, or plain where those would cut its cells."""
    title = Text(for_terminal(table.title)) if table.title else None
    drawn = RichTable(title=title, title_justify="left", header_style="bold")
    for name, values in table.columns.items():
        numeric = all(isinstance(value, (int, float)) for value in values)
        drawn.add_column(Text(for_terminal(name.strip())), justify="right" if numeric else "left")
    for row in table:
        drawn.add_row(*(Text(for_terminal(number(cell))) for cell in row.values()))
    options = console.options.update(max_width=_NO_LIMIT)
    if console.measure(drawn, options=options).maximum > console.width:
        say(str(table))
    else:
        console.print(drawn)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on standard error how much of something long is done, after a second of it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    began = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task(what, total=total)

    def advance(done: int) -> None:
        if time.monotonic() - began > 1.0:
            shown.start()  # a second time changes nothing
        shown.update(task, completed=done)

    try:
        yield advance
    finally:
        shown.stop()


def write_picture(plot: Path, draw: Callable[[], Figure]) -> None:
    """Draw a picture in the style of the package; the ending of the file says its kind."""
    import matplotlib

    from belman import plots

    matplotlib.use("Agg")

    kind = plot.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise SettingError(f"plot={plot} is not a picture: its name must end in {listing(FORMATS)}")
    with plots.style.theme(), replacing(plot) as path:
        plots.style.save(draw(), path, kind)


def print_json(result: Any, indent: int | None = 1) -> None:
    """Print what was found as JSON, for a program to read."""
    print_plain(json.dumps(result.to_dict(), ensure_ascii=False, indent=indent))


def check_ending(output: Path | None, endings: Collection[str]) -> None:
    """Refuse a file whose name ends otherwise, before anything is computed."""
    if output is not None and output.suffix.lower() not in endings:
        allowed = f"its name must end in {listing(endings)}"
        raise SettingError(f"output={str(output)!r} cannot be written: {allowed}")


def write_report(
    file: Path, title: str, writers: Mapping[str, Callable[..., Any]], *, quiet: bool, browser: bool
) -> None:
    """Write a report by the writer of its ending: of .html a page, of .pdf into the file that it is
    given, of others a text.
    """
    kind = file.suffix.lower()
    if kind == ".html":
        write_page(file, writers[kind](title), quiet=quiet, browser=browser)
        return
    if kind == ".pdf":
        with replacing(file) as path:
            writers[kind](path, title)
    else:
        write_atomically(file, writers[kind]())
    if not quiet:
        say(f"wrote {file}")


def write_page(page: Path, text: str, *, quiet: bool, browser: bool) -> None:
    """Write a web page, say where unless `quiet`, and open it in the `browser`."""
    write_atomically(page, text)
    if not quiet:
        say(f"wrote {page}")
    if browser:
        typer.launch(str(page.resolve()))

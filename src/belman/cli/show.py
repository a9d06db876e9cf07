"""Tables in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as RichTable

from belman.table import Table, number

console = Console()

_NO_LIMIT = 10_000  # columns


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
        console.print(str(table), soft_wrap=True, markup=False, highlight=False)
    else:
        console.print(drawn)

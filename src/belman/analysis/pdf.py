"""An analysis as a PDF: the verdict, intervals of lift and all tables, on pages of A4."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

from belman.analysis import texts
from belman.errors import needing
from belman.measures import sentences
from belman.table import Table, number

if TYPE_CHECKING:
    from belman.analysis.analysis import Analysis

_WIDTH, _HEIGHT, _EDGE = 8.27, 11.69, 0.7  # inches
_LINE = 0.19
_INK, _FAINT, _ALARM = "#1c1e21", "#5c6370", "#a3342a"


#: A table, or words with the settings of their letters.
Part = Table | tuple[str, dict[str, Any]]


def write(result: Analysis, file: str | PathLike[str], title: str) -> None:
    """Draw the pages of an analysis into a file."""
    write_parts(file, title, _parts(result), result)


def write_parts(
    file: str | PathLike[str],
    title: str,
    parts: Iterable[Part | None],
    result: Analysis | None = None,
) -> None:
    """Draw tables and texts with their settings; None stands for the lifts of an analysis."""
    with needing("a PDF file", "lab", "matplotlib"):
        from matplotlib import rc_context
        from matplotlib.backends.backend_pdf import PdfPages

    plain = rc_context({"text.parse_math": False})  # dollars in names are dollars
    with plain, PdfPages(file, metadata={"Title": title}) as pages:
        sheet = _Sheet(pages)
        sheet.text(title, size=16, weight="bold")
        for part in parts:
            if isinstance(part, Table):
                sheet.table(part)
            elif part is not None:
                words, settings = part
                sheet.text(words, **settings)
            elif result is not None:
                sheet.lifts(result)
        sheet.close()


def _parts(result: Analysis) -> Iterator[Part | None]:
    yield result.sentence, {"size": 12, "weight": "bold"}
    for one in result.findings:
        if one.alarm:
            yield f"! {one.sentence} {one.look_at}", {"colour": _ALARM}
    if result.control is not None:
        yield f"Lift over {result.control}", {"weight": "bold", "size": 11}
        yield None
    yield from _tables(result)
    yield "Is the data sound?", {"weight": "bold", "size": 11}
    for one in result.findings:
        yield f"• {one.sentence}", {"colour": _ALARM if one.alarm else _INK}
    yield "Rows", {"weight": "bold", "size": 11}
    for line in texts.rows_in_words(result):
        yield f"• {line}", {}
    yield "What this means", {"weight": "bold", "size": 11}
    for note in (result.verdict.sentence, *result.notes):
        yield note, {"colour": _FAINT, "size": 8.5}


def _tables(result: Analysis) -> Iterator[Part]:
    yield "Arms", {"weight": "bold", "size": 11}
    yield result.table()
    if result.has_metrics:
        metrics = result.metrics()
        yield metrics.title, {"weight": "bold", "size": 11}
        yield metrics
    for part in result.segments:
        yield f"By {part.attribute}", {"weight": "bold", "size": 11}
        yield part.sentence, {}
        yield part.table()
    if result.holdout is not None:
        yield result.holdout_sentence, {}


class _Sheet:
    """Pages that are filled from the top."""

    def __init__(self, pages: Any) -> None:
        self._pages, self._y = pages, 0.0
        self._figure: Any = None

    def _begin(self) -> None:
        from matplotlib.figure import Figure

        self._figure, self._y = Figure((_WIDTH, _HEIGHT)), _HEIGHT - _EDGE

    def _room(self, height: float) -> Any:
        """The figure on which that many inches are left."""
        if self._figure is not None and self._y - height < _EDGE:
            self.close()
        if self._figure is None:
            self._begin()
        return self._figure

    def close(self) -> None:
        """Finish a page."""
        if self._figure is not None:
            self._pages.savefig(self._figure)
            self._figure = None

    def text(
        self, words: str, size: float = 9.5, weight: str = "normal", colour: str = _INK
    ) -> None:
        """Write a paragraph."""
        letter = 0.0073 if weight == "normal" else 0.0086
        wide = int((_WIDTH - 2.0 * _EDGE) / (size * letter))
        height = size * 0.0195
        gap = 0.09 if weight == "normal" else 0.13
        self._y -= gap
        for line in textwrap.wrap(words, wide) or [""]:
            figure = self._room(height)
            self._y -= height
            figure.text(
                _EDGE / _WIDTH, self._y / _HEIGHT, line, size=size, weight=weight, color=colour
            )

    def table(self, table: Table) -> None:
        """Write a table, its columns as wide as their cells."""
        rows = [[number(cell) for cell in row.values()] for row in table]
        heads = [textwrap.wrap(name, 11) or [""] for name in table.columns]
        widths = [
            max(*(len(part) for part in head), *(len(row[j]) for row in rows))
            for j, head in enumerate(heads)
        ]
        size = min(8.5, (_WIDTH - 2.0 * _EDGE) / max(sum(widths) + 2 * len(widths), 1) / 0.0082)
        positions, x = [], _EDGE
        for width in widths:
            positions.append(x / _WIDTH)
            x += (width + 2) * size * 0.0082
        tall = max(map(len, heads))
        lines = [[head[i] if i < len(head) else "" for head in heads] for i in range(tall)]
        self._y -= 0.06
        for i, cells in enumerate([*lines, *rows]):
            figure = self._room(_LINE)
            self._y -= _LINE if i >= tall else 0.14
            for position, cell in zip(positions, cells, strict=True):
                shade = _FAINT if i < tall else _INK
                figure.text(position, self._y / _HEIGHT, cell, size=size, color=shade)

    def lifts(self, result: Analysis) -> None:
        """Draw lift over control: a dot, a bar, and a line that holds at any look."""
        rows = [(arm, *arm.beside_control(result.relative)) for arm in result.arms if arm.lift]
        height = 0.35 * len(rows) + 0.45
        figure = self._room(height)
        self._y -= height
        box = (0.24, (self._y + 0.3) / _HEIGHT, 0.68, (height - 0.35) / _HEIGHT)
        axes = figure.add_axes(box)
        ends = []
        for position, (_, middle, any_look) in enumerate(rows):
            assert middle is not None
            if any_look is not None and all(map(math.isfinite, any_look)):
                axes.plot(any_look, [-position] * 2, color=_FAINT, lw=1)
                ends += list(any_look)
            axes.plot(middle[1:], [-position] * 2, color="#0072b2", lw=5, solid_capstyle="round")
            axes.plot([middle.middle], [-position], "o", color=_INK, ms=5)
            ends += list(middle)
        axes.axvline(0.0, color=_FAINT, lw=0.8, ls=":")
        axes.set_yticks([-i for i in range(len(rows))], [str(row[0].arm)[:24] for row in rows])
        axes.set_ylim(-len(rows) + 0.4, 0.6)
        style = sentences.percent if result.relative else sentences.plain
        axes.xaxis.set_major_formatter(lambda x, _: "0" if x == 0 else style(x))
        axes.tick_params(labelsize=8, length=2)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)

"""The claims on two pages of PDF: what the data say, and every check on which that rests."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belman.figures.claim import ANSWERS, PROTOCOLS, Claim, Judgement, Verdict
from belman.figures.figure import with_interval
from belman.files import replacing
from belman.table import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_A4 = (8.27, 11.69)  # inches
_LEFT, _TOP, _BOTTOM = 0.07, 0.95, 0.04  # parts of a page
_COLOURS = {
    Verdict.REPRODUCED: "#00664b",
    Verdict.IN_PART: "#7a4b00",
    Verdict.PICTURE: "#7a4b00",
    Verdict.NOT: "#a33b00",
    Verdict.REFUTED: "#a33b00",
    Verdict.UNDECIDED: "#555555",
}


def percent(chance: float | None) -> str:
    """A chance in per cent, with what 2,000 repetitions can tell apart.

    >>> percent(0.1234), percent(0.0), percent(0.9996), percent(None)
    ('12 %', 'under 0.1 %', 'over 99.9 %', '–')
    """
    if chance is None:
        return "–"
    if not 0.001 <= chance <= 0.999:
        return "under 0.1 %" if chance < 0.5 else "over 99.9 %"
    return f"{100.0 * chance:.0f} %" if chance >= 0.1 else f"{100.0 * chance:.2g} %"


def write_handout(
    path: Path, title: str, words: str, judged: Sequence[tuple[Claim, Judgement]]
) -> None:
    """Write the PDF; equal judgements give equal files."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import PdfPages

    look: Any = {"font.size": 8.0, "pdf.fonttype": 42}
    about: Any = {"CreationDate": None, "Title": title}
    with replacing(path) as draft, rc_context(look), PdfPages(draft, metadata=about) as pages:
        pages.savefig(_verdicts(title, words, judged))
        pages.savefig(_checks(title, judged))


def _page(heading: str) -> Picture:
    from matplotlib.figure import Figure

    page = Figure(figsize=_A4)
    page.text(_LEFT, _TOP, heading, fontsize=14.0, fontweight="bold", va="bottom")
    return page


def _verdicts(title: str, about: str, judged: Sequence[tuple[Claim, Judgement]]) -> Picture:
    """The first page: a claim a paragraph, its verdict and its chances beside it."""
    page = _page(title)
    lines = textwrap.wrap(about, 112)
    top = _TOP - 0.01
    page.text(_LEFT, top, "\n".join(lines), va="top", linespacing=1.4)
    top -= 0.014 * len(lines) + 0.02
    columns = (_LEFT, 0.1, 0.56, 0.7, 0.83)
    chances = (f"chance in {runs} runs" for runs in PROTOCOLS)
    for position, head in zip(columns, ("", "claim", "the data say", *chances), strict=True):
        page.text(position, top, head, fontweight="bold", va="top")
    said = [textwrap.wrap(claim.says, 62, break_on_hyphens=False) for claim, _ in judged]
    line = (top - 0.02 - _BOTTOM) / (sum(map(len, said)) + 2.0 * len(judged))
    y = top - 0.025
    for (claim, judgement), words in zip(judged, said, strict=True):
        below: Any = {"va": "top", "linespacing": 1.3}
        result, reading = judgement.verdict, judgement.reading
        page.text(columns[0], y, str(claim.number), va="top")
        page.text(columns[1], y, claim.title, fontweight="bold", va="top")
        page.text(columns[1], y - 0.014, "\n".join(words), **below)
        page.text(columns[2], y, str(result), color=_COLOURS[result], fontweight="bold", va="top")
        page.text(columns[2], y - 0.014, textwrap.fill(reading, 24), **below)
        for position, runs in zip(columns[3:], PROTOCOLS, strict=True):
            page.text(position, y, percent(judgement.chance(runs)), va="top")
        y -= (len(words) + 2.0) * line
    return page


def _checks(title: str, judged: Sequence[tuple[Claim, Judgement]]) -> Picture:
    """The second page: a line for each check that counts."""
    page = _page(f"{title}: the checks that count")
    rows = [
        (claim.number, row)
        for claim, judgement in judged
        for row in judgement.rows()
        if row["counts"]
    ]
    columns = (_LEFT, 0.1, 0.62, 0.75, 0.82, 0.9)
    heads = ("", "check", "estimate", "must be", "", "true")
    step = (_TOP - 0.02 - _BOTTOM) / (len(rows) + 1)
    letters = min(7.0, 0.62 * step * _A4[1] * 72.0)
    before = 0
    for position, head in zip(columns, heads, strict=True):
        page.text(position, _TOP - 0.02, head, fontsize=letters, fontweight="bold", va="bottom")
    for line, (claim, row) in enumerate(rows, 1):
        y = _TOP - 0.02 - line * step
        cells = (
            str(claim) if claim != before else "",
            textwrap.shorten(row["states"], 98, placeholder=" …"),
            with_interval(row["estimate"], row["half_width"]),
            f"{row['side']} {number(row['limit'])}",
            f"{row['runs']:,} runs" if row["runs"] else "exact",
            ANSWERS[row["holds"]],
        )
        for position, cell in zip(columns, cells, strict=True):
            page.text(position, y, cell, fontsize=letters, va="bottom")
        before = claim
    return page

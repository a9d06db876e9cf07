"""The report as one page of HTML that needs no other file: contents beside it, verdicts, and
figures that fold; printed, it is the verdicts alone.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from belman.figures.claim import PROTOCOLS, Claim, Judgement, Verdict
from belman.figures.figure import PAPER_COLUMN, Figure
from belman.figures.handout import percent
from belman.table import Table

_STYLE = resources.files("belman.figures").joinpath("page.css").read_text(encoding="utf-8")


class Section(NamedTuple):
    """A figure with all that is said of it."""

    figure: Figure
    picture: Path  # relative to the page
    tables: Sequence[Table]
    files: Sequence[Path]  # its data, relative to the page
    settings: str
    seconds: float


def page(
    title: str,
    intro: str,
    sections: Sequence[Section],
    judged: Sequence[tuple[Claim, Judgement]],
    folder: Path,
) -> str:
    """The whole page."""
    body = [
        f"<h1>{html.escape(title)}</h1>",
        intro,
        _summary(judged),
        _contents(sections),
        "<p class='no-print'>A print of this page ends here. Click a figure's title to fold it."
        "</p><div class='figures'>",
        *(_section(section, judged, folder) for section in sections),
        "</div>",
    ]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{"".join(body)}
</main>
</body>
</html>
"""


def badge(verdict: Verdict) -> str:
    """A verdict in its colour."""
    return f'<span class="verdict {str(verdict).replace(" ", "-")}">{verdict}</span>'


def wide(content: str, kind: str = "", label: str = "table") -> str:
    """A table or a picture that scrolls by itself where the screen is narrow."""
    look = f"wide {kind}".strip()
    return f'<div class="{look}" tabindex="0" role="region" aria-label="{label}">{content}</div>'


def _kind(table: Table) -> str:
    """Tables whose second column has the paper's numbers keep it in sight while they scroll."""
    return "beside" if list(table.columns)[1:2] == [PAPER_COLUMN] else ""


def _summary(judged: Sequence[tuple[Claim, Judgement]]) -> str:
    names = ["", "claim", "the data say", "reading", "the paper says"]
    names += [f"chance in {runs} runs" for runs in PROTOCOLS]
    rows = "".join(_row(names, claim, judgement) for claim, judgement in judged)
    head = "".join(f"<th scope='col'>{name}</th>" for name in names)
    result = [judgement.verdict for _, judgement in judged]
    counts = ", ".join(
        f"{result.count(verdict)} {verdict}" for verdict in Verdict if verdict in result
    )
    content = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    table = f"<table class='words'><caption>{counts}</caption>{content}</table>"
    said = (
        "Readings exclude each other, so a claim is judged under each, and the one that comes "
        "nearest is named. The last columns say how likely all that a claim says is to be seen in "
        "the means of 5 runs a player, as in the published pictures, and of 25, as in the text."
    )
    return f"<h2 id='claims'>The claims</h2><p>{said}</p>{wide(table)}"


def _row(names: Sequence[str], claim: Claim, judgement: Judgement) -> str:
    """A row of the summary; every cell knows its column, for screens too narrow for a table."""
    cells = [
        str(claim.number),
        f"<a href='#claim-{claim.number}'>{html.escape(claim.title)}</a>",
        badge(judgement.verdict),
        html.escape(judgement.reading or "–"),
        html.escape(claim.says),
        *(percent(judgement.chance(runs)) for runs in PROTOCOLS),
    ]
    named = zip(names, cells, strict=True)
    return f"<tr>{''.join(f'<td data-name={name!r}>{cell}</td>' for name, cell in named)}</tr>"


def _contents(sections: Iterable[Section]) -> str:
    titles = {section.figure.name: html.escape(section.figure.title) for section in sections}
    items = "".join(f"<li><a href='#{name}'>{title}</a></li>" for name, title in titles.items())
    claims = "<p><a href='#claims'>The claims</a></p>"
    head = "<h2 id='contents'>The figures</h2>"
    return f"<nav aria-label='contents'>{claims}{head}<ol>{items}</ol></nav>"


def _section(section: Section, judged: Sequence[tuple[Claim, Judgement]], folder: Path) -> str:
    figure = section.figure
    said = f"<p><strong>In the paper:</strong> {html.escape(figure.paper)}</p>"
    paper = said if figure.paper else ""
    files = {path.as_posix(): html.escape(path.name) for path in section.files}
    links = ", ".join(f"<a href='{path}'>{name}</a>" for path, name in files.items())
    own = [pair for pair in judged if pair[0].figures[0] == figure.name]
    claims = [_claim(claim, judgement) for claim, judgement in own]
    return "\n".join(
        [
            f"<section aria-labelledby='{figure.name}'><details class='figure' open><summary>"
            f"<h2 id='{figure.name}'>{html.escape(figure.title)}</h2></summary>",
            f"<p>{html.escape(figure.shows)}</p>{paper}",
            _picture(section, folder),
            *(wide(table._repr_html_(), _kind(table)) for table in section.tables),
            *claims,
            "<details><summary>Settings, data, and how to redraw it</summary>",
            f"<p>Redraw: <code>belman figure {figure.name}</code>. "
            f"Data: {links}. It took {section.seconds:.1f} s.</p>{section.settings}</details>",
            "<p><a href='#contents'>Back to the figures</a></p></details></section>",
        ]
    )


def _claim(claim: Claim, judgement: Judgement) -> str:
    remark = f"<p>{html.escape(claim.remark)}</p>" if claim.remark else ""
    return (
        f"<h3 id='claim-{claim.number}'>Claim {claim.number}: {badge(judgement.verdict)}</h3>"
        f"<p>{html.escape(claim.says)}</p>{remark}{wide(judgement.table()._repr_html_())}"
    )


def _picture(section: Section, folder: Path) -> str:
    content = base64.b64encode((folder / section.picture).read_bytes()).decode()
    source = f"data:image/png;base64,{content}"
    alt = html.escape(f"{section.figure.title}: {section.figure.shows}", quote=True)
    return wide(f'<img src="{source}" alt="{alt}" loading="lazy">', "picture", "picture")

"""An analysis as text: for a terminal, for a chat, and as parts of a page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from belman.escaping import for_markdown, for_terminal
from belman.measures import report_page
from belman.table import Table, number

if TYPE_CHECKING:
    from belman.analysis.analysis import Analysis


def rows_in_words(result: Analysis) -> list[str]:
    """What became of the rows, a sentence each."""
    return [result.account.sentence, *result.account.said]


def terminal(result: Analysis) -> str:
    """All of it as plain text."""
    shown = for_terminal
    return "\n".join(shown(part) if isinstance(part, str) else str(part) for part in parts(result))


def parts(result: Analysis) -> list[str | Table]:
    """Sentences and tables in the order in which they are read: soundness first."""
    said: list[str | Table] = [result.sentence]
    said += [f"! {one.sentence} {one.look_at}" for one in result.findings if one.alarm]
    said += ["", *rows_in_words(result), "", result.table()]
    if result.has_metrics:
        said += ["", result.metrics()]
    for part in result.segments:
        said += ["", part.table(), part.sentence]
    if result.holdout is not None:
        said += ["", result.holdout_sentence]
    said += ["", *(one.sentence for one in result.findings if not one.alarm)]
    return [*said, "", *result.notes]


def markdown(result: Analysis) -> str:
    """The same for a chat, without the notes on what each kind of statement means."""
    said = [f"**{for_markdown(result.sentence)}**", ""]
    alarms = [f"{one.sentence} {one.look_at}" for one in result.findings if one.alarm]
    said += [f"⚠ {for_markdown(alarm)}" for alarm in alarms]
    tables = [result.table(), *([result.metrics()] if result.has_metrics else [])]
    tables += [part.table() for part in result.segments]
    for table in tables:
        said += ["", _markdown_table(table)]
    if result.holdout is not None:
        said += ["", for_markdown(result.holdout_sentence)]
    said += ["", *(f"- {for_markdown(line)}" for line in rows_in_words(result))]
    said += [f"- {for_markdown(one.sentence)}" for one in result.findings if not one.alarm]
    return "\n".join(said) + "\n"


def _markdown_table(table: Table) -> str:
    def row(cells: list[str]) -> str:
        return f"| {' | '.join(map(for_markdown, cells))} |"

    lines = [row(list(table.columns)), row(["---"] * len(table.columns))]
    lines += [row([number(cell) for cell in one.values()]) for one in table]
    return "\n".join(lines)


def sections(result: Analysis) -> list[str]:
    """The parts of a page."""
    said = [report_page.section(result)]
    if result.has_metrics:
        table = result.metrics()
        said.append(report_page.table_section("Metrics", f"{table.title}.", Table(table.columns)))
    said += [
        report_page.table_section(f"By {part.attribute}", part.sentence, part.table())
        for part in result.segments
    ]
    if result.holdout is not None:
        said.append(_listed("Holdout", [result.holdout_sentence]))
    said.append(_listed("Rows", rows_in_words(result)))
    return said


def _listed(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<section class='belman'><h2>{html.escape(title)}</h2><ul>{items}</ul></section>"

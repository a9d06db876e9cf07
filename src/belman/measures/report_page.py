"""A report as a page that needs nothing from elsewhere: a sentence, intervals of lift, a table."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from belman.measures import sentences
from belman.table import Table

if TYPE_CHECKING:
    from belman.measures.report import Ends, Report

STYLE = resources.files("belman.measures").joinpath("report.css").read_text(encoding="utf-8")
STYLE = f"<style>{STYLE}</style>"
_WIDTH, _LEFT, _RIGHT, _ROW = 520.0, 130.0, 30.0, 34.0


def section(report: Report) -> str:
    """The report as a part of a page, in its own style."""
    state, words = "open", "Still open"
    if any(result.alarm for result in report.findings):
        state, words = "alarm", "Not sound"
    elif report.verdict.decided:
        state, words = "decided", "Decided"
    parts = [
        f"{STYLE}<section class='belman'>",
        f"<span class='state {state}'>{words}</span>",
        f"<p class='sentence'>{html.escape(report.sentence)}</p>",
        _alarms(report),
        _lifts(report),
        f"<h2>Arms</h2><div class='wide'>{_arms(report)}</div>",
        f"<p>Stopping rule: {html.escape(repr(report.rule))} – "
        f"{html.escape(report.verdict.sentence)}.</p>",
        _soundness(report),
        "<h2>What this means</h2>",
        notes(report.notes),
        "</section>",
    ]
    return "".join(parts)


def notes(given: Sequence[str]) -> str:
    """Notes as paragraphs."""
    return "".join(f"<p class='notes'>{html.escape(note)}</p>" for note in given)


def table_section(title: str, sentence: str, table: Table) -> str:
    """A table with a title and a sentence, as a part of a page."""
    return (
        f"<section class='belman'><h2>{html.escape(title)}</h2><p>{html.escape(sentence)}</p>"
        f"<div class='wide'>{table._repr_html_()}</div></section>"
    )


def page(title: str, sections: Sequence[str]) -> str:
    """A whole page of such parts."""
    name = html.escape(title)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{name}</title></head><body><main><h1>{name}</h1>{''.join(sections)}</main>"
        "</body></html>\n"
    )


def _alarms(report: Report) -> str:
    return "".join(
        f"<p class='alarm'><strong>{html.escape(result.sentence)}</strong> "
        f"{html.escape(result.look_at)}</p>"
        for result in report.findings
        if result.alarm
    )


def _soundness(report: Report) -> str:
    if not report.findings:
        return ""
    rows = "".join(
        f"<li class='{'alarm' if result.alarm else 'fine'}'>{html.escape(result.sentence)}</li>"
        for result in report.findings
    )
    return f"<h2>Is the data sound?</h2><ul>{rows}</ul>"


def _arms(report: Report) -> str:
    """One row an arm, what a decision needs first; intervals stand below what they are of."""
    used = report.words
    rate = sentences.share if report.conversions else "{:.4g}".format
    style = sentences.percent if report.relative else sentences.plain
    lifts, ends = zip(*(arm.beside_control(report.relative) for arm in report.arms), strict=True)
    columns: dict[str, list[str]] = {"arm": [html.escape(str(arm.arm)) for arm in report.arms]}
    if report.control is not None:
        columns["lift"] = [_within(style, *one) if one else "–" for one in lifts]
        columns["chance to beat control"] = [
            sentences.chance(arm.lift.beats) if arm.lift else "–" for arm in report.arms
        ]
    columns["chance to be best"] = [sentences.chance(arm.chance_best) for arm in report.arms]
    columns[used.quantity] = [_within(rate, arm.expected, *arm.credible) for arm in report.arms]
    columns[used.plays] = [f"{arm.plays:,.0f}" for arm in report.arms]
    columns["expected loss"] = [rate(arm.expected_loss) for arm in report.arms]
    if report.control is not None:
        columns["lift at any look"] = [_span(style, one) for one in ends]
    else:
        columns["at any look"] = [_span(rate, arm.anytime) for arm in report.arms]
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _within(style: Callable[[float], str], middle: float, low: float, high: float) -> str:
    return f"{style(middle)}<small>{style(low)} to {style(high)}</small>"


def _span(style: Callable[[float], str], ends: Ends | None) -> str:
    return f"{style(ends[0])} to {style(ends[1])}" if ends else "–"


def _lifts(report: Report) -> str:
    """Lift over control: a dot at the median, a bar that is credible, a line that always holds."""
    rows = []
    for arm in report.arms:
        result, ends = arm.beside_control(report.relative)
        if result is not None:
            rows.append((arm.arm, result, ends))
    if not rows:
        return ""
    bounds = [end for _, result, _ in rows for end in result if math.isfinite(end)] + [0.0]
    low, high = min(bounds), max(bounds)
    for _, _, ends in rows:  # lines that hold at any look may leave the picture
        reach = [end for end in ends or () if math.isfinite(end)]
        low = max(min([low, *reach]), low - 1.5 * (high - low))
        high = min(max([high, *reach]), high + 1.5 * (high - low))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        inside = min(max((value - low) / span, 0.0), 1.0)
        return _LEFT + inside * (_WIDTH - _LEFT - _RIGHT)

    style = sentences.percent if report.relative else sentences.plain
    height = _ROW * (len(rows) + 1)
    lines = [f"<line class='zero' x1='{x(0):.1f}' x2='{x(0):.1f}' y1='4' y2='{height - 24:.0f}'/>"]
    for i, (name, result, ends) in enumerate(rows):
        y = _ROW * (i + 0.6)
        if ends:
            lines.append(
                f"<line class='any' x1='{x(ends[0]):.1f}' x2='{x(ends[1]):.1f}' y1='{y}' y2='{y}'/>"
            )
        lines.append(
            f"<text x='0' y='{y + 4}'>{html.escape(str(name)[:20])}</text>"
            f"<line class='credible' x1='{x(result.low):.1f}' x2='{x(result.high):.1f}' y1='{y}' "
            f"y2='{y}'><title>{style(result.low)} to {style(result.high)}</title></line>"
            f"<circle cx='{x(result.middle):.1f}' cy='{y}' r='5'>"
            f"<title>{style(result.middle)}</title></circle>"
        )
    ticks = [low, 0.0, high] if low < 0.0 < high else [low, high]
    lines += [
        f"<text class='faint' text-anchor='middle' x='{x(value):.1f}' "
        f"y='{height - 6:.0f}'>{'0' if value == 0.0 else style(value)}</text>"
        for value in ticks
        if value == 0.0 or abs(x(value) - x(0.0)) > 60.0
    ]
    summary = "; ".join(
        f"{name}: {style(result.middle)} ({style(result.low)} to {style(result.high)})"
        for name, result, _ in rows
    )
    return (
        f"<h2>Lift over {html.escape(str(report.control))}</h2>"
        f"<svg viewBox='0 0 {_WIDTH:.0f} {height:.0f}' role='img' "
        f"aria-label='{html.escape(summary, quote=True)}'>{''.join(lines)}</svg>"
        "<p class='notes'>Dot: median. Bar: credible interval. Thin line: holds at any look.</p>"
    )

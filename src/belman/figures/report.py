"""Everything, in one go: play every figure, judge every claim, write the report."""

from __future__ import annotations

import html
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from belman.figures import FIGURES
from belman.figures.claim import Claim, Judgement
from belman.figures.claims import CLAIMS
from belman.figures.figure import SEED, Effort, Figure, Part
from belman.figures.folder import draw_into, figure_data, part_file
from belman.figures.page import Section, page, wide
from belman.files import write_atomically
from belman.lab.design import versions
from belman.lab.warm import warm
from belman.table import Table

if TYPE_CHECKING:
    import xarray

TITLE = "BelMan, reproduced"


class Watcher(NamedTuple):
    """Who is told what is going on: a step of words, and compilation as (done, all)."""

    say: Callable[[str], None]
    compiled: Callable[[int, int], None]
    progress: bool | None = None


class Report(NamedTuple):
    """Where the page is, and what it says of the claims."""

    path: Path
    judged: list[tuple[Claim, Judgement]]


def reproduce(output: Path, effort: Effort, watcher: Watcher, names: Iterable[str] | None = None) -> Report:
    """Play, draw, judge, and write `output/index.html`; what an earlier call has finished is not played again."""
    figures = [FIGURES[name] for name in (FIGURES if names is None else names)]
    started = time.perf_counter()
    warm((part.design for figure in figures for part in figure.parts(effort).values() if part.design), watcher.compiled)
    compiled = time.perf_counter() - started
    folder = output / "figures"
    everything: dict[str, dict[str, xarray.Dataset]] = {}
    sections = []
    for place, figure in enumerate(figures, 1):
        begun = time.perf_counter()
        watcher.say(f"figure {place} of {len(figures)}: {figure.name}")
        data = everything[figure.name] = figure_data(figure, effort, folder, watcher.say, watcher.progress)
        sections.append(_section(figure, data, effort, output, begun))
    judged = [(claim, claim.judge(everything)) for claim in CLAIMS if all(name in everything for name in claim.figures)]
    watcher.say("writing the report")
    path = output / "index.html"
    write_atomically(path, page(TITLE, _intro(effort, time.perf_counter() - started, compiled), sections, judged, output))
    return Report(path, judged)


def _section(figure: Figure, data: dict[str, xarray.Dataset], effort: Effort, output: Path, begun: float) -> Section:
    folder = output / "figures"
    pictures = {ground: draw_into(figure, data, folder, ground=ground).relative_to(output) for ground in ("light", "dark")}
    files = [
        path.relative_to(output)
        for name in data
        for path in (folder / figure.name / f"{part_file(name)}{ending}" for ending in (".nc", ".csv"))
        if path.exists()
    ]
    settings = "".join(_settings(name, part) for name, part in figure.parts(effort).items())
    return Section(figure, pictures, figure.tables(data), files, settings, time.perf_counter() - begun)


def _settings(name: str, part: Part) -> str:
    """The description of a part as a small table."""
    rows = {key: ", ".join(map(str, value)) if isinstance(value, dict) else str(value) for key, value in part.description.items()}
    return wide(Table({"setting": list(rows), "value": list(rows.values())}, name)._repr_html_())


def _intro(effort: Effort, seconds: float, compiled: float) -> str:
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    quick = (
        "<p>This is the quick report: a tenth of the runs, wider intervals, more verdicts left open. The full one takes minutes: "
        "<code>belman reproduce</code>.</p>"
        if effort.name == "quick"
        else ""
    )
    return (
        "<p>Every figure of “BelMan: an information-geometric approach to stochastic bandits” (Basu, Senellart, Bressan), played "
        "anew, and every claim judged by checks with 95 % intervals. <em>BelMan (paper)</em> is the paper to the letter, "
        "<em>BelMan</em> our default. Lines are means over runs, dark bands their 95 % intervals, pale bands the middle half of "
        f"the runs; all players of a run meet the same luck.</p>{quick}"
        f"<p>Seed {SEED}, effort <em>{html.escape(effort.name)}</em>, {seconds:,.0f} s in all, {compiled:,.0f} of them compiling "
        f"on {os.cpu_count()} cores ({html.escape(platform.machine())}); {html.escape(made)}.</p>"
    )

"""Everything, in one go: play every figure, judge every claim, write the report."""

from __future__ import annotations

import functools
import html
import itertools
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from belman.figures import CLAIMS, FIGURES
from belman.figures.claim import PROTOCOLS, Claim, Judgement
from belman.figures.figure import SEED, Effort, Figure, Part
from belman.figures.folder import draw_into, figure_data, kept_part, part_file, picture_path
from belman.figures.handout import write_handout
from belman.figures.page import Section, page, wide
from belman.files import write_atomically
from belman.lab.design import Design, versions
from belman.lab.precompile import Precompilation, WorkerProcesses
from belman.table import Table

if TYPE_CHECKING:
    import xarray

TITLE = "BelMan, reproduced"
_ABOUT = (
    "Every figure of “BelMan: an information-geometric approach to stochastic bandits” (Basu, "
    "Senellart, Bressan), simulated again, and every claim checked, with 95 % intervals. A claim "
    "is judged under each reading of the paper, and the reading that comes nearest is named; joint "
    "is Algorithm 1 to the letter, barycentre Theorem 1, natural the authors' code for queues."
)


class Watcher(NamedTuple):
    """Who is told what is going on: a step in words, and progress as (which work, done, all)."""

    say: Callable[[str], None]
    step: Callable[[str, int, int], None]


class Report(NamedTuple):
    """Where the page is, and what it says of the claims."""

    path: Path
    judged: list[tuple[Claim, Judgement]]


def reproduce(
    output: Path, effort: Effort, watcher: Watcher, names: Iterable[str] | None = None
) -> Report:
    """Play, draw, judge, and write `output/index.html`; what is finished is not played again.

    Players are compiled, and pictures drawn, in other processes, while this one plays what is
    compiled already: the first figure of those that wait for nothing.
    """
    figures = [FIGURES[name] for name in (FIGURES if names is None else names)]
    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    everything: dict[str, dict[str, xarray.Dataset]] = {}
    drawn: dict[str, Future[float]] = {}
    took: dict[str, float] = {}
    with WorkerProcesses() as processes:
        to_play = {figure.name: list(_to_play(figure, effort, folder)) for figure in figures}
        designs = itertools.chain.from_iterable(to_play.values())
        say = functools.partial(watcher.step, "compiling players")
        compiled = Precompilation(designs, processes, say)
        waiting = list(figures)
        while waiting:
            watcher.step("playing figures", len(everything), len(figures))
            ready = (each for each in waiting if compiled.is_over(to_play[each.name]))
            figure = next(ready, waiting[0])
            waiting.remove(figure)
            compiled.wait_for(to_play[figure.name])
            watcher.say(f"figure {len(everything) + 1} of {len(figures)}: {figure.name}")
            begun = time.perf_counter()
            everything[figure.name] = figure_data(
                figure, effort, folder, watcher.say, progress=False
            )
            took[figure.name] = time.perf_counter() - begun
            drawn[figure.name] = processes.submit(
                processes.least_busy(), _draw, figure.name, effort, folder
            )
        watcher.step("playing figures", len(figures), len(figures))
        tables = {figure.name: figure.tables(everything[figure.name]) for figure in figures}
        known = [claim for claim in CLAIMS if all(name in everything for name in claim.figures)]
        judged = [(claim, claim.judge(everything)) for claim in known]
        for position, (name, future) in enumerate(drawn.items()):
            watcher.step("drawing pictures", position, len(figures))
            took[name] += future.result()
        watcher.step("drawing pictures", len(figures), len(figures))
    sections = [
        _section(
            figure,
            tables[figure.name],
            list(everything[figure.name]),
            effort,
            output,
            took[figure.name],
        )
        for figure in figures
    ]
    path = output / "index.html"
    intro = _intro(effort, time.perf_counter() - started, bool(judged))
    write_atomically(path, page(TITLE, intro, sections, judged, output))
    write_atomically(output / "report.json", _as_data(effort, judged))
    said = f"{_ABOUT} Seed {SEED}, effort {effort.name}; belman {versions()['belman']}."
    if judged:
        write_handout(output / "claims.pdf", TITLE, said, judged)
    return Report(path, judged)


def _as_data(effort: Effort, judged: Iterable[tuple[Claim, Judgement]]) -> str:
    """Every claim with every check, for programs: estimates, intervals, runs, seed, designs."""
    claims = [
        {
            "claim": claim.number,
            "title": claim.title,
            "says": claim.says,
            "verdict": str(judgement.verdict),
            "reading": judgement.reading,
            "chance_in_runs": {str(runs): judgement.chance(runs) for runs in PROTOCOLS},
            "checks": [
                {**row, "id": f"{claim.number}.{row['id']}", "seed": SEED, "design": claim.figures}
                for row in judgement.rows()
            ],
            "designs": {
                name: {part: made.description for part, made in FIGURES[name].parts(effort).items()}
                for name in claim.figures
            },
        }
        for claim, judgement in judged
    ]
    result = {"effort": effort.name, "seed": SEED, "versions": versions(), "claims": claims}
    return json.dumps(result, indent=1, ensure_ascii=False, default=str) + "\n"


def _to_play(figure: Figure, effort: Effort, folder: Path) -> Iterable[Design]:
    """The designs of the parts that are not on disk yet."""
    for name, part in figure.parts(effort).items():
        if part.design and kept_part(figure, name, part, folder) is None:
            yield part.design


def _draw(name: str, effort: Effort, folder: Path) -> float:
    """Draw a figure whose data are on disk; the seconds it took."""
    begun = time.perf_counter()
    draw_into(FIGURES[name], figure_data(FIGURES[name], effort, folder, say=str), folder)
    return time.perf_counter() - begun


def _section(
    figure: Figure,
    tables: list[Table],
    parts: list[str],
    effort: Effort,
    output: Path,
    seconds: float,
) -> Section:
    folder = output / "figures"
    picture = picture_path(figure, folder).relative_to(output)
    files = [
        path.relative_to(output)
        for name in parts
        for path in (
            folder / figure.name / f"{part_file(name)}{ending}" for ending in (".nc", ".csv")
        )
        if path.exists()
    ]
    settings = "".join(_settings(name, part) for name, part in figure.parts(effort).items())
    return Section(figure, picture, tables, files, settings, seconds)


def _settings(name: str, part: Part) -> str:
    """The description of a part as a small table."""
    rows = {
        key: ", ".join(map(str, value)) if isinstance(value, dict) else str(value)
        for key, value in part.description.items()
    }
    return wide(Table({"setting": list(rows), "value": list(rows.values())}, name)._repr_html_())


def _intro(effort: Effort, seconds: float, claims: bool) -> str:
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    quick = (
        "<p>This is the quick report: as few runs as the claims need, wider intervals, a verdict "
        "left open now and then. The full one takes minutes: <code>belman reproduce</code>.</p>"
        if effort.name == "quick"
        else ""
    )
    handout = (
        ", and the claims are on two pages in <a href='claims.pdf'>claims.pdf</a>" if claims else ""
    )
    return (
        f"<p>{html.escape(_ABOUT)} <em>BelMan</em> alone is our default. Lines are means over "
        "runs, dark bands their 95 % intervals, pale bands the middle half of the runs; all "
        "players of a run meet the same luck. Every check is in <a href='report.json'>report.json"
        f"</a>{handout}.</p>"
        f"{quick}<p>Seed {SEED}, effort <em>{html.escape(effort.name)}</em>, {seconds:,.0f} s in "
        "all on "
        f"{os.cpu_count()} cores, with what had to be compiled "
        f"({html.escape(platform.machine())}); {html.escape(made)}.</p>"
    )

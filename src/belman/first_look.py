"""A first look, run by `make reproduce`: two problems of the paper as one page of pictures and numbers."""

from __future__ import annotations

import argparse
import base64
import html
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import belman
from belman.files import write_atomically
from belman.measures import compare
from belman.plots import BeliefDensities, Paths, Trail, belief_densities, draw_beliefs, draw_manifold, focal, regret, style
from belman.table import Table

SEED = 2019
RUNS = 1_000
HORIZON = 1_000
MOMENTS = (50, 200, 1_000)
TRAIL = range(201, 401)
SHOWN = ("arm 1", "arm 2", "arm 3", "arm 6")  # the four best of the twenty
TWENTY = (0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07, 0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)
PROBLEMS = {"20 arms, means 0.25 to 0.01": TWENTY, "2 arms, means 0.9 and 0.8": (0.9, 0.8)}
COMMAND = "python -m belman.first_look"


class Uniform:
    """Any arm, whatever was learnt: a player in plain Python."""

    def __init__(self, arms: int, mind: np.random.Generator) -> None:
        self._choices = iter(mind.integers(arms, size=HORIZON).tolist())

    def ask(self) -> int:
        return next(self._choices)

    def tell(self, arm: int, reward: float) -> None: ...


PLAYERS = {
    "BelMan": belman.BelMan(),
    "BelMan (paper)": belman.BelMan.paper(),
    "Thompson": belman.Thompson(),
    "Uniform": Uniform,
}


def watch(moments: Iterable[int]) -> tuple[list[BeliefDensities], Paths, Table]:
    """One agent on the twenty arms: its beliefs at these turns, a trail, and what it believes at the end."""
    agent = belman.Agent([f"arm {a + 1}" for a in range(len(TWENTY))], seed=SEED)
    means = dict(zip(agent.arms, TWENTY, strict=True))
    nature, trail, seen, moments = np.random.default_rng(SEED), Trail(turns=len(TRAIL)), [], set(moments)
    for turn in range(1, max(moments) + 1):
        arm = agent.ask()
        agent.tell(arm, float(nature.random() < means[arm]))
        if turn in TRAIL:
            trail.record(agent)
        if turn == TRAIL[-1]:
            paths = trail.paths()
        if turn in moments:
            seen.append(belief_densities(agent))
    return seen, paths, agent.beliefs()


def draw_regret(results: dict[str, Any]) -> Any:
    """One panel a problem: regret of every player, with 95 % intervals of the mean and the middle half of the runs."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(len(results), 1, figsize=(8.0, 7.6))
    for ax, (title, result) in zip(panels, results.items(), strict=True):
        regret(result, ax)
        ax.set_title(title)
    return figure


def draw_moments(seen: list[BeliefDensities]) -> Any:
    """One panel a moment, on one axis of rewards."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(len(seen), 1, figsize=(8.0, 9.0), sharex=True)
    for ax, data, turn in zip(panels, seen, MOMENTS, strict=True):
        draw_beliefs(data._replace(window=(0.0, 0.6)), ax, highlight=SHOWN)
        ax.set_title(f"after {turn:,} rewards")
        ax.set_xlabel(data.quantity if ax is panels[-1] else "")
    return figure


def draw_trail(paths: Paths) -> Any:
    """The arms on the manifold."""
    return draw_manifold(paths, highlight=SHOWN).figure


def embed(name: str, alt: str, draw: Callable[[], Any], images: Path | None) -> str:
    """A picture for the page, in ink for light and for dark screens; also as a file, if a folder is given."""
    from matplotlib import pyplot

    sources = {}
    for ground in ("light", "dark"):
        with style.theme(ground=ground):
            figure, buffer = draw(), io.BytesIO()
            figure.savefig(buffer, format="png", dpi=150)
            pyplot.close(figure)
        sources[ground] = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
        if images is not None and ground == "light":
            images.mkdir(parents=True, exist_ok=True)
            (images / f"{name}.png").write_bytes(buffer.getvalue())
    dark = f'<source media="(prefers-color-scheme: dark)" srcset="{sources["dark"]}">'
    return f'<picture>{dark}<img src="{sources["light"]}" alt="{html.escape(alt)}"></picture>'


def page(parts: Iterable[str]) -> str:
    """The whole page, which needs no other file."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>BelMan: a first look</title>
<style>
:root {{ --ink: #1a1a1a; --paper: #ffffff; --faint: #d8d8d8; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e8e8e8; --paper: #16181c; --faint: #3a3d44; }} }}
body {{ margin: 0 auto; padding: 1rem; max-width: 52rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; }}
h1, h2 {{ line-height: 1.2; }} h2 {{ margin-top: 2.5rem; }}
img {{ display: block; width: 100%; height: auto; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }}
caption {{ text-align: left; padding-bottom: 0.4rem; }}
th, td {{ padding: 0.2rem 0.8rem 0.2rem 0; text-align: right; border-bottom: 1px solid var(--faint); white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
code {{ background: var(--faint); padding: 0.1em 0.3em; border-radius: 0.2em; }}
</style>
</head>
<body>
<main>
{"".join(parts)}
</main>
</body>
</html>
"""


def _table(table: Table) -> str:
    return f'<div class="wide" tabindex="0">{table._repr_html_()}</div>\n'


def _section(title: str, words: str, *parts: str) -> str:
    return f"<h2>{html.escape(title)}</h2>\n<p>{html.escape(words)}</p>\n" + "".join(parts)


def first_look(
    output: Path, images: Path | None = None, runs: int = RUNS, step: Callable[[str], None] = print
) -> tuple[Path, dict[str, Table]]:
    """Play, draw, and write the page, and give its path and the regrets; `step` is told what is going on."""
    results = {}
    for title, means in PROBLEMS.items():
        step(f"playing {title} ({runs:,} runs)")
        results[title] = belman.simulate(PLAYERS, belman.bernoulli(means), HORIZON, runs, SEED, progress=False)
    tables = {title: compare(result, against="Thompson") for title, result in results.items()}
    step("watching one agent")
    seen, paths, believed = watch(MOMENTS)
    step("drawing")
    curves = embed("regret", "Cumulative regret of four players on two problems", lambda: draw_regret(results), images)
    moments = embed("beliefs", "Densities of the beliefs after 50, 200 and 1,000 rewards", lambda: draw_moments(seen), images)
    points = embed("manifold", "Mean against precision of every belief, with trails", lambda: draw_trail(paths), images)
    law = embed("focal", "The focal law at turns 1, 10, 100 and 1,000", lambda: focal().figure, images)
    step("writing the page")
    parts = (
        "<h1>BelMan: a first look</h1>\n",
        f"<p>Two problems of the paper, {HORIZON:,} turns, {runs:,} runs of each player against the same luck, seed {SEED}. ",
        f"Redraw it with <code>{COMMAND}</code>.</p>\n",
        _section(
            "What deciding well is worth",
            "Regret is what a player lost by not playing the best arm from the start: less is better. Lines are means, dark "
            "bands their 95 % intervals, pale bands the middle half of the runs. The paper's schedule shines with many arms and "
            "a short horizon, and with two good arms it locks onto the wrong one in some runs; the default is made for both.",
            curves,
            *(f"<h3>{html.escape(title)}</h3>{_table(table)}" for title, table in tables.items()),
        ),
        _section(
            "What an agent believes",
            "One agent on the twenty arms, the four best of them named. Each arm's belief about its expected reward narrows "
            "where the agent looks; the dashed pseudobelief sums up what is known of all.",
            moments,
            _table(believed),
        ),
        _section(
            "Beliefs as points on a manifold",
            "The same agent: every belief is a point, its mean against its precision, after 400 rewards, with the trail of "
            "the last 200. A reward moves one arm up; the pseudobelief follows.",
            points,
        ),
        _section(
            "The focal law",
            "How strongly high rewards are in focus under the paper's schedule: not at all at first, then more and more.",
            law,
        ),
    )
    path = output / "index.html"
    output.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page(parts))
    return path, tables


def main() -> None:
    """The command line of this page."""
    options = argparse.ArgumentParser(prog=COMMAND, description="Draw a first look at what BelMan does, in about two minutes.")
    options.add_argument("--output", type=Path, default=Path("first-look"), help="where index.html goes (first-look)")
    options.add_argument("--images", type=Path, help="also write the pictures as files into this folder")
    options.add_argument("--runs", type=int, default=RUNS, help=f"runs of every player ({RUNS:,})")
    given = options.parse_args()
    mpl.use("Agg")
    console = Console()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=len(PROBLEMS) + 3)

        def step(words: str) -> None:
            bar.update(task, description=words)
            bar.advance(task)
            console.print(words, style="dim")

        path, tables = first_look(given.output, given.images, given.runs, step)
    for title, table in tables.items():
        console.print(f"\n[bold]{title}[/bold]\n{table}", soft_wrap=True, highlight=False)
    words = "Next: README.md makes decisions in five lines; docs/guide/getting-started.md tells the rest."
    console.print(f"\nThe first look is here:  [bold]{path.resolve()}[/bold]\n\n{words}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()

"""The command line: `belman list | run | queue | figure | reproduce | study | serve | …`."""

from __future__ import annotations

import inspect
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable

from belman import spec
from belman.cli import (
    bench,
    check_drift,
    check_family,
    explore,
    paper,
    parse,
    plan,
    queue,
    report,
    service,
    study,
    study_archive,  # noqa: F401 (commands of `study`)
    study_edge,  # noqa: F401 (commands of `study`)
    study_report,  # noqa: F401 (a command of `study`)
    warm,
)
from belman.cli.show import console, show
from belman.errors import BelmanError
from belman.exposure import EXPOSURES
from belman.families import FAMILIES
from belman.files import replacing, write_atomically
from belman.lab import simulate
from belman.measures import compare, condense, curves_csv
from belman.policies import POLICIES
from belman.version import __version__

app = typer.Typer(
    help="Bayesian bandits on the belief–reward manifold.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(bench.app, name="bench")
app.add_typer(study.app, name="study")
app.command("check-drift")(check_drift.check_drift)
app.command("check-family")(check_family.check_family)
app.command()(explore.explore)
app.command()(paper.figure)
app.command()(paper.reproduce)
app.command()(plan.plan)
app.command()(queue.queue)
app.command()(report.report)
app.command()(service.serve)
app.command()(service.dashboard)
app.command()(service.demo)
app.command()(warm.warm)
app.add_typer(service.keys, name="key")


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").splitlines()[0]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Bayesian bandits on the belief–reward manifold."""
    if version:
        console.print(__version__)
        raise typer.Exit


@app.command("list")
def list_() -> None:
    """Name every family, policy, exposure and figure, one line each."""
    rooms: dict[str, dict[str, Any]] = {
        "families": FAMILIES,
        "policies": {**POLICIES, **spec.PRESETS},
        "exposures": EXPOSURES,
    }
    for room, members in rooms.items():
        table = RichTable(
            title=room, title_justify="left", show_header=False, box=None, padding=(0, 2)
        )
        for name, member in members.items():
            table.add_row(f"[bold]{name}[/bold]", _first_line(member))
        console.print(table)
    from belman.figures import FIGURES

    figures = RichTable(
        title="figures", title_justify="left", show_header=False, box=None, padding=(0, 2)
    )
    for name, figure in FIGURES.items():
        figures.add_row(f"[bold]{name}[/bold]", figure.title)
    console.print(figures)
    console.print("which policy, when: docs/leaderboard.md", highlight=False)


@app.command()
def run(
    family: Annotated[
        str | None, typer.Option(help="What a reward is; `belman list` names the families.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A constant of the family, such as sigma=2.0; may be repeated."),
    ] = None,
    means: Annotated[
        str | None,
        typer.Option(help="The means of the arms: 0.8,0.9, or a CSV file with a column 'mean'."),
    ] = None,
    random_arms: Annotated[
        int | None,
        typer.Option(help="Instead of means: so many arms, drawn from the prior in every run."),
    ] = None,
    rewards: Annotated[
        Path | None,
        typer.Option(help="Instead of means: rewards of yours, a CSV or Parquet of arm,reward."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="With --rewards: its columns are arms, its rows turns: blue,red."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="With --rewards: drawn with replacement (default), or kept."),
    ] = None,
    corruption: Annotated[
        float | None,
        typer.Option(help="With --means: an adversary falsifies rewards by so much in all."),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            help="Instead of means: a world that changes, drifting:arms=3,changes=4, random-walk, "
            "sinusoid or coming-and-going."
        ),
    ] = None,
    delays: Annotated[
        str | None,
        typer.Option(help="Delays of rewards, a SciPy distribution: expon:scale=30; see --window."),
    ] = None,
    window: Annotated[
        float | None, typer.Option(help="The time after which no reward comes any more.")
    ] = None,
    arrivals: Annotated[
        float | None, typer.Option(help="Visitors per unit of time, where rewards come late.")
    ] = None,
    told: Annotated[
        str | None,
        typer.Option(help="When late rewards are told: early, window, naive or 'at once'."),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            help="Policies, separated by commas; settings after a colon: "
            "belman,epsilon-greedy:epsilon=0.05. mine.py:Cautious is one of a file of yours."
        ),
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Turns of a run.")] = None,
    runs: Annotated[int | None, typer.Option(help="Runs of every player.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same numbers.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads or processes; by default one per core.")
    ] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, dask, or the address of a Dask scheduler.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Keep finished tasks here, and go on from them after an interruption."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Where the picture and the data go: DIR/curves.png, .csv and .nc."),
    ] = None,
    log: Annotated[
        bool | None, typer.Option("--log/--linear", help="Draw on a logarithmic time axis.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="Of the picture: png, svg or pdf.")] = None,
    size: Annotated[str | None, typer.Option(help="Of the picture: screen or print.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data instead.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(help="A TOML file with any of these options; those given here win."),
    ] = None,
) -> None:
    """Simulate players on a problem: a table here, a picture and the data on disk."""
    given = {
        "family": family,
        "settings": parse.family_settings(setting) if setting else None,
        "means": means,
        "random_arms": random_arms,
        "rewards": rewards,
        "columns": columns,
        "order": order,
        "corruption": corruption,
        "problem": problem,
        "delays": delays,
        "window": window,
        "arrivals": arrivals,
        "told": told,
        "policies": None if policies is None else parse.split_policies(policies),
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "workers": workers,
        "executor": executor,
        "store": store,
        "output": output,
        "log": log,
        "format": format,
        "size": size,
    }
    chosen = {} if config is None else parse.config(config)
    chosen |= {name: value for name, value in given.items() if value is not None}
    options = {**parse.DEFAULTS, **chosen}
    if "family" not in chosen and options["rewards"] is not None:
        options["family"] = None  # the one that fits them
    if isinstance(options["means"], str):
        options["means"] = parse.means(options["means"])
    _simulate(options, as_json)


def _simulate(options: dict[str, Any], as_json: bool) -> None:
    ending = parse.one_of(options["format"], parse.FORMATS, "format")
    size = parse.one_of(options["size"], parse.SIZES, "size")
    problem = parse.late(parse.problem_of(options), options)
    players = {
        parse.shown(words): parse.policy(words, options["horizon"]) for words in options["policies"]
    }
    folder = parse.output_folder(Path(options["output"]))
    started = time.perf_counter()
    result = simulate(
        players,
        problem,
        options["horizon"],
        options["runs"],
        options["seed"],
        executor=options["executor"],
        workers=options["workers"],
        store=options["store"],
    )
    seconds = time.perf_counter() - started
    rival = "thompson" if "thompson" in players else next(iter(players))
    table = compare(result, against=rival)
    turns = len(players) * options["runs"] * options["horizon"]
    if not as_json:
        show(table)
        console.print(f"{turns:,} turns in {seconds:.1f} s")
    paths = _keep(result, folder, options["log"], ending, size)
    if as_json:
        found = {**json.loads(table.to_json()), "turns": turns, "seconds": seconds}
        found["files"] = [str(path) for path in paths]
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for path in paths:
        console.print(f"wrote {path}")


def _keep(result: Any, folder: Path, log: bool, ending: str, size: str) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    from belman.plots import curves, style

    picture, table, data = (folder / f"curves.{each}" for each in (ending, "csv", "nc"))
    with replacing(picture) as draft:
        style.save(curves(result, log=log, size=size), draft, format=ending)
    write_atomically(table, curves_csv(condense(result)))
    with replacing(data) as draft:
        result.to_netcdf(draft, engine="scipy")
    return [picture, table, data]


def main() -> None:
    """Run the command line; errors of ours are one line and exit code 2."""
    try:
        app()
    except BelmanError as error:
        Console(stderr=True).print(f"[bold red]error:[/bold red] {error}", highlight=False)
        raise SystemExit(2) from None

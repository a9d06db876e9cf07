"""`belman run`: policies on a problem, as a table, a picture and data."""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from belman.cli import parse
from belman.cli.picture import FORMATS, write_picture
from belman.cli.problem import late, problem_of
from belman.cli.problem import means as means_of
from belman.cli.show import console, show
from belman.errors import SettingError, listing, nearest
from belman.files import replacing, write_atomically
from belman.lab import simulate
from belman.measures import compare, condense, curves_csv

#: What a config file may hold, and its default.
DEFAULTS: dict[str, Any] = {
    "family": "bernoulli",
    "settings": {},
    "means": None,
    "random_arms": None,
    "rewards": None,
    "columns": None,
    "order": "drawn",
    "corruption": None,
    "problem": None,
    "delays": None,
    "window": None,
    "arrivals": 1.0,
    "told": "early",
    "policies": ["belman", "thompson"],
    "horizon": 1000,
    "runs": 1000,
    "seed": 0,
    "workers": None,
    "executor": "threads",
    "store": None,
    "output": "belman-run",
    "log": False,
    "format": "png",
    "size": "screen",
}
#: Sizes of pictures.
SIZES = ("screen", "print")


def _option(name: str, words: str) -> Any:
    """An option that a config file may set: its default is filled in when both were read."""
    default = DEFAULTS[name]
    shown = ",".join(default) if isinstance(default, list) else str(default)
    return typer.Option(help=words, show_default=shown)


def run(
    family: Annotated[
        str | None,
        _option("family", "The family, a distribution of rewards; `belman list` names them."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the family, such as sigma=2.0; may be repeated."),
    ] = None,
    means: Annotated[
        str | None,
        typer.Option(help="The means of the arms: 0.8,0.9, or a CSV file with a column 'mean'."),
    ] = None,
    random_arms: Annotated[
        int | None,
        typer.Option(help="Instead of means: this many arms, drawn from the prior in every run."),
    ] = None,
    rewards: Annotated[
        Path | None,
        typer.Option(
            help="Instead of means: your own rewards, a CSV or Parquet file with columns arm and "
            "reward."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="With --rewards: columns that are arms, with one row per turn: blue,red."
        ),
    ] = None,
    order: Annotated[
        str | None,
        _option(
            "order",
            "With --rewards: 'drawn' with replacement, or 'kept' as in the file.",
        ),
    ] = None,
    corruption: Annotated[
        float | None,
        typer.Option(help="With --means: by how much in all an adversary may falsify rewards."),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            help="Instead of means: means that change over time: drifting:arms=3,changes=4, "
            "random-walk, "
            "sinusoid or coming-and-going."
        ),
    ] = None,
    delays: Annotated[
        str | None,
        typer.Option(
            help="The distribution of delays of rewards, one of SciPy's: expon:scale=30; see "
            "--window."
        ),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(help="With --delays: the time after which no reward comes any more."),
    ] = None,
    arrivals: Annotated[
        float | None, _option("arrivals", "With --delays: decisions per unit of time.")
    ] = None,
    told: Annotated[
        str | None,
        _option(
            "told",
            "With --delays: when the policy learns: early, window, late, naive or 'at once'.",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        _option(
            "policies",
            "Policies, separated by commas; settings after a colon: "
            "belman,epsilon-greedy:epsilon=0.05. mine.py:Cautious is a policy in your file.",
        ),
    ] = None,
    horizon: Annotated[int | None, _option("horizon", "Turns (decisions) per run.")] = None,
    runs: Annotated[int | None, _option("runs", "Runs per policy.")] = None,
    seed: Annotated[int | None, _option("seed", "The same seed gives the same numbers.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads or processes; by default one per core.")
    ] = None,
    executor: Annotated[
        str | None, _option("executor", "threads, dask, or the address of a Dask scheduler.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Keep finished parts here, and resume from them after an interruption."),
    ] = None,
    output: Annotated[
        Path | None,
        _option("output", "The folder for the picture and the data: DIR/curves.png, .csv and .nc."),
    ] = None,
    log: Annotated[
        bool | None, typer.Option("--log/--linear", help="Draw turns on a logarithmic axis.")
    ] = None,
    format: Annotated[
        str | None, _option("format", "The format of the picture: png, svg or pdf.")
    ] = None,
    size: Annotated[
        str | None, _option("size", "The size of the picture: screen, or print for a paper.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with any of these options; the command line takes precedence."
        ),
    ] = None,
) -> None:
    """Simulate policies on a problem: print a table, write a picture and the data."""
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
    chosen = {} if config is None else config_file(config)
    chosen |= {name: value for name, value in given.items() if value is not None}
    options = {**DEFAULTS, **chosen}
    if "family" not in chosen and options["rewards"] is not None:
        options["family"] = None  # the one that fits them
    if isinstance(options["means"], str):
        options["means"] = means_of(options["means"])
    _simulate(options, as_json)


def _simulate(options: dict[str, Any], as_json: bool) -> None:
    ending = parse.one_of(options["format"], FORMATS, "format")
    size = parse.one_of(options["size"], SIZES, "size")
    problem = late(problem_of(options), options)
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
    from belman.plots import curves

    picture, table, data = (folder / f"curves.{each}" for each in (ending, "csv", "nc"))
    write_picture(picture, lambda: curves(result, log=log, size=size))
    write_atomically(table, curves_csv(condense(result)))
    with replacing(data) as draft:
        result.to_netcdf(draft, engine="scipy")
    return [picture, table, data]


def config_file(path: Path) -> dict[str, Any]:
    """A TOML file with the options of `belman run`; a key that is none of them is refused."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path} is not TOML: {error}") from None
    for key in found:
        if key not in DEFAULTS:
            raise SettingError(
                f"{path} has an unknown key {key!r}: there are "
                f"{listing(DEFAULTS, most=20)}{nearest(key, DEFAULTS)}"
            )
    return found

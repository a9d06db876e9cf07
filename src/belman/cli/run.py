"""`belman run`: policies on a problem, as a table, a picture and data."""

from __future__ import annotations

import inspect
import json
import time
import tomllib
from pathlib import Path
from typing import Any

from belman.cli import parse
from belman.cli.commands import COMMON, JSON_FOR_TABLE, app, command, option
from belman.cli.output import FORMATS, console, print_plain, show, write_picture
from belman.cli.problem import late, problem_of
from belman.cli.problem import means as means_of
from belman.errors import SettingError, listing, nearest
from belman.files import replacing, write_atomically
from belman.lab import simulate
from belman.measures import compare, condense, curves_csv
from belman.validate import require_one_of

#: The options of `belman run`, which a config file may hold too: what each takes, its default, and
#: its help.
OPTIONS: dict[str, tuple[Any, Any, str]] = {
    "family": (str, "bernoulli", COMMON["family"]),
    "settings": (list[str], {}, COMMON["setting"]),
    "means": (str, None, "The means of the arms: 0.8,0.9, or a CSV file with a column 'mean'."),
    "random_arms": (int, None, COMMON["random_arms"]),
    "rewards": (
        Path,
        None,
        "Instead of means: your own rewards, a CSV or Parquet file with columns arm and reward.",
    ),
    "columns": (
        str,
        None,
        "With --rewards: columns that are arms, with one row per turn: blue,red.",
    ),
    "order": (str, "drawn", "With --rewards: 'drawn' with replacement, or 'kept' as in the file."),
    "corruption": (
        float,
        None,
        "With --means: by how much in all an adversary may falsify rewards.",
    ),
    "problem": (
        str,
        None,
        "Instead of means: means that change over time: drifting:arms=3,changes=4, random-walk, "
        "sinusoid, coming-and-going or renewing; with seed=none drawn anew in every run.",
    ),
    "delays": (
        str,
        None,
        "The distribution of delays of rewards, one of SciPy's: expon:scale=30; see --window.",
    ),
    "window": (float, None, "With --delays: the time after which no reward comes any more."),
    "arrivals": (float, 1.0, "With --delays: decisions per unit of time."),
    "told": (
        str,
        "early",
        "With --delays: when the policy learns: early, window, late, naive or 'at once'.",
    ),
    "batch": (
        int,
        None,
        "Decide this number of turns by weights, and tell what came in at their end.",
    ),
    "policies": (
        str,
        ["belman", "thompson"],
        "Policies, separated by commas; settings after a colon: "
        "belman,epsilon-greedy:epsilon=0.05. mine.py:Cautious is a policy in your file.",
    ),
    "horizon": (int, 1000, COMMON["horizon"]),
    "runs": (int, 1000, COMMON["runs"]),
    "seed": (int, 0, COMMON["seed"]),
    "workers": (int, None, "Threads or processes; by default one per core."),
    "executor": (str, "threads", "threads, dask, or the address of a Dask scheduler."),
    "store": (Path, None, COMMON["store"]),
    "output": (
        Path,
        "belman-run",
        "The folder for the picture and the data: DIR/curves.png, .csv and .nc.",
    ),
    "log": (bool, False, "Draw turns on a logarithmic axis."),
    "format": (str, "png", "The format of the picture: png, svg or pdf."),
    "size": (str, "screen", "The size of the picture: screen, or print for a paper."),
}
DEFAULTS = {name: default for name, (_, default, _) in OPTIONS.items()}
#: Sizes of pictures.
SIZES = ("screen", "print")
_FLAGS = {"settings": ["--setting"], "log": ["--log/--linear"]}


def _option(name: str) -> inspect.Parameter:
    """Make an option that a config file may set; its default is filled in when both were read."""
    kind, default, words = OPTIONS[name]
    shown = ",".join(default) if isinstance(default, list) else str(default)
    default_shown = {"show_default": shown} if default or (default == 0 and kind is int) else {}
    return option(name, kind | None, None, *_FLAGS.get(name, ()), help=words, **default_shown)


@command(
    app,
    None,
    *map(_option, OPTIONS),
    as_json=JSON_FOR_TABLE,
    config="A TOML file with any of these options; the command line takes precedence.",
)
def run(*, as_json: bool = False, config: Path | None = None, **given: Any) -> None:
    """Simulate policies on a problem: print a table, write a picture and the data."""
    if given["settings"]:
        given["settings"] = parse.family_settings(given["settings"])
    if given["policies"] is not None:
        given["policies"] = parse.split_policies(given["policies"])
    chosen = {} if config is None else config_file(config)
    chosen |= {name: value for name, value in given.items() if value is not None}
    options = {**DEFAULTS, **chosen}
    if "family" not in chosen and options["rewards"] is not None:
        options["family"] = None  # the one that fits them
    if isinstance(options["means"], str):
        options["means"] = means_of(options["means"])
    _simulate(options, as_json)


def _simulate(options: dict[str, Any], as_json: bool) -> None:
    ending, size = options["format"], options["size"]
    require_one_of("format", ending, FORMATS)
    require_one_of("size", size, SIZES)
    problem = late(problem_of(options), options)
    players = {
        parse.shown(words): parse.policy(words, options["horizon"]) for words in options["policies"]
    }
    folder = parse.output_folder(Path(options["output"]))
    started = time.perf_counter()
    size_of_it = (options[name] for name in ("horizon", "runs", "seed"))
    where = {name: options[name] for name in ("executor", "workers", "store")}
    result = simulate(players, problem, *size_of_it, **where)
    seconds = time.perf_counter() - started
    rival = "thompson" if "thompson" in players else next(iter(players))
    table = compare(result, against=rival)
    turns = len(players) * options["runs"] * options["horizon"]
    if not as_json:
        show(table)
        console.print(f"{turns:,} turns in {seconds:.1f} s")
    paths = _keep(result, folder, options["log"], ending, size)
    if as_json:
        matches = {**json.loads(table.to_json()), "turns": turns, "seconds": seconds}
        matches["files"] = [str(path) for path in paths]
        print_plain(json.dumps(matches, ensure_ascii=False, indent=1))
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
        matches = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path} is not TOML: {error}") from None
    for key in matches:
        if key not in DEFAULTS:
            raise SettingError(
                f"{path} has an unknown key {key!r}: there are "
                f"{listing(DEFAULTS, most=20)}{nearest(key, DEFAULTS)}"
            )
    return matches

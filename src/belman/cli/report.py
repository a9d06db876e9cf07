"""`belman report`: from a table of past data to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from belman import spec
from belman.analysis import Analysis, analyse, texts
from belman.cli import parse
from belman.cli.commands import COMMON, app, command
from belman.cli.output import check_ending, print_plain, say, show, write_report
from belman.errors import SettingError
from belman.families import Family

#: How an analysis is written, by the ending of the file.
_WRITTEN: dict[str, Callable[..., Any]] = {
    ".html": Analysis.to_html,
    ".pdf": Analysis.to_pdf,
    ".md": Analysis.to_markdown,
    ".json": lambda result: result.to_json() + "\n",
}


@command(
    app,
    passes_to=analyse,
    data="A table with a row per decision, or with totals: .csv, .parquet, …, - for stdin.",
    control="The arm that the others are compared with.",
    arm="The column of arms; by default arm, variant, group, …",
    reward="The column of rewards; by default reward, converted, revenue, …",
    time="The column of times; by default time, date, …, if there is one.",
    metric="What to compare: revenue, revenue/sessions, revenue/row, p90:latency, "
    "winsor99:revenue; may be repeated, the first decides.",
    unit="The column of whom arms were given to, such as user_id; or time:1h, the blocks of a "
    "switchback.",
    before="A column known before the experiment that foretells the metric (CUPED).",
    by="A column to split by, such as device; may be repeated.",
    split="The intended traffic shares, such as blue=0.5,green=0.5; even if nothing is said.",
    holdout="An arm that was kept out of everything: all others are compared with it.",
    visitors="The column of visitors, where rows are totals.",
    squares="The column of sums of squared rewards, where rows are totals of amounts.",
    empty="What an empty reward is: zero or missing; by default the column tells.",
    minimise="Less is better.",
    level=COMMON["level"],
    family="A family, a distribution of rewards, for beliefs by it.",
    setting="A setting of the family, such as prior=(3,97); may be repeated.",
    stop="When to stop: one-look:delta=0.05, separated:delta=…, sure:level=…, loss-below:loss=…",
    output="Write the report: FILE.html, FILE.pdf, FILE.md for a chat, or FILE.json.",
)
def report(
    data: Path,
    *,
    metric: list[str] | None = None,
    by: list[str] | None = None,
    split: str | None = None,
    family: str | None = None,
    setting: list[str] | None = None,
    stop: str | None = None,
    as_json: bool = False,
    output: Path | None = None,
    open_: bool = False,
    **asked: Any,
) -> None:
    """From a table of past data (arm, reward[, time, …]), or of totals, to a verdict."""
    check_ending(output, _WRITTEN)
    result = analyse(
        parse.table(data),
        metrics=metric or (),
        by=by or (),
        split=split if split in (None, "even") else parse.pairs(split or ""),
        family=_family(family, setting or []),
        **asked,
        stop_when=None if stop is None else parse.stop_rule(stop),
    )
    if as_json:
        print_plain(result.to_json())
    else:
        _print(result)
    file = output if output is not None else _beside(data) if open_ else None
    if file is not None:
        writers = {name: partial(write, result) for name, write in _WRITTEN.items()}
        title = f"Report on {parse.title(data)}"
        write_report(file, title, writers, quiet=as_json, browser=open_)


def _family(name: str | None, settings: list[str]) -> Family | None:
    """The family that was named; one of unknown scale with no prior is what large samples say."""
    given = parse.family_settings(settings)
    if name is None and given:
        raise SettingError("a setting needs its family: write --family bernoulli")
    if name is None or (name == "gaussian-unknown" and "prior" not in given):
        return None
    return spec.build({"name": name, **given}, Family)


def _beside(data: Path) -> Path:
    """Where the page of a table is written that has to be opened."""
    return Path("report.html") if str(data) == "-" else data.with_suffix(".report.html")


def _print(result: Analysis) -> None:
    for part in texts.parts(result):
        if isinstance(part, str):
            say(part, style="dim" if part in result.notes else None)
        else:
            show(part)

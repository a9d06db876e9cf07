"""`belman study report`: the verdict on a durable study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from belman.cli.commands import command
from belman.cli.output import say, show, write_page
from belman.cli.study import DEFAULT_STORAGE, app, arm_of, opened
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies.views.study_report import StudyReport


@command(
    app,
    control="The arm to compare the others with, in this report only.",
    by="An attribute of tickets to split by, such as device.",
    html="Write the report as a web page: FILE.html.",
)
def report(
    name: str,
    *,
    control: str | None = None,
    by: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
    html: Path | None = None,
    open_: bool = False,
    storage: str = DEFAULT_STORAGE,
    read_only: bool = False,
) -> None:
    """Report the verdict: lift, how sure, whether to stop, and whether the data are sound."""
    study = opened(name, storage, read_only)
    against = None if control is None else arm_of(control, study.arms)
    found = study.report(level, by=by, control=against)
    if as_json:
        typer.echo(found.to_json())
    else:
        _print(found)
    page = html if html is not None else Path(f"{_plain(name)}.report.html") if open_ else None
    if page is not None:
        write_page(page, found.to_html(f"Report on {name}"), quiet=as_json, browser=open_)


def _plain(name: str) -> str:
    """A name of a study as part of a file's."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)


def _print(found: StudyReport) -> None:
    words = {"wrong": "something is wrong"}
    say(f"{found.name}: {words.get(found.state, found.state)}")
    say(found.sentence)
    show(found.table())
    rows = [found.traffic[arm.arm] for arm in found.arms]
    show(
        Table(
            {
                "arm": [arm.arm for arm in found.arms],
                "asked": [row.asked for row in rows],
                "told": [row.told for row in rows],
                "traffic share": [f"{row.share:.1%}".replace("%", " %") for row in rows],
            }
        )
    )
    if found.earned is not None and found.earned.rewards:
        earned = found.earned
        split = f"a fixed split would have earned {earned.fixed_split:.5g}"
        ends = f"between {earned.low:.5g} and {earned.high:.5g}"
        say(f"Earned {earned.total:.5g} in {earned.rewards:,} rewards; {split}, {ends}.")
    if found.segments is not None:
        show(found.segments.table())
        say(found.segments.sentence)
    if found.shipped is not None:
        say(f"All traffic goes to {found.shipped}.")
    for row in found.guards:
        if row["crossed"]:
            say(f"! {row['arm']} is out of play: {row['metric']} is not {row['limit']}.")
    say(f"Stopping rule: {found.rule!r} – {found.verdict.sentence}.")
    for one in found.findings:
        say(f"! {one.sentence} {one.look_at}" if one.alarm else one.sentence)
    for note in found.notes:
        say(note, style="dim")

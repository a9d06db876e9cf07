"""`belman study report`: the verdict on a durable study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from belman.cli.show import console, show
from belman.cli.study import DEFAULT_STORAGE, Name, ReadOnly, StorageOption, app, arm_of, opened
from belman.files import write_atomically
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies.views.study_report import StudyReport


@app.command()
def report(
    name: Name,
    control: Annotated[
        str | None, typer.Option(help="The arm to compare the others with, in this report only.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="An attribute of tickets to split by, such as device.")
    ] = None,
    level: Annotated[float, typer.Option(help="The level of all intervals.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the report as a web page: FILE.html.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
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
    if page is None:
        return
    write_atomically(page, found.to_html(f"Report on {name}"))
    if not as_json:
        console.print(f"wrote {page}", soft_wrap=True, highlight=False, markup=False)
    if open_:
        typer.launch(str(page.resolve()))


def _plain(name: str) -> str:
    """A name of a study as part of a file's."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)


def _print(found: StudyReport) -> None:
    words = {"wrong": "something is wrong"}
    _say(f"{found.name}: {words.get(found.state, found.state)}")
    _say(found.sentence)
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
        _say(f"Earned {earned.total:.5g} in {earned.rewards:,} rewards; {split}, {ends}.")
    if found.segments is not None:
        show(found.segments.table())
        _say(found.segments.sentence)
    if found.shipped is not None:
        _say(f"All traffic goes to {found.shipped}.")
    for row in found.guards:
        if row["crossed"]:
            _say(f"! {row['arm']} is out of play: {row['metric']} is not {row['limit']}.")
    _say(f"Stopping rule: {found.rule!r} – {found.verdict.sentence}.")
    for one in found.findings:
        _say(f"! {one.sentence} {one.look_at}" if one.alarm else one.sentence)
    for note in found.notes:
        _say(note, style="dim")


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

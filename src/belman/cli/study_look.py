"""`belman study list | show | report | …`: what a study knows, and what happened to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from belman.cli import parse
from belman.cli.commands import command
from belman.cli.output import print_plain, say, show, write_page
from belman.cli.study import CANDIDATES, CONTEXT, DEFAULT_STORAGE, app, arm_of, study_command
from belman.cli.study_values import looked_at
from belman.errors import StudyError
from belman.studies import Storage, Study, open_study
from belman.studies.traffic.budget_views import with_dates
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies.views.study_report import StudyReport


@command(app, "list", archived="List archived studies instead.")
def list_(
    *, archived: bool = False, storage: str = DEFAULT_STORAGE, read_only: bool = False
) -> None:
    """List every study, with its counts."""
    opened = Storage(storage, read_only=read_only, create=False)
    rows = []
    for name in opened.names(archived):
        try:
            rows.append(open_study(name, storage=opened).status())
        except StudyError as error:
            say(f"{name}: {error}")
    columns = ("name", "arms", "asked", "told", "outstanding", "reward", "paused")
    show(Table({column: [row[column] for row in rows] for column in columns}, str(opened)))


@study_command("show", looks=True, context=CONTEXT, candidates=CANDIDATES)
def show_(study: Study, *, context: list[str] | None = None, candidates: str | None = None) -> None:
    """Show a study's beliefs: per arm rewards told, expected reward, probability of being best."""
    say(repr(study))
    show(study.beliefs(**looked_at(context, candidates)))


@study_command(looks=True)
def metrics(study: Study) -> None:
    """Show the metrics of every arm: count, mean, and Student's interval."""
    show(study.metrics())


@study_command(looks=True)
def spending(study: Study) -> None:
    """Show what a study with a budget spent in every period, and the price of its cost."""
    show(with_dates(study.spending()))


@study_command(looks=True)
def changes(study: Study) -> None:
    """Show the changes over time that a study noticed (with --drift)."""
    show(study.changes())


@study_command(looks=True, context=CONTEXT, candidates=CANDIDATES)
def explain(
    study: Study, *, context: list[str] | None = None, candidates: str | None = None
) -> None:
    """Explain the next choice: what the policy sees of each arm."""
    show(study.explain(**looked_at(context, candidates)))


@study_command(looks=True)
def contexts(study: Study) -> None:
    """Show what is known by context: coefficients of features, or the best arm of each segment."""
    result = study.contexts()
    if not result:
        raise StudyError(f"study {study.name!r} decides without contexts: there is nothing to show")
    for table in result.values():
        show(table)


@study_command(looks=True, last="How many events.")
def history(study: Study, *, last: int = 20) -> None:
    """Show the last events of the event log."""
    table = study.history(last)
    table.columns["time"] = [time.isoformat(sep=" ", timespec="seconds") for time in table["time"]]
    for column, cells in table.columns.items():
        table.columns[column] = ["" if cell is None else cell for cell in cells]
    show(table)


@study_command(looks=True, path="A file whose name ends in .csv or .parquet.")
def export(study: Study, path: Path) -> None:
    """Export the event log to a file."""
    say(f"wrote {study.export(path):,} events to {path}")


@study_command(looks=True, policy="Another policy; settings after a colon, as in `belman run`.")
def replay(study: Study, policy: str) -> None:
    """Estimate what another policy would have earned (off-policy evaluation)."""
    read = parse.dependent_policy if study.settings.has_features else parse.policy
    estimate = study.replay(read(policy, horizon=10_000))
    show(Table({field.replace("_", " "): [value] for field, value in estimate._asdict().items()}))


@study_command(looks=True)
def check(study: Study) -> None:
    """Check a study: rebuild its state from the event log, and compare bit by bit."""
    say(f"{study.number:,} events, state {study.check()}")


@study_command(
    looks=True,
    control="The arm to compare the others with, in this report only.",
    by="An attribute of tickets to split by, such as device.",
    html="Write the report as a web page: FILE.html.",
)
def report(
    study: Study,
    *,
    control: str | None = None,
    by: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
    html: Path | None = None,
    open_: bool = False,
) -> None:
    """Report the verdict: lift, how sure, whether to stop, and whether the data are sound."""
    against = None if control is None else arm_of(control, study.arms)
    result = study.report(level, by=by, control=against)
    if as_json:
        print_plain(result.to_json())
    else:
        _print(result)
    page = (
        html if html is not None else Path(f"{_plain(study.name)}.report.html") if open_ else None
    )
    if page is not None:
        write_page(page, result.to_html(f"Report on {study.name}"), quiet=as_json, browser=open_)


def _plain(name: str) -> str:
    """A name of a study as part of a file's."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)


def _print(result: StudyReport) -> None:
    words = {"wrong": "something is wrong"}
    say(f"{result.name}: {words.get(result.state, result.state)}")
    say(result.sentence)
    show(result.table())
    rows = [result.traffic[arm.arm] for arm in result.arms]
    show(
        Table(
            {
                "arm": [arm.arm for arm in result.arms],
                "asked": [row.asked for row in rows],
                "told": [row.told for row in rows],
                "traffic share": [f"{row.share:.1%}".replace("%", " %") for row in rows],
            }
        )
    )
    if result.earned is not None and result.earned.rewards:
        earned = result.earned
        split = f"a fixed split would have earned {earned.fixed_split:.5g}"
        ends = f"between {earned.low:.5g} and {earned.high:.5g}"
        say(f"Earned {earned.total:.5g} in {earned.rewards:,} rewards; {split}, {ends}.")
    if result.segments is not None:
        show(result.segments.table())
        say(result.segments.sentence)
    if result.shipped is not None:
        say(f"All traffic goes to {result.shipped}.")
    for row in result.guards:
        if row["crossed"]:
            say(f"! {row['arm']} is out of play: {row['metric']} is not {row['limit']}.")
    say(f"Goal: {result.goal}. {result.promise}")
    say(f"Stopping rule: {result.rule!r} – {result.verdict.sentence}.")
    for one in result.findings:
        say(f"! {one.sentence} {one.look_at}" if one.alarm else one.sentence)
    for note in result.notes:
        say(note, style="dim")

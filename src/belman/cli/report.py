"""`belman report`: from a CSV of past data to a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from belman import spec
from belman.cli import parse, past_data
from belman.cli.past_data import PastData
from belman.cli.show import console, show
from belman.errors import ArmError, SettingError, listing, nearest
from belman.families import Family, GaussianUnknown
from belman.families.mirror import Mirror
from belman.files import write_atomically
from belman.measures import report_page
from belman.measures.learnt import learnt
from belman.measures.lift import Units
from belman.measures.martingales import no_mixture
from belman.measures.report import Known, Report
from belman.measures.report import report as report_of
from belman.measures.segments import Segments, compared, segments
from belman.measures.soundness import Drift, Finding, SampleRatio, told_shares

Floats = NDArray[np.float64]

_FIRST = 10  # rewards that tell the scale of Gaussian ones, and nothing else


def report(
    data: Annotated[
        Path,
        typer.Argument(help="A table with a row per decision: .csv, .parquet, …, - for stdin."),
    ],
    control: Annotated[
        str | None, typer.Option(help="The arm that the others are compared with.")
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            help="The family, a distribution of rewards; default bernoulli for 0/1, else "
            "gaussian-unknown."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the family, such as prior=(3,97); may be repeated."),
    ] = None,
    minimise: Annotated[bool, typer.Option("--minimise", help="Less is better.")] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(help="A column to split by, such as device; may be repeated."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="The intended traffic shares, such as blue=0.5,green=0.5; or 'even'."),
    ] = None,
    stop: Annotated[
        str,
        typer.Option(help="When to stop: sure:level=0.95, loss-below:loss=…, separated:delta=…"),
    ] = "sure",
    level: Annotated[float, typer.Option(help="The level of all intervals.")] = 0.95,
    arm: Annotated[str, typer.Option(help="The column of arms.")] = "arm",
    reward: Annotated[
        str, typer.Option(help="The column of rewards; an empty cell means that none came.")
    ] = "reward",
    time: Annotated[str, typer.Option(help="The column of times, if there is one.")] = "time",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write the report as a web page: FILE.html.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """From a CSV of past data (arm, reward[, time, attributes]) to a verdict."""
    if not 0.0 < level < 1.0:
        raise SettingError(f"level={level!r} is not valid: it must lie between 0 and 1")
    past = past_data.read(data, arm, reward, time, by or [])
    if control is not None and control not in past.names:
        there = f"{past_data.title(data)} has {listing(past.names)}{nearest(control, past.names)}"
        raise ArmError(f"control={control!r} is not one of the arms: {there}")
    rule = parse.stop_rule(stop)
    law, told = _family(family, setting or [], past, minimise)
    found = report_of(_known(law, past, told), control, level, rule, _findings(law, past, split))
    parts = [_segments(name, law, past, told, found) for name in by or []]
    if as_json:
        typer.echo(_json(found, parts))
    else:
        _print(found, parts)
    page = output if output is not None else _beside(data) if open_ else None
    if page is None:
        return
    tables = [
        report_page.table_section(f"By {part.attribute}", part.sentence, part.table())
        for part in parts
    ]
    whole = report_page.page(
        f"Report on {past_data.title(data)}", [report_page.section(found), *tables]
    )
    write_atomically(page, whole)
    if not as_json:
        console.print(f"wrote {page}", soft_wrap=True)
    if open_:
        typer.launch(str(page.resolve()))


def _beside(data: Path) -> Path:
    """Where the page of a table is written that has to be opened."""
    return Path("report.html") if str(data) == "-" else data.with_suffix(".report.html")


def _family(
    name: str | None, settings: list[str], past: PastData, minimise: bool
) -> tuple[Family, NDArray[np.bool_]]:
    """The family that the data or the user chose, and which lines it learns from."""
    told = ~np.isnan(past.rewards)
    values = past.rewards[told]
    if not values.size:
        raise SettingError("no line has a reward: there is nothing to report")
    given = parse.family_settings(settings)
    coins = bool(np.isin(values, (0.0, 1.0)).all())
    chosen = name or ("bernoulli" if coins else "gaussian-unknown")
    if chosen == "gaussian-unknown" and "prior" not in given:
        given["prior"], told = _scale(values, told)
    base = spec.build({"name": chosen, **given}, Family)
    for value in np.unique(values):
        base.check_reward(float(value))
    return (Mirror(base) if minimise else base), told


def _scale(values: Floats, told: NDArray[np.bool_]) -> tuple[tuple[float, ...], NDArray[np.bool_]]:
    """A weak prior on the scale of the first rewards, which are then not counted again."""
    first = _FIRST
    while first < values.size // 2 and np.ptp(values[:first]) == 0.0:
        first *= 2
    if values.size < 2 * first:
        return GaussianUnknown().prior, told
    variance = float(values[:first].var()) or 1.0
    counted = told.copy()
    counted[np.flatnonzero(told)[:first]] = False
    return (float(values[:first].mean()), 0.01, 1.0, variance), counted


def _rewards(law: Family, past: PastData, chosen: NDArray[np.bool_]) -> Floats:
    return -past.rewards[chosen] if isinstance(law, Mirror) else past.rewards[chosen]


def _known(law: Family, past: PastData, told: NDArray[np.bool_]) -> Known:
    rewards = [_rewards(law, past, told & (past.arms == name)) for name in past.names]
    prior = np.array(law.prior)
    return Known(
        law,
        past.names,
        np.tile(prior, (len(rewards), 1)),
        np.array([learnt(law, prior, values) for values in rewards]),
        np.array([float(values.size) for values in rewards]),
        np.array([float(values.sum()) for values in rewards]),
        np.array([float((values**2).sum()) for values in rewards]),
        Units(0.0, -1.0 if isinstance(law, Mirror) else 1.0),
    )


def _findings(law: Family, past: PastData, split: str | None) -> list[Finding]:
    """Every question of soundness that the data can answer."""
    findings, told = [], ~np.isnan(past.rewards)
    counts = {name: int((past.arms == name).sum()) for name in past.names}
    if split is not None:
        ratio = SampleRatio(past.names)
        ratio.add(list(counts.values()), _split(split, past.names))
        findings.append(ratio.finding())
    if not told.all():
        have = {name: int((told & (past.arms == name)).sum()) for name in past.names}
        findings.append(told_shares(counts, have))
    for name in () if no_mixture(law) else past.names:
        drift = Drift(name, law)
        drift.add(_rewards(law, past, told & (past.arms == name)))
        findings.append(drift.finding())
    return findings


def _split(words: str, names: list[str]) -> list[float]:
    if words == "even":
        return [1.0 / len(names)] * len(names)
    shares = parse.pairs(words)
    for key, share in shares.items():
        if key not in names:
            there = f"the data has {listing(names)}{nearest(key, names)}"
            raise ArmError(f"split={words!r} names an unknown arm {key!r}: {there}")
        if not isinstance(share, (int, float)) or not share >= 0.0:
            raise SettingError(f"split={words!r} gives {key!r} no share: write {key}=0.5")
    if not sum(shares.values()) > 0.0:
        raise SettingError(f"split={words!r} gives no arm a share: write blue=0.5,green=0.5")
    total = sum(float(share) for share in shares.values())
    return [float(shares.get(name, 0.0)) / total for name in names]


def _segments(
    attribute: str, law: Family, past: PastData, told: NDArray[np.bool_], found: Report
) -> Segments:
    """The leader beside control, or beside the runner-up, in every segment that has both."""
    mine, other = map(str, compared(found))
    beliefs, plays = {}, {}
    for value in np.unique(past.attributes[attribute]):
        inside = told & (past.attributes[attribute] == value)
        rows = [_rewards(law, past, inside & (past.arms == name)) for name in (mine, other)]
        if all(row.size for row in rows):
            beliefs[str(value)] = (learnt(law, law.prior, rows[0]), learnt(law, law.prior, rows[1]))
            plays[str(value)] = float(sum(row.size for row in rows))
    if not beliefs:
        raise SettingError(f"no {attribute} has rewards of both {mine!r} and {other!r}")
    units = Units(0.0, -1.0 if isinstance(law, Mirror) else 1.0)
    return segments(attribute, law, beliefs, plays, mine, other, units)


def _print(found: Report, parts: list[Segments]) -> None:
    console.print(found.sentence, highlight=False, markup=False, soft_wrap=True)
    show(found.table())
    for part in parts:
        show(part.table())
        console.print(part.sentence, highlight=False, markup=False, soft_wrap=True)
    for finding in found.findings:
        words = f"! {finding.sentence} {finding.look_at}" if finding.alarm else finding.sentence
        console.print(words, highlight=False, markup=False, soft_wrap=True)
    for note in found.notes:
        console.print(note, style="dim", highlight=False, markup=False, soft_wrap=True)


def _json(found: Report, parts: list[Segments]) -> str:
    tables: dict[str, Any] = {
        part.attribute: {"sentence": part.sentence, "rows": list(part.table())} for part in parts
    }
    return json.dumps({**found.to_dict(), "segments": tables}, ensure_ascii=False, indent=1)

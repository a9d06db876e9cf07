"""`belman report`: from a CSV of past data to a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from belman import spec
from belman.cli import parse, past_data
from belman.cli.commands import app, command
from belman.cli.output import say, show, write_page
from belman.cli.past_data import PastData
from belman.errors import ArmError, SettingError, listing, nearest
from belman.families import Family, GaussianUnknown
from belman.families.mirror import Mirror
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


@command(
    app,
    data="A table with a row per decision: .csv, .parquet, …, - for stdin.",
    control="The arm that the others are compared with.",
    family="The family, a distribution of rewards; default bernoulli for 0/1, else "
    "gaussian-unknown.",
    setting="A setting of the family, such as prior=(3,97); may be repeated.",
    minimise="Less is better.",
    by="A column to split by, such as device; may be repeated.",
    split="The intended traffic shares, such as blue=0.5,green=0.5; or 'even'.",
    stop="When to stop: sure:level=0.95, loss-below:loss=…, separated:delta=…",
    arm="The column of arms.",
    reward="The column of rewards; an empty cell means that none came.",
    time="The column of times, if there is one.",
    output="Write the report as a web page: FILE.html.",
)
def report(
    data: Path,
    *,
    control: str | None = None,
    family: str | None = None,
    setting: list[str] | None = None,
    minimise: bool = False,
    by: list[str] | None = None,
    split: str | None = None,
    stop: str = "sure",
    level: float = 0.95,
    arm: str = "arm",
    reward: str = "reward",
    time: str = "time",
    as_json: bool = False,
    output: Path | None = None,
    open_: bool = False,
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
    write_page(page, whole, quiet=as_json, browser=open_)


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
    say(found.sentence)
    show(found.table())
    for part in parts:
        show(part.table())
        say(part.sentence)
    for finding in found.findings:
        say(f"! {finding.sentence} {finding.look_at}" if finding.alarm else finding.sentence)
    for note in found.notes:
        say(note, style="dim")


def _json(found: Report, parts: list[Segments]) -> str:
    tables: dict[str, Any] = {
        part.attribute: {"sentence": part.sentence, "rows": list(part.table())} for part in parts
    }
    return json.dumps({**found.to_dict(), "segments": tables}, ensure_ascii=False, indent=1)

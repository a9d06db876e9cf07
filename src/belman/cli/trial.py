"""`belman trial`: response-adaptive trials, and what a protocol has to say of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from belman.analysis import pdf
from belman.cli import parse
from belman.cli.commands import COMMON, JSON_FOR_TABLE, app, command
from belman.cli.output import check_ending, print_plain, say, show, write_report
from belman.errors import SettingError
from belman.files import write_atomically
from belman.measures.trial_plays import Rules
from belman.measures.trials import randomisation_list
from belman.measures.trials import trial as operating_characteristics
from belman.table import Table


@command(
    app,
    passes_to=operating_characteristics,
    rates="A scenario: rates of success, control's first, such as 0.3,0.5; may be repeated.",
    patients="How many patients there are.",
    prior="Beta counts of successes and failures that policies and the analysis begin with.",
    block="Patients that are randomised by the same chances before outcomes are looked at.",
    floor="The least chance of every arm.",
    control_share="The chance of control, in which the policy then has no say.",
    delay="How many patients later an outcome is known.",
    test="How arms are declared better: conditional, unconditional, posterior or fisher.",
    alpha="The level of the test, one-sided, over all comparisons with control.",
    threshold="For --test posterior: the chance of being better at which an arm is declared so.",
    stop="Stop after a block at this chance of being better (two arms: or of being worse).",
    simulate="Play two arms as well, for policies that take too long to be computed exactly.",
    runs="Trials that are played of a scenario where it cannot be computed exactly.",
    seed=COMMON["seed"],
    output="Write the report: FILE.html, FILE.pdf, or its table as FILE.csv.",
    list_=typer.Option("--list", help="Write the randomisation list: FILE.csv."),
    as_json=JSON_FOR_TABLE,
)
def trial(
    *,
    rates: list[str],
    patients: int,
    policies: str = "belman,thompson,uniform",
    prior: str = "1,1",
    simulate: bool = False,
    as_json: bool = False,
    output: Path | None = None,
    list_: Path | None = None,
    open_: bool = False,
    **asked: Any,
) -> None:
    """Compute error, power and benefit of response-adaptive trials; exactly for two arms."""
    check_ending(output, (".html", ".pdf", ".csv"))
    seated = {
        parse.shown(words): parse.policy(words, patients)
        for words in parse.split_policies(policies)
    }
    scenarios = [parse.numbers(words, "rates") for words in rates]
    counts = parse.numbers(prior, "prior")
    if len(counts) != 2:
        raise SettingError(f"prior={prior!r} must be two counts, of successes and failures: 1,1")
    result = operating_characteristics(
        seated, scenarios, patients, prior=(counts[0], counts[1]), exact=not simulate, **asked
    )
    if as_json:
        print_plain(result.table.to_json())
    else:
        for part in result.parts():
            show(part) if isinstance(part, Table) else say(part, style="dim")
    title = f"A trial of {len(scenarios[0])} arms with {patients:,} patients"
    file = Path("trial.html") if output is None and open_ else output
    if file is not None:
        lines = (f"{row['setting']}: {row['value']}" for row in result.design)
        parts: list[pdf.Part] = [(line, {}) for line in lines]
        parts += [result.table, *((note, {}) for note in result.notes)]
        pages = partial(pdf.write_parts, parts=parts)
        writers: dict[str, Any] = {".html": result.to_html, ".pdf": pages}
        writers[".csv"] = result.table.to_csv
        write_report(file, title, writers, quiet=as_json, browser=open_)
    if list_ is not None:
        share = -1.0 if asked["control_share"] is None else asked["control_share"]
        arms = ["control", *(f"arm {i}" for i in range(1, len(scenarios[0])))]
        rules = Rules(patients, asked["block"], asked["floor"], share)
        drawn = randomisation_list(rules, arms, asked["seed"])
        write_atomically(list_, drawn.to_csv())

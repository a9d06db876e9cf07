"""`belman replay`: what bandits would have earned on a past test."""

from __future__ import annotations

import json
from pathlib import Path

from belman import spec
from belman.analysis.replaying import what_if
from belman.cli import parse
from belman.cli.commands import app, command
from belman.cli.output import print_plain, progress, say, show
from belman.families import Family


@command(
    app,
    data="A table with a row per decision: .csv, .parquet, …, - for stdin.",
    policies="Bandits that play the test again, separated by commas; settings after a colon.",
    arm="The column of arms; by default arm, variant, group, …",
    reward="The column of rewards; by default reward, converted, revenue, …",
    unit="The column of whom arms were given to, such as user_id: one decision each.",
    empty="What an empty reward is: zero or missing; by default the column tells.",
    family="What bandits believe of rewards; by default what fits the column.",
    replays="How often the test is played again, its rows in another order each time.",
)
def replay(
    data: Path,
    *,
    policies: str = "belman",
    arm: str | None = None,
    reward: str | None = None,
    unit: str | None = None,
    empty: str | None = None,
    family: str | None = None,
    setting: list[str] | None = None,
    replays: int = 40,
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """What a bandit would have earned on a past A/B test, in earnings."""
    table = parse.table(data)
    given = parse.family_settings(setting or [])
    law = None if family is None else spec.build({"name": family, **given}, Family)
    players = {
        parse.shown(words): parse.policy(words, len(table))
        for words in parse.split_policies(policies)
    }
    with progress(parse.title(data), replays) as told:
        found = what_if(
            table,
            players,
            arm=arm,
            reward=reward,
            unit=unit,
            empty=empty,
            family=law,
            replays=replays,
            seed=seed,
            progress=told,
        )
    if as_json:
        print_plain(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
        return
    say(found.sentence)
    show(found.table())
    for line in (found.account.sentence, *found.account.said):
        say(line)

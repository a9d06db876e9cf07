"""`belman replay`: what bandits would have earned on a past test, and what other policies would
have on a log whose chances can be recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from belman import spec
from belman.analysis.evaluation import Target
from belman.analysis.past import Past
from belman.analysis.recomputing import TimeMachine, time_machine
from belman.analysis.replaying import WhatIf, what_if
from belman.cli import parse
from belman.cli.commands import app, command
from belman.cli.output import print_json, progress, say, show
from belman.errors import SettingError, unknown
from belman.families import Family


def _growthbook(history: Path, feature: str | None) -> Past:
    from belman.bridges.growthbook_history import read_payloads

    return read_payloads(history, feature)


def _weights(history: Path, feature: str | None) -> Past:
    from belman.analysis.weights_history import read_weights

    return read_weights(history, feature)


#: Who may have assigned units, and how their history is read. Weights documents name their hash.
SOURCES: dict[str, Callable[[Path, str | None], Past]] = {
    "growthbook": _growthbook,
    "belman": _weights,
    "eppo": _weights,
}


@command(
    app,
    passes_to=time_machine,
    data="A table with a row per decision: .csv, .parquet, …, - for stdin.",
    history="With --from: the folder with what held at each time, a .json file a change.",
    policies="Bandits that play the test again, separated by commas; settings after a colon.",
    arm="The column of arms; by default arm, variant, group, …",
    reward="The column of rewards; by default reward, converted, revenue, …",
    unit="The column of whom arms were given to, such as user_id: one decision each.",
    empty="What an empty reward is: zero or missing; by default the column tells.",
    family="What bandits believe of rewards; by default what fits the column.",
    replays="How often the test is played again, its rows in another order each time.",
    from_=typer.Option(
        "--from", help="Recompute the chance of every row: by growthbook, belman or eppo."
    ),
    feature="With --from: the feature or study, where the history has several.",
    time="With --from: the column of times; by default time, timestamp, …",
    play="With --from: a policy, an arm or blue=0.7,green=0.3; by default each arm. May repeat.",
    context="With --from: a column known before decisions, for the model of rewards. May repeat.",
    attribute="With --from: the column of an attribute, as country=geo. May repeat.",
    spelling="With --from: what the log calls arms: value, key or index.",
    late="With --from: seconds after a change in which clients may not have had it yet.",
    contradicted="With --from: the largest share of rows with another arm than the hash gives.",
    level="With --from: the level of all intervals.",
)
def replay(
    data: Path,
    history: Path | None = None,
    *,
    policies: str | None = None,
    arm: str | None = None,
    reward: str | None = None,
    unit: str | None = None,
    empty: str | None = None,
    family: str | None = None,
    setting: list[str] | None = None,
    replays: int = 40,
    seed: int = 0,
    from_: str | None = None,
    feature: str | None = None,
    play: list[str] | None = None,
    context: list[str] | None = None,
    attribute: list[str] | None = None,
    as_json: bool = False,
    **asked: Any,
) -> None:
    """What a bandit would have earned on a past A/B test, in earnings; with --from, what any policy
    would have, by chances that are recomputed from public hashes.
    """
    if from_ is not None:
        if policies or family or empty or setting:
            raise SettingError("--from takes policies as --play, and none that learn")
        result = time_machine(
            parse.table(data),
            _history(from_, history, feature),
            dict(map(_played, play)) if play else None,
            unit=unit,
            arm=arm,
            reward=reward,
            context=context or (),
            attributes=dict(map(parse.setting, attribute or ())),
            **asked,
        )
        _print(result, result.said, as_json)
        return
    if (
        history is not None
        or feature
        or play
        or context
        or attribute
        or asked["spelling"]
        or asked["time"]
    ):
        raise SettingError("a history and what goes with it need --from growthbook, belman or eppo")
    table = parse.table(data)
    given = parse.family_settings(setting or [])
    distribution = None if family is None else spec.build({"name": family, **given}, Family)
    players = {
        parse.shown(words): parse.policy(words, len(table))
        for words in parse.split_policies(policies or "belman")
    }
    with progress(parse.title(data), replays) as advance:
        played = what_if(
            table,
            players,
            arm=arm,
            reward=reward,
            unit=unit,
            empty=empty,
            family=distribution,
            replays=replays,
            seed=seed,
            progress=advance,
        )
    _print(played, (played.account.sentence, *played.account.said), as_json)


def _print(result: WhatIf | TimeMachine, said: Iterable[str], as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    say(result.sentence)
    show(result.table())
    for line in said:
        say(line)


def _history(source: str, history: Path | None, feature: str | None) -> Past:
    """Read what assigned units in the past."""
    if source not in SOURCES:
        raise SettingError(unknown("source", source, SOURCES))
    if history is None:
        raise SettingError(f"--from {source} needs a folder with what held at each time: name it")
    return SOURCES[source](history, feature)


def _played(words: str) -> tuple[str, Target]:
    """A policy as it is written: the name of an arm, or shares by arm."""
    if "=" not in words:
        return words, words
    shares = {key: parse.value(text) for key, text in map(parse.setting, parse.split(words))}
    for key, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise SettingError(f"--play {words}: the share of {key!r} is {share!r}, and no number")
    return words, shares

"""`belman study …`: the operations of a durable study, for a shell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from belman import spec
from belman.cli import parse
from belman.cli.show import console, show
from belman.errors import ArmError, StudyError, listing, nearest
from belman.families import Family
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies import Study

app = typer.Typer(help="Run a durable study: decisions that survive.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The name of the study.")]
StorageOption = Annotated[
    str,
    typer.Option(
        "--storage",
        envvar="BELMAN_STORAGE",
        help="Where studies are kept: sqlite:///studies.db or postgresql://user@host/db.",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why, for the log.")]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(help="A number beside the reward, such as latency=0.8; may be repeated."),
]
Arm = Annotated[str, typer.Argument(help="The name of the arm.")]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Change nothing at all: for a copy, or a backup.")
]

DEFAULT_STORAGE = "sqlite:///studies.db"


@app.callback()
def root() -> None:
    """Run a durable study: decisions that survive."""


def opened(name: str, storage: str, read_only: bool = False) -> Study:
    """The study of that name."""
    from belman.studies import open_study

    return open_study(name, storage=storage, read_only=read_only)


def arm_of(text: str, arms: Iterable[Hashable]) -> Hashable:
    """The arm that a person spells so."""
    names = {str(arm): arm for arm in arms}
    if text not in names:
        plays = f"this study plays {listing(names)}{nearest(text, names)}"
        raise ArmError(f"unknown arm {text!r}: {plays}")
    return names[text]


@app.command()
def create(
    name: Name,
    arms: Annotated[str, typer.Option(help="The names of the arms, separated by commas.")],
    family: Annotated[
        str | None,
        typer.Option(help="What a reward is (bernoulli, or bounded with --range); `belman list`."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A constant of the family, such as sigma=2.0; may be repeated."),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(help="The policy that chooses; settings after a colon, as in `belman run`."),
    ] = "belman",
    range: Annotated[
        str | None, typer.Option(help="The ends of bounded rewards on another scale: 0,5.")
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Rewards beyond the range count as its ends.")
    ] = False,
    minimise: Annotated[bool, typer.Option("--minimise", help="Rewards are costs.")] = False,
    discount: Annotated[
        float | None, typer.Option(help="Below 1, beliefs fade at every reward.")
    ] = None,
    drift: Annotated[
        str | None,
        typer.Option(help="Follow a world that changes: auto, or half_life=604800 (seconds)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed makes the same decisions.")
    ] = None,
    uniform_share: Annotated[
        float | None, typer.Option(help="A share of traffic drawn uniformly, for replays.")
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(help="Seconds for which a ticket is open; it counts when they are over."),
    ] = None,
    silence: Annotated[
        str,
        typer.Option(help="What a ticket counts as that nobody told; `none` forgets it."),
    ] = "0",
    accumulate: Annotated[
        bool,
        typer.Option("--accumulate", help="Rewards of a ticket add up; else the last stands."),
    ] = False,
    early: Annotated[
        bool | None,
        typer.Option(
            "--early/--no-early",
            help="Learn before windows close (where rewards are 0 or 1), or wait for them.",
            show_default="early where it can be",
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="A reward over metrics, where none is told: 'margin - 0.2*latency'."),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="The arm that the others are held against.")
    ] = None,
    stop_when: Annotated[
        str | None,
        typer.Option(help="When to stop: sure:level=0.95, loss-below:loss=…, separated:delta=…"),
    ] = None,
    then: Annotated[
        str | None, typer.Option(help="What happens when that has decided: say or ship.")
    ] = None,
    floor: Annotated[
        str | None,
        typer.Option(help="The least share of every arm, 0.05, or of some: blue=0.1,red=0.05."),
    ] = None,
    control_share: Annotated[
        float | None, typer.Option(help="The share of traffic that control always gets.")
    ] = None,
    guard: Annotated[
        list[str] | None,
        typer.Option(help="A limit on a metric, such as 'refund < 0.05'; may be repeated."),
    ] = None,
    expire_after: Annotated[
        float | None, typer.Option(help="Leads to --window.", hidden=True)
    ] = None,
    expired_reward: Annotated[
        float | None, typer.Option(help="Leads to --silence.", hidden=True)
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Create a study."""
    from belman.studies import open_study

    ends = None if range is None else parse.numbers(range, "range")
    law = family or ("bernoulli" if range is None else "bounded")
    study = open_study(
        name,
        parse.split(arms),
        spec.build({"name": law, **parse.family_settings(setting or [])}, Family),
        parse.policy(policy, horizon=10_000),
        range=ends,  # type: ignore[arg-type]
        clip=clip or None,
        minimise=minimise,
        discount=discount,
        drift=parse.drift(drift),
        seed=seed,
        uniform_share=uniform_share,
        window=window,
        silence=None if silence.lower() == "none" else parse.numbers(silence, "silence")[0],
        accumulate=accumulate,
        early=early,
        reward=reward,
        control=control,
        stop_when=None if stop_when is None else parse.stop_rule(stop_when),
        then=then,  # type: ignore[arg-type]
        floor=parse.floor(floor),
        control_share=control_share,
        guard=parse.guard(guard),
        expire_after=expire_after,
        expired_reward=expired_reward,
        storage=storage,
    )
    console.print(repr(study), highlight=False)


@app.command("list")
def list_(
    archived: Annotated[bool, typer.Option("--archived", help="Those that are archived.")] = False,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Name every study, with its counts."""
    from belman.studies import Storage, open_study

    place = Storage(storage, read_only=read_only)
    rows = []
    for name in place.names(archived):
        try:
            rows.append(open_study(name, storage=place).status())
        except StudyError as error:
            console.print(f"{name}: {error}", highlight=False, markup=False)
    columns = ("name", "arms", "asked", "told", "outstanding", "reward", "paused")
    show(Table({column: [row[column] for row in rows] for column in columns}, str(place)))


@app.command("show")
def show_(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show a study's beliefs: per arm rewards told, expected reward, probability of being best."""
    study = opened(name, storage, read_only)
    console.print(repr(study), highlight=False)
    show(study.beliefs())


@app.command()
def metrics(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show the metrics: per arm how many tickets counted with one, mean, Student's interval."""
    show(opened(name, storage, read_only).metrics())


@app.command()
def changes(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Show the changes of the world that a study noticed, where it follows them."""
    show(opened(name, storage, read_only).changes())


@app.command()
def explain(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Say why this arm now: what the policy sees of each arm."""
    show(opened(name, storage, read_only).explain())


@app.command()
def ask(
    name: Name,
    n: Annotated[int, typer.Option("--n", help="How many tickets.")] = 1,
    attribute: Annotated[
        list[str] | None,
        typer.Option(help="What is known of whoever asks, such as device=phone; may be repeated."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same key gives the same tickets again.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Ask which arm to try: one line a ticket, its id and its arm with a tab between."""
    for ticket in opened(name, storage).ask(n, attributes=parse.attributes(attribute), key=key):
        print(f"{ticket.id}\t{ticket.arm}")


@app.command()
def tell(
    name: Name,
    ticket: Annotated[str, typer.Argument(help="The id of the ticket.")],
    reward: Annotated[
        float | None, typer.Argument(help="What it earned; left out where metrics make it.")
    ] = None,
    metric: MetricOption = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: under a window the same key counts once.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Tell the reward of a ticket, its metrics or both, and under a window tell them again."""
    news = opened(name, storage).tell(ticket, reward, metrics=parse.metrics(metric), key=key)
    console.print("learnt" if news else "known already", highlight=False)


@app.command()
def correct(
    name: Name,
    ticket: Annotated[str, typer.Argument(help="The id of the ticket.")],
    reward: Annotated[
        str, typer.Argument(help="What it should have counted as; `none` forgets it.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why, for the log.")],
    metric: MetricOption = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same key corrects once.")
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Replace what a ticket counted as, for refunds and fraud."""
    new = None if reward.lower() == "none" else parse.numbers(reward, "reward")[0]
    metrics = parse.metrics(metric)
    changed = opened(name, storage).correct(ticket, new, reason, metrics=metrics, key=key)
    console.print("corrected" if changed else "known already", highlight=False)


@app.command()
def pause(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Decide nothing until resumed; tells are welcome."""
    opened(name, storage).pause(reason)


@app.command()
def resume(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Decide again."""
    opened(name, storage).resume(reason)


@app.command()
def add_arm(
    name: Name,
    arm: Arm,
    prior: Annotated[str | None, typer.Option(help="Its prior, separated by commas: 1,1.")] = None,
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Take in a new arm, or one that was retired."""
    study = opened(name, storage)
    known = {str(retired): retired for retired in study.retired}
    given = None if prior is None else parse.numbers(prior, "prior")
    study.add_arm(known.get(arm, arm), given, reason)


@app.command()
def retire_arm(
    name: Name, arm: Arm, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE
) -> None:
    """Play an arm no more; rewards of tickets that are out still count."""
    study = opened(name, storage)
    study.retire_arm(arm_of(arm, study.arms), reason)


@app.command()
def ship(
    name: Name,
    arm: Annotated[
        str | None, typer.Argument(help="The arm; by default the likeliest best.")
    ] = None,
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Give all traffic to one arm, until `unship`."""
    study = opened(name, storage)
    study.ship(None if arm is None else arm_of(arm, study.arms), reason)
    console.print(f"all traffic goes to {study.shipped}", highlight=False, markup=False)


@app.command()
def unship(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Let the policy decide again."""
    opened(name, storage).unship(reason)


@app.command()
def exposure(
    name: Name,
    schedule: Annotated[
        str, typer.Argument(help="An exposure, settings after a colon: constant:tau=0.1.")
    ],
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Explore more or less from here on."""
    opened(name, storage).set_exposure(parse.exposure(schedule), reason)


@app.command()
def history(
    name: Name,
    last: Annotated[int, typer.Option(help="How many events.")] = 20,
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Show the last events of the log."""
    table = opened(name, storage, read_only).history(last)
    table.columns["time"] = [time.isoformat(sep=" ", timespec="seconds") for time in table["time"]]
    for column, cells in table.columns.items():
        table.columns[column] = ["" if cell is None else cell for cell in cells]
    show(table)


@app.command()
def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A file whose name ends in .csv or .parquet.")],
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Write the log to a file."""
    console.print(
        f"wrote {opened(name, storage, read_only).export(path):,} events to {path}", highlight=False
    )


@app.command("import")
def import_(
    name: Name,
    path: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file with columns arm and reward.")
    ],
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Learn from past data, as a warm start."""
    console.print(f"learnt {opened(name, storage).record(path, reason):,} rewards", highlight=False)


@app.command()
def replay(
    name: Name,
    policy: Annotated[
        str, typer.Argument(help="Another policy; settings after a colon, as in `belman run`.")
    ],
    storage: StorageOption = DEFAULT_STORAGE,
    read_only: ReadOnly = False,
) -> None:
    """Estimate what another policy would have earned."""
    study = opened(name, storage, read_only)
    estimate = study.replay(parse.policy(policy, horizon=10_000))
    show(Table({field.replace("_", " "): [value] for field, value in estimate._asdict().items()}))


@app.command()
def check(
    name: Name, storage: StorageOption = DEFAULT_STORAGE, read_only: ReadOnly = False
) -> None:
    """Fold the whole log anew and compare it with the state, bit by bit."""
    study = opened(name, storage, read_only)
    console.print(f"{study.number:,} events, state {study.check()}", highlight=False)


@app.command()
def migrate(storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Bring the tables of a storage to the version of this belman."""
    from belman.studies import migrate as upgrade

    console.print(f"{storage}: tables of version {upgrade(storage)}", highlight=False)

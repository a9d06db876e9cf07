"""`belman study pause | ship | publish | archive | …`: changes of a study while it runs, and its
end.
"""

from __future__ import annotations

import typer

from belman import studies
from belman.assignment import sign
from belman.cli import parse, study_values
from belman.cli.commands import command
from belman.cli.output import print_plain, say
from belman.cli.study import ARM, DEFAULT_STORAGE, app, arm_of, study_command
from belman.studies import Storage, Study


@study_command()
def pause(study: Study, *, reason: str = "") -> None:
    """Pause a study: asks are refused, rewards are still accepted."""
    study.pause(reason)


@study_command()
def resume(study: Study, *, reason: str = "") -> None:
    """Resume a paused study."""
    study.resume(reason)


@study_command(arm=ARM, prior="Its prior, separated by commas: 1,1.")
def add_arm(study: Study, arm: str, *, prior: str | None = None, reason: str = "") -> None:
    """Add a new arm, or bring back a retired one."""
    known = {str(retired): retired for retired in study.retired}
    given = None if prior is None else parse.numbers(prior, "prior")
    study.add_arm(known.get(arm, arm), given, reason)


@study_command(arm=ARM)
def retire_arm(study: Study, arm: str, *, reason: str = "") -> None:
    """Stop choosing an arm; rewards of its open tickets still count."""
    study.retire_arm(arm_of(arm, study.arms), reason)


@study_command(arm="The arm; by default the most likely best.")
def ship(study: Study, arm: str | None = None, *, reason: str = "") -> None:
    """Give all traffic to one arm, until `unship`."""
    study.ship(None if arm is None else arm_of(arm, study.arms), reason)
    say(f"all traffic goes to {study.shipped}")


@study_command()
def unship(study: Study, *, reason: str = "") -> None:
    """Undo `ship`: the policy decides again."""
    study.unship(reason)


@study_command(schedule="An exposure, settings after a colon: constant:tau=0.1.")
def exposure(study: Study, schedule: str, *, reason: str = "") -> None:
    """Set the exposure, how greedy the policy is, from now on."""
    study.set_exposure(parse.exposure(schedule), reason)


@study_command(amount="How much of the metric that has a budget.", arm="What it was spent on.")
def spend(study: Study, amount: float, *, arm: str | None = None, reason: str = "") -> None:
    """Count a cost that no ticket brought against the budget."""
    study.spend(amount, reason, arm=None if arm is None else arm_of(arm, study.arms))


@study_command(limits="All that hold from now on, such as 'refund < 0.05'; without any, none does.")
def guard(study: Study, limits: list[str] | None = None, *, reason: str = "") -> None:
    """Set the limits on metrics that take an arm out of play."""
    study.set_guard(study_values.guard(limits or []), reason)


@study_command(
    decisions="How many decisions the weights are for.",
    every="Seconds until the next version is due.",
    valid_for="Seconds for which they may be used if they cannot be renewed.",
    segment="The part of the units that they are for.",
    by="Whose hash assigns units: belman, growthbook or eppo.",
    signed="Print the signed document.",
)
def publish(
    study: Study,
    *,
    decisions: int,
    every: float | None = None,
    valid_for: float = 86_400.0,
    segment: str | None = None,
    by: str = "belman",
    signed: bool = False,
    reason: str = "",
) -> None:
    """Publish weights (traffic shares) as a document by which any server assigns units."""
    result = study.publish(
        decisions, every=every, valid_for=valid_for, segment=segment, by=by, reason=reason
    )
    print_plain(sign(result, study.signing_key) if signed else result.to_json())


@study_command()
def archive(study: Study, *, reason: str = "") -> None:
    """Pause a study and leave it out of lists; nothing is deleted."""
    studies.archive(study, reason)


@study_command(path="A new file that ends in .parquet.", keep="Days for which events stay.")
def archive_events(study: Study, path: str, *, keep: float = 30.0, reason: str = "") -> None:
    """Move old events to a Parquet file, so that the database does not grow for ever."""
    moved = study.archive_events(path, keep=86_400.0 * keep or None, reason=reason)
    say(f"moved {moved:,} events to {path}" if moved else f"no event is older than {keep:g} days")


@command(app)
def restore(name: str, *, storage: str = DEFAULT_STORAGE) -> None:
    """List an archived study again; it stays paused until it is resumed."""
    studies.restore(Storage(storage, create=False), name)


@command(
    app,
    confirm=typer.Option(prompt="To delete it for good, type its name", help="Its name again."),
)
def delete(name: str, *, confirm: str, storage: str = DEFAULT_STORAGE) -> None:
    """Delete a study with its whole log, for good."""
    gone = studies.delete(Storage(storage, create=False), name, confirm)
    say(f"deleted {name} with {gone:,} events")


@command(app)
def migrate(*, storage: str = DEFAULT_STORAGE) -> None:
    """Upgrade the tables of a storage to this version of belman."""
    say(f"{storage}: tables of version {studies.migrate(storage)}")

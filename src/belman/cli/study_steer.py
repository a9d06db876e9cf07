"""`belman study pause | ship | publish | archive | …`: changes of a study while it runs, and its
end.
"""

from __future__ import annotations

import typer

from belman.cli import parse
from belman.cli.commands import command
from belman.cli.output import say
from belman.cli.study import ARM, DEFAULT_STORAGE, app, arm_of, opened


@command(app)
def pause(name: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Pause a study: asks are refused, rewards are still accepted."""
    opened(name, storage).pause(reason)


@command(app)
def resume(name: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Resume a paused study."""
    opened(name, storage).resume(reason)


@command(app, arm=ARM, prior="Its prior, separated by commas: 1,1.")
def add_arm(
    name: str,
    arm: str,
    *,
    prior: str | None = None,
    reason: str = "",
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Add a new arm, or bring back a retired one."""
    study = opened(name, storage)
    known = {str(retired): retired for retired in study.retired}
    given = None if prior is None else parse.numbers(prior, "prior")
    study.add_arm(known.get(arm, arm), given, reason)


@command(app, arm=ARM)
def retire_arm(name: str, arm: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Stop choosing an arm; rewards of its open tickets still count."""
    study = opened(name, storage)
    study.retire_arm(arm_of(arm, study.arms), reason)


@command(app, arm="The arm; by default the most likely best.")
def ship(
    name: str, arm: str | None = None, *, reason: str = "", storage: str = DEFAULT_STORAGE
) -> None:
    """Give all traffic to one arm, until `unship`."""
    study = opened(name, storage)
    study.ship(None if arm is None else arm_of(arm, study.arms), reason)
    say(f"all traffic goes to {study.shipped}")


@command(app)
def unship(name: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Undo `ship`: the policy decides again."""
    opened(name, storage).unship(reason)


@command(app, schedule="An exposure, settings after a colon: constant:tau=0.1.")
def exposure(name: str, schedule: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Set the exposure, how greedy the policy is, from now on."""
    opened(name, storage).set_exposure(parse.exposure(schedule), reason)


@command(
    app,
    decisions="How many decisions the weights are for.",
    every="Seconds until the next version is due.",
    valid_for="Seconds for which they may be used if they cannot be renewed.",
    segment="The part of the units that they are for.",
    signed="Print the signed document.",
)
def publish(
    name: str,
    *,
    decisions: int,
    every: float | None = None,
    valid_for: float = 86_400.0,
    segment: str | None = None,
    signed: bool = False,
    reason: str = "",
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Publish weights (traffic shares) as a document by which any server assigns units."""
    from belman.assignment import sign

    study = opened(name, storage)
    found = study.publish(
        decisions, every=every, valid_for=valid_for, segment=segment, reason=reason
    )
    print(sign(found, study.signing_key) if signed else found.to_json())


@command(app)
def archive(name: str, *, reason: str = "", storage: str = DEFAULT_STORAGE) -> None:
    """Pause a study and leave it out of lists; nothing is deleted."""
    from belman import studies

    studies.archive(opened(name, storage), reason)


@command(app)
def restore(name: str, *, storage: str = DEFAULT_STORAGE) -> None:
    """List an archived study again; it stays paused until it is resumed."""
    from belman import studies

    studies.restore(studies.Storage(storage), name)


@command(
    app,
    confirm=typer.Option(prompt="To delete it for good, type its name", help="Its name again."),
)
def delete(name: str, *, confirm: str, storage: str = DEFAULT_STORAGE) -> None:
    """Delete a study with its whole log, for good."""
    from belman import studies

    gone = studies.delete(studies.Storage(storage), name, confirm)
    say(f"deleted {name} with {gone:,} events")


@command(app)
def migrate(*, storage: str = DEFAULT_STORAGE) -> None:
    """Upgrade the tables of a storage to this version of belman."""
    from belman import studies

    say(f"{storage}: tables of version {studies.migrate(storage)}")

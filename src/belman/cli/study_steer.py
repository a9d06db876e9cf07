"""`belman study pause | ship | add-arm | …`: changes of a study while it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from belman.cli import parse
from belman.cli.show import console
from belman.cli.study import DEFAULT_STORAGE, Arm, Name, Reason, StorageOption, app, arm_of, opened


@app.command()
def pause(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Pause a study: asks are refused, rewards are still accepted."""
    opened(name, storage).pause(reason)


@app.command()
def resume(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Resume a paused study."""
    opened(name, storage).resume(reason)


@app.command()
def add_arm(
    name: Name,
    arm: Arm,
    prior: Annotated[str | None, typer.Option(help="Its prior, separated by commas: 1,1.")] = None,
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Add a new arm, or bring back a retired one."""
    study = opened(name, storage)
    known = {str(retired): retired for retired in study.retired}
    given = None if prior is None else parse.numbers(prior, "prior")
    study.add_arm(known.get(arm, arm), given, reason)


@app.command()
def retire_arm(
    name: Name, arm: Arm, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE
) -> None:
    """Stop choosing an arm; rewards of its open tickets still count."""
    study = opened(name, storage)
    study.retire_arm(arm_of(arm, study.arms), reason)


@app.command()
def ship(
    name: Name,
    arm: Annotated[
        str | None, typer.Argument(help="The arm; by default the most likely best.")
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
    """Undo `ship`: the policy decides again."""
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
    """Set the exposure, how greedy the policy is, from now on."""
    opened(name, storage).set_exposure(parse.exposure(schedule), reason)


@app.command()
def migrate(storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Upgrade the tables of a storage to this version of belman."""
    from belman.studies import migrate as upgrade

    console.print(f"{storage}: tables of version {upgrade(storage)}", highlight=False)

"""`belman study publish | observe`: weights go out, outcomes come back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from belman.cli import past_data
from belman.cli.show import console
from belman.cli.study import DEFAULT_STORAGE, Name, Reason, StorageOption, app, opened


@app.command()
def publish(
    name: Name,
    decisions: Annotated[int, typer.Option(help="How many decisions the weights are for.")],
    every: Annotated[
        float | None, typer.Option(help="Seconds until the next version is due.")
    ] = None,
    valid_for: Annotated[
        float, typer.Option(help="Seconds for which they may be used if they cannot be renewed.")
    ] = 86_400.0,
    segment: Annotated[
        str | None, typer.Option(help="The part of the units that they are for.")
    ] = None,
    signed: Annotated[bool, typer.Option("--signed", help="Print the signed document.")] = False,
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Publish weights (traffic shares) as a document by which any server assigns units."""
    from belman.assignment import sign

    study = opened(name, storage)
    found = study.publish(
        decisions, every=every, valid_for=valid_for, segment=segment, reason=reason
    )
    print(sign(found, study.signing_key) if signed else found.to_json())


@app.command()
def observe(
    name: Name,
    path: Annotated[
        Path,
        typer.Argument(
            help="A table (.csv, .ndjson, .parquet, …; - for standard input) with columns unit, "
            "version, arm, reward and perhaps time and attributes; or version, arm, n, sum, "
            "squares."
        ),
    ],
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: under the same key a file counts once.")
    ] = None,
    reason: Reason = "",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Learn from a file of outcomes of units that published weights assigned."""
    study = opened(name, storage)
    before = study.number
    count = study.observe(past_data.given(path), reason, key=key)
    known = "" if study.number > before or not count else ", known already"
    console.print(f"observed {count:,} outcomes{known}", highlight=False)

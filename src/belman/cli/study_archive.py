"""`belman study archive | restore | delete`: out of the lists and back, and gone for good."""

from __future__ import annotations

from typing import Annotated

import typer

from belman.cli.show import console
from belman.cli.study import DEFAULT_STORAGE, Name, Reason, StorageOption, app, opened


@app.command()
def archive(name: Name, reason: Reason = "", storage: StorageOption = DEFAULT_STORAGE) -> None:
    """Pause a study and leave it out of lists; nothing is deleted."""
    from belman.studies import archive as archive_study

    archive_study(opened(name, storage), reason)


@app.command()
def restore(name: Name, storage: StorageOption = DEFAULT_STORAGE) -> None:
    """List an archived study again; it stays paused until it is resumed."""
    from belman.studies import Storage
    from belman.studies import restore as restore_study

    restore_study(Storage(storage), name)


@app.command()
def delete(
    name: Name,
    confirm: Annotated[
        str, typer.Option(prompt="To delete it for good, type its name", help="Its name again.")
    ],
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Delete a study with its whole log, for good."""
    from belman.studies import Storage
    from belman.studies import delete as delete_study

    gone = delete_study(Storage(storage), name, confirm)
    console.print(f"deleted {name} with {gone:,} events", highlight=False, markup=False)

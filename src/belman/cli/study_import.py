"""`belman study import-growthbook`: an experiment that ran elsewhere becomes a study."""

from __future__ import annotations

from pathlib import Path

from belman.cli.commands import command
from belman.cli.output import say
from belman.cli.study import DEFAULT_STORAGE, app, arm_of
from belman.errors import SettingError


@command(
    app,
    path="JSON of an experiment, of a rule, or of an answer of /api/features/….",
    feature="The feature of an answer whose experiment is meant.",
    name="The name of the study; by default the key of the experiment.",
    control="The arm that the others are compared with; by default the first.",
)
def import_growthbook(
    path: Path,
    *,
    feature: str | None = None,
    name: str | None = None,
    control: str | None = None,
    storage: str = DEFAULT_STORAGE,
) -> None:
    """Make a study of an experiment of GrowthBook (JSON), with the weights by which it assigned."""
    from belman.bridges import growthbook
    from belman.studies import open_study

    try:
        text = path.read_bytes()
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    made = growthbook.read(text, feature)
    base = made.arms[0] if control is None else arm_of(control, made.arms)
    study = open_study(name or made.name, made.arms, control=base, storage=storage)
    known = study.declare(made.weights, "imported from GrowthBook", key="import-growthbook")
    say(repr(study))
    say(f"outcomes name version {known.version}, whose weights are {known.weights}")

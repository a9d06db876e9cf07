"""`belman study create`: a new study, with an option for every setting of `StudySettings`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from belman import spec
from belman.agent.making import ALONG_FEATURES
from belman.cli import parse, study_values
from belman.cli.commands import command, option
from belman.cli.output import say
from belman.cli.study import DEFAULT_STORAGE, app
from belman.families import Family
from belman.studies.settings import StudySettings


class Words(NamedTuple):
    """How a setting is written in a shell: what is said beside its sentence, and how it is read."""

    hint: str = ""
    kind: Any = str
    read: Callable[[Any], Any] = lambda given: given
    flags: tuple[str, ...] = ()


def _numbers(name: str) -> Callable[[str], tuple[float, ...]]:
    return lambda words: parse.numbers(words, name)


def _flag(name: str) -> Words:
    """An option without a value, which says yes."""
    return Words(kind=bool, read=lambda given: given or None, flags=(f"--{name}",))


#: How the settings are written that are not words alone.
WORDS = {
    "arms": Words("Separated by commas.", read=parse.split),
    "prior": Words("Its coordinates: 1,1.", read=_numbers("prior")),
    "priors": Words("As blue=2,3; may be repeated.", list[str], study_values.priors),
    "range": Words("As 0,5.", read=_numbers("range")),
    "clip": _flag("clip"),
    "minimise": _flag("minimise"),
    "policy": Words("Settings after a colon, as in `belman run`."),
    "discount": Words(kind=float),
    "drift": Words("Settings as half_life=604800 (seconds).", read=parse.drift),
    "last": Words(kind=int),
    "seed": Words(kind=int),
    "uniform_share": Words(kind=float),
    "window": Words(kind=float),
    "silence": Words(read=study_values.silence),
    "accumulate": _flag("accumulate"),
    "early": Words(kind=bool, flags=("--early/--no-early",)),
    "stop_when": Words("Settings after a colon: sure:level=0.95.", read=parse.stop_rule),
    "negligible": Words(kind=float),
    "floor": Words("As 0.05, or blue=0.1,red=0.05.", read=study_values.floor),
    "control_share": Words(kind=float),
    "guard": Words("May be repeated.", list[str], study_values.guard),
    "budget": Words("As 'dollars 25 a day'.", read=study_values.budget),
    "segments": Words("Separated by commas.", read=parse.split),
    "context": Words("Separated by commas.", read=parse.split),
    "features": Words("A .csv or .json file; names separated by commas."),
    "interactions": Words("Joined by +."),
    "scale": Words(kind=float),
}


def _option(name: str, sentence: str) -> inspect.Parameter:
    """The option of a setting."""
    words = WORDS.get(name, Words())
    said = f"{sentence} {words.hint}".strip()
    return option(name, words.kind | None, None, *words.flags, help=said, show_default=False)


@command(app, None, *(_option(*one) for one in StudySettings.sentences().items()))
def create(
    name: str,
    *,
    setting: list[str] | None = None,
    storage: str = DEFAULT_STORAGE,
    **words: Any,
) -> None:
    """Create a study."""
    from belman.studies import open_study

    said = {name: given for name, given in words.items() if given is not None}
    given = {name: WORDS.get(name, Words()).read(said[name]) for name in said}
    if "family" in said or setting:
        distribution = said.get("family") or ("bernoulli" if "range" not in said else "bounded")
        settings = parse.family_settings(setting or [])
        given["family"] = spec.build({"name": distribution, **settings}, Family)
    if "policy" in said:
        along = said.keys() & {*ALONG_FEATURES}
        read = parse.dependent_policy if along else parse.policy
        given["policy"] = read(said["policy"], horizon=10_000)
    if "features" in said:
        given["features"] = study_values.features(said["features"], given.get("arms"))
    study = open_study(name, storage=storage, **given)
    say(f"{study!r}\nkept in {study.storage.address}")

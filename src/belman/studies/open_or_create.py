"""`open_study`: the study of a name, created where there is none."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from numpy.typing import ArrayLike

from belman.deciders.validate import is_text
from belman.errors import SettingError, shown
from belman.families import Family
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Drift, Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.log.chain import Head
from belman.studies.log.event_log import Event, EventLog, Kind
from belman.studies.log.storage import Storage, Transaction, check_time
from belman.studies.rules.utility import Utility
from belman.studies.rules.window_rule import Silence
from belman.studies.settings import StudySettings
from belman.studies.study import LIMITS, Study
from belman.studies.unit_of_work import Limits

LONGEST = 200  # characters of a name


def open_study(
    name: str,
    arms: Iterable[Hashable] | None = None,
    family: str | Family | None = None,
    policy: str | Policy | DependentPolicy | None = None,
    *,
    storage: str | Storage = "sqlite:///studies.db",
    prior: ArrayLike | None = None,
    priors: Mapping[Any, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    clip: bool | None = None,
    minimise: bool | None = None,
    discount: float | None = None,
    drift: str | Drift | None = None,
    last: int | None = None,
    seed: int | None = None,
    uniform_share: float | None = None,
    window: float | timedelta | None = None,
    silence: Silence | None = None,
    accumulate: bool | None = None,
    early: bool | None = None,
    reward: str | Utility | None = None,
    control: Hashable | None = None,
    goal: Literal["earn", "decide", "both"] | None = None,
    stop_when: StopRule | None = None,
    negligible: float | None = None,
    then: Literal["say", "ship"] | None = None,
    floor: float | Mapping[Any, float] | None = None,
    control_share: float | None = None,
    guard: Mapping[str, str] | None = None,
    budget: Mapping[str, str | float] | None = None,
    segments: Sequence[str] | None = None,
    context: Iterable[str] | None = None,
    features: Any = None,
    model: str | Model | None = None,
    pooling: str | None = None,
    interactions: str | Iterable[Sequence[str]] | None = None,
    scale: float | None = None,
    limits: Limits = LIMITS,
    read_only: bool = False,
    clock: Callable[[], float] | None = None,
) -> Study:
    """Open the study of that name, or create it with these settings where there is none.

    A study is created where `arms` are given, or names of `features` if candidates come with every
    ask; without these it has to exist. A setting that is None is not given. Settings that are given
    for an existing study have to be those with which it was created.

    With a `window` a ticket is open that long after its ask, and counts when it closes: with the
    reward told last, or their sum (`accumulate`), or as `silence` says. Learning `early`, a success
    that was told counts at once, and silence as the age of the ticket says. With `segments` arms
    are believed per segment; `context`, `features` and the settings after them make one belief for
    all arms. They are those of `belman.Agent`.

    Parameters
    ----------
    name
        The name of the study, 1 to 200 printable characters.
    storage
        The address of the database; by default the file `studies.db` in the working directory.
    limits
        The most tickets of one ask, and the most that are outstanding.
    read_only
        Open a copy to look at, and refuse every change.
    clock
        A function that gives the time; by default the clock of the database, or of this machine.
    SETTINGS

    Returns
    -------
    Study
        The study.

    Raises
    ------
    UnknownStudyError
        If there is no study of that name, and no arms are given.
    StudyError
        If the study was created with other settings.
    SettingError
        If a setting is invalid.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> url = f"sqlite:///{folder.name}/studies.db"
    >>> study = open_study("checkout-button", ["blue", "green"], storage=url)
    >>> ticket = study.ask()
    >>> study.tell(ticket.id, 1), study.tell(ticket.id, 1)
    (True, False)
    >>> study
    Study('checkout-button', 2 arms, 1 reward told, 0 tickets out)
    >>> study.storage.close(); folder.cleanup()
    """
    told = locals()
    given = {setting: _listed(told[setting]) for setting in StudySettings.sentences()}
    creates = arms is not None or features is not None
    opened = storage
    if not isinstance(opened, Storage):
        opened = Storage(opened, read_only=read_only, create=creates)
    check_name(name)
    if creates and name not in opened.names():
        chosen = StudySettings(**given)
        now = opened.now() if clock is None else check_time(clock())
        if create(name, chosen, opened, now):
            return Study(name, opened, clock=clock, limits=limits)
    study = Study(name, opened, clock=clock, limits=limits)
    if wanted := {setting: value for setting, value in given.items() if value is not None}:
        study.settings.check_same(wanted, name)
    return study


open_study.__doc__ = (open_study.__doc__ or "").replace(
    "SETTINGS",
    "\n    ".join(f"{name}\n        {words}" for name, words in StudySettings.sentences().items()),
)


def _listed(value: Any) -> Any:
    """A value that can be read more than once."""
    return list(value) if isinstance(value, Iterator) else value


def is_name(name: object) -> bool:
    """Whether a study, or a key, may have this name."""
    return (
        isinstance(name, str)
        and name.isprintable()
        and not name.isspace()
        and 0 < len(name) <= LONGEST
    )


def check_name(name: object) -> str:
    """A name of a study."""
    if not is_name(name):
        allowed = f"it must be a printable string of 1 to {LONGEST} characters"
        raise SettingError(f"name={shown(name)} cannot name a study: {allowed}")
    return str(name)


def create(name: str, chosen: StudySettings, storage: Storage, now: float) -> bool:
    """Write the first event; False where somebody else was faster."""
    if not is_text(text := chosen.to_json()):
        words = "a text holds half of a surrogate pair, which no encoding has"
        raise SettingError(f"the settings of study {name!r} cannot be kept in a log: {words}")
    first, _ = Head().joined(Event(1, int(Kind.CREATED), now, body=text))

    insert = (
        "INSERT INTO belman_studies (name, secret, created, last, link) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (name) DO NOTHING RETURNING id"
    )

    def work(transaction: Transaction) -> bool:
        created = transaction.rows(insert, name, secrets.token_hex(16), now, 1, first.link)
        for (study,) in created:
            EventLog(study).append(transaction, [first])
        return bool(created)

    return storage.run(work)

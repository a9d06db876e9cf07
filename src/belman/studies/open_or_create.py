"""`open_study`: the study of a name, created where there is none."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from numpy.typing import ArrayLike

from belman.errors import SettingError
from belman.families import Family
from belman.policies import Policy
from belman.studies.event_log import Event, EventLog, Kind
from belman.studies.settings import Settings, settings
from belman.studies.storage import Storage, Transaction
from belman.studies.study import Study

LONGEST = 200  # characters of a name


def open_study(
    name: str,
    arms: Iterable[Hashable] | None = None,
    family: str | Family | None = None,
    policy: Policy | None = None,
    *,
    storage: str | Storage = "sqlite:///studies.db",
    prior: ArrayLike | None = None,
    priors: Mapping[Hashable, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    minimise: bool | None = None,
    discount: float | None = None,
    seed: int | None = None,
    uniform_share: float | None = None,
    expire_after: float | timedelta | None = None,
    expired_reward: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Study:
    """The study of that name, created with these settings where there is none.

    `arms` creates; without it the study has to be there. Settings that are given for a study that
    is there have to be those it was created with; those left out are as they were. Up to `discount`
    they are an Agent's. A share of traffic may be kept uniform (`uniform_share`) for an honest
    `replay`. Tickets expire `expire_after` seconds (or a timedelta) after the ask: they count as
    `expired_reward`, such as 0 for no reward, or are forgotten where that is None.

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
    place = storage if isinstance(storage, Storage) else Storage(storage)
    check_name(name)
    given: dict[str, Any] = {
        "family": family,
        "policy": policy,
        "prior": prior,
        "priors": priors,
        "range": range,
        "minimise": minimise,
        "discount": discount,
        "seed": seed,
        "uniform_share": uniform_share,
        "expire_after": expire_after,
        "expired_reward": expired_reward,
    }
    if arms is not None:
        arms = list(arms) if not isinstance(arms, (str, bytes)) else arms
        if name not in place.names() and _create(name, settings(arms, **given), place, clock()):
            return Study(name, place, clock=clock)
    study = Study(name, place, clock=clock)
    _compare(study, arms, given)
    return study


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
        shown = repr(name) if len(repr(name)) <= 80 else f"{repr(name)[:80]}…"
        allowed = f"it must be a printable string of 1 to {LONGEST} characters"
        raise SettingError(f"name={shown} cannot name a study: {allowed}")
    return str(name)


def _create(name: str, chosen: Settings, storage: Storage, now: float) -> bool:
    """Write the first event; False where somebody else was faster."""
    first = Event(1, int(Kind.CREATED), now, body=chosen.to_json())

    insert = (
        "INSERT INTO belman_studies (name, secret, created) VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO NOTHING RETURNING id"
    )

    def work(transaction: Transaction) -> bool:
        created = transaction.rows(insert, name, secrets.token_hex(16), now)
        for (study,) in created:
            EventLog(study).append(transaction, [first])
        return bool(created)

    return storage.run(work)


def _compare(study: Study, arms: Iterable[Hashable] | None, given: dict[str, Any]) -> None:
    """Refuse settings that are not those of the study."""
    there = study.settings
    wanted = {name: value for name, value in given.items() if value is not None}
    if arms is None and not wanted:
        return
    asked = settings(there.arms if arms is None else arms, **{"family": there.family, **wanted})
    compared = {"family" if name == "prior" else name for name in wanted}
    if arms is not None:
        compared.add("arms")
    for name in sorted(compared):
        before, now = getattr(there, name), getattr(asked, name)
        if now != before:
            raise SettingError(
                f"study {study.name!r} was created with {name}={before!r}, and now {now!r} was "
                "given: leave it out, or change the running study "
                "(add_arm, retire_arm, set_exposure, set_policy)"
            )

"""`open_study`: the study of a name, created where there is none."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from numpy.typing import ArrayLike

from belman.agent.contextual.settings import pairs_of
from belman.errors import SettingError
from belman.families import Family
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Drift, Forgetting, Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.contexts.settings import NAMES
from belman.studies.log.chain import Head
from belman.studies.log.clocks import check_time
from belman.studies.log.event_log import Event, EventLog, Kind
from belman.studies.log.storage import Storage, Transaction
from belman.studies.rules.limits import Limits
from belman.studies.rules.settings import Settings, settings
from belman.studies.rules.utility import Utility
from belman.studies.rules.window_rule import check_seconds
from belman.studies.study import LIMITS, Study

LONGEST = 200  # characters of a name


def open_study(
    name: str,
    arms: Iterable[Hashable] | None = None,
    family: str | Family | None = None,
    policy: Policy | DependentPolicy | None = None,
    *,
    storage: str | Storage = "sqlite:///studies.db",
    prior: ArrayLike | None = None,
    priors: Mapping[Hashable, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    clip: bool | None = None,
    minimise: bool | None = None,
    discount: float | None = None,
    drift: str | Drift | None = None,
    last: int | None = None,
    seed: int | None = None,
    uniform_share: float | None = None,
    window: float | timedelta | None = None,
    silence: float | None = 0,
    accumulate: bool = False,
    early: bool | None = None,
    reward: str | Utility | None = None,
    control: Hashable | None = None,
    stop_when: StopRule | None = None,
    then: Literal["say", "ship"] | None = None,
    floor: float | Mapping[Hashable, float] | None = None,
    control_share: float | None = None,
    guard: Mapping[str, str] | None = None,
    segments: Sequence[str] | None = None,
    context: Iterable[str] | None = None,
    features: Any = None,
    model: str | Model | None = None,
    pooling: str | None = None,
    interactions: str | Iterable[Sequence[str]] | None = None,
    scale: float | None = None,
    expire_after: float | timedelta | None = None,
    expired_reward: float | None = None,
    limits: Limits = LIMITS,
    read_only: bool = False,
    clock: Callable[[], float] | None = None,
) -> Study:
    """The study of that name, created with these settings where there is none.

    `arms` creates; without it the study has to be there. Settings that are given for a study that
    is there have to be those it was created with; those left out are as they were. Up to `last`
    they are an Agent's; drift may go by the study's clock, `belman.Drift(half_life=timedelta(7))`,
    and a change that is noticed is an event in the log. A share of traffic may be kept uniform
    (`uniform_share`) for an honest `replay`. With a `window` (seconds, or a timedelta) a ticket is
    open for so long after its ask and counts when that is over: with the reward that was told last,
    or the sum of all where they `accumulate`; where none was told, as `silence`, or not at all if
    that is None. Until then it counts as much as is known of it: with `early`, which is the default
    where rewards are 0 or 1 and silence is 0, a success that was told counts at once and silence as
    its age says; `early=False` waits for the window. Where a ticket has no single reward, `reward`
    declares one over its metrics: "margin - 0.2*latency". `control` is the arm that the others are
    compared with in `report`, and `stop_when` the rule by which `verdict` says whether to stop;
    with `then="ship"` all traffic then goes to the winner (see `ship`). `floor` is the least share
    of every arm, or of some by name, and `control_share` the share that control always gets.
    `guard` limits means of metrics, {"refund": "< 0.05"}: an arm that crosses one is taken out of
    play. With `segments`, names of what a context tells, arms are believed per segment (see
    `belman.SegmentedAgent`); `context`, `features`, `model`, `pooling`, `interactions` and `scale`
    make one belief for all arms, and are those of a `belman.ContextualAgent`; features that are
    names alone, and no arms, are for candidates that come with every ask. `expire_after` and
    `expired_reward`, which counted rewards at once and silence later, lead to a window. Time is the
    storage's: PostgreSQL's own, and for SQLite that of this machine; a `clock` replaces it.
    `limits` bounds the tickets of one ask, and those that are out. `read_only` opens a copy to look
    at, and refuses every change.

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
    place = storage if isinstance(storage, Storage) else Storage(storage, read_only=read_only)
    check_name(name)
    given: dict[str, Any] = {
        "family": family,
        "policy": policy,
        "prior": prior,
        "priors": priors,
        "range": range,
        "clip": clip,
        "minimise": minimise,
        "discount": discount,
        "drift": drift,
        "last": last,
        "seed": seed,
        "uniform_share": uniform_share,
        "early": early,
        "reward": reward,
        "control": control,
        "stop_when": stop_when,
        "then": then,
        "floor": floor,
        "control_share": control_share,
        "guard": guard,
        "segments": segments,
        "context": None if context is None else list(context),
        "features": features,
        "model": model,
        "pooling": pooling,
        "interactions": None if interactions is None else pairs_of(interactions),
        "scale": scale,
    }
    rule = {"window": window, "silence": silence, "accumulate": accumulate}
    old = {"expire_after": expire_after, "expired_reward": expired_reward}
    leads = _leads_to_a_window(window, expire_after, expired_reward)
    if arms is not None or features is not None:
        arms = arms if arms is None or isinstance(arms, (str, bytes)) else list(arms)
        if name not in place.names():
            chosen = settings(arms, **given, **(leads or rule))
            now = place.now() if clock is None else check_time(clock())
            if create(name, chosen, place, now):
                _warn(leads)
                return Study(name, place, clock=clock, limits=limits)
    study = Study(name, place, clock=clock, limits=limits)
    if study.settings.expire_after is not None:
        _compare(study, arms, {**given, **old}, rule)
    else:
        _compare(study, arms, given, leads or rule)
        _warn(leads)
    return study


def _leads_to_a_window(
    window: object, expire_after: float | timedelta | None, expired_reward: float | None
) -> dict[str, Any]:
    """The window to which the old pair of settings leads, if it was given."""
    seconds = check_seconds(expire_after, "expire_after")
    if expire_after is None and expired_reward is not None:
        remedy = (
            "counts for tickets that expire: give expire_after=… too, or rather window and silence"
        )
        raise SettingError(f"expired_reward={expired_reward!r} {remedy}")
    if window is not None and expire_after is not None:
        both = f"window={window!r} and expire_after={expire_after!r}"
        raise SettingError(f"{both} are two rules for one thing: leave out expire_after")
    if seconds is None:
        return {}
    return {"window": seconds, "silence": expired_reward, "accumulate": False}


def _warn(leads: dict[str, Any]) -> None:
    """Say why the old pair of settings leads to a window."""
    if leads:
        pair = "expire_after and expired_reward lead to"
        rule = f"window={leads['window']!r}, silence={leads['silence']!r}"
        why = (
            "rewards that count at once while silence counts at the end make whatever was shown "
            "lately look too good, so every ticket now counts when its window closes"
        )
        warnings.warn(f"{pair} {rule}: {why}", FutureWarning, stacklevel=3)


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


def create(name: str, chosen: Settings, storage: Storage, now: float) -> bool:
    """Write the first event; False where somebody else was faster."""
    first, _ = Head().joined(Event(1, int(Kind.CREATED), now, body=chosen.to_json()))

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


def _compare(
    study: Study,
    arms: Iterable[Hashable] | None,
    given: dict[str, Any],
    rule: dict[str, Any],
) -> None:
    """Refuse settings that are not those of the study; a window is compared as a whole."""
    there, early = study.settings, given["early"]
    wanted = {name: value for name, value in given.items() if value is not None}
    if rule["window"] is not None or rule["accumulate"] or rule["silence"] not in (0, None):
        wanted |= rule
    if arms is None and not wanted:
        return
    base = {name: getattr(there, name) for name in ("family", "range", "minimise")}
    if early is not None and there.window is not None:
        base |= {name: getattr(there, name) for name in rule}
    for name, needed in (("control_share", "control"), ("then", "stop_when")):
        if name in wanted:
            base[needed] = getattr(there, needed)
    if "last" in wanted and isinstance(there.policy, Forgetting):
        base["policy"] = there.policy.policy
    of_candidates = there.contexts is not None and there.contexts.has_candidates
    if arms is None and not (of_candidates and "features" in wanted):
        arms = there.arms
    asked = settings(arms, **{**base, **wanted})
    meant = {"prior": "family", "drift": "policy", "last": "policy"}
    meant |= dict.fromkeys(NAMES, "contexts")
    if asked.contexts is not None and asked.contexts.agent:
        meant["policy"] = "contexts"
    compared = {meant.get(name, name) for name in wanted}
    if arms is not None:
        compared.add("arms")
    for name in sorted(compared, key=lambda name: (name != "window", name)):
        before, now = getattr(there, name), getattr(asked, name)
        if now != before:
            raise SettingError(
                f"study {study.name!r} was created with {name}={before!r}, and now {now!r} was "
                "given: leave it out, or change the running study "
                "(add_arm, retire_arm, set_exposure, set_policy)"
            )

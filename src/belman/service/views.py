"""What a study shows through the service, as plain data, and changes that need several calls."""

from __future__ import annotations

import itertools
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from belman.errors import SettingError
from belman.exposure import Exposure
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.service.models import dial_of
from belman.service.new_study import NewStudy
from belman.studies import Draw, Event, Kind, Storage, Study, Ticket, open_study
from belman.studies.views.study_report import MOST
from belman.table import Table

_OWN_AFFAIR = ("body", "key", "link")  # of an event, which nobody is shown as they are
MOST_TEXT = 4_000_000  # characters of the bodies of events that one answer holds, or one event


def create(new: NewStudy, storage: Storage) -> Study:
    """The study that a request describes."""
    if "/" in new.name or new.name in (".", ".."):
        allowed = "leave out '/', '.' and '..'"
        raise SettingError(f"name={new.name!r} cannot be part of an address: {allowed}")
    return open_study(new.name, storage=storage, **new.settings())


def status(study: Study) -> dict[str, Any]:
    """Counts of all kinds, and the dial: None where there is none (see `has_exposure`)."""
    return {**study.status(), **dial(study.policy)}


def dial(policy: Policy | DependentPolicy) -> dict[str, Any]:
    """Where the dial of a policy stands, if it has one; along features there is none."""
    given = getattr(policy, "exposure", None) if isinstance(policy, Policy) else None
    at = None if given is None else dial_of(given)
    return {"has_exposure": given is not None, "dial": at}


def set_exposure(study: Study, exposure: Exposure, reason: str, key: str | None = None) -> None:
    """Set the exposure, after a copy of the agent tried it, so that no caller waits."""
    policy = study.policy
    if isinstance(policy, Policy) and hasattr(policy, "exposure"):
        trial = study.agent()
        trial.policy = replace(policy, exposure=exposure)  # type: ignore[call-arg]
        trial.ask()
    study.set_exposure(exposure, reason, key=key)


def ticket(given: Ticket) -> dict[str, Any]:
    """A ticket; what it says of contexts is left out where it says nothing."""
    result = given._asdict()
    optional = ("context", "candidate", "ranking", "chances")
    return {
        name: value for name, value in result.items() if value is not None or name not in optional
    }


def tickets(given: Sequence[Ticket]) -> bytes:
    """The tickets of an ask as JSON; most hold what JSON has, which saves a look at each part."""
    content = {"tickets": [ticket(one) for one in given]}
    try:
        return json.dumps(content, allow_nan=False).encode()
    except ValueError:
        return encoded(content)


def table(look: Callable[..., Table], *arguments: Any) -> bytes:
    """A table as JSON, by columns."""
    result = look(*arguments)
    return encoded({"title": result.title, "columns": result.columns})


def contexts(study: Study) -> bytes:
    """What is known by context as JSON, by columns; nothing where there are no contexts."""
    return encoded({name: result.columns for name, result in study.contexts().items()})


def report(study: Study, level: float, control: str | None, by: str | None) -> bytes:
    """The report as JSON; a control is named as text."""
    arms = {str(arm): arm for arm in study.arms}
    against = None if control is None else arms.get(control, control)
    return encoded(study.report(level, by=by, control=against, most=MOST).to_dict())


def history(study: Study, after: int, limit: int) -> bytes:
    """Lines of the log with names for numbers; what a line does not have is left out. Where they
    are long there are fewer of them, and at least one.
    """
    lines, text = list[Event](), 0
    with closing(study.events(after)) as events:  # type: ignore[type-var]
        for event in itertools.islice(events, limit):
            lines.append(event)
            text += len(event.body or "")
            if text > MOST_TEXT:
                break
    register = study.register
    rows = []
    for event in lines:
        there = {name: value for name, value in event._asdict().items() if value is not None}
        row = {name: value for name, value in there.items() if name not in _OWN_AFFAIR}
        row["kind"] = Kind(event.kind).name.lower()
        row["time"] = datetime.fromtimestamp(event.time, UTC).isoformat()
        if event.arm is not None:
            row["arm"] = register[event.arm]
        if event.draw is not None:
            row["draw"] = Draw(event.draw).name.lower()
        if event.body is not None:
            row["details"] = json.loads(event.body)
        rows.append(row)
    return encoded({"events": rows})


def export(study: Study, ending: str) -> Path:
    """The whole log in a file, which the caller removes."""
    handle, name = tempfile.mkstemp(prefix="belman-", suffix=f".{ending}")
    os.close(handle)
    path = Path(name)
    try:
        study.export(path)
    except BaseException:
        path.unlink()
        raise
    return path


def encoded(content: Any) -> bytes:
    """JSON as it is sent."""
    return json.dumps(jsonable(content), allow_nan=False).encode()


def jsonable(value: Any) -> Any:
    """JSON's view of a value; numbers that JSON lacks become words: inf, -inf, nan."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return value

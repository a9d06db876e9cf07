"""Changes that are safe to send again: under one idempotency key a change is made once."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from belman.errors import SettingError
from belman.studies.log.event_log import Event, Kind

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork


def marked(
    key: str | None, kind: Kind, request: tuple[Any, ...], body: dict[str, Any]
) -> dict[str, Any]:
    """The key and the body of an event, by which the same request is known again."""
    if key is None:
        return {"body": json.dumps(body, ensure_ascii=False)}
    text = json.dumps({**body, "request": _digest(kind, request)}, ensure_ascii=False)
    return {"key": f"{key}/change", "body": text}


def made_before(
    unit: UnitOfWork, key: str | None, kind: Kind, request: tuple[Any, ...]
) -> Event | None:
    """The event of the same change under the same key; SettingError where it was another one."""
    before = None if key is None else unit.log.keyed(f"{key}/change")
    if before is not None and json.loads(before.body or "{}")["request"] != _digest(kind, request):
        raise used_for_another(key, before.kind)
    return before


def used_for_another(key: str | None, kind: int) -> SettingError:
    """What is wrong with a key under which a change of that kind was made."""
    what = Kind(kind).name.lower().replace("_", " ")
    remedy = "and is now given with another: use a new key"
    return SettingError(f"key={key!r} was given with a change before ({what}), {remedy}")


def _digest(kind: Kind, request: tuple[Any, ...]) -> str:
    return hashlib.blake2b(repr((int(kind), *request)).encode(), digest_size=8).hexdigest()

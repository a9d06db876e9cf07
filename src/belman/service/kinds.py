"""What goes wrong, by the names and numbers that service and client share."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from belman import errors
from belman.errors import BelmanError

#: The status of each kind of error; one that is not named here has that of the nearest of its
#: bases.
STATUS: dict[type[BelmanError], int] = {
    errors.UnknownStudyError: 404,
    errors.UnknownTicketError: 404,
    errors.PausedError: 409,
    errors.StudyError: 409,
    errors.TicketError: 409,
    errors.ReplayError: 409,
    errors.StorageError: 503,
    errors.StateError: 500,
    errors.MissingExtraError: 501,
    BelmanError: 422,
}


def status_of(error: BelmanError) -> int:
    """The status of an error of ours."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def kind_of(error: type[BelmanError]) -> str:
    """The name by which a client knows an error.

    >>> kind_of(errors.UnknownTicketError)
    'urn:belman:unknown-ticket'
    """
    return (
        "urn:belman:"
        + "-".join(re.findall("[A-Z][a-z]*", error.__name__.removesuffix("Error"))).lower()
    )


#: Every error of ours by the name on the wire, for the client to raise.
KINDS: dict[str, type[BelmanError]] = {kind_of(kind): kind for kind in STATUS} | {
    kind_of(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, BelmanError)
    and kind is not errors.MissingExtraError
}


def raise_problem(status: int, content: dict[str, Any]) -> NoReturn:
    """Raise what a problem describes, as the study itself would have raised it."""
    kind = KINDS.get(str(content.get("type")), errors.ServiceError)
    raise kind(content.get("detail") or f"the service answered {status}")

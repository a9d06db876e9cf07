"""Errors over HTTP: application/problem+json (RFC 9457), in our words, never a stack trace."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from belman import errors
from belman.errors import BelmanError, problem_type

log = logging.getLogger("belman.service")

MEDIA_TYPE = "application/problem+json"

TITLES = {
    400: "Bad request",
    401: "A key is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible now",
    413: "Too large",
    415: "Not JSON",
    421: "Wrong host",
    422: "Not valid",
    429: "Too many requests",
    500: "Something broke here",
    501: "Not installed here",
    503: "Not available now",
}

#: The status of each kind of error; one not named here has that of the nearest of its bases.
STATUS: dict[type[BelmanError], int] = {
    errors.UnknownStudyError: 404,
    errors.UnknownTicketError: 404,
    errors.PausedError: 409,
    errors.BudgetError: 409,
    errors.StudyError: 409,
    errors.TicketError: 409,
    errors.ReplayError: 409,
    errors.StorageError: 503,
    errors.StateError: 500,
    errors.RestoredError: 409,
    errors.MissingExtraError: 501,
    BelmanError: 422,
}


class RefusedError(HTTPException):
    """A request that is refused before any study hears of it."""


def problem(
    status: int,
    detail: str,
    type: str = "about:blank",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """A response that says what is wrong."""
    title = TITLES.get(status, "Error")
    body = {"type": type, "title": title, "status": status, "detail": printable(detail), **more}
    return Response(json.dumps(body), status, headers, media_type=MEDIA_TYPE)


def status_of(error: BelmanError) -> int:
    """The status of an error of ours."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def problem_of(error: BelmanError) -> Response:
    """The response for an error of ours; a storage's own words stay in the log of the service."""
    status, kind = status_of(error), problem_type(type(error))
    if isinstance(error, errors.StorageError):
        detail = (
            "the storage of this service cannot be used at the moment; "
            "nothing was changed, or the answer was lost: try again"
        )
        return problem(status, detail, kind, {"Retry-After": "1"})
    if status == 500:
        log.error("%s: %s", kind, error)
    distrust = "the state of this study cannot be trusted; the log of the service says more"
    return problem(status, distrust if status == 500 else str(error), kind)


def invalid(result: Sequence[tuple[Sequence[object], str]]) -> Response:
    """The response for a request that its route cannot take: where, and what is wrong there."""
    lines = [
        (printable(".".join(map(str, position))), printable(what)) for position, what in result[:20]
    ]
    listed = [{"where": where, "what": what} for where, what in lines]
    detail = "; ".join(f"{where}: {what}" for where, what in lines) or "not valid"
    return problem(422, detail, errors=listed)


def printable(text: str) -> str:
    """Words without half a character, which a request may hold and a response may not.

    >>> printable("a" + chr(0xD800))
    'a?'
    """
    return text.encode("utf-8", "replace").decode()

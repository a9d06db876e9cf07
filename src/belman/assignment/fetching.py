"""Requests of a local decider: weights by their tag, and batches of outcomes under their key."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

from .refusals import ServiceError, WeightsError
from .transport import Transport

_REFUSED = {400, 409, 413, 422}  # for good; what else goes wrong may go well the next time


class Service:
    """One study of a service. A request is sent once more, since an idle connection may have been
    closed meanwhile; what fails then is a ServiceError, and may go well later.
    """

    def __init__(
        self,
        url: str,
        study: str,
        segment: str | None,
        key: str | None,
        timeout: float,
        signed: bool,
    ) -> None:
        self._transport = Transport(url, key, timeout, retries=1)
        self._path = f"/api/studies/{quote(study, safe='')}"
        query = {"signed": str(signed).lower()} | ({} if segment is None else {"segment": segment})
        self._weights = f"{self._path}/weights?{urlencode(query)}"

    def weights(self, tag: str | None) -> tuple[bytes, str | None] | None:
        """The document that stands and its tag; None where it is the one of this tag."""
        answer = self._transport.send("GET", self._weights, unless=tag)
        if answer.status == 304:
            return None
        _check(answer.status, answer.content)
        return answer.content, answer.tag

    def observe(self, key: str, rows: list[dict[str, Any]]) -> None:
        """Have a batch counted, under its own idempotency key."""
        try:
            answer = self._transport.send("POST", f"{self._path}/observations", {"rows": rows}, key)
        except (TypeError, ValueError) as error:
            raise WeightsError(f"a batch of outcomes is not JSON: {error}") from None
        _check(answer.status, answer.content)

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        self._transport.close()

    def __str__(self) -> str:
        return str(self._transport)


def _check(status: int, content: bytes) -> None:
    if status < 400:
        return
    try:
        words = str(json.loads(content).get("detail"))
    except (ValueError, AttributeError, RecursionError):
        words = f"the service answered {status}"
    raise (WeightsError if status in _REFUSED else ServiceError)(words)

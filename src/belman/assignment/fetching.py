"""Requests of a local decider: weights by their tag, and batches of outcomes under their key."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from .refusals import BelmanError, WeightsError

if TYPE_CHECKING:
    import http.client

_REFUSED = {400, 413, 422}  # for good; what else goes wrong may go well the next time


class UnreachableError(BelmanError, OSError):
    """The service is away, or cannot answer at the moment."""


class Service:
    """One study of a service, over a connection that is opened anew after a failure."""

    def __init__(
        self,
        url: str,
        study: str,
        segment: str | None,
        key: str | None,
        timeout: float,
        signed: bool,
    ) -> None:
        try:
            parts = urlsplit(url)
            self._host, self._port, scheme = parts.hostname, parts.port, parts.scheme
        except (ValueError, AttributeError, TypeError):
            self._host, self._port, scheme = None, None, ""
        if not self._host or scheme not in ("http", "https") or parts.username is not None:
            remedy = "write http://127.0.0.1:8000, without a user or password"
            raise WeightsError(f"this url is no address of a service: {remedy}")
        self._secure, self._timeout = scheme == "https", timeout
        self._path = f"{parts.path.rstrip('/')}/api/studies/{quote(study, safe='')}"
        query = {"signed": str(signed).lower()} | ({} if segment is None else {"segment": segment})
        self._weights = f"{self._path}/weights?{urlencode(query)}"
        self._headers = {"Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connection: http.client.HTTPConnection | None = None

    def weights(self, tag: str | None) -> tuple[bytes, str | None] | None:
        """The document that stands and its tag; None where it is the one of this tag."""
        headers = self._headers if tag is None else {**self._headers, "If-None-Match": tag}
        status, found, content = self._send("GET", self._weights, None, headers)
        if status == 304:
            return None
        _check(status, content)
        return content, found

    def observe(self, key: str, rows: list[dict[str, Any]]) -> None:
        """Have a batch counted, under its own idempotency key."""
        try:
            body = json.dumps({"rows": rows}, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise WeightsError(f"a batch of outcomes is no JSON: {error}") from None
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        path = f"{self._path}/observations"
        status, _, content = self._send("POST", path, body, self._headers | headers)
        _check(status, content)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str | None, bytes]:
        """Status, tag and content; an idle connection that was closed meanwhile is opened anew."""
        from http.client import HTTPException  # here, since it takes longer than all of the rest

        for left in (1, 0):
            fresh = self._connection is None
            connection = self._connection or self._opened()
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                found = answer.status, answer.headers.get("ETag"), answer.read()
            except (OSError, HTTPException) as error:
                connection.close()
                self._connection = None
                if fresh or not left:
                    words = error or type(error).__name__
                    raise UnreachableError(f"{self} cannot be reached: {words}") from None
            else:
                self._connection = connection
                return found
        raise AssertionError("the second attempt returns or raises")

    def _opened(self) -> http.client.HTTPConnection:
        import http.client

        place: Any = {"host": self._host, "port": self._port, "timeout": self._timeout}
        if self._secure:
            import ssl

            return http.client.HTTPSConnection(**place, context=ssl.create_default_context())
        return http.client.HTTPConnection(**place)

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()

    def __str__(self) -> str:
        scheme, usual = ("https", 443) if self._secure else ("http", 80)
        return f"{scheme}://{self._host}:{self._port or usual}"


def _check(status: int, content: bytes) -> None:
    if status < 400:
        return
    try:
        words = str(json.loads(content).get("detail"))
    except (ValueError, AttributeError, RecursionError):
        words = f"the service answered {status}"
    raise (WeightsError if status in _REFUSED else UnreachableError)(words)

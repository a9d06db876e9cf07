"""Requests of the client: JSON over a pool of connections, sent again where a failure may pass."""

from __future__ import annotations

import json
import os
import re
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, quote, urlsplit

from .refusals import STRANGER, ServiceError, SettingError

if TYPE_CHECKING:
    import http.client

_RETRIED = {429, 502, 503, 504}
_READS = {"GET", "HEAD"}
_MAX_WAIT = 5.0
#: Bytes of an answer, but for files; whoever sends more is no service of ours.
LONGEST = 100_000_000


class Answer(NamedTuple):
    """Status, media type and body of an answer, and the tag of this version of it."""

    status: int
    kind: str
    content: bytes
    tag: str | None


class Transport:
    """Sends JSON over a pool of open connections; waits and retries where a failure may pass.

    Every change carries an idempotency key, so that one whose answer was lost is not done twice. A
    connection is used by one thread at a time, in the process that opened it: one that was
    inherited by a fork is closed here and goes on there.
    """

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        parts, port = _address(url)
        if retries < 0 or not timeout > 0.0:
            allowed = "give seconds above 0, and a number from 0 up"
            raise SettingError(f"timeout={timeout!r} and retries={retries!r}: {allowed}")
        if key is not None and not (isinstance(key, str) and key.isascii() and key.isprintable()):
            raise SettingError("this is not a key of a service: those are plain letters and digits")
        self._host, self._port, self._secure = parts.hostname, port, parts.scheme == "https"
        self._path = parts.path.rstrip("/")
        self._key, self._timeout, self._retries = key, timeout, retries
        self._pool: deque[http.client.HTTPConnection] = deque()
        self._process = os.getpid()

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str | None = None,
        unless: str | None = None,
        longest: int | None = LONGEST,
    ) -> Answer:
        """What a route answers, in so many bytes at most; a change carries this key, or one of
        ours, and a read may be for anything but the version of the tag `unless`.
        """
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if method not in _READS:
            headers["Idempotency-Key"] = own_key() if key is None else quote(key, safe="/:")
        if unless is not None:
            headers["If-None-Match"] = unless
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        return self._send(method, path, data, headers, longest)

    def _send(self, *request: Any) -> Answer:
        from http.client import HTTPException  # here, since it takes longer than all of the rest

        wait = 0.05
        for left in reversed(range(self._retries + 1)):
            try:
                answer = self._send_once(*request)
            except ServiceError:
                raise
            except (OSError, HTTPException) as error:
                if not left:
                    words = error or type(error).__name__
                    raise ServiceError(f"{self} cannot be reached: {words}") from error
            else:
                if answer.status not in _RETRIED or not left:
                    return answer
            time.sleep(wait * (0.5 + 0.5 * os.urandom(1)[0] / 255.0))  # not all at the same moment
            wait = min(2.0 * wait, _MAX_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def _send_once(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: dict[str, str],
        longest: int | None,
    ) -> Answer:
        connection = self._connection()
        try:
            connection.request(method, self._path + path, data, headers)
            result = connection.getresponse()
            kind, tag = result.headers.get_content_type(), result.headers.get("ETag")
            content = result.read() if longest is None else result.read(longest + 1)
            if longest is not None and len(content) > longest:
                raise ServiceError(f"{self} answers with more than {longest:,} bytes: {STRANGER}")
            answer = Answer(result.status, kind, content, tag)
        except BaseException:
            connection.close()
            raise
        self._pool.append(connection)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        """An idle one of the pool, or a new one: threads that send at once have one each."""
        if self._process != os.getpid():
            inherited, self._pool = self._pool, deque()
            self._process = os.getpid()  # from now on other threads take what is in the pool
            _close(inherited)
        try:
            return self._pool.pop()
        except IndexError:
            pass
        import http.client

        position: Any = {"host": self._host, "port": self._port, "timeout": self._timeout}
        if self._secure:
            import ssl

            return http.client.HTTPSConnection(**position, context=ssl.create_default_context())
        return http.client.HTTPConnection(**position)

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens a new one."""
        _close(self._pool)

    def __str__(self) -> str:
        scheme, usual = ("https", 443) if self._secure else ("http", 80)
        return f"{scheme}://{self._host}:{self._port or usual}{self._path}"


def _close(pool: deque[http.client.HTTPConnection]) -> None:
    while pool:
        pool.pop().close()


def own_key() -> str:
    """An idempotency key that nobody else has.

    It begins with the time, so that keys of one moment are neighbours in the index of a log: a
    commit writes few pages of that, and not one for every key.
    """
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


def _address(url: str) -> tuple[SplitResult, int | None]:
    """The parts of an address; one that is none is shown without what may be a password."""
    try:
        parts = urlsplit(url)
        port = parts.port
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except (TypeError, ValueError, AttributeError):
        known = False
    if not known:
        shown = re.sub(r"[^/]*@", "***@", url) if isinstance(url, str) else url
        remedy = "write http://127.0.0.1:8000, with a port from 0 to 65535"
        raise SettingError(f"url={shown!r} is not an address of a service: {remedy}")
    if parts.username is not None or parts.password is not None:
        remedy = "a service is opened by a key: Client(url, key)"
        raise SettingError(f"the url of {parts.hostname!r} holds a user or password, and {remedy}")
    return parts, port

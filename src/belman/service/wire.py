"""Requests of a client: on connections that are kept, and sent again where that is safe."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
from collections import deque
from typing import Any
from urllib.parse import urlsplit

from belman.errors import ServiceError, SettingError

_AGAIN = {429, 502, 503, 504}
_LONGEST_WAIT = 5.0


class Wire:
    """Sends JSON to a service and gives its answer; after a failure that may pass it waits, longer
    each time, and tries again.
    """

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError(
                f"url={url!r} is no address of a service: write http://127.0.0.1:8000"
            )
        if retries < 0 or not timeout > 0.0:
            raise SettingError(
                f"timeout={timeout!r} and retries={retries!r}: give seconds above 0, and a number from 0 up"
            )
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._path = parts.path.rstrip("/")
        self._key, self._timeout, self._retries = key, timeout, retries
        self._idle: deque[http.client.HTTPConnection] = deque()

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, str, bytes]:
        """Status, media type and body of the answer."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        wait = 0.05
        for left in reversed(range(self._retries + 1)):
            try:
                status, kind, answer = self._once(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                if not left:
                    raise ServiceError(
                        f"{self} cannot be reached: {error or type(error).__name__}"
                    ) from error
            else:
                if status not in _AGAIN or not left:
                    return status, kind, answer
            time.sleep(wait * random.uniform(0.5, 1.0))  # nothing that is decided depends on it
            wait = min(2.0 * wait, _LONGEST_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, path: str, data: bytes | None) -> tuple[int, str, bytes]:
        connection = self._connection()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request(method, self._path + path, data, headers)
            response = connection.getresponse()
            answer = response.status, response.headers.get_content_type(), response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        """One that nobody uses, or a new one; threads that send at the same time have one each."""
        try:
            return self._idle.pop()
        except IndexError:
            pass
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens a new one."""
        while self._idle:
            self._idle.pop().close()

    def __str__(self) -> str:
        return f"{'https' if self._secure else 'http'}://{self._host}:{self._port or (443 if self._secure else 80)}{self._path}"

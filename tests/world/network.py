"""A network that loses, delays, repeats and reorders what the real transport of a client sends."""

from __future__ import annotations

from collections.abc import Callable
from email.message import Message
from typing import Any, NamedTuple

from belman.assignment.transport import Transport

URL = "http://localhost"
#: What may become of a request: it arrives, or it does not, or its answer does not, or it arrives
#: twice, or only when its sender has given it up, or another server says that it cannot be passed
#: on.
FATES = ("ok", "lost", "unanswered", "twice", "late", "refused")


class Request(NamedTuple):
    """A request on its way."""

    method: str
    target: str
    body: bytes
    headers: dict[str, str]


class SimulatedConnection:
    """A connection of the client, whose answers come from the world."""

    def __init__(self, exchange: Callable[[Request], tuple[int, dict[str, str], bytes]]) -> None:
        self._exchange = exchange

    def request(self, method: str, target: str, body: bytes | None, headers: Any) -> None:
        self._request = Request(method, target, body or b"", dict(headers))

    def getresponse(self) -> SimulatedConnection:
        self.status, headers, self._content = self._exchange(self._request)
        self.headers = Message()
        for name, value in headers.items():
            self.headers[name] = value
        return self

    def read(self, most: int | None = None) -> bytes:
        return self._content[:most]

    def close(self) -> None:
        pass


class SimulatedTransport(Transport):
    """The transport of a client, on simulated connections."""

    def __init__(self, exchange: Callable[[Request], Any], retries: int = 3) -> None:
        super().__init__(URL, None, 10.0, retries)
        self._exchange = exchange

    def _connection(self) -> Any:
        return SimulatedConnection(self._exchange)

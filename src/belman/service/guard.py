"""The guard of a connection: requests come whole, in time and of a size, or the line is cut.

A server for HTTP has to wait for what a request lacks. This one waits for a limited time and
number of bytes, counts connections, and closes those of callers who do not read their answers. It
knows where requests begin and end by the callbacks of httptools' parser, which uvicorn's protocol
answers.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from belman.service.limits import Limits
from belman.service.problems import problem

SPARE_FILES = 100  # descriptors that are left to the storage and to the rest


def guarded(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol for uvicorn's `http` setting that holds connections to these limits."""
    return type("GuardedProtocol", (_Guard,), {"limits": limits, "room": _room(limits)})


def _room(limits: Limits) -> int:
    """How many connections there may be: never more than the process may have files open."""
    try:
        import resource
    except ImportError:  # Windows counts none
        return limits.max_connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unbounded = files == resource.RLIM_INFINITY
    most = limits.max_connections
    return most if unbounded else min(most, max(files - SPARE_FILES, 1))


class _Guard(HttpToolsProtocol):
    limits: Limits
    room: int

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None  # for the whole request
        self._stall: asyncio.TimerHandle | None = None  # for a caller who does not read
        self._begun = False  # whether a request has begun that has not ended
        self._body_came = False
        self._counted = 0  # bytes of this request that are no body

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.room:
            self._refuse(503, f"{self.room:,} connections are open here: try again later")
        else:
            self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        whole = self._begun  # whether all of these bytes are of the request that has begun
        self._begun, self._body_came = True, False
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._begun:
            self._cancel_deadline()
            return
        if whole and not self._body_came:
            self._count(len(data))
        if self._deadline is None:
            self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(self.limits.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        super().resume_writing()

    # The parser

    def on_message_begin(self) -> None:
        self._begun = True
        self._counted = 0
        self._cancel_deadline()  # of what came before; this request has a time of its own
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self.limits.max_header:
            self._refuse_header()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_came = True
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._begun = False
        if not self.transport.is_closing():
            super().on_message_complete()

    # Limits

    def _count(self, size: int) -> None:
        self._counted += size
        if self._counted > self.limits.max_header:
            self._refuse_header()

    def _refuse_header(self) -> None:
        self._refuse(431, f"the header is too large: it may have {self.limits.max_header:,} bytes")

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.limits.request_seconds, self._too_late)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        seconds = f"{self.limits.request_seconds:g}"
        self._refuse(408, f"the request did not come whole within {seconds} seconds")

    def _refuse(self, status: int, detail: str) -> None:
        """Say why, unless another answer is under way, and hang up."""
        if self.transport.is_closing():
            return
        if self._is_quiet():
            response = problem(status, detail)
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
            lines += [name + b": " + value for name, value in response.raw_headers]
            head = b"\r\n".join([*lines, b"connection: close", b"", b""])
            self.transport.write(head + bytes(response.body))
        self.transport.close()

    def _is_quiet(self) -> bool:
        """Whether no answer has begun on this connection that has not ended."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or not cycle.response_started

"""Listening: a service on an address, loopback unless told otherwise, that stops without dropping
anybody.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

from belman.errors import ServiceError, SettingError, needing
from belman.service.gate import LOOPBACK
from belman.service.keys import Keys
from belman.service.shelf import Shelf
from belman.studies import Storage

with needing("a service", "service", "uvicorn"):
    import uvicorn

GRACE_SECONDS = 10


def needs_keys(host: str, storage: Storage) -> bool:
    """Whether requests to this host need keys; raises SettingError where they do and there is none."""
    if host in LOOPBACK:
        return False
    if not any(key.revoked is None for key in Keys(storage).all()):
        raise SettingError(
            f"host={host!r} can be reached from elsewhere, and there is no key that guards it: make one first, "
            f"belman key add NAME --role admin --storage {storage}"
        )
    return True


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes one that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        raise ServiceError(f"cannot listen on {host} port {port}: {error}") from None
    return listening


def serve(
    app: Any,
    listening: socket.socket,
    *,
    quiet: bool = False,
    ready: Callable[[], None] | None = None,
) -> None:
    """Answer until SIGINT or SIGTERM; then finish what is under way, and stop."""
    config = uvicorn.Config(
        app,
        log_level="warning" if quiet else "info",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
    )
    _Server(config, app.state.shelf, ready).run([listening])


class _Server(uvicorn.Server):
    """A server that tells the pages which watch it that it stops, and somebody that it began."""

    def __init__(
        self, config: uvicorn.Config, shelf: Shelf, ready: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._shelf, self._ready = shelf, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None and self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop once what is under way is done, or at once at a second SIGINT; the process ends well
        then, not by a signal.
        """
        self._shelf.stopping.set()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

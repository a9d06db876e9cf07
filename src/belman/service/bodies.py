"""The body of a request, for routes that read it themselves."""

from __future__ import annotations

from starlette.requests import ClientDisconnect
from starlette.types import Receive


async def body_of(receive: Receive) -> bytes:
    """The whole body of a request."""
    pieces, more = list[bytes](), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)

"""Requests of many callers at once, as bytes: the client sends one after another."""

from __future__ import annotations

import json
from typing import Any

from belman.assignment.messages import tickets_in
from tests.world.notes import Call


def request(call: Call, path: str, header: dict[str, str]) -> tuple[str, str, bytes, Any]:
    """A call as it goes to a service."""
    if call.method == "ask":
        body: dict[str, Any] = {"tickets": call.arguments[0], **call.named}
    else:
        body = {"ticket": call.arguments[0], "reward": call.arguments[1]}
    own = {} if not call.key else {"idempotency-key": call.key}
    return "POST", f"{path}/{call.method}", json.dumps(body).encode(), header | own


def parsed(call: Call, body: bytes) -> Any:
    """What the client would give of an answer."""
    result = json.loads(body)
    return tickets_in(result) if call.method == "ask" else result["news"]

"""A saved state that an attack changes: its content, how it is signed, loaded and taken again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from belman.deciders import state_file


class Sample(NamedTuple):
    """A saved state: its content without checksums, how that is signed, loaded and taken again."""

    name: str
    content: dict[str, Any]
    signed: Callable[[dict[str, Any]], str]
    load: Callable[[str], Any]
    content_of: Callable[[Any], dict[str, Any]]


def signed(content: dict[str, Any]) -> str:
    """The text of a state file with this content."""
    body = {name: value for name, value in content.items() if name != "checksum"}
    return json.dumps(body | {"checksum": state_file._checksum(body)}, ensure_ascii=False)


def content_of(text: str) -> dict[str, Any]:
    """The content of a state file."""
    content: dict[str, Any] = json.loads(text)
    content.pop("checksum")
    return content

"""Which agent a setting asks for: with features, in contexts, by segments, or over a box."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

# By name: the rooms of some stand below this one, and are imported when they are asked for.
_KINDS = {
    "space": ("belman.continuous", "BoxAgent"),
    "segments": ("belman.segments", "SegmentedAgent"),
    "features": ("belman.agent.contextual", "ContextualAgent"),
    "context": ("belman.agent.contextual", "ContextualAgent"),
}


def kind_for(settings: Iterable[str]) -> Any:
    """The class of the agent that takes these settings, or None for that of independent arms.

    >>> kind_for({"segments": ("country",), "seed": 7}).__name__
    'SegmentedAgent'
    """
    for name, (room, kind) in _KINDS.items():
        if name in settings:
            return getattr(importlib.import_module(room), kind)
    return None

"""Which agent a setting asks for: with features, in contexts, by segments, or over a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from belman.agent.contextual import ContextualAgent

#: By the setting that asks for it, what gives the class of an agent. Rooms below this one are not
#: known here: the package, which knows all rooms, offers their agents.
_KINDS: dict[str, Callable[[], Any]] = dict.fromkeys(
    ("features", "context"), lambda: ContextualAgent
)


def offer(setting: str, kind: Callable[[], Any]) -> None:
    """Let `Agent(…)` with this setting be an agent of the class that `kind` gives."""
    _KINDS[setting] = kind


def kind_for(settings: Iterable[str]) -> Any:
    """The class of the agent that takes these settings, or None for that of independent arms.

    >>> kind_for({"context": ["country"], "seed": 7}).__name__
    'ContextualAgent'
    """
    for setting, kind in _KINDS.items():
        if setting in settings:
            return kind()
    return None

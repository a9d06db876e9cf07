"""Which agent is meant: with features, in contexts, by segments, or over a box.

`Agent(…)` is the one door: a setting asks for another class, and a file says which wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from belman.agent.contextual import ContextualAgent
from belman.agent.contextual.saving import FORMAT

#: By the setting that asks for it, and by the format of its files, what gives the class of an
#: agent. Rooms below this one are not known here: the package, which knows all rooms, offers
#: their agents.
_KINDS: dict[str, Callable[[], Any]] = dict.fromkeys(
    ("features", "context"), lambda: ContextualAgent
)
_WRITERS: dict[str, Callable[[], Any]] = {FORMAT: lambda: ContextualAgent}


def offer(setting: str, written: str, kind: Callable[[], Any]) -> None:
    """Let `Agent(…)` with this setting, and `Agent.load` of a file of this format, be an agent of
    the class that `kind` gives.
    """
    _KINDS[setting] = _WRITERS[written] = kind


def kind_for(settings: Iterable[str]) -> Any:
    """The class of the agent that takes these settings, or None for that of independent arms.

    >>> kind_for({"context": ["country"], "seed": 7}).__name__
    'ContextualAgent'
    """
    for setting, kind in _KINDS.items():
        if setting in settings:
            return kind()
    return None


def writer_of(text: str) -> Any:
    """The class of the agent that wrote a state file, or None for that of independent arms."""
    first = re.match(r'\s*\{\s*"format":\s*"([^"]*)"', text) if isinstance(text, str) else None
    kind = _WRITERS.get(first[1]) if first else None
    return None if kind is None else kind()

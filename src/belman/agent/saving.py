"""An agent to its text and back: all that the next turn needs, so that it goes on where it was."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from belman import spec
from belman.agent import state_file
from belman.engine import named_leaves
from belman.errors import BelmanError, StateError
from belman.families import Family
from belman.measures.stop_rules import StopRule
from belman.policies import Ledger, Policy
from belman.version import __version__

if TYPE_CHECKING:
    from belman.agent.agent import Agent


def to_text(agent: Agent) -> str:
    """The whole state as text."""
    return state_file.write(
        {
            "belman": __version__,
            "arms": [state_file.encode_arm(arm) for arm in agent._arms],
            "family": _described(agent._scale.base),
            "policy": _described(agent._policy),
            "range": agent._scale.range,
            "minimise": agent._scale.minimise,
            "discount": agent._discount,
            **_verdict_settings(agent),
            "told": agent._told,
            "tells": agent._tells,
            "pending": agent._pending,
            "stale": agent._stale[: agent._stale[0] + 1],
            "priors": agent._priors,
            "truth": agent._truth,
            "working": agent._working,
            "memory": _lasting(agent._memory),
            "mind": [int(word) for word in agent._mind],
        }
    )


def _verdict_settings(agent: Agent) -> dict[str, Any]:
    """The place of control and the rule to stop by, where there are any."""
    found: dict[str, Any] = {}
    if agent._control is not None:
        found["control"] = agent._places[agent._control]
    if agent._stop_when is not None:
        found["stop_when"] = spec.describe(agent._stop_when)
    return found


def _lasting(memory: Any) -> dict[str, Any]:
    """The arrays of a memory by name, without scratch, which holds nothing from turn to turn."""
    parts = named_leaves(memory)
    return {name: part for name, part in parts if not name.endswith("scratch")}


def _described(part: Family | Policy) -> dict[str, Any] | None:
    """A part's description, or None for one that is to be given again when loading."""
    try:
        return spec.describe(part)
    except BelmanError:
        return None


def _part(content: dict[str, Any], kind: Any, name: str, source: str) -> Any:
    try:
        return spec.build(content[name], kind, trust="imported")
    except BelmanError as error:
        words = f"{error} (or give it again, load(path, {name}=…))"
        raise StateError(f"{source} does not hold a whole agent: {words}") from None


def from_text(
    kind: type[Agent],
    text: str,
    source: str,
    arms: Sequence[Hashable] | None,
    family: Family | None,
    policy: Policy | None,
) -> Agent:
    """The agent of a text that `to_text` gave; arms, family and policy replace what it holds."""
    content = state_file.read(text, source)
    for part, given in (("family", family), ("policy", policy)):
        if content.get(part) is None and given is None:
            remedy = f"give it again, load(path, {part}=…)"
            raise StateError(f"{source} could not hold its {part}: {remedy}")
    return state_file.trusted(lambda: _rebuilt(kind, content, source, arms, family, policy), source)


def _rebuilt(
    kind: type[Agent],
    content: dict[str, Any],
    source: str,
    arms: Sequence[Hashable] | None,
    family: Family | None,
    policy: Policy | None,
) -> Agent:
    saved = content["arms"]
    names = [state_file.decode_arm(arm, source) for arm in saved] if arms is None else list(arms)
    if len(names) != len(saved):
        raise StateError(f"{source} has {len(saved)} arms, and {len(names)} were given")
    law = _part(content, Family, "family", source) if family is None else family
    who = _part(content, Policy, "policy", source) if policy is None else policy
    ends = tuple(content["range"]) if content["range"] else None
    scale: dict[str, Any] = {"range": ends, "minimise": content["minimise"]}
    agent = kind(names, law, who, **scale, discount=content["discount"], seed=0)
    if "control" in content:
        agent.control = names[content["control"]]
    if "stop_when" in content:
        agent.stop_when = spec.build(content["stop_when"], StopRule, trust="imported")
    agent._told = int(content["told"])
    agent._tells[:] = content["tells"]
    agent._priors[:] = state_file.floats(content["priors"])
    agent._mind[:] = np.array(content["mind"], dtype=np.uint64)
    for name in Ledger._fields:
        getattr(agent._truth, name)[:] = state_file.floats(content["truth"][name])
    agent._pending[:] = content["pending"]
    agent._waiting = int(agent._pending.sum())
    if policy is None:
        agent._stale[: len(content["stale"])] = content["stale"]
        for name in Ledger._fields:
            getattr(agent._working, name)[:] = state_file.floats(content["working"][name])
        for name, part in _lasting(agent._memory).items():
            part[:] = state_file.floats(content["memory"][name])
    else:
        agent._reseat()
    return agent

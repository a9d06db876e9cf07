"""An agent to its text and back: its decider, its random words, and its open asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from belman import spec
from belman.deciders import Choice, Decider, Draw, checks, decider_named, state_file
from belman.errors import BelmanError, StateError
from belman.measures.stop_rules import StopRule
from belman.version import __version__

if TYPE_CHECKING:
    from belman.agent.agent import Agent


#: What may be given in place of what a file holds, by the kind of its decider.
_REPLACED = {
    "independent": {"arms", "family", "policy"},
    "segmented": {"family", "policy"},
    "featured": {"policy"},
    "box": set(),
}


def to_text(agent: Agent) -> str:
    """Return the whole state as text."""
    return state_file.write(_content(agent))


def _content(agent: Agent) -> dict[str, Any]:
    decider, control, rule = agent._decider, agent._control, agent._stop_when
    asks = agent._asks
    return {
        "belman": __version__,
        "decider": decider.kind,
        "state": decider.state(working=True),
        "rng": [int(word) for word in decider.rng],
        "control": None if control is None else decider.arms.index(control),
        "stop_when": None if rule is None else spec.describe(rule),
        "tickets": None if asks is None else asks.given,
        "open": []
        if asks is None
        else [
            [ticket, _arm(choice), choice.turn, choice.context, choice.candidate]
            for ticket, choice in asks.open.items()
        ],
    }


def _arm(choice: Choice) -> Any:
    return choice.arm if choice.candidate is not None else state_file.encode_arm(choice.arm)


def from_text(kind: type[Agent], text: str, source: str, replaced: dict[str, Any]) -> Agent:
    """Return the agent of a text that `to_text` gave; arms, family and policy may be replaced."""
    content = state_file.read(text, source)
    return state_file.trusted(lambda: _rebuilt(kind, content, source, replaced), source)


def _rebuilt(
    kind: type[Agent], content: dict[str, Any], source: str, replaced: dict[str, Any]
) -> Agent:
    kind_of = decider_named(content["decider"])
    for name in replaced.keys() - _REPLACED[kind_of.kind]:
        raise StateError(f"{name}=… replaces nothing in the state of this agent")
    decider: Any = kind_of.restore(content["state"], source, **replaced)
    agent = kind.__new__(kind)
    agent._begin(decider, checks.words(content["rng"]))
    if content["control"] is not None:
        place = checks.whole(content["control"], "control", 0, len(decider.arms) - 1)
        agent.control = decider.arms[place]
    if content["stop_when"] is not None:
        agent.stop_when = spec.build(content["stop_when"], StopRule, trust="imported")
    if agent._asks is not None:
        agent._asks.given = checks.whole(content["tickets"], "tickets")
        for ticket, arm, turn, context, candidate in content["open"]:
            checks.whole(ticket, "ticket", 0, agent._asks.given - 1)
            chosen = arm if candidate is not None else state_file.decode_arm(arm, source)
            choice = decider.recall(chosen, context, candidate)
            decider.check_room(decider.check(context, candidate and [candidate]))
            asked = choice._replace(turn=checks.whole(turn, "turn", 1), draw=Draw.POLICY)
            agent._asks.open[ticket] = asked
        _check_open(decider, agent._asks.open.values(), source)
    again = _content(agent)
    for part, whole in (
        (content, {*again, "format", "version"}),
        (content["state"], again["state"]),
    ):
        if part.keys() != set(whole):
            names = ", ".join(sorted(part.keys() ^ set(whole)))
            raise StateError(f"parts are missing, or too many: {names[:80]}")
    apart = ("format", "version", "belman", "state", "stop_when", "rng")
    kept = {name: part for name, part in again.items() if name not in apart}
    state_file.check_kept({name: content[name] for name in kept}, kept)
    return agent


def _check_open(decider: Decider, choices: Iterable[Choice], source: str) -> None:
    """Refuse open asks that are not those which the decider waits for."""
    trial: Any = decider.copy()
    try:
        for choice in choices:
            trial.settle(choice, None)
        waits = any(trial.outstanding.values()) or any(
            learnt.pending for learnt in trial.retired.values()
        )
    except BelmanError:
        waits = True
    if waits:
        raise StateError(f"{source} waits for other rewards than those of its open asks")

"""The open asks of an agent, and the agent as text and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from belman import codec, spec
from belman.agent.features import Features, Functions
from belman.deciders import Choice, Decider, Draw, checks, decider_named, state_file, validate
from belman.errors import BelmanError, StateError, TicketError, UnknownTicketError
from belman.measures.stop_rules import StopRule
from belman.version import __version__

if TYPE_CHECKING:
    from belman.agent.agent import Agent

#: Asks whose reward may come; older ones are forgotten.
MOST_OPEN = 10_000


class OpenAsks:
    """Tickets are 0, 1, …; the oldest asks are forgotten when there are too many."""

    def __init__(self) -> None:
        self.given = 0
        self.open: dict[int, Choice] = {}

    def add(self, choice: Choice) -> Choice | None:
        """Give the next ticket to an ask; return the ask that is forgotten for it, if any."""
        self.open[self.given] = choice
        self.given += 1
        return self.open.pop(next(iter(self.open))) if len(self.open) > MOST_OPEN else None

    def of(self, arm: Any, context: Any = None) -> Iterator[int]:
        """Yield the tickets of an arm's open asks, oldest first; in a context if one is given."""
        for ticket, choice in self.open.items():
            here = context is None or choice.context == context
            if here and (choice.arm is arm or validate.is_among(arm, [choice.arm])):
                yield ticket

    def find(self, ticket: Any, arm: Any = None) -> Choice:
        """Return the ask of a ticket, which was for this arm if one is named."""
        is_one = isinstance(ticket, int) and not isinstance(ticket, bool)
        found = self.open.get(ticket) if is_one else None
        if found is None:
            raise UnknownTicketError(f"ticket {ticket!r} is not open: it was told, or never given")
        if arm is not None and found.arm is not arm and not validate.is_among(arm, [found.arm]):
            raise TicketError(f"ticket {ticket!r} was for arm {found.arm!r}, not {arm!r}")
        return found


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
        "functions": agent._functions.names(),
        "tickets": None if asks is None else asks.given,
        "open": []
        if asks is None
        else [
            [ticket, _arm(choice), choice.turn, choice.context, choice.candidate]
            for ticket, choice in asks.open.items()
        ],
    }


def _arm(choice: Choice) -> Any:
    return choice.arm if choice.candidate is not None else codec.encode_arm(choice.arm)


def from_text(kind: type[Agent], text: str, source: str, replaced: dict[str, Any]) -> Agent:
    """Return the agent of a text that `to_text` gave; arms, family and policy may be replaced."""
    content = state_file.read(text, source)
    return state_file.trusted(lambda: _rebuilt(kind, content, source, replaced), source)


def _rebuilt(
    kind: type[Agent], content: dict[str, Any], source: str, replaced: dict[str, Any]
) -> Agent:
    kind_of = decider_named(content["decider"])
    given: dict[str, Any] = {
        name: replaced.pop(name) for name in ("context", "features") if name in replaced
    }
    for name in replaced.keys() - _REPLACED[kind_of.kind]:
        raise StateError(f"{name}=… replaces nothing in the state of this agent")
    decider: Any = kind_of.restore(content["state"], source, **replaced)
    agent = kind.__new__(kind)
    functions = _functions(content["functions"], given, decider, source)
    agent._begin(decider, checks.words(content["rng"]), functions)
    if content["control"] is not None:
        place = checks.whole(content["control"], "control", 0, len(decider.arms) - 1)
        agent.control = decider.arms[place]
    if content["stop_when"] is not None:
        agent.stop_when = spec.build(content["stop_when"], StopRule, trust="imported")
    if agent._asks is not None:
        agent._asks.given = checks.whole(content["tickets"], "tickets")
        for ticket, arm, turn, context, candidate in content["open"]:
            checks.whole(ticket, "ticket", 0, agent._asks.given - 1)
            chosen = arm if candidate is not None else codec.decode_arm(arm)
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
    apart = ("format", "version", "belman", "state", "stop_when", "functions", "rng")
    kept = {name: part for name, part in again.items() if name not in apart}
    state_file.check_kept({name: content[name] for name in kept}, kept)
    return agent


def _functions(
    known: Mapping[str, str], given: dict[str, Any], decider: Any, source: str
) -> Functions:
    """Return the functions that contexts and candidates go through: a file has their names alone,
    and they are given again.
    """
    for name in given.keys() - known.keys():
        raise StateError(f"{name}=… replaces nothing in the state of this agent")
    for name in known.keys() - given.keys():
        what = {"context": "contexts", "features": "candidates"}[name]
        remedy = f"give that function, or model, again: load(…, {name}=…)"
        words = f"has {what} that go through {known[name]}, which no file can hold"
        raise StateError(f"{source} {words}: {remedy}")
    names = {"context": "context_names", "features": "feature_names"}
    return Functions(
        **{
            name: Features(getattr(one, "function", one), getattr(decider, names[name]))
            for name, one in given.items()
        }
    )


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

"""The open asks of an agent, and the agent as text and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from belman import codec, spec
from belman.agent.features import Features, Functions
from belman.codec import Count, Whole
from belman.deciders import Choice, Decider, decider_named, state_file, validate
from belman.deciders.checks import Words
from belman.errors import BelmanError, StateError, TicketError, UnknownTicketError
from belman.measures.stop_rules import StopRule

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
            if _is_same(arm, choice.arm) and (context is None or choice.context == context):
                yield ticket

    def find(self, ticket: Any, arm: Any = None) -> Choice:
        """Return the ask of a ticket, which was for this arm if one is named."""
        is_one = isinstance(ticket, int) and not isinstance(ticket, bool)
        result = self.open.get(ticket) if is_one else None
        if result is None:
            raise UnknownTicketError(f"ticket {ticket!r} is not open: it was told, or never given")
        if arm is not None and not _is_same(arm, result.arm):
            raise TicketError(f"ticket {ticket!r} was for arm {result.arm!r}, not {arm!r}")
        return result


def _is_same(arm: Any, chosen: Any) -> bool:
    """Whether this names what was chosen: an arm, or a point of a box."""
    if isinstance(chosen, dict):
        named = isinstance(arm, Mapping) and arm.keys() == chosen.keys()
        return named and all(validate.is_among(arm[name], [at]) for name, at in chosen.items())
    return chosen is arm or validate.is_among(arm, [chosen])


#: What may be given in place of what a file holds, by the kind of its decider.
_REPLACED = {
    "independent": {"arms", "family", "policy"},
    "segmented": {"family", "policy"},
    "featured": {"policy"},
    "box": set(),
}


def _write_chosen(arm: Any) -> Any:
    return {"point": arm} if isinstance(arm, dict) else codec.encode_arm(arm)


def _read_chosen(content: Any, scope: codec.Scope) -> Any:
    if isinstance(content, dict) and "point" in content:
        return codec.read(dict[str, float], content["point"], scope)
    return codec.decode_arm(content)


#: An arm, a place of a candidate, or a point of a box.
Chosen = Annotated[Any, codec.Form(_write_chosen, _read_chosen)]


class KeptAsk(NamedTuple):
    """An open ask, by its ticket."""

    ticket: Count
    arm: Chosen
    turn: Annotated[int, Whole(1)]
    context: dict[str, Any] | None
    candidate: dict[str, Any] | None


@dataclass(frozen=True)
class Kept:
    """All that an agent keeps: the kind of its decider and that one's state, control by its place,
    names of functions, how many tickets were given, and the open asks.
    """

    decider: str
    state: Any
    rng: Words
    control: Count | None
    stop_when: dict[str, Any] | None
    functions: dict[str, str]
    tickets: Count | None
    open: list[KeptAsk]


def to_text(agent: Agent) -> str:
    """Return the whole state as text."""
    return state_file.write(_content(agent))


def _content(agent: Agent) -> dict[str, Any]:
    decider, control, rule = agent._decider, agent._control, agent._stop_when
    asks = agent._asks
    kept = Kept(
        decider=decider.kind,
        state=decider.state(working=True),
        rng=decider.rng,
        control=None if control is None else decider.arms.index(control),
        stop_when=None if rule is None else spec.describe(rule),
        functions=agent._functions.names(),
        tickets=None if asks is None else asks.given,
        open=[
            KeptAsk(ticket, one.arm, one.turn, one.context, one.candidate)
            for ticket, one in (asks.open.items() if asks is not None else ())
        ],
    )
    return codec.write(kept)


def from_text(kind: type[Agent], text: str, source: str, replaced: dict[str, Any]) -> Agent:
    """Return the agent of a text that `to_text` gave; arms, family and policy may be replaced."""
    content = state_file.read(text, source)
    return state_file.trusted(lambda: _rebuilt(kind, content, source, replaced), source)


def _rebuilt(
    kind: type[Agent], content: dict[str, Any], source: str, replaced: dict[str, Any]
) -> Agent:
    kept = codec.read(Kept, content, {})
    kind_of = decider_named(kept.decider)
    given: dict[str, Any] = {
        name: replaced.pop(name) for name in ("context", "features") if name in replaced
    }
    for name in replaced.keys() - _REPLACED[kind_of.kind]:
        raise StateError(f"{name}=… replaces nothing in the state of this agent")
    decider: Any = kind_of.restore(kept.state, source, **replaced)
    agent = kind.__new__(kind)
    agent._begin(decider, kept.rng, _functions(kept.functions, given, decider, source))
    if kept.control is not None:
        agent.control = decider.arms[kept.control]
    if kept.stop_when is not None:
        agent.stop_when = spec.build(kept.stop_when, StopRule, trust="imported")
    if agent._asks is not None and kept.tickets is not None:
        agent._asks.given = kept.tickets
        for ticket, arm, turn, context, candidate in kept.open:
            if ticket >= kept.tickets:
                raise StateError(f"ticket {ticket} was never given")
            choice = decider.recall(arm, context, candidate)
            decider.check_room(decider.check(context, candidate and [candidate]))
            agent._asks.open[ticket] = choice._replace(turn=turn)
        _check_open(decider, agent._asks.open.values(), source)
    anew = ("state", "stop_when", "functions", "rng")
    state_file.check_kept(content, _content(agent), anew)
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

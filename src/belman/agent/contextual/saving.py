"""A contextual agent to its text and back, exact, and checked before a kernel sees any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from belman import spec
from belman.agent import checks, state_file
from belman.agent.contextual.open_asks import Asked
from belman.agent.contextual.slots import Slots
from belman.errors import StateError
from belman.models import Belief, Model
from belman.policies.dependent import DependentPolicy
from belman.version import __version__

if TYPE_CHECKING:
    from belman.agent.contextual.agent import ContextualAgent

FORMAT = "belman contextual agent"
_LARGEST = 1e150  # of numbers in beliefs


def to_text(agent: ContextualAgent) -> str:
    """The whole state as text."""
    belief = agent._learnt.belief
    return state_file.write(
        {
            "belman": __version__,
            "arms": [state_file.encode_arm(arm) for arm in agent._arms],
            "model": spec.describe(agent._model),
            "policy": spec.describe(agent._policy),
            "pooling": agent._pooling,
            "scale": agent._scale,
            "minimise": agent._minimise,
            "interactions": [list(pair) for pair in agent._learnt.columns.interactions],
            "context": agent._learnt.context.plain(),
            "features": agent._learnt.features.plain(),
            "rows": agent._rows,
            "columns": [list(column) for column in agent._learnt.columns.columns],
            "belief": {name: part for name, part in belief._asdict().items() if name != "scratch"},
            "told": agent._told,
            "tells": agent._tells,
            "tickets": agent._asks.given,
            "open": [
                [ticket, _arm(asked.arm, asked.candidate), asked.candidate, asked.context]
                for ticket, asked in agent._asks.open.items()
            ],
            "mind": [int(word) for word in agent._mind],
        },
        FORMAT,
    )


def _arm(arm: Any, candidate: Any) -> Any:
    return arm if candidate is not None else state_file.encode_arm(arm)


def from_text(kind: type[ContextualAgent], text: str, source: str) -> ContextualAgent:
    """The agent of a text that `to_text` gave."""
    content = state_file.read(text, source, FORMAT)
    return state_file.trusted(lambda: _rebuilt(kind, content, source), source, FORMAT)


def _rebuilt(kind: type[ContextualAgent], content: dict[str, Any], source: str) -> ContextualAgent:
    arms = [state_file.decode_arm(arm, source) for arm in content["arms"]]
    context = Slots.of(content["context"], True, "context")
    features = Slots.of(content["features"], False, "features")
    rows = [features.check(row) for row in content["rows"]]
    if any(map(features.news, rows)):
        raise StateError("an arm has features that no column is for")
    names = features.names
    given: Any = dict(zip(arms, rows, strict=True)) if arms and names else None
    agent = kind(
        arms,
        features=given if arms else names,
        context=context.names,
        model=spec.build(content["model"], Model, trust="imported"),
        policy=spec.build(content["policy"], DependentPolicy, trust="imported"),
        pooling=content["pooling"],
        interactions=content["interactions"],
        scale=content["scale"],
        minimise=content["minimise"],
        seed=0,
    )
    agent._learnt.context, agent._learnt.features = context, features
    _take_columns(agent, content["columns"])
    prior = agent._learnt.prior(agent._learnt.columns.columns)
    agent._learnt.belief = _belief(content["belief"], prior)
    agent._told = checks.whole(content["told"], "told")
    agent._tells = checks.wholes(content["tells"], len(arms), "tells")
    agent._asks.given = checks.whole(content["tickets"], "tickets")
    for ticket, arm, candidate, values in content["open"]:
        checks.whole(ticket, "ticket", 0, agent._asks.given - 1)
        if candidate is None:
            arm = state_file.decode_arm(arm, source)
            agent._place(arm)
        else:
            candidate = features.check(candidate)
            features.meet(candidate, count=False)
        asked = Asked(arm, candidate, context.check(values))
        context.meet(asked.context, count=False)
        agent._asks.open[ticket] = asked
    agent._mind[:] = checks.words(content["mind"])
    agent._grow()
    state_file.check_kept(content, to_text(agent), ("model", "policy"))
    return agent


def _take_columns(agent: ContextualAgent, content: Any) -> None:
    """The columns in the order in which they came: those that the slots make, each once."""
    parts = (agent._learnt.context, agent._learnt.features, len(agent._arms))
    agent._learnt.check_size(*parts)
    wanted = {column: column for column in agent._learnt.columns.wanted(*parts)}
    columns = [wanted.pop(tuple(column)) for column in content if tuple(column) in wanted]
    if wanted or len(columns) != len(content):
        raise StateError("columns are not those of the context and the features")
    agent._learnt.columns.take(columns)


def _belief(content: Any, prior: Any) -> Belief:
    bank, size = prior.shape
    shapes = {
        "mean": (bank, size),
        "root": (bank, size, size),
        "noise": (bank, 2),
        "fit": (bank,),
        "share": (bank,),
        "prior": (bank, size),
        "clock": (1,),
    }
    parts = {
        name: checks.numbers(content[name], np.zeros(shape), f"{name} of the belief")
        for name, shape in shapes.items()
    }
    finite = all(bool((np.abs(part) <= _LARGEST).all()) for part in parts.values())
    diagonal = np.diagonal(parts["root"], axis1=1, axis2=2)
    lower = not np.triu(parts["root"], 1).any()
    positive = bool((diagonal > 0.0).all() and (parts["prior"] > 0.0).all())
    shared = bool((parts["share"] >= 0.0).all()) and abs(parts["share"].sum() - 1.0) < 1e-9
    noisy = bool((parts["noise"] >= 0.0).all()) and parts["clock"][0] >= 0.0
    if not (finite and lower and positive and shared and noisy):
        raise StateError(
            "the belief is damaged: its root needs a positive diagonal and zeros above it"
        )
    return Belief(**parts, scratch=np.zeros((5, max(size, 4))))

"""A decider along features as plain data and back, checked before a kernel sees any of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from belman import spec
from belman.deciders import checks, state_file
from belman.deciders.decider import Plain
from belman.deciders.featured.slots import Slots
from belman.errors import StateError
from belman.families import Family
from belman.models import Belief, Model
from belman.policies.dependent import DependentPolicy

_LARGEST = 1e150  # of numbers in beliefs


def to_plain(decider: Any) -> Plain:
    """Return the whole state."""
    learnt = decider.knowledge
    belief = learnt.belief._asdict()
    return {
        "arms": [state_file.encode_arm(arm) for arm in decider._arms],
        "retired": [place for place, arm in enumerate(decider._arms) if arm in decider._gone],
        "model": spec.describe(decider.model),
        "family": spec.describe(getattr(decider.family, "of", decider.family)),
        "policy": spec.describe(decider.policy),
        "pooling": decider.pooling,
        "scale": decider.spread,
        "minimise": decider.minimise,
        "interactions": [list(pair) for pair in learnt.columns.interactions],
        "context": learnt.context.plain(),
        "features": learnt.features.plain(),
        "rows": decider._rows,
        "columns": [list(column) for column in learnt.columns.columns],
        "belief": {name: part for name, part in belief.items() if name != "scratch"},
        "told": decider._told,
        "totals": [list(learnt) for learnt in decider._totals.values()],
    }


def from_plain(
    kind: Any, content: Mapping[str, Any], source: str, policy: DependentPolicy | None = None
) -> Any:
    """Return the decider of a state; a policy replaces what it holds."""
    if policy is None:
        policy = spec.build(content["policy"], DependentPolicy, trust="imported")
    arms = [state_file.decode_arm(arm, source) for arm in content["arms"]]
    context = Slots.of(content["context"], True, "context")
    features = Slots.of(content["features"], False, "features")
    rows = [features.check(row) for row in content["rows"]]
    if any(map(features.news, rows)):
        raise StateError("an arm has features that no column is for")
    names = features.names
    given: Any = dict(zip(arms, rows, strict=True)) if arms and names else None
    decider = kind(
        arms,
        features=given if arms else names,
        context=context.names,
        model=spec.build(content["model"], Model, trust="imported"),
        family=spec.build(content["family"], Family, trust="imported"),
        policy=policy,
        pooling=content["pooling"],
        interactions=content["interactions"],
        scale=content["scale"],
        minimise=content["minimise"],
    )
    decider.knowledge.context, decider.knowledge.features = context, features
    _take_columns(decider, content["columns"])
    prior = decider.knowledge.prior(decider.knowledge.columns.columns)
    decider.knowledge.belief = _belief(content["belief"], prior)
    decider._told = checks.whole(content["told"], "told")
    totals = zip(decider.names, content["totals"], strict=True)
    for arm, row in totals:
        decider._totals[arm] = checks.learnt(row, decider.family, f"arm {arm!r}")
    places = content["retired"]
    decider._gone = {arms[checks.whole(place, "a retired arm", 0, len(arms) - 1)]
                     for place in places}  # fmt: skip
    if arms and len(decider._gone) >= len(arms):
        raise StateError(f"{source} has no arm in play")
    decider.knowledge.grow(len(arms))
    decider._prepare()
    state_file.check_kept(content, to_plain(decider), ("model", "policy", "family"))
    return decider


def _take_columns(decider: Any, content: Any) -> None:
    """The columns in the order in which they came: those that the slots make, each once."""
    parts = (decider.knowledge.context, decider.knowledge.features, len(decider._arms))
    decider.knowledge.check_size(*parts)
    wanted = {column: column for column in decider.knowledge.columns.wanted(*parts)}
    columns = [wanted.pop(tuple(column)) for column in content if tuple(column) in wanted]
    if wanted or len(columns) != len(content):
        raise StateError("columns are not those of the context and the features")
    decider.knowledge.columns.take(columns)


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

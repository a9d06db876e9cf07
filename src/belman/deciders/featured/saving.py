"""A decider along features as plain data and back, checked before a kernel sees any of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from belman import codec, spec
from belman.codec import Arm, Array
from belman.deciders import checks, state_file
from belman.deciders.decider import Plain
from belman.deciders.featured import budget
from belman.deciders.featured.forms import Form
from belman.deciders.featured.knowledge import Knowledge
from belman.deciders.featured.slots import Slots
from belman.deciders.featured.wide import SCALES, WideForm, find_keys
from belman.deciders.featured.words import WideSlots
from belman.deciders.totals import restored
from belman.errors import StateError
from belman.models import Belief, Model, arrow
from belman.models.diagonal import MOST_ROWS, VARIANCE
from belman.models.model import blank
from belman.policies.dependent import DependentPolicy

_LARGEST = 1e150  # of numbers in beliefs


@dataclass(frozen=True)
class KeptModel:
    """What says which of the states below it is."""

    model: dict[str, Any]


@dataclass(frozen=True)
class KeptForm:
    """All that a form of the belief keeps."""

    columns: list[list[Any]]
    belief: dict[str, Annotated[NDArray[np.float64], Array(None, -_LARGEST, _LARGEST)]]
    score: float


@dataclass(frozen=True)
class KeptWideForm(KeptForm):
    """The same of a factorised belief, with its coefficients in the order of their first reward."""

    scales: Annotated[NDArray[np.float64], Array((None,), 0.0, 1.0)]
    keys: Annotated[NDArray[np.int64], Array((None,), 1.0, 2.0**62)]
    rows: Annotated[NDArray[np.float64], Array((None, 2, None), -_LARGEST, _LARGEST)]


@dataclass(frozen=True)
class Kept:
    """All that a decider along features keeps."""

    arms: list[Arm]
    model: dict[str, Any]
    policy: dict[str, Any]
    pooling: str
    scale: float
    minimise: bool
    interactions: list[list[str]]
    shapes: list[str]
    context: Slots
    features: Slots
    rows: list[dict[str, Any]]
    forms: list[KeptForm]
    totals: Any


@dataclass(frozen=True)
class KeptWide(Kept):
    """All that a decider along wide features keeps."""

    context: WideSlots
    features: WideSlots
    forms: list[KeptWideForm]  # type: ignore[assignment]


def to_plain(decider: Any) -> Plain:
    """Return the whole state."""
    learnt = decider.knowledge
    kind: Any = KeptWide if decider.model.is_wide else Kept
    kept = kind(
        arms=decider._arms,
        model=spec.describe(decider.model),
        policy=spec.describe(decider.policy),
        pooling=decider.pooling,
        scale=decider.spread,
        minimise=decider.minimise,
        interactions=[list(pair) for pair in learnt.interactions],
        shapes=learnt.shapes,
        context=learnt.context,
        features=learnt.features,
        rows=decider._rows,
        forms=[_kept_form(form) for form in learnt.forms],
        totals=decider.totals.state(),
    )
    return codec.write(kept)


def _kept_form(form: Form) -> KeptForm:
    columns = [list(column) for column in form.columns.columns]
    lasting = _lasting(form.belief)
    if not isinstance(form, WideForm):
        return KeptForm(columns, lasting, form.score)
    table, used = form.table, form.table.used
    rest = form.scales, table.keys[:used], table.rows[:used]
    return KeptWideForm(columns, lasting, form.score, *rest)


def from_plain(
    kind: Any, content: Mapping[str, Any], source: str, policy: DependentPolicy | None = None
) -> Any:
    """Return the decider of a state; a policy replaces what it holds."""
    model = spec.build(
        codec.read(KeptModel, {"model": content.get("model")}, {}).model, Model, trust="imported"
    )
    kept = codec.read(KeptWide if model.is_wide else Kept, content, {})
    if policy is None:
        policy = spec.build(kept.policy, DependentPolicy, trust="imported")
    context, features = kept.context, kept.features
    squared = (kept.pooling == "disjoint" and not model.is_wide, False)
    if (context.what, features.what) != ("context", "features"):
        raise StateError("the slots of contexts and of features are not where they belong")
    if (context.squared, features.squared) != squared:
        raise StateError("squares belong to contexts of arms that share no coefficients")
    rows = [features.check(row) for row in kept.rows]
    if any(map(features.news, rows)):
        raise StateError("an arm has features that no column is for")
    arms, names = kept.arms, features.declared
    whole = [features.whole(row) for row in rows]
    given: Any = dict(zip(arms, whole, strict=True)) if arms and names else None
    decider = kind(
        arms,
        features=given if arms else names,
        context=context.declared,
        model=model,
        policy=policy,
        pooling=kept.pooling,
        interactions=kept.interactions,
        scale=kept.scale,
        minimise=kept.minimise,
    )
    decider.knowledge.context, decider.knowledge.features = context, features
    _take_forms(decider.knowledge, kept, len(arms))
    known, totals = {*decider.totals.arms}, restored(kept.totals, source)
    if {*totals.arms, *totals.retired} != known or totals.scale.minimise != decider.minimise:
        raise StateError(f"{source} counts other arms than it knows")
    decider.totals = totals
    decider.knowledge.grow(len(arms))
    decider._prepare()
    state_file.check_kept(content, to_plain(decider), ("model", "policy", "totals"))
    return decider


def _take_forms(learnt: Knowledge, kept: Kept, arms: int) -> None:
    """Have the forms of a state, without squares and with them, and the columns of each in the
    order in which they came: those that the slots make, each once.
    """
    parts = (learnt.context, learnt.features, arms)
    first = learnt.forms[0].columns
    if budget.needed(first, *parts) > budget.most(first, *parts):
        raise StateError("levels have more columns than there is room for")
    fit = kept.shapes == [shape for shape in learnt.shapes if shape in kept.shapes]
    learnt.shapes, learnt.arms = list(kept.shapes), arms
    if fit:
        learnt.bend()
    if not fit or learnt.shapes != kept.shapes or len(kept.forms) != len(learnt.forms):
        raise StateError("the belief has forms that it cannot have")
    for form, content in zip(learnt.forms, kept.forms, strict=True):
        wanted = {column: column for column in form.columns.wanted(*parts)}
        columns = [wanted.pop(tuple(one)) for one in content.columns if tuple(one) in wanted]
        groups = [form.columns.group(column) for column in columns]
        if wanted or len(columns) != len(content.columns) or groups != sorted(groups):
            raise StateError("columns are not those of the context and the features")
        form.columns.take(columns)
        if isinstance(form, WideForm):
            form.leave(_scales(content))
        fresh = blank(form.prior(columns), form.model.first_noise, form.columns.begin)
        form.belief, form.score = _belief(content.belief, fresh), content.score
        if isinstance(form, WideForm):
            _take_table(form, content, learnt)
        if not abs(form.score) <= _LARGEST:
            raise StateError("the belief has a score that no rewards give")


def _scales(content: Any) -> list[int]:
    """Return the places of the scales of a state among all."""
    result = [SCALES.index(scale) for scale in content.scales.tolist() if scale in SCALES]
    if not result or result != sorted({*result}) or len(result) != len(content.scales):
        raise StateError("the belief has scales that it cannot have")
    return result


def _take_table(form: WideForm, kept: Any, learnt: Any) -> None:
    """Have the coefficients of a state: of arms and words that there are, each once."""
    size = len(kept.keys)
    fits = kept.rows.shape == (size, 2, form.table.prior.size) and size <= MOST_ROWS
    if fits:
        form.make_room(size)
        form.table.size[0] = size
        form.table.keys[:size], form.table.rows[:size] = kept.keys, kept.rows
        known = all(map(learnt.knows, kept.keys.tolist()))
        variances = kept.rows[:, VARIANCE]
        sound = bool((variances > 0.0).all() and (variances <= 2.0 * form.table.prior).all())
        fits = known and sound and find_keys(form.table) == 0
    if not fits:
        raise StateError("coefficients are not those of arms and words")


def _belief(kept: Mapping[str, Any], belief: Belief) -> Belief:
    """Fill a blank belief with what was kept."""
    for name, part in _lasting(belief).items():
        checks.fill(part, kept[name], f"{name} of the belief")
    diagonal = arrow.diagonal(belief.root, belief.begin)
    lower = arrow.is_lower(belief.root, belief.begin)
    positive = bool((diagonal > 0.0).all() and (belief.prior > 0.0).all())
    shared = bool((belief.share >= 0.0).all()) and abs(belief.share.sum() - 1.0) < 1e-9
    noisy = bool((belief.noise >= 0.0).all() and (belief.age >= 0.0).all())
    noisy = noisy and belief.clock[0] >= 0.0
    if not (lower and positive and shared and noisy):
        raise StateError(
            "the belief is damaged: its root needs a positive diagonal and zeros above it"
        )
    return belief


def _lasting(belief: Belief) -> dict[str, Any]:
    """The parts of a belief but for scratch, which holds nothing from turn to turn, and for where
    blocks begin, which columns say.
    """
    apart = ("scratch", "begin")
    return {name: part for name, part in belief._asdict().items() if name not in apart}

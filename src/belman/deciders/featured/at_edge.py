"""What a client needs to decide by context itself: draws of all coefficients, arm by arm.

The form of the belief with the best score is drawn from, of those without products of two values
and without waves, whatever the policy: an arm's chance in a context is that of being the best, as
with Thompson sampling. Draws come in pairs, mirrored at the mean. An arm's features and what all
arms share are folded into a coefficient for each slot of the context.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from belman.assignment.allotment import POINTS
from belman.assignment.contexts import (
    CONSTANT,
    LEVEL,
    LOG,
    MOST_COEFFICIENTS,
    SCALED,
    SQUARE,
    Contexts,
)
from belman.deciders.featured.columns import (
    CROSSES,
    FEATURE,
    LOG_CROSSES,
    OWN,
    PAIR,
    SHARED,
    WAVES,
    Column,
)
from belman.deciders.featured.slots import ROOT_HALF, Floats, Slots
from belman.deciders.shares import Shares
from belman.errors import StudyError
from belman.models import Belief, Model
from belman.models.arrow import across
from belman.policies.dependent import LinTS

#: Draws of a document: as many as there is room for.
MOST_DRAWS, LEAST_DRAWS = 256, 16
_LARGEST = 32_767.0
_CELLS = 4_000_000  # values of draws that are worked out at once


def contexts(decider: Any, shares: Shares) -> Contexts:
    """Return how the arms in play are decided among; StudyError where a client could not."""
    learnt, arms = decider.knowledge, decider.arms
    if not arms:
        why = "candidates come with every ask"
        raise StudyError(f"a study of candidates publishes no weights: {why}")
    if decider.model.is_wide:
        why = 'covariance="diagonal" has words without end: ask the study itself'
        raise StudyError(f"a belief about wide contexts is not published: {why}")
    if learnt.context.arrays.by_name:
        arrays = ", ".join(learnt.context.arrays.by_name)
        why = "give the numbers of an array names of their own"
        raise StudyError(f"arrays ({arrays}) are not published: {why}")
    positions = [decider._positions[arm] for arm in arms]
    forms = [
        form for form in learnt.forms if form.columns.shape not in (CROSSES, LOG_CROSSES, WAVES)
    ]
    form = max(forms, key=lambda form: form.standing)
    columns = [one for one in form.columns.columns if one[0] != FEATURE]
    counted = {one[2] if one[0] == OWN else one[1] for one in columns}
    used = [
        position for position in sorted({0, *counted}) if _spread(learnt.context, position) > 0.0
    ]
    room = MOST_COEFFICIENTS // (len(used) * len(arms))
    if room < LEAST_DRAWS:
        what = f"{len(arms):,} arms × {len(used):,} numbers and levels"
        allowed = f"at most {MOST_COEFFICIENTS // LEAST_DRAWS:,}"
        raise StudyError(f"{what} are too many to be published: {allowed}")
    draws = min(MOST_DRAWS, 1 << (room.bit_length() - 1))
    inflation = decider.policy.inflation if isinstance(decider.policy, LinTS) else 1.0
    theta = _drawn(form.model, form.belief, decider.rng, draws, inflation)
    own = folded(decider, form.columns.columns, theta, positions)[
        :, :, used
    ]  # (draws, arms, slots)
    for at, position in enumerate(used):
        if learnt.context.slots[position].kind == SQUARE:
            own[:, :, at] *= ROOT_HALF
    own -= own.mean(axis=1, keepdims=True)  # what all arms share decides nothing
    largest = float(np.abs(own).max())
    whole = np.rint(own * (_LARGEST / largest if largest > 0.0 else 0.0)).astype("<i2")
    text = base64.b64encode(np.ascontiguousarray(whole.transpose(2, 0, 1)).tobytes()).decode()
    control = arms.index(shares.control) if shares.control in arms else None
    settled = control if len(shares.free(arms)) < len(arms) else None
    most = float(shares.most > 0.0) if settled is not None else shares.most
    names = {name: learnt.context.kinds.get(name) for name in decider.context_names}
    slots = tuple(_described(learnt.context, position) for position in used)
    return Contexts(names, slots, draws, text, settled, most, control if most < 1.0 else None)


def _spread(slots: Slots, position: int) -> float:
    """Return the deviation by which a number is divided, 0 before there is one; 1 for others."""
    slot = slots.slots[position]
    if position == 0 or slot.kind not in SCALED:
        return 1.0
    return (slots.logs if slot.kind == LOG else slots.moments)[slot.name].spread


def _described(slots: Slots, position: int) -> tuple[Any, ...]:
    slot = slots.slots[position]
    if position == 0:
        return (CONSTANT,)
    if slot.kind in SCALED:
        moments = (slots.logs if slot.kind == LOG else slots.moments)[slot.name]
        return slot.kind, slot.name, moments.centre, moments.spread
    return (slot.kind, slot.name, slot.level) if slot.kind == LEVEL else (slot.kind, slot.name)


def _drawn(model: Model, belief: Belief, words: Any, draws: int, inflation: float) -> Floats:
    """Return draws of θ, in mirrored pairs (draws, coefficients)."""
    rng = np.random.default_rng(words)
    halves = []
    shares = belief.share / belief.share.sum()
    for b, count in enumerate(rng.multinomial(draws // 2, shares)):
        shape, rate = belief.noise[b]
        known = model.kernels.scale(model.constants, belief.noise[b])
        scale = rate / rng.gamma(shape, size=count) if shape > 0.0 else np.full(count, known)
        apart = rng.normal(size=(count, belief.mean.shape[1]))
        apart = across(apart, belief.root[b], belief.begin)
        apart *= inflation * np.sqrt(scale)[:, None]
        halves += [belief.mean[b] + apart, belief.mean[b] - apart]
    result: Floats = np.concatenate(halves)
    return result


def folded(decider: Any, columns: Sequence[Column], theta: Floats, positions: list[int]) -> Floats:
    """Return the coefficient of every slot of the context, in each draw and of each arm."""
    learnt = decider.knowledge
    features = np.zeros((len(positions), len(learnt.features)))
    for position, out in zip(positions, features, strict=True):
        if decider._rows:
            learnt.features.fill(decider._rows[position], out)
    rows = {position: row for row, position in enumerate(positions)}
    result = np.zeros((len(theta), len(positions), len(learnt.context)))
    for at, (kind, *parts) in enumerate(columns):
        own = theta[:, at]
        if kind == SHARED:
            result[:, :, parts[0]] += own[:, None]
        elif kind == FEATURE:
            result[:, :, 0] += own[:, None] * features[:, parts[0]]
        elif kind == PAIR:
            result[:, :, parts[0]] += own[:, None] * features[:, parts[1]]
        elif kind == OWN and parts[0] in rows:
            result[:, rows[parts[0]], parts[1]] += own
    return result


def chances_among(
    decides: Contexts, floors: Sequence[float], contexts: Sequence[Any]
) -> list[tuple[float, ...]]:
    """Return the chances of arms in many contexts, as a client finds them one by one."""
    table, result = np.array(decides.columns, dtype=np.float64), list[tuple[float, ...]]()
    turns = np.arange(decides.draws)[None, :]
    rest = iter(contexts)
    while some := list(islice(rest, max(_CELLS // table.shape[1], 1))):
        slots = np.zeros((len(some), len(table)))
        for i, context in enumerate(some):
            for position, number in decides.filled({} if context is None else context):
                slots[i, position] = number
        values = (slots @ table).reshape(len(some), decides.draws, decides.arms)
        if decides.settled is not None:
            values[:, :, decides.settled] = -np.inf
        tied = values == values.max(axis=2, keepdims=True)
        turn = turns % tied.sum(axis=2)
        first = np.cumsum(tied, axis=2) - 1 == turn[:, :, None]
        for own in (tied & first).sum(axis=1).tolist():
            result.append(tuple(count / POINTS for count in decides.points(own, floors)))
    return result

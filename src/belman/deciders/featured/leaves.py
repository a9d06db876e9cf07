"""What a client needs that knows conditions and no draws: a small tree over contexts.

The chances that every arm has by the draws of the coefficients (`at_edge.py`) are worked out in a
sample of contexts, spread as those that were seen, and a tree is grown that tells them apart: the
split that leaves the least squares of chances comes first. A leaf has the mean chances of its part
of the sample, so that floors and caps hold in it as they do in every context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.assignment.allotment import in_points
from belman.assignment.contexts import MISSING, NUMBER, Contexts
from belman.assignment.leaves import BELOW, IS, IS_NOT, NOT_BELOW, Asked, Leaf, Leaves
from belman.deciders.featured.at_edge import chances_among
from belman.deciders.featured.slots import Floats, Slots

#: Leaves of a tree, splits above each, contexts of the sample, and thresholds tried of a number.
MOST_LEAVES, DEEPEST, SAMPLE, THRESHOLDS = 20, 6, 2_048, 31
#: The least share of the sample in a leaf, and the least mean square that a split has to explain.
LEAST_SHARE, LEAST_GAIN = 0.02, 2e-5
#: The share of values that are missing in the sample, of names that were missing before.
_MISSING = 0.1

Context = dict[str, Any]
Part = NDArray[np.bool_]


@dataclass(eq=False)
class _Node:
    """A part of the sample, its tests, and the best split of it: what it explains, its tests."""

    rows: NDArray[np.int64]
    where: tuple[Asked, ...]
    gain: float = 0.0
    split: tuple[Asked, Asked] | None = None
    below: Part | None = None


def leaves(decider: Any, decides: Contexts, floors: Sequence[float], points: int) -> Leaves:
    """Fit a tree to what is decided in contexts.

    Parameters
    ----------
    decider
        Whose contexts were seen.
    decides
        How contexts are decided in by draws.
    floors
        The least chance of every arm.
    points
        How many points every leaf has.
    """
    contexts = sample(decider.knowledge.context, decides.names, np.random.default_rng(decider.rng))
    chances = np.array(chances_among(decides, floors, contexts))
    nodes = _grown(contexts, chances, _splits(contexts, decides))
    result = [Leaf(node.where, _points(chances[node.rows], floors, points)) for node in nodes]
    usual = max(range(len(nodes)), key=lambda at: nodes[at].rows.size)
    last = result.pop(usual)
    return Leaves(decides.names, (*result, Leaf((), last.points)))


def sample(seen: Slots, names: Sequence[str] | Any, rng: np.random.Generator) -> list[Context]:
    """Draw contexts: numbers by their mean and deviation, levels as often as they were met."""
    columns: dict[str, list[Any]] = {}
    missing = {slot.name for slot in seen.slots if slot.kind == MISSING}
    for name in names:
        values: list[Any] = [None] * SAMPLE
        if name in seen.moments and seen.kinds.get(name) == NUMBER:
            moments = seen.moments[name]
            values = rng.normal(moments.centre, moments.spread, SAMPLE).tolist()
        elif counts := {**seen.waiting.get(name, {}), **seen.levels.get(name, {})}:
            levels, often = list(counts), np.array(list(counts.values())) + 1.0
            picked = rng.choice(len(levels), SAMPLE, p=often / often.sum())
            values = [levels[position] for position in picked]
        if name in missing:
            absent = rng.random(SAMPLE) < _MISSING
            values = [None if gone else one for one, gone in zip(values, absent, strict=True)]
        columns[name] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _splits(contexts: list[Context], decides: Contexts) -> list[tuple[Asked, Asked, Part]]:
    """Pairs of tests, and which of the sample pass the first."""
    result: list[tuple[Asked, Asked, Part]] = []
    for name in decides.names:
        cells = [context[name] for context in contexts]
        numbers = np.array([one if isinstance(one, float) else np.nan for one in cells])
        known = numbers[~np.isnan(numbers)]
        if known.size:
            shares = (np.arange(THRESHOLDS) + 1.0) / (THRESHOLDS + 1.0)
            for end in dict.fromkeys(float(f"{one:.4g}") for one in np.quantile(known, shares)):
                tests = (name, BELOW, end), (name, NOT_BELOW, end)
                result.append((*tests, numbers < end))
        levels = [slot[2] for slot in decides.slots if slot[0] == "level" and slot[1] == name]
        words = np.array([one if isinstance(one, str) else "" for one in cells], dtype=object)
        result += [((name, IS, one), (name, IS_NOT, one), words == one) for one in levels]
    return result


def _grown(
    contexts: list[Context], chances: Floats, splits: list[tuple[Asked, Asked, Part]]
) -> list[_Node]:
    """The leaves: the split that explains most comes first, as long as one explains enough."""
    size = len(contexts)
    nodes = [_Node(np.arange(size), ())]
    _consider(nodes[0], chances, splits)
    while len(nodes) < MOST_LEAVES:
        best = max(nodes, key=lambda node: node.gain)
        if best.split is None or best.gain < LEAST_GAIN * size:
            break
        assert best.below is not None
        nodes.remove(best)
        for test, part in zip(best.split, (best.below, ~best.below), strict=True):
            node = _Node(best.rows[part[best.rows]], (*best.where, test))
            _consider(node, chances, splits)
            nodes.append(node)
    return nodes


def _consider(node: _Node, chances: Floats, splits: list[tuple[Asked, Asked, Part]]) -> None:
    """Find the split of a node that leaves the least squares."""
    own = chances[node.rows]
    if len(node.where) >= DEEPEST or not len(splits):
        return
    parts = np.array([part[node.rows] for _, _, part in splits])
    counts = parts.sum(1)
    sums = parts @ own
    total, least = own.sum(0), max(LEAST_SHARE * len(chances), 1.0)
    rest = node.rows.size - counts
    fits = (counts >= least) & (rest >= least)
    if not fits.any():
        return
    explained = (sums**2).sum(1) / np.maximum(counts, 1)
    explained += ((total - sums) ** 2).sum(1) / np.maximum(rest, 1)
    gains = np.where(fits, explained - (total**2).sum() / node.rows.size, -np.inf)
    best = int(np.argmax(gains))
    node.gain = float(gains[best])
    node.split, node.below = splits[best][:2], splits[best][2]


def _points(chances: Floats, floors: Sequence[float], points: int) -> tuple[int, ...]:
    """The mean chances of a leaf in points; an arm has those of its floor at least."""
    mean = chances.mean(0)
    counts = in_points((mean / mean.sum()).tolist(), points)
    for arm, floor in enumerate(floors):
        short = round(floor * points) - counts[arm]
        if short > 0:
            counts[int(np.argmax(counts))] -= short
            counts[arm] += short
    return tuple(counts)

"""What independent arms show: beliefs, why one is chosen, and what reports and measures read."""

from __future__ import annotations

from typing import Any

import numpy as np

from belman.deciders.independent import kernels
from belman.deciders.scale import Scale
from belman.delays import intervals
from belman.engine import LATER, entry, leaves, with_leaves
from belman.measures.best import best_probabilities
from belman.measures.lift import Units
from belman.measures.report import Known
from belman.policies.policy import Floats
from belman.table import Table

_FADED = "a discount below 1 forgets, and a faded sum is not a sum of independent rewards"


def units(scale: Scale) -> Units:
    """Return how the user counts."""
    low, high = scale.range or (0.0, 1.0)
    return Units(low, (low - high) if scale.minimise else high - low)


def why_not_all(decider: Any) -> str:
    """Return why beliefs are not from all rewards alike; nothing where they are."""
    return _FADED if decider.discount < 1.0 else decider.policy.forgets


def known(decider: Any) -> Known:
    """Return what was told, as measures read it."""
    truth = decider._truth
    return Known(
        decider.family,
        decider.arms,
        decider._priors,
        decider.policy.believed(decider.family, truth, decider._memory),
        truth.plays,
        truth.sums,
        truth.squares,
        units(decider.scale),
        why_not_all(decider),
    )


def beliefs(decider: Any, level: float) -> Table:
    """Return plays, expected reward, credible interval and probability of being best per arm."""
    rows = decider.seen().beliefs
    doubt = decider._provisional[:, 2]
    tail = 0.5 * (1.0 - level)
    family, outward = decider.family, decider.scale.outward
    both = intervals(rows, doubt, tail) if doubt.any() else family.mean_intervals(rows, tail)
    shown = [sorted(map(outward, pair)) for pair in zip(*both, strict=True)]
    return Table(
        {
            "arm": decider.arms,
            "plays": decider._tells.tolist(),
            decider.scale.quantity: _expected(decider, rows),
            "low": [low for low, _ in shown],
            "high": [high for _, high in shown],
            "P(best)": [round(float(chance), 6) for chance in best_probabilities(family, rows)],
        }
    )


def explanation(decider: Any) -> Table:
    """Return what the policy sees of each arm, the largest index first; a copy is looked at."""
    turn, policy, family = decider.turn, decider.policy, decider.family
    turn_value = decider.turn_value(turn)
    held = copied(decider._calls.held)
    bundles = {"policy": policy.kernels, "family": family.kernels}
    entry(kernels.survey, **bundles)(LATER, **held, turn=turn, turn_value=turn_value)
    working, memory, index = held["working"], held["memory"], held["index"]
    order = np.argsort(-index, kind="stable")
    columns: dict[str, Any] = {
        decider.scale.quantity: _expected(decider, policy.believed(family, working, memory)),
        **policy.explanation(family, working, memory, turn_value, index),
    }
    ranked = {name: [float(values[a]) for a in order] for name, values in columns.items()}
    title = f"turn {turn}: the arm with the largest index is played"
    return Table({"arm": [decider.arms[a] for a in order], **ranked}, title)


def copied(held: dict[str, Any]) -> dict[str, Any]:
    """Return copies of the arrays that a decision is given."""
    return {
        name: with_leaves(part, (array.copy() for array in leaves(part)))
        for name, part in held.items()
    }


def _expected(decider: Any, rows: Floats) -> list[float]:
    return [decider.scale.outward(decider.family.expected_reward(row)) for row in rows]

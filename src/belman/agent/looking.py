"""What an agent shows: its beliefs, and why it would choose what it would choose now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from belman.agent import decide
from belman.delays import intervals
from belman.engine import LATER, entry, leaves, with_leaves
from belman.measures.best import best_probabilities
from belman.policies.policy import Floats
from belman.table import Table

if TYPE_CHECKING:
    from belman.agent.agent import Agent


def beliefs(agent: Agent, level: float) -> Table:
    """Per arm: plays, expected reward, credible interval and probability of being best."""
    rows = agent._seen().beliefs
    doubt = agent._provisional[:, 2]
    tail = 0.5 * (1.0 - level)
    both = intervals(rows, doubt, tail) if doubt.any() else agent.family.mean_intervals(rows, tail)
    ends = zip(*both, strict=True)
    shown = [sorted(map(agent.scale.outward, pair)) for pair in ends]
    return Table(
        {
            "arm": agent.arms,
            "plays": agent._tells.tolist(),
            agent.scale.quantity: _expected(agent, rows),
            "low": [low for low, _ in shown],
            "high": [high for _, high in shown],
            "P(best)": [
                round(float(chance), 6) for chance in best_probabilities(agent.family, rows)
            ],
        }
    )


def explanation(agent: Agent) -> Table:
    """What the policy sees of each arm, the largest index first; a copy of all is looked at."""
    turn, policy = agent.turn, agent.policy
    turn_value = agent._turn_value(turn)
    held = {
        name: with_leaves(part, (array.copy() for array in leaves(part)))
        for name, part in agent._calls.held.items()
    }
    kernels = {"policy": policy.kernels, "family": agent.family.kernels}
    entry(decide.survey, **kernels)(LATER, **held, turn=turn, turn_value=turn_value)
    working, memory, index = held["working"], held["memory"], held["index"]
    order = np.argsort(-index, kind="stable")
    columns: dict[str, Any] = {
        agent.scale.quantity: _expected(agent, policy.believed(agent.family, working, memory)),
        **policy.explanation(agent.family, working, memory, turn_value, index),
    }
    ranked = {name: [float(values[a]) for a in order] for name, values in columns.items()}
    title = f"turn {turn}: the arm with the largest index is played"
    return Table({"arm": [agent.arms[a] for a in order], **ranked}, title)


def _expected(agent: Agent, rows: Floats) -> list[float]:
    return [agent.scale.outward(agent.family.expected_reward(row)) for row in rows]

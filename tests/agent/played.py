"""Three arms, and an agent that has played them."""

from __future__ import annotations

import numpy as np

ARMS = ["blue", "green", "red"]
#: What one agent draws is fixed by its seed: nothing here is random, so no test has an error rate
#: unless it says so.


def played(agent, turns, chances=(0.2, 0.5, 0.8), seed=0):
    """Ask and tell, with rewards from a stream of its own."""
    rng = np.random.default_rng(seed)
    positions = {arm: position for position, arm in enumerate(agent.arms)}
    for _ in range(turns):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < chances[positions[arm] % len(chances)]))
    return agent

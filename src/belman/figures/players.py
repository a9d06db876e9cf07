"""The players of the paper's figures, and those that a sceptic would ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from belman.policies import (
    IDS,
    IMED,
    KLUCB,
    UCB1,
    BayesUCB,
    BelMan,
    EpsilonGreedy,
    Gittins,
    KLUCBPlus,
    Policy,
    Random,
    Thompson,
    UCBTuned,
)

#: The paper's twenty Bernoulli arms.
TWENTY: tuple[float, ...] = (0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07)
TWENTY += (0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)
#: Its ten arms of small means.
TEN = (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)
#: Where the paper cuts exponential rewards, and by what policies made for [0, 1] divide them.
BOUND = 10.0

BELMAN: dict[str, Policy] = {"BelMan": BelMan(), "BelMan (paper)": BelMan.paper()}
FEW: dict[str, Policy] = {**BELMAN, "Thompson": Thompson(), "Random": Random()}
#: The readings of the reverse projection, under the paper's schedule.
READINGS: dict[str, Policy] = {
    **{reading: BelMan.paper(reading) for reading in ("barycentre", "joint", "natural")},
    "BelMan": BelMan(),
    "Thompson": Thompson(),
}
SLOW: dict[str, Policy] = {"IDS": IDS()}
SCEPTICS: dict[str, Policy] = {"ε-greedy": EpsilonGreedy(0.1)}
SCEPTICS |= {"KL-UCB+": KLUCBPlus(), "IMED": IMED()}


def bernoulli_players(horizon: int) -> dict[str, Policy]:
    """Those of the Bernoulli figures; Gittins' index has the discount 1 − 1/T."""
    return {
        **BELMAN,
        "Thompson": Thompson(),
        "Bayes-UCB": BayesUCB(),
        "KL-UCB": KLUCB(),
        "UCB": UCB1(),
        "Gittins": Gittins(horizon=horizon),
        **SCEPTICS,
        "Random": Random(),
    }


EXPONENTIAL: dict[str, Policy] = {
    **BELMAN,
    "Thompson": Thompson(),
    "UCB-tuned": UCBTuned(range=(0.0, BOUND)),
    "KL-UCB-exp": KLUCB(divergence="exponential", range=(0.0, BOUND)),
    **SCEPTICS,
    "Random": Random(),
}


class BetaThompson:
    """Thompson sampling with Beta beliefs on rewards divided by the bound, in plain Python."""

    def __init__(self, arms: int, mind: np.random.Generator) -> None:
        self._mind = mind
        self._wins, self._losses = np.ones(arms), np.ones(arms)

    def ask(self) -> int:
        """The arm of the largest draw."""
        return int(np.argmax(self._mind.beta(self._wins, self._losses)))

    def tell(self, arm: int, reward: float) -> None:
        """Count a reward as a part of a success."""
        share = reward / BOUND
        self._wins[arm] += share
        self._losses[arm] += 1.0 - share


#: Rivals as the sizes in the paper's bounded figure suggest that they were run.
BOUNDED: dict[str, Any] = {
    **EXPONENTIAL,
    "KL-UCB": KLUCB(divergence="bernoulli", range=(0.0, BOUND)),
    "UCB-tuned (no cap)": UCBTuned(range=(0.0, BOUND), cap=False),
}

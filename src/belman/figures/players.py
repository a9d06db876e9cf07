"""The players of the paper's figures, and those that a sceptic would ask for."""

from __future__ import annotations

import numpy as np

from belman.policies import (
    IDS,
    IMED,
    KLUCB,
    BayesUCB,
    BelMan,
    EpsilonGreedy,
    FiniteGittins,
    Greedy,
    KLUCBPlus,
    LogUCB,
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
#: The rates of its five exponential arms.
RATES = (0.2, 0.25, 0.33, 0.5, 1.0)
#: The paper's schedule under each reading of the reverse projection; `joint` is Algorithm 1.
PAPERS = {reading: f"BelMan ({reading})" for reading in ("joint", "barycentre", "natural")}


def readings(*without: str, unit: float | None = None) -> dict[str, Policy]:
    """BelMan as the paper has it, under each reading but some."""
    kept = {reading: name for reading, name in PAPERS.items() if reading not in without}
    return {name: BelMan.paper(reading, unit) for reading, name in kept.items()}


BELMAN: dict[str, Policy] = {"BelMan": BelMan(), **readings()}
SLOW: dict[str, Policy] = {"IDS": IDS()}
SCEPTICS: dict[str, Policy] = {"ε-greedy": EpsilonGreedy(0.1)}
SCEPTICS |= {"KL-UCB+": KLUCBPlus(), "IMED": IMED()}


def few_players(horizon: int) -> dict[str, Policy]:
    """Those of the first look: ours, the paper's, and what people compare with."""
    return {
        "BelMan": BelMan(),
        "BelMan, told the horizon": BelMan.until(horizon),
        **readings("natural"),
        "Thompson": Thompson(),
        "greedy": Greedy(),
        "ε-greedy": EpsilonGreedy(0.1),
        "Random": Random(),
    }


def bernoulli_players(horizon: int) -> dict[str, Policy]:
    """Those of the Bernoulli figures; UCB has the constant ½ and Gittins' index the turns left."""
    return {
        **BELMAN,
        "Thompson": Thompson(),
        "Bayes-UCB": BayesUCB(),
        "KL-UCB": KLUCB(),
        "UCB": LogUCB(exponent=1.0),
        "Gittins": FiniteGittins(horizon),
        **SCEPTICS,
        "Random": Random(),
    }


def exponential_players(width: float, bounded: bool) -> dict[str, Policy]:
    """Those of the exponential figures, whose rewards are mostly in [0, `width`].

    The joint projection does not exist for rewards without a bound. Where the width is not 1, the
    schedule is played in units of 1 as well, which shows what a wrong unit does.
    """
    without = () if bounded else ("joint",)
    wide = (0.0, width)
    wrong = {} if width == 1.0 else readings(*without, unit=1.0)
    return {
        "BelMan": BelMan(),
        **readings(*without, unit=width),
        **{f"{name}, unit 1": policy for name, policy in wrong.items()},
        "Thompson": Thompson(),
        "UCB-tuned": UCBTuned(range=wide, cap=False),
        "KL-UCB-exp": KLUCB(divergence="exponential", range=wide),
        **({"KL-UCB": KLUCB(divergence="bernoulli", range=wide)} if bounded else {}),
        **(SCEPTICS if width == 1.0 else {}),
        "Random": Random(),
    }


class BetaThompson:
    """Thompson sampling with Beta beliefs on rewards in [0, 1], in plain Python."""

    def __init__(self, arms: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._wins, self._losses = np.ones(arms), np.ones(arms)

    def ask(self) -> int:
        """The arm of the largest draw."""
        return int(np.argmax(self._rng.beta(self._wins, self._losses)))

    def tell(self, arm: int, reward: float) -> None:
        """Count a reward as a part of a success."""
        self._wins[arm] += reward
        self._losses[arm] += 1.0 - reward

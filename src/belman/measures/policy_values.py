"""What a policy would have earned, from logged chances, at every look at once.

A weighted reward ξ = w·r, with w the policy's chance of what was played over the logged one,
is at least 0 and has the value ν of that moment as its mean, whatever came before and however that
value changes. With a prediction p made beforehand and ψ(λ) = −ln(1 − λ) − λ,
exp(λ Σ(ξ − ν) − ψ(λ) Σ(ξ − p)²) is a supermartingale for every λ in [0, 1) (Fan, Grama and Liu,
2015; Howard, Ramdas, McAuliffe and Sekhon, 2021), and so is an average over some λ. No bound on the
weights is needed; shortfalls, w·(1 − r), give the other side.
"""

from __future__ import annotations

import math

import numpy as np

from belman.errors import SettingError
from belman.measures.martingales import Floats

_RATES = 0.5 ** np.arange(1.0, 13.0)  # λ: for differences that are plain, and for small ones
_COSTS = -np.log1p(-_RATES) - _RATES


def policy_value_sequence(rewards: Floats, weights: Floats, delta: float) -> tuple[float, float]:
    """The average so far of a policy's value at each turn, for rewards from 0 to 1: ever outside of
    these ends with a chance of at most δ.

    >>> rng = np.random.default_rng(7)
    >>> chosen, rewards = rng.random(4_000) < 0.1, rng.random(4_000) < 0.4
    >>> low, high = policy_value_sequence(rewards * 1.0, chosen / 0.1, 0.05)
    >>> 0.25 < low < 0.4 < high < 0.6
    True
    """
    values = np.asarray(rewards, dtype=np.float64)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise SettingError("values of policies are for rewards from 0 to 1: scale them first")
    low = _least(weights * values, 0.5 * delta)
    return max(low, 0.0), min(1.0 - _least(weights * (1.0 - values), 0.5 * delta), 1.0)


def _least(terms: Floats, delta: float) -> float:
    """Below which the average of the terms' means is, ever, with a chance of at most δ."""
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    count = np.arange(terms.size)
    before = np.concatenate([[0.0], np.cumsum(terms)[:-1]])
    predicted = np.clip((before + 0.5) / (count + 1.0), 0.0, 1.0)
    spread = float(((terms - predicted) ** 2).sum())

    def log_odds(excess: float) -> float:
        return float(logsumexp(_RATES * excess - _COSTS * spread)) - math.log(_RATES.size)

    bar = -math.log(delta)
    most = float(((bar + math.log(_RATES.size) + _COSTS * spread) / _RATES).min())
    excess = brentq(lambda one: log_odds(one) - bar, 0.0, most, xtol=1e-12 * most)
    return (float(terms.sum()) - float(excess)) / terms.size

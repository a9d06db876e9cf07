"""Logged rows with propensities: what every arm would have earned in each, without bias.

Of a row only one arm's reward r is known, and the chance p that it had. With any guess g_a(x) that
was made without this row, g_a + [a was played]·(r − g_a)/p has the right expectation for every arm:
the doubly robust estimate. Guesses are ridge regressions per arm, of one half of the log for the
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.errors import SettingError
from belman.problems.problem import Floats

_RIDGE = 1.0


def earnings_of(
    contexts: Floats, actions: ArrayLike, rewards: ArrayLike, propensities: ArrayLike
) -> Floats:
    """The doubly robust reward (rows × arms) of every arm in every row, with a constant in
    `contexts`; arms are the actions in their order.

    >>> rows = np.ones((4, 1))
    >>> found = earnings_of(rows, ["a", "b", "a", "b"], [1.0, 0.0, 1.0, 0.0], [0.5] * 4)
    >>> found.shape, found[:, 1].tolist()
    ((4, 2), [0.0, 0.0, 0.0, 0.0])
    """
    names, played = np.unique(np.asarray(actions).ravel(), return_inverse=True)
    earned, chance = _column("rewards", rewards), _column("propensities", propensities)
    if not len(played) == len(earned) == len(chance) == len(contexts):
        given = f"{len(contexts)} rows, {len(played)} actions, {len(earned)} rewards"
        raise SettingError(f"{given} and {len(chance)} propensities: give as many of all")
    if not ((chance > 0.0) & (chance <= 1.0)).all():
        raise SettingError("propensities are the chances of what was played: above 0, at most 1")
    guesses = np.zeros((len(contexts), len(names)))
    half = np.arange(len(contexts)) % 2 == 0
    for learnt, used in ((half, ~half), (~half, half)):
        for arm in range(len(names)):
            own = learnt & (played == arm)
            guesses[used, arm] = contexts[used] @ _ridge(contexts[own], earned[own])
    rows = np.arange(len(contexts))
    guesses[rows, played] += (earned - guesses[rows, played]) / chance
    return guesses


def _ridge(contexts: Floats, earned: Floats) -> Floats:
    gram = contexts.T @ contexts + _RIDGE * np.eye(contexts.shape[1])
    return np.asarray(np.linalg.solve(gram, contexts.T @ earned), dtype=np.float64)


def _column(name: str, given: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not np.isfinite(found).all():
        raise SettingError(f"{name} of a log are finite numbers, one for every row")
    return found

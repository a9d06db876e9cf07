"""What no player beats: the least slope of regret, the fewest turns to find the m best arms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.errors import SettingError
from belman.problems.problem import Floats
from belman.problems.stationary import Stationary
from belman.validate import require_whole

_STEPS = 500
_ROUNDS = 2  # the second starts where the first ended, with its unit
_LEAST_SHARE = 1e-12  # at which the evidence of a pair is still defined


def lai_robbins(problem: Stationary) -> float:
    """Compute the bound of Lai and Robbins: the least slope of regret in ln t.

    Parameters
    ----------
    problem
        Arms with fixed means.

    Returns
    -------
    float
        Σ_a Δ_a / d(μ_a, μ*), which no consistent policy can better.

    >>> from belman.problems import bernoulli
    >>> round(lai_robbins(bernoulli([0.8, 0.9])), 3)
    2.252
    """
    family = problem.family
    means = [family.mean_of(theta) for theta in problem.parameters]
    best = max(means)
    slope = 0.0
    for mean, theta in zip(means, problem.parameters, strict=True):
        if mean < best:
            against = family.reward_divergence(mean, best, family.spread_of(theta))
            slope += (best - mean) / against if against > 0.0 else math.inf
    return slope


class CharacteristicTime(NamedTuple):
    """How long it takes to find the best arms, and how often to play each; of
    `characteristic_time`.

    1/T* = max_w min over a among the best and b among the others of min_x w_a d(μ_a, x) + w_b
    d(μ_b, x), a concave programme: each pair's evidence is the least of functions that are linear
    in the proportions w, with the two divergences as its gradient.

    Attributes
    ----------
    turns
        T*(μ): turns for each unit of ln(1/δ). 0 where all arms are looked for, infinite where the
        best are not told apart from the others.
    proportions
        w*(μ): the share of the turns of each arm that attains it.
    """

    turns: float
    proportions: Floats


@kernel
def _evidence(family, constants, means, spreads, inside, outside, shares, values, slopes):
    """Evidence per turn of each pair (arm inside, arm outside), and its gradient in proportions."""
    slopes[:] = 0.0
    pair = 0
    for a in inside:
        for b in outside:
            x = family.common_mean(
                constants, shares[a], means[a], spreads[a], shares[b], means[b], spreads[b]
            )
            slopes[pair, a] = family.d(constants, means[a], x, spreads[a])
            slopes[pair, b] = family.d(constants, means[b], x, spreads[b])
            values[pair] = shares[a] * slopes[pair, a] + shares[b] * slopes[pair, b]
            pair += 1


def characteristic_time(problem: Stationary, m: int = 1) -> CharacteristicTime:
    """Compute T*(μ): to find the m best arms with probability 1 − δ takes T* ln(1/δ) turns as δ →
    0, in proportions w*.

    Parameters
    ----------
    problem
        Arms with fixed means.
    m
        How many arms are looked for.

    Returns
    -------
    CharacteristicTime
        T* and w*.

    Raises
    ------
    SettingError
        If the means are not fixed, or `m` is not from 1 to the number of arms.

    >>> from belman.problems import bernoulli
    >>> result = characteristic_time(bernoulli([0.5, 0.45, 0.43, 0.4]))
    >>> round(result.turns), [round(float(share), 3) for share in result.proportions]
    (990, [0.417, 0.39, 0.136, 0.057])
    """
    if not isinstance(problem, Stationary):
        raise SettingError(
            "characteristic_time needs fixed means, such as belman.problems.bernoulli([0.8, 0.9]): "
            f"{problem!r} has none"
        )
    require_whole("m", m, 1, problem.arms)
    family, arms = problem.family, problem.arms
    means = np.array([family.mean_of(theta) for theta in problem.parameters])
    spreads = np.array([family.spread_of(theta) for theta in problem.parameters])
    order = np.argsort(-means, kind="stable")
    inside, outside = order[:m], order[m:]
    if m == arms or means[inside[-1]] == means[outside[0]]:
        return CharacteristicTime(0.0 if m == arms else math.inf, np.full(arms, 1.0 / arms))
    pairs = len(inside) * len(outside)
    values, slopes = np.empty(pairs), np.empty((pairs, arms))

    def weigh(shares: Floats) -> tuple[Floats, Floats]:
        family.enter(
            _evidence,
            means=means,
            spreads=spreads,
            inside=inside,
            outside=outside,
            shares=np.maximum(shares, _LEAST_SHARE),
            values=values,
            slopes=slopes,
        )
        return values, slopes

    return _largest_least(weigh, arms)


def _largest_least(
    weigh: Callable[[Floats], tuple[Floats, Floats]], arms: int
) -> CharacteristicTime:
    """Quadratic programming in (w, y): the largest y, in units of its start, below all pairs."""
    from scipy.optimize import minimize  # half a second, for those who ask

    shares = np.full(arms, 1.0 / arms)
    whole, aim = np.append(np.ones(arms), 0.0), np.append(np.zeros(arms), -1.0)
    for _ in range(_ROUNDS):
        unit = float(weigh(shares)[0].min())

        def slack(z: Floats, unit: float = unit) -> Floats:
            return weigh(z[:-1])[0] / unit - z[-1]

        def slope(z: Floats, unit: float = unit) -> Floats:
            slopes = weigh(z[:-1])[1] / unit
            return np.hstack([slopes, np.full((len(slopes), 1), -1.0)])

        result = minimize(
            lambda z: -z[-1],
            np.append(shares, 1.0),
            jac=lambda z: aim,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * arms + [(0.0, None)],
            constraints=[
                {"type": "eq", "fun": lambda z: whole @ z - 1.0, "jac": lambda z: whole},
                {"type": "ineq", "fun": slack, "jac": slope},
            ],
            options={"ftol": 1e-13, "maxiter": _STEPS},
        )
        shares = np.maximum(result.x[:-1], 0.0)
        shares /= shares.sum()
    return CharacteristicTime(1.0 / float(weigh(shares)[0].min()), shares)

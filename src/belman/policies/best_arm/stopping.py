"""When to stop: Chernoff's rule, the family's likelihood ratio against a threshold that grows.

The evidence that the arms of a set are the m best is Z = min over a inside and b outside of the
least n_a d(μ̂_a, x) + n_b d(μ̂_b, x) over all x, and 0 where μ̂_a ≤ μ̂_b: how much less likely the
rewards are if b is as good as a. It is the likelihood ratio where the average reward is the maximum
likelihood estimate of the mean; elsewhere (rewards cut at a bound, families by their own statistic)
the average stands for that estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from belman.engine import kernel
from belman.errors import SettingError, unknown
from belman.families.family import Family
from belman.policies.averages import LEAST_SPREAD, average, known, variance
from belman.policies.memory import Floats


@kernel
def contrast(family, constants, ledger, needed, a, b):
    """The evidence that arm a is better than b; 0 before both are known (beyond `needed` plays)."""
    if not (known(ledger, a, needed) and known(ledger, b, needed)):
        return 0.0
    mean, other = average(ledger, a), average(ledger, b)
    if not mean > other:
        return 0.0
    spread = other_spread = 1.0
    if needed > 0.0:
        spread = max(variance(ledger, a), LEAST_SPREAD)
        other_spread = max(variance(ledger, b), LEAST_SPREAD)
    plays, other_plays = ledger.plays[a], ledger.plays[b]
    x = family.common_mean(constants, plays, mean, spread, other_plays, other, other_spread)
    against = other_plays * family.d(constants, other, x, other_spread)
    return plays * family.d(constants, mean, x, spread) + against


@kernel
def least_contrast(family, constants, ledger, needed, chosen, enough, doubt):
    """Z of the chosen arms, or the first contrast not above `enough`; `doubt` (2) is the first."""
    if chosen[doubt[0]] > 0.0 and chosen[doubt[1]] == 0.0:
        first = contrast(family, constants, ledger, needed, doubt[0], doubt[1])
        if first <= enough:
            return first
    least = np.inf
    for a in range(chosen.size):
        if chosen[a] > 0.0:
            for b in range(chosen.size):
                if chosen[b] == 0.0:
                    result = contrast(family, constants, ledger, needed, a, b)
                    if result < least:
                        least = result
                        doubt[0], doubt[1] = a, b
                        if least <= enough:
                            return least
    return least


def _customary(turns: Floats, log_risk: float, pairs: int) -> Floats:
    return np.log1p(np.log(turns)) + log_risk


def _proven(turns: Floats, log_risk: float, pairs: int) -> Floats:
    share = 2.0 * _exponential_cost(0.5 * (math.log(pairs) + log_risk))
    return share + 6.0 * np.log1p(np.log(np.maximum(turns, 2.0) / 2.0))


def _exponential_cost(x: float) -> float:
    """C(x) = 2 h̃((h⁻¹(1 + x) + ln 2ζ(2))/2), h(u) = u − ln u: a mixture over all alternatives."""
    y = 0.5 * (_inverse_h(1.0 + x) + math.log(2.0 * (math.pi**2 / 6.0)))
    log_base = math.log(1.5)
    if y >= 1.0 / log_base + math.log(log_base):
        root = _inverse_h(y)
        return 2.0 * math.exp(1.0 / root) * root
    return 3.0 * (y - math.log(log_base))


def _root(function: Callable[[float], float], low: float, high: float, error: float) -> float:
    from scipy.optimize import brentq  # half a second, for those who stop

    return float(brentq(function, low, high, xtol=error, rtol=1e-14))


def _inverse_h(y: float) -> float:
    """The u ≥ 1 with u − ln u = y ≥ 1."""
    return 1.0 if y <= 1.0 else _root(lambda u: u - math.log(u) - y, 1.0, 2.0 * y + 2.0, 1e-14)


#: Thresholds by name, as functions of the turns, ln(1/δ) and the number of pairs of an arm inside
#: with one outside.
Threshold = Callable[[Floats, float, int], Floats]
THRESHOLDS: dict[str, Threshold] = {"customary": _customary, "proven": _proven}


def thresholds(
    turns: Floats, delta: float, arms: int, m: int = 1, rule: str = "customary"
) -> Floats:
    """How much evidence is enough at each turn to be wrong with a chance of at most δ.

    'customary' is ln((1 + ln t)/δ), for which nothing is proved, and which errs far less than δ in
    practice; 'proven' is 2 C(ln(m(K − m)/δ)/2) + 6 ln(1 + ln(t/2)) of Kaufmann and Koolen (2021),
    which holds for one-parameter exponential families.

    >>> [thresholds(np.array([1_000.0]), 0.1, 5, rule=rule).round(2) for rule in THRESHOLDS]
    [array([4.37]), array([33.08])]
    """
    return THRESHOLDS[rule](turns, -math.log(delta), max(m * (arms - m), 1))


def confidence_of(
    evidence: float, turn: int, arms: int, m: int = 1, rule: str = "customary"
) -> float:
    """The largest 1 − δ at which that much evidence is enough, or 0.

    >>> round(confidence_of(4.37, 1_000, 5), 2)
    0.9
    """
    pairs, at = max(m * (arms - m), 1), np.array([float(turn)])

    def lack(log_risk: float) -> float:
        return float(THRESHOLDS[rule](at, log_risk, pairs)[0]) - evidence

    if lack(0.0) >= 0.0:
        return 0.0
    return 1.0 if math.isinf(evidence) else -math.expm1(-_root(lack, 0.0, evidence + 1.0, 1e-12))


def check_rule(rule: str, family: Family) -> str:
    """A threshold that exists, and holds for the family."""
    if rule not in THRESHOLDS:
        raise SettingError(unknown("threshold", rule, THRESHOLDS))
    if rule == "proven" and not family.bregman:
        raise SettingError(
            "threshold='proven' is proved for one-parameter exponential families in their mean, "
            f"and {family.name} is not one of them: give 'customary'"
        )
    return rule

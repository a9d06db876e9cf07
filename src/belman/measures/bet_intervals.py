"""What bets say: evidence against "alike", and intervals of a lift that hold at every look.

With E₊(d) the capital of those who bet that an arm is better than another by more than d, and E₋(d)
that of those who bet on less, the differences at which neither has reached 2/δ hold at all looks at
once, up to a chance δ. The same with ratios r of means in place of differences. An arm is *apart*
from another where that interval leaves out 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from belman.measures.bets import (
    A_M,
    A_MM,
    A_Y,
    A_YM,
    A_YY,
    ANY_STAKES,
    B_DD,
    B_M,
    B_Y,
    COIN_STAKES,
    GH,
    GH2,
    GH3,
    PLAYS,
    RATIOS,
    STAKES,
    ArmBets,
    Floats,
    H,
)
from belman.measures.betting_grid import crossing
from belman.measures.lift import Interval

_LOG2 = math.log(2.0)
NOTHING = Interval(0.0, -math.inf, math.inf)
#: Outcomes of a pair without which there is no asymptotic sequence; it is tightest around ten times
#: as many as the second.
FEWEST, EARLY = 200.0, 500.0


def log_evidence(bets: ArmBets, arm: int, base: int | None = None) -> float:
    """Return ln of the e-value against "the arm and the other, control unless told, are alike".

    At ln 1/δ they are not, up to a chance δ of ever saying so wrongly. Of amounts it speaks about
    their distributions, of rates and ranges about their means.
    """
    row, _ = bets.row(arm, base)
    return max(_stakes(bets, row, 0.0, 1), _stakes(bets, row, 0.0, -1)) - _LOG2


def log_better(bets: ArmBets, arm: int, base: int | None = None, *, least: bool = False) -> float:
    """Return ln of half the capital of those who bet that an arm's mean is larger (or, where the
    `least` is wanted, smaller) than the other's.

    For amounts the bets on scores *and* the asymptotic sequence of means have to say so: the first
    never errs more often than told where both arms are alike, the second tells of means.
    """
    row, turned = bets.row(arm, base)
    side = -1 if turned != least else 1
    result = _stakes(bets, row, 0.0, side) - _LOG2
    if bets.kind == "amount":
        result = min(result, _asymptotic_odds(bets, row, side))
    return result


def difference(
    bets: ArmBets, arm: int, level: float, base: int | None = None, comparisons: int | None = None
) -> Interval:
    """Return the difference of two means, in the units of rewards, and ends that hold at any look.

    The ends hold for all comparisons at once, of which there are as many as arms beside control
    unless told. Those of amounts are asymptotic.
    """
    row, turned = bets.row(arm, base)
    delta = _delta(bets, level, comparisons)
    result = _asymptotic_difference(bets, row, delta)
    if bets.kind != "amount":
        result = _difference(bets, row, delta, result.middle)
    width = bets.high - bets.low if bets.kind != "amount" else 1.0
    middle, low, high = (width * end for end in result)
    return Interval(-middle, -high, -low) if turned else Interval(middle, low, high)


def mean(bets: ArmBets, arm: int, level: float) -> tuple[float, float] | None:
    """Return the ends of one arm's mean that hold at any look, whatever was played, if it stays the
    same; None for amounts.
    """
    if bets.kind == "amount":
        return None
    curve, plays = bets.levels[arm, :-1], float(bets.levels[arm, -1])
    if plays <= 0.0:
        return bets.low, bets.high
    bar = math.log(2.0 / (1.0 - level))
    grid = COIN_STAKES if bets.kind == "rate" else ANY_STAKES

    def over(u: float, side: int) -> float:
        odds = np.log1p((2.0 * u - 1.0) * STAKES.points)
        return grid.log_average(curve - plays * odds, side) - bar

    # the slope at no stake is the sum of 2u − 1
    middle = 0.5 + 0.5 * float(STAKES.slope(curve)) / plays
    middle = min(max(middle, 0.0), 1.0)
    step = math.sqrt((3.0 * bar * middle * (1.0 - middle) + 1e-3) / plays)
    low = crossing(lambda u: over(u, 1), middle, step, 0.0)
    high = crossing(lambda u: over(u, -1), middle, step, 1.0)
    width = bets.high - bets.low
    return bets.low + width * low, bets.low + width * high


def lift(
    bets: ArmBets, arm: int, level: float, base: int | None = None, comparisons: int | None = None
) -> Interval | None:
    """Return the difference as a share of the other's mean, and ends that hold at any look; None
    where rewards may be negative.

    Ends are exact for rates and ranges, asymptotic for amounts.
    """
    row, turned = bets.row(arm, base)
    delta = _delta(bets, level, comparisons)
    if bets.kind == "range" and bets.low < 0.0:
        return None
    result = (_asymptotic_ratio if bets.kind == "amount" else _ratio)(bets, row, delta)
    if turned:
        ends = (result.middle, result.high, result.low)
        result = Interval(*(1.0 / end if end > 0.0 else math.inf for end in ends))
    return Interval(*(end - 1.0 for end in result))


def _delta(bets: ArmBets, level: float, comparisons: int | None) -> float:
    return (1.0 - level) / (bets.comparisons if comparisons is None else comparisons)


# Bets on scores


def _stakes(bets: ArmBets, row: int, difference: float, side: int) -> float:
    """Return ln of the capital of those who bet on more (or less) than a difference.

    Each outcome's odds are divided by 1 + κgπ(1 − π)d, whose logarithm is at most its cubic.
    """
    sums, kappa = bets.sums[row], STAKES.points
    each = kappa * difference
    odds = each * (sums[GH] - each * (sums[GH2] / 2.0 - each * sums[GH3] / 3.0))
    grid = ANY_STAKES if bets.kind == "range" else STAKES
    return grid.log_average(bets.capitals[row] - odds, side)


def _difference(bets: ArmBets, row: int, delta: float, middle: float) -> Interval:
    bar = math.log(2.0 / delta)
    if bets.sums[row, H] <= 0.0:
        return Interval(0.0, -1.0, 1.0)
    middle = min(max(middle, -1.0), 1.0)
    step = math.sqrt(3.0 * bar) * _spread(bets.sums[row])
    low = crossing(lambda d: _stakes(bets, row, d, 1) - bar, middle, step, -1.0)
    high = crossing(lambda d: _stakes(bets, row, d, -1) - bar, middle, step, 1.0)
    return Interval(middle, low, high)


def _spread(sums: Floats) -> float:
    """A standard error of the difference."""
    return max(math.sqrt(max(_squares(sums, 1.0), 0.0)) / float(sums[H]), 1e-9)


# Ratios: (1 − π)(u − rm) of arm a and −rπ(u − m) of arm b have mean 0 at the true ratio r


def _total(sums: Floats, ratio: float) -> float:
    return float(sums[A_Y] - ratio * (sums[A_M] + sums[B_Y] - sums[B_M]))


def _squares(sums: Floats, ratio: float) -> float:
    return float(sums[A_YY] - ratio * (2.0 * sums[A_YM] - ratio * (sums[A_MM] + sums[B_DD])))


def _estimate(sums: Floats) -> float:
    below = _below(sums)
    return float(sums[A_Y]) / below if below > 0.0 else 1.0


def _below(sums: Floats) -> float:
    return float(sums[A_M] + sums[B_Y] - sums[B_M])


def against_ratio(bets: ArmBets, row: int) -> Callable[[float, int], float]:
    """Return ln of a capital against a ratio of the means of a pair, for those above it (or below).

    Half of it is bet on each side, by exp(κz/b − ψ(κ)z²/b²) ≤ 1 + κz/b from moments, with −z ≤ b.
    Of rates, half of all that is bet on the mixture over ratios of successes instead: that knows
    more where rates are small, and moments do where they are large.
    """
    sums, curve, kappa = bets.sums[row], bets.wins[row], np.abs(STAKES.points)
    costs = -np.log1p(-kappa) - kappa
    if bets.kind == "rate":
        whole, bend = RATIOS.log_average(curve), RATIOS.bend(curve)

    def log_capital(ratio: float, side: int) -> float:
        bound = max(ratio if side > 0 else max(1.0, ratio), 1e-12)
        total, squares = side * _total(sums, ratio) / bound, _squares(sums, ratio) / bound**2
        result = ANY_STAKES.log_average(kappa * total - costs * squares, 1) - _LOG2
        if bets.kind != "rate":
            return result
        position = math.log(ratio) if ratio > 0.0 else -math.inf
        if abs(position) > RATIOS.points[-1]:
            return result - _LOG2
        wins = float(RATIOS.between(curve, np.array([position]), bend)[0])
        return float(np.logaddexp(result, whole - wins)) - _LOG2

    return log_capital


def _ratio(bets: ArmBets, row: int, delta: float) -> Interval:
    """Return the ratios at which the capital against them is below 1/δ: half of it against the
    ratio, half against all below 1, or above, as a stop bets. So an arm that is apart has no
    interval that says otherwise.
    """
    sums, bar, over = bets.sums[row], math.log(2.0 / delta), against_ratio(bets, row)
    below = _below(sums)
    if below <= 0.0:
        return Interval(1.0, 0.0, math.inf)
    middle = max(_estimate(sums), 0.0)
    step = math.sqrt(3.0 * bar * max(_squares(sums, middle), 0.0)) / below + 1e-6
    low = crossing(lambda r: over(r, 1) - bar, middle, step, 0.0)
    high = crossing(lambda r: over(r, -1) - bar, middle, step, 1e3)
    high = math.inf if high >= 1e3 else high
    if _stakes(bets, row, 0.0, 1) >= bar:
        low, high = max(low, 1.0), max(high, 1.0)
    elif _stakes(bets, row, 0.0, -1) >= bar:
        low, high = min(low, 1.0), min(high, 1.0)
    return Interval(min(max(middle, low), high), low, high)


# Asymptotic sequences


def _likely_squares(bets: ArmBets, row: int, ratio: float) -> float:
    """The squares of a pair at a ratio; at least those that its weights give where its outcomes
    vary as all do. An arm with few outcomes of a heavy tail has not yet met the largest.
    """
    sums = bets.sums[row]
    usual = float(bets.moments[2] / bets.outcomes * sums[H]) if bets.outcomes else 0.0
    return max(_squares(sums, ratio), usual)


def _begun(squares: float, plays: float) -> float:
    return squares / plays * EARLY / 8.0


def _radius(squares: float, plays: float, delta: float) -> float:
    """How far a sum of mean 0 with these squares strays at any look, as they become many (Robbins'
    normal mixture; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2021).
    """
    if squares <= 0.0 or plays < FEWEST:
        return math.inf
    begun = _begun(squares, plays)
    return math.sqrt((squares + begun) * math.log((squares + begun) / (begun * delta * delta)))


def _asymptotic_odds(bets: ArmBets, row: int, side: int) -> float:
    """Return ln of the same mixture against alike means, where they differ on this side."""
    squares, plays = _likely_squares(bets, row, 1.0), float(bets.sums[row, PLAYS])
    total = side * _total(bets.sums[row], 1.0)
    if squares <= 0.0 or total <= 0.0 or plays < FEWEST:
        return -math.inf
    begun = _begun(squares, plays)
    return 0.5 * total * total / (squares + begun) - 0.5 * math.log((squares + begun) / begun)


def _asymptotic_difference(bets: ArmBets, row: int, delta: float) -> Interval:
    sums = bets.sums[row]
    if sums[H] <= 0.0:
        return NOTHING
    weight = float(sums[H])
    middle = _total(sums, 1.0) / weight
    radius = _radius(_likely_squares(bets, row, 1.0), float(sums[PLAYS]), delta) / weight
    return Interval(middle, middle - radius, middle + radius)


def _asymptotic_ratio(bets: ArmBets, row: int, delta: float) -> Interval:
    sums = bets.sums[row]
    below = _below(sums)
    if below <= 0.0:
        return Interval(1.0, 0.0, math.inf)
    middle = max(_estimate(sums), 0.0)
    plays = float(sums[PLAYS])

    def over(ratio: float) -> float:
        return abs(_total(sums, ratio)) - _radius(_likely_squares(bets, row, ratio), plays, delta)

    step = 3.0 * math.sqrt(max(_squares(sums, middle), 0.0)) / below + 1e-6
    low, high = crossing(over, middle, step, 0.0), crossing(over, middle, step, 1e3)
    return Interval(middle, low, math.inf if high >= 1e3 else high)

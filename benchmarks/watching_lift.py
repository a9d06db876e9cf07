"""Plays by known chances that are watched after every reward: bets on arms, until they decide.

A study with a control draws its arms by chances: the shares in which its policy would deal the next
decisions, of which the leader gets at most `most` beside control, made anew when there are 2 % more
decisions. Here many such studies are played at once, with the bets of `ArmBets`: their capitals are
kept as numbers rather than logarithms, so that a reward costs one multiplication a stake.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import call_address, entry, kernel
from belman.lab.bandit_loop import MIND, NATURE, prepare_run
from belman.lab.bandit_runner import in_one_block
from belman.lab.policy_call import (
    NO_ARM,
    bind_policy,
    call_choose,
    call_deal,
    reset,
    values_of_turns,
)
from belman.measures.bet_intervals import EARLY, FEWEST
from belman.measures.bets import ANY_STAKES, FIRST, GROWTH, RATIOS, STAKES
from belman.measures.betting_grid import Grid
from belman.policies import BelMan
from belman.policies.dealing import Deal
from belman.policies.ledger import Ledger, record
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.problems.problem import Problem

_TINY = 1e-250  # capitals below that are nothing: numbers that are denormal take long
_LASTING, _AHEAD = 50, 4
#: Sums of a pair: moments at the true ratio, outcomes, and the capital of bets on successes.
_TOTAL, _SQUARES, _TOTAL_ALIKE, _SQUARES_ALIKE, _PLAYS, _WEIGHT, _WON = range(7)
_LITTLE = math.e**2  # that bets from moments have at most, where these are small


class Lifts(NamedTuple):
    """Of each run: turns until it was decided (or the horizon), the arm (−1 for none), whether that
    arm is better than control (or control than all others), what was lost to the best arm until
    then, and whether an interval of a ratio, and of a difference, was ever wrong.
    """

    turns: NDArray[np.int64]
    arm: NDArray[np.int64]
    right: NDArray[np.bool_]
    lost: Floats
    ratio_missed: NDArray[np.bool_]
    difference_missed: NDArray[np.bool_]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Which runs were decided."""
        return self.arm >= 0


class _Bets(NamedTuple):
    """Capitals of each pair: at no difference and at the true one, on more and on less; of those
    who bet on successes, at the true ratio; and sums.
    """

    more: Floats
    less: Floats
    more_true: Floats
    less_true: Floats
    wins: Floats
    sums: Floats


@kernel
def cap_shares(dealt, most, chances):
    """Fill chances with shares of which the leader has at most `most` beside control, arm 0."""
    arms, total, leader = dealt.size, 0.0, 0
    for a in range(arms):
        total += dealt[a]
        leader = a if dealt[a] > dealt[leader] else leader
    for a in range(arms):
        chances[a] = dealt[a] / total if most * arms > 1.0 else 1.0 / arms
    if most * arms <= 1.0 or most >= 1.0:
        return
    if leader != 0:
        chances[0] = max(chances[0], chances[leader] * (1.0 - most) / most)
    elif chances[0] > most:
        more = (chances[0] - most) / (arms - 1)
        for a in range(1, arms):
            chances[a] += more
        chances[0] = most
    total = 0.0
    for a in range(arms):
        total += chances[a]
    for a in range(arms):
        chances[a] /= total


@kernel
def _multiply(row, stakes, odds, over):
    """Let every stake of a pair win or lose, at odds that are fair under `over`; the capital."""
    if over == 0.0:
        for j in range(stakes.size):
            row[j] *= 1.0 + stakes[j] * odds
    else:
        for j in range(stakes.size):
            row[j] *= (1.0 + stakes[j] * odds) / (1.0 + stakes[j] * over)
    return _capital(row)


@kernel
def _capital(row):
    """The sum of a row, by four at a time; what is next to nothing becomes nothing."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for j in range(0, row.size - 3, 4):
        first += row[j]
        second += row[j + 1]
        third += row[j + 2]
        fourth += row[j + 3]
    for j in range(row.size - row.size % 4, row.size):
        first += row[j]
    j = row.size - 1
    while j >= 0 and row[j] < _TINY:  # large stakes are lost first
        row[j] = 0.0
        j -= 1
    return first + second + third + fourth


@kernel
def _bet_on_success(row, gains, share, mine, true_gain):
    """Let all who bet on a ratio have a success; the capital at the true ratio."""
    total = 0.0
    fair = 1.0 + share * true_gain
    if mine:
        fair /= 1.0 + true_gain
    for j in range(gains.size):
        value = row[j] * fair / (1.0 + share * gains[j])
        if mine:
            value *= 1.0 + gains[j]
        row[j] = value if value > _TINY else 0.0
        total += row[j]
    return total


@kernel
def _from_moments(total, squares, bound, stakes, costs, prior):
    """The capital of bets from moments, on one side."""
    result, scaled, spread = 0.0, total / bound, squares / (bound * bound)
    for j in range(stakes.size):
        result += prior[j] * math.exp(stakes[j] * scaled - costs[j] * spread)
    return result


@kernel
def _log_normal_mixture(total, squares, plays):
    """ln of Robbins' mixture of sums with these squares."""
    begun = squares / plays * EARLY / 8.0
    if squares <= 0.0:
        return 0.0
    return 0.5 * total * total / (squares + begun) - 0.5 * math.log((squares + begun) / begun)


@kernel
def watch_lifts(
    family, constants, prior, ledger, block, blank, world, theta, means, generators, turn_values,
    seed,
    policy_call, deal_call, dealt, chances, most, amount, swing, day, bar, to_the_end, stakes,
    stake_prior, any_prior, costs, gains, ratio_prior, bets, turns, arms, lost, right, ratio_missed,
    difference_missed,
):  # fmt: skip
    """Play every run until it is decided for an arm, or to the last turn."""
    count = chances.size
    for r in range(turns.size):
        best = prepare_run(family, constants, world, seed, r, generators, theta, means)
        nature = generators[NATURE]
        reset(policy_call, prior, ledger, block, blank)
        for p in range(count - 1):
            for j in range(stakes.size):
                bets.more[p, j] = bets.less[p, j] = stake_prior[j]
                bets.more_true[p, j] = bets.less_true[p, j] = stake_prior[j]
            for j in range(gains.size):
                bets.wins[p, j] = ratio_prior[j]
            for j in range(bets.sums.shape[1]):
                bets.sums[p, j] = 0.0
            bets.sums[p, _WON] = 1.0
        turns[r], arms[r], right[r] = turn_values.size, NO_ARM, False
        lost[r], ratio_missed[r], difference_missed[r] = 0.0, False, False
        due, guess_due = 0, 1.0 * FIRST
        mean, scale, centre = 0.0, 1.0, 0.0
        sum_u, sum_gap, sum_squares, sum_score, scored = 0.0, 0.0, 0.0, 0.0, 0.0
        for t in range(turn_values.size):
            if t >= due:
                if most * count <= 1.0:
                    for a in range(count):
                        dealt[a] = 1.0
                else:
                    call_address(deal_call, max(1, t // _AHEAD), t + 1, turn_values[t])
                cap_shares(dealt, most, chances)
                due = t + 1 + t // _LASTING
            coin, arm = chance.uniform(nature), 0
            while arm < count - 1 and coin >= chances[arm]:
                coin -= chances[arm]
                arm += 1
            while chances[arm] == 0.0:  # rounding at the last one
                arm -= 1
            level = 1.0 + swing * math.sin(2.0 * math.pi * t / day)
            luck = chance.uniform(nature)
            if amount:
                u = family.reward(constants, theta[arm], luck) * level
            else:
                u = 1.0 if luck < means[arm] * level else 0.0
            record(family, constants, ledger, arm, u)
            call_address(policy_call, arm, 0, 0.0)
            if arms[r] == NO_ARM:
                lost[r] += (best - means[arm]) * level
            # bets
            if amount:
                score, g = u / (abs(u) + scale) - centre, 1.0 / (1.0 + abs(centre))
            else:
                score, g = u - mean, 1.0 / max(mean, 1.0 - mean)
            variance = sum_squares / t if t > 0 else 0.0
            reached = False
            for a in range(1, count):
                if arm != 0 and arm != a:
                    continue
                both = chances[a] + chances[0]
                share = chances[a] / both
                if not 0.0 < share < 1.0:
                    continue
                mine, p = arm == a, a - 1
                side = 1.0 - share if mine else -share
                h = share * (1.0 - share)
                up = _multiply(bets.more[p], stakes, g * side * score, 0.0)
                down = _multiply(bets.less[p], stakes, -g * side * score, 0.0)
                alike_up, alike_down = up, down
                reached = reached or up >= bar or down >= bar
                ratio, gap = means[a] / means[0], means[a] - means[0]
                if not amount and swing == 0.0 and gap != 0.0:
                    over = g * h * gap
                    up = _multiply(bets.more_true[p], stakes, g * side * score, over)
                    down = _multiply(bets.less_true[p], stakes, -g * side * score, -over)
                if not amount and (swing == 0.0 or gap == 0.0):
                    missed = up >= bar or down >= bar
                    difference_missed[r] = difference_missed[r] or missed
                one = 1.0 - share if mine else 0.0
                other = share if not mine else 0.0
                term = one * (u - ratio * mean) - ratio * other * (u - mean)
                alike = (one - other) * (u - mean)
                bets.sums[p, _TOTAL] += term
                bets.sums[p, _SQUARES] += term * term
                bets.sums[p, _TOTAL_ALIKE] += alike
                bets.sums[p, _SQUARES_ALIKE] += alike * alike
                bets.sums[p, _PLAYS] += 1.0
                bets.sums[p, _WEIGHT] += h
                total, squares = bets.sums[p, _TOTAL], bets.sums[p, _SQUARES]
                if amount:
                    if bets.sums[p, _PLAYS] >= FEWEST:
                        squares = max(squares, variance * bets.sums[p, _WEIGHT])
                        odds = _log_normal_mixture(total, squares, bets.sums[p, _PLAYS])
                        ratio_missed[r] = ratio_missed[r] or odds >= math.log(0.5 * bar)
                    continue
                if u == 1.0:
                    bets.sums[p, _WON] = _bet_on_success(
                        bets.wins[p], gains, share, mine, ratio - 1.0
                    )
                capital = 0.5 * bets.sums[p, _WON]
                if total * total >= 4.0 * squares or capital + 0.5 * _LITTLE >= bar:
                    on_more = _from_moments(total, squares, ratio, stakes, costs, any_prior)
                    reach = max(1.0, ratio)
                    on_less = _from_moments(-total, squares, reach, stakes, costs, any_prior)
                    capital += 0.25 * (on_more + on_less)
                    ratio_missed[r] = ratio_missed[r] or capital >= bar
                ratio_missed[r] = ratio_missed[r] or (ratio < 1.0 and alike_up >= bar)
                ratio_missed[r] = ratio_missed[r] or (ratio > 1.0 and alike_down >= bar)
            # guesses
            sum_u += u
            sum_gap += abs(u - mean)
            sum_squares += (u - mean) ** 2
            sum_score += score + centre
            scored += 1.0
            if t + 1 >= math.ceil(guess_due):
                mean, scale = sum_u / (t + 1.0), max(sum_gap / (t + 1.0), 1e-300)
                centre = sum_score / scored
                sum_score, scored = 0.0, 0.0
                guess_due *= GROWTH
            if reached and arms[r] == NO_ARM:
                winner = _apart(ledger, bets, count, bar, amount, variance)
                if winner != NO_ARM:
                    arms[r], turns[r] = winner, t + 1
                    right[r] = True
                    for a in range(count):
                        if winner != 0:
                            right[r] = means[winner] > means[0]
                        elif a != 0 and means[a] >= means[0]:
                            right[r] = False
                    if not to_the_end:
                        break


@kernel
def _apart(ledger, bets, count, bar, amount, variance):
    """The leader, if it is apart from control, or, if it is control, from all others."""
    leader, highest = 0, -math.inf
    for a in range(count):
        if ledger.plays[a] > 0.0 and ledger.sums[a] / ledger.plays[a] > highest:
            leader, highest = a, ledger.sums[a] / ledger.plays[a]
    for a in range(1, count):
        if leader not in (0, a):
            continue
        p = a - 1
        capital = 0.0
        for j in range(bets.more.shape[1]):
            capital += bets.more[p, j] if leader == a else bets.less[p, j]
        if capital < bar:
            return NO_ARM
        if amount:
            total = bets.sums[p, _TOTAL_ALIKE]
            if (total > 0.0) != (leader == a):
                return NO_ARM
            plays = bets.sums[p, _PLAYS]
            squares = max(bets.sums[p, _SQUARES_ALIKE], variance * bets.sums[p, _WEIGHT])
            if plays < FEWEST or _log_normal_mixture(total, squares, plays) < math.log(0.5 * bar):
                return NO_ARM
    return leader


def watch_lift(
    problem: Problem,
    horizon: int,
    runs: int,
    seed: int = 0,
    *,
    most: float = 0.75,
    delta: float = 0.05,
    swing: float = 0.0,
    day: float = 5_000.0,
    policy: Policy | None = None,
    to_the_end: bool = False,
) -> Lifts:
    """Play studies whose control is the first arm, and look after every reward at their bets.

    `most` is the largest share of the leader beside control: 1 is what the policy wishes, 0 a fixed
    split. Rates and amounts of all arms go up and down by the share `swing` in a `day` of so many
    decisions.

    >>> import belman
    >>> result = watch_lift(belman.problems.bernoulli([0.2, 0.4]), 3_000, 20, most=0.0)
    >>> bool(result.decided.all()), bool(result.right.all())
    (True, True)
    """
    family, arms, policy = problem.family, problem.arms, policy or BelMan()
    ledger = Ledger.blank(np.zeros((arms, family.dimension)))
    block, (ledger, memory) = in_one_block((ledger, policy.memory(arms, family.dimension)))
    generators = np.zeros((3, 4), dtype=np.uint64)
    bound = (policy, family, policy.params(family), ledger, memory, generators[MIND])
    deal, index = Deal.blank(arms, family.dimension), np.zeros(arms)
    call = bind_policy(call_choose, *bound, index)
    dealing = bind_policy(call_deal, *bound, index, kept=block.copy(), block=block, deal=deal)
    result = Lifts(
        np.zeros(runs, np.int64), np.zeros(runs, np.int64), np.zeros(runs, np.bool_),
        np.zeros(runs), np.zeros(runs, np.bool_), np.zeros(runs, np.bool_),
    )  # fmt: skip
    stakes, stake_prior = _one_side(STAKES)
    pairs = np.zeros((arms - 1, stakes.size))
    wins, sums = np.zeros((arms - 1, RATIOS.points.size)), np.zeros((arms - 1, 7))
    bets = _Bets(pairs, pairs.copy(), pairs.copy(), pairs.copy(), wins, sums)
    given: dict[str, Any] = {name: getattr(result, name) for name in Lifts._fields if name != "arm"}
    entry(watch_lifts, family=family.kernels)(
        constants=family.constants,
        prior=np.array(family.prior),
        ledger=ledger,
        block=block,
        blank=block.copy(),
        world=problem.world,
        theta=problem.parameters,
        means=np.zeros(arms),
        generators=generators,
        turn_values=values_of_turns(policy, arms, horizon),
        seed=chance.generator(seed),
        policy_call=call.address,
        deal_call=dealing.address,
        dealt=deal.dealt,
        chances=np.zeros(arms),
        most=float(most),
        amount=not family.coin,
        swing=float(swing),
        day=float(day),
        bar=2.0 * (arms - 1) / delta,
        to_the_end=to_the_end,
        stakes=stakes,
        stake_prior=stake_prior,
        costs=-np.log1p(-stakes) - stakes,
        any_prior=_one_side(ANY_STAKES)[1],
        gains=np.expm1(RATIOS.points),
        ratio_prior=_masses(RATIOS.points, RATIOS.log_prior(RATIOS.points)),
        bets=bets,
        arms=result.arm,
        **given,
    )
    return result


def _masses(points: Floats, log_density: Floats) -> Floats:
    """Return the masses of points by the trapezoidal rule."""
    steps = np.diff(points)
    widths = 0.5 * (np.append(steps, 0.0) + np.insert(steps, 0, 0.0))
    result: Floats = widths * np.exp(log_density)
    return result


def _one_side(grid: Grid) -> tuple[Floats, Floats]:
    """Return the stakes above 0 and their masses, which add up to 1."""
    stakes = grid.points[grid.points >= 0.0].copy()
    return stakes, 2.0 * _masses(stakes, grid.log_prior(stakes))

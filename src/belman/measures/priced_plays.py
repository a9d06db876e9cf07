"""A tight bound on what any policy earns of many yes-or-no arms, from a price for every turn.

If each arm could be played in every turn at a price λ_t, arms would not compete, and one arm's
best plan is a small dynamic programme V (Whittle's relaxation). Alone this is a poor bound: it
plays one arm a turn on average only. So V is used as a *penalty* (Brown, Smith and Sun, 2010; Ye,
Zhu and Zhou, 2018): someone who foresees every reward must play exactly one arm a turn, and is
charged by how much each reward moves V beyond what it was expected to. A policy that foresees
nothing pays no such charge, on average. The foreseeing plan over all arms is bounded in turn by
prices of its own, found by subgradient steps for every truth: whatever the prices, it is a bound.

The prices λ_t and the share of V that is charged decide how tight the bound is, not whether it
holds: they are chosen by truths of their own. What the arms were like (the best and its next
rivals) explains most of the noise; coefficients are found on one half of the truths for the other.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, kernel

Floats = NDArray[np.float64]
#: The longest horizon (V then takes 0.7 GB), and the most arms × horizon².
LONGEST, MOST = 1_000, 10_000_000
_STEPS = 20  # of the prices of a truth
_STEP = 0.03  # the first
_PILOT = 40  # truths, at least, by which λ_t and the share are chosen; a quarter of all if more
_KNOWN = 50_000  # draws of what arms are like, by which its means are known
#: Where prices begin, and how far they fall, in standard deviations of the best arm's chance; and
#: shares of V. The search begins in the middle of the first two, with all of V.
_GRID = ((-0.35, -0.1, 0.15, 0.4, 0.65), (0.2, 0.5, 0.8, 1.2, 1.6), (1.0, 0.7, 0.4, 0.2))
_MIDDLE = (2, 2, 0)
_SCORE = 1.959963984540054  # standard deviations of a central 95 %


def offsets_of(horizon: int, middle: int) -> NDArray[np.int64]:
    """Compute where the states with n₁ plays of a first arm and n₂ of a middle one begin in the
    array of a dynamic programme over counts; its length is at [horizon + 1, 0].
    """
    result, position = np.zeros((horizon + 2, middle + 1), dtype=np.int64), 0
    for n in range(horizon + 1):
        for m in range(min(middle, horizon - n) + 1):
            result[n, m] = position
            position += (n + 1) * (m + 1) * (horizon - n - m + 1)
    result[horizon + 1, 0] = position
    return result


class Bound(NamedTuple):
    """What no policy exceeds on average, and half of its 95 % interval."""

    rewards: float
    error: float


@kernel
def _value(prior, prices, offsets, value):
    """Fill V, what plays of one arm bring beyond their prices from a turn on: n plays, s successes,
    turns from n on.
    """
    horizon = prices.size
    for n in range(horizon, -1, -1):
        width = horizon - n + 1
        for s in range(n + 1):
            mean = (prior[0] + s) / (prior[0] + prior[1] + n)
            here = offsets[n, 0] + s * width
            value[here + width - 1] = 0.0
            if n < horizon:
                lost = offsets[n + 1, 0] + s * (width - 1)
                won = lost + width - 1
                best = 0.0
                for i in range(width - 2, -1, -1):
                    played = mean * (1.0 + value[won + i]) + (1.0 - mean) * value[lost + i]
                    best = max(best, played - prices[n + i])
                    value[here + i] = best


@kernel
def _pay(prior, share, theta, offsets, value, rng, pay):
    """Fill what each play of an arm is paid at each turn; its mean after all plays."""
    horizon = len(pay)
    s = 0
    for n in range(horizon):
        mean = (prior[0] + s) / (prior[0] + prior[1] + n)
        won = chance.uniform(rng) < theta
        width = horizon - n
        lost = offsets[n + 1, 0] + s * width
        charged = share * (1.0 - mean) if won else -share * mean
        for i in range(width):
            pay[n + i, n] = mean - charged * (value[lost + width + i] - value[lost + i])
        s += int(won)
    return (prior[0] + s) / (prior[0] + prior[1] + horizon)


@kernel
def _plan(pay, prices, best, played, spare):
    """Return the most that plays of one arm bring beyond their prices, and take a turn off `spare`
    where that plan plays.
    """
    horizon = len(pay)
    for n in range(horizon + 1):
        best[n] = 0.0
    for t in range(horizon - 1, -1, -1):
        price = prices[t]
        for n in range(t + 1):
            now = pay[t, n] - price + best[n + 1]
            played[t, n] = now > best[n]
            best[n] = max(best[n], now)
    n = 0
    for t in range(horizon):
        if played[t, n]:
            spare[t] -= 1.0
            n += 1
    return best[0]


@kernel
def _bounds(
    prior, share, first: float, steps: int, start, offsets, value, rng, pay, prices, best, played,
    spare, seen, result,
):  # fmt: skip
    """Fill the least bound of every truth, and the means of its arms after all their rewards."""
    for i in range(result.size):
        for a in range(len(pay)):
            theta = chance.beta(rng, prior[0], prior[1])
            seen[i, a] = _pay(prior, share, theta, offsets, value, rng, pay[a])
        result[i] = np.inf
        for t in range(start.size):
            prices[t] = start[t]
        for step in range(steps):
            total = 0.0
            for t in range(start.size):
                total += prices[t]
                spare[t] = 1.0
            for a in range(len(pay)):
                total += _plan(pay[a], prices, best, played, spare)
            result[i] = min(result[i], total)
            size = first / (1.0 + 0.1 * step)
            for t in range(start.size):
                prices[t] = max(prices[t] - size * spare[t], 0.0)


class Relaxation:
    """The bound for some arms of one prior, in a horizon.

    Parameters
    ----------
    prior
        Beta counts.
    arms
        How many arms there are.
    horizon
        The number of turns.
    """

    def __init__(self, prior: Floats, arms: int, horizon: int) -> None:
        self.prior, self.arms, self.horizon = prior, arms, horizon
        self._offsets = offsets_of(horizon, 0)
        self._value = np.zeros(int(self._offsets[horizon + 1, 0]), dtype=np.float32)
        self._pay = np.zeros((arms, horizon, horizon), dtype=np.float32)

    def of_truths(
        self, prices: Floats, share: float, draws: int, rng: chance.Words
    ) -> tuple[Floats, Floats]:
        """Bounds on what can be earned of some truths, and the means of their arms in the end."""
        horizon = self.horizon
        entry(_value)(prior=self.prior, prices=prices, offsets=self._offsets, value=self._value)
        result, seen = np.empty(draws), np.empty((draws, self.arms))
        entry(_bounds)(
            prior=self.prior, share=float(share), first=_STEP, steps=_STEPS, start=prices,
            offsets=self._offsets, value=self._value, rng=rng, pay=self._pay,
            prices=np.zeros(horizon, dtype=np.float32),
            best=np.zeros(horizon + 1, dtype=np.float32),
            played=np.zeros((horizon, horizon), dtype=np.bool_), spare=np.zeros(horizon),
            seen=seen, result=result,
        )  # fmt: skip
        return result, seen

    def bound(self, draws: int, seed: int) -> Bound:
        """The bound as an average over truths."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        thetas = rng.beta(self.prior[0], self.prior[1], (_KNOWN, self.arms))
        wins = rng.binomial(self.horizon, thetas)
        known = (self.prior[0] + wins) / (self.prior.sum() + self.horizon)
        ordered = np.sort(known, axis=1)[:, -2:]
        pilot = max(_PILOT, draws // 4)
        prices, share = self._chosen(ordered[:, 1], ordered.mean(axis=0), pilot, seed)
        result, seen = self.of_truths(prices, share, draws, chance.generator(seed))
        level = float(prices.mean())
        means = _traits(known, level).mean(axis=0)
        rest = _unexplained(result, self.horizon * (_traits(seen, level) - means))
        error = _SCORE * float(rest.std(ddof=1)) / math.sqrt(draws)
        return Bound(float(rest.mean()), error)

    def _chosen(self, best: Floats, means: Floats, draws: int, seed: int) -> tuple[Floats, float]:
        """Prices, and the share of V, whose bound is least for a few truths of their own: one of
        the three is moved along its grid after the other, as long as the bound falls.
        """
        middle, spread = float(best.mean()), float(best.std())
        passed = (np.arange(self.horizon) + 0.5) / self.horizon

        def line(at: tuple[int, ...]) -> Floats:
            start, fall = _GRID[0][at[0]], _GRID[1][at[1]]
            return np.clip(middle + spread * (start - fall * passed), 0.0, 1.0)

        @functools.cache
        def tried(at: tuple[int, ...]) -> float:
            rng = chance.generator(seed, 1)
            result, seen = self.of_truths(line(at), _GRID[2][at[2]], draws, rng)
            rows = np.column_stack([np.ones(draws), np.sort(seen, axis=1)[:, -2:] - means])
            return float(np.linalg.lstsq(rows, result, rcond=1e-8)[0][0])

        at: tuple[int, ...] = _MIDDLE
        moved = True
        while moved:
            moved = False
            for axis, way in itertools.product((2, 0, 1), (1, -1)):
                while 0 <= at[axis] + way < len(_GRID[axis]):
                    there = (*at[:axis], at[axis] + way, *at[axis + 1 :])
                    if not tried(there) < tried(at):
                        break
                    at, moved = there, True
        return line(at), _GRID[2][at[2]]


def _traits(means: Floats, level: float) -> Floats:
    """What bounds depend on: the best arms of a truth, and all that is above a price."""
    first, second, third = (-np.sort(-means, axis=1)[:, :3]).T if means.shape[1] > 2 else (
        means.max(axis=1), means.min(axis=1), np.zeros(len(means))
    )  # fmt: skip
    above = np.maximum(means - level, 0.0).sum(axis=1)
    return np.stack(
        [first, second, third, first * first, second * second, first * second, above], axis=1
    )


def _unexplained(result: Floats, traits: Floats) -> Floats:
    """Values without what traits of mean 0 explain of them, by coefficients of the other half."""
    if len(result) < 8 * traits.shape[1]:
        return result
    out, even = result.copy(), np.arange(len(result)) % 2 == 0
    for half in (even, ~even):
        rows = np.column_stack([np.ones((~half).sum()), traits[~half]])
        slopes = np.linalg.lstsq(rows, result[~half], rcond=1e-8)[0][1:]
        out[half] -= traits[half] @ slopes
    return out

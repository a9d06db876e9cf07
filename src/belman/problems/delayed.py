"""Rewards that come late, and decisions that are made in batches: layers around any world of arms.

A visitor comes, an arm is played, and its reward is told after a delay within the window; a reward
of 0 is never told. What a player is told, and when, is the question. In batches, players give
weights before each, by which its visitors are assigned, or decide turn by turn, and what comes in
is told at the end of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from belman.errors import SettingError
from belman.problems.problem import Floats, Layer, Problem
from belman.validate import is_number, require_one_of, require_whole

#: When players are told of a reward, as kernels know it.
TELLINGS = {"at once": 0, "window": 1, "early": 2, "late": 3, "naive": 4}
#: Parts of the unit interval at whose ends quantiles of a delay are kept.
_PARTS = 1024
#: The last of these chances, for distributions without an end.
_TOP = 1.0 - 1e-6
#: Whose rewards can be late.
PLAYED = ("bandit", "featured")


@dataclass(frozen=True)
class Delayed(Layer):
    """A problem whose rewards come late, or whose decisions are made in batches; made by
    `belman.problems.delayed` and `belman.problems.batched`.

    Parameters
    ----------
    family
        The family of the rewards.
    problem
        The problem without delays.
    quantiles
        Quantiles of the delay at equally spaced chances from 0 to 1, straight in between: one row
        for all arms, or a row for each.
    window
        The longest delay, in units of time.
    arrivals
        Visitors per unit of time; each is one turn.
    growth
        Arrivals grow by a factor exp(`growth`) in each unit of time.
    told
        When players learn of a reward: "at once", "window", "early", "late" or "naive", as for
        `belman.problems.delayed`.
    looks
        The number of moments, equally spaced in time, at which the beliefs of players are kept.
    batch
        The number of turns after which players are told what has come in.
    weighs
        Whether players give weights for the turns of a batch, by which its arms are drawn; else
        they decide turn by turn.
    """

    quantiles: tuple[tuple[float, ...], ...]
    window: float
    arrivals: float
    growth: float
    told: str
    looks: int
    batch: int = 1
    weighs: bool = True

    late = True

    def __post_init__(self) -> None:
        for name, value, least in (
            ("window", self.window, "positive"),
            ("arrivals", self.arrivals, "positive"),
            ("growth", self.growth, "0 or more"),
        ):
            if not is_number(value) or value < 0.0 or (value == 0.0 and least == "positive"):
                raise SettingError(
                    f"{name}={value!r} is not valid for late rewards: it must be {least}"
                )
            object.__setattr__(self, name, float(value))
        require_one_of("told", self.told, TELLINGS)
        if self.told == "early" and not self.family.coin:
            what = f"told='early' needs rewards of 0 and 1, and {self.family.name} rewards are not"
            raise SettingError(f"{what}: told='window' counts them when their window closes")
        if self.told == "early" and self.played_as == "featured":
            what = "told='early' reads silence arm by arm, and these arms share a belief"
            raise SettingError(f"{what}: give told='window', 'late' or 'naive'")
        require_whole("looks", self.looks)
        require_whole("batch", self.batch)
        rows = np.array(self.quantiles)
        if len(rows) not in (1, self.arms):
            what = f"{len(rows)} distributions of delays do not fit {self.arms} arms"
            raise SettingError(f"{what}: give one, or one per arm")
        inside = (rows[:, 0] >= 0.0) & (rows[:, -1] <= self.window * (1.0 + 1e-9))
        if not (inside & (np.diff(rows) >= 0.0).all(axis=1)).all():
            ends = f"from 0 or more to at most the window, {self.window:g}"
            raise SettingError(f"quantiles of a delay must rise {ends}")

    @property
    def sizes(self) -> dict[str, int]:
        return {"arm": self.arms, "look": self.looks, "coordinate": self.family.dimension}

    def times(self, horizon: int) -> Floats:
        """Compute when each visitor comes: at a rate of `arrivals`·exp(`growth`·time), without
        chance.

        Parameters
        ----------
        horizon
            The number of visitors.

        Returns
        -------
        array (horizon)
            The time of each, rising, from the start of the run.
        """
        numbers = np.arange(1.0, horizon + 1.0) / self.arrivals
        return np.log1p(self.growth * numbers) / self.growth if self.growth > 0.0 else numbers


def delayed(
    problem: Problem,
    delays: Any,
    window: float,
    *,
    arrivals: float = 1.0,
    growth: float = 0.0,
    told: str = "early",
    looks: int = 24,
) -> Delayed:
    """Make the same problem with rewards that are told after a delay, within a window.

    Parameters
    ----------
    problem
        The problem.
    delays
        A frozen distribution of SciPy, a quantile function, an array of delays that were seen, or a
        list of these, one per arm. A distribution that reaches beyond the window is cut there: its
        delays are those that are not longer.
    window
        The longest delay.
    arrivals
        Visitors per unit of time.
    growth
        Arrivals grow by a factor exp(`growth`) in each unit of time.
    told
        When players learn of a reward: "at once", when the "window" of each closes, "early" (they
        learn the distribution of the delays, and what silence says: see `belman.delays`), "late"
        (every reward after its delay, also one of 0, which shows the cost of the delays alone), or
        the "naive" way: successes when they come, failures when the window closes.
    looks
        The number of moments, equally spaced in time, at which the beliefs of players are kept.

    Returns
    -------
    Delayed
        The problem.

    Raises
    ------
    SettingError
        If the problem has no rewards that could be late or is late already, or delays are no
        distribution within the window; with "early" also if rewards are not 0 and 1, or arms share
        a belief.

    >>> from scipy import stats
    >>> from belman.problems import bernoulli
    >>> shop = delayed(bernoulli([0.04, 0.03]), stats.expon(scale=30), 120, arrivals=60)
    >>> shop.arms, round(shop.times(86_400)[-1])
    (2, 1440)
    """
    if not isinstance(problem, Problem) or problem.played_as not in PLAYED:
        remedy = "write, for instance, delayed(belman.problems.bernoulli([0.04, 0.03]), …)"
        raise SettingError(f"problem={problem!r} has no rewards that could be late: {remedy}")
    if problem.late:
        raise SettingError(f"problem={problem!r} is late already: write batched(delayed(…), n)")
    distributions = (
        delays if isinstance(delays, (list, tuple)) and not _numbers(delays) else [delays]
    )
    if not is_number(window) or window <= 0.0:
        raise SettingError(f"window={window!r} is not valid for late rewards: it must be positive")
    return Delayed(
        family=problem.family,
        problem=problem,
        quantiles=tuple(_quantiles(distribution, float(window)) for distribution in distributions),
        window=window,
        arrivals=arrivals,
        growth=growth,
        told=told,
        looks=looks,
    )


def batched(problem: Problem, n: int, *, weights: bool = True) -> Delayed:
    """Make the same problem with rewards that are told every n turns.

    Rewards of a `delayed` problem come after their delay, and count at the next batch.

    Parameters
    ----------
    problem
        The problem.
    n
        The number of turns in a batch.
    weights
        Whether a player gives the weights of its arms for the next n turns, by which the arms of
        these turns are drawn. They are those of `Agent.weights`: shares of n decisions in which
        nothing is learnt. A policy that draws, such as Thompson sampling, draws from the beliefs of
        the batch's beginning, and one for arms that share a belief decides as `Agent.ask(n)` does.
        An arm that has gone gives its turns to the others. Without weights players decide turn by
        turn, beside outstanding asks.

    Returns
    -------
    Delayed
        The problem.

    Raises
    ------
    SettingError
        If the problem cannot be decided in batches, such as a queue, or `n` is not a whole number
        from 1 up.

    >>> from belman.problems import bernoulli
    >>> batched(bernoulli([0.04, 0.03]), 100).batch
    100
    """
    if isinstance(problem, Delayed):
        return replace(problem, batch=n, weighs=weights)
    if not isinstance(problem, Problem) or problem.played_as not in PLAYED:
        remedy = "write, for instance, batched(belman.problems.bernoulli([0.8, 0.9]), 100)"
        raise SettingError(f"problem={problem!r} cannot be decided in batches: {remedy}")
    return Delayed(
        family=problem.family,
        problem=problem,
        quantiles=((0.0, 0.0),),
        window=1.0,
        arrivals=1.0,
        growth=0.0,
        told="at once",
        looks=1,
        batch=n,
        weighs=weights,
    )


def _numbers(given: Sequence[Any]) -> bool:
    return all(isinstance(item, (int, float, np.number)) for item in given)


def _quantiles(distribution: Any, window: float) -> tuple[float, ...]:
    """The quantiles of a distribution of delays, cut at the window."""
    chances = np.linspace(0.0, 1.0, _PARTS + 1)
    refused = f"delays={distribution!r} are not a distribution within a window of {window:g}"
    try:
        if hasattr(distribution, "ppf") and hasattr(distribution, "cdf"):
            top = min(float(distribution.cdf(window)), _TOP)
            result = np.asarray(distribution.ppf(top * chances), dtype=np.float64)
        elif callable(distribution):
            result = _cut(distribution, chances, window)
        else:
            seen = np.asarray(distribution, dtype=np.float64).ravel()
            result = np.quantile(seen[seen <= window], chances)
    except (TypeError, ValueError, IndexError) as error:
        remedy = "give a frozen distribution of SciPy, a quantile function or delays"
        raise SettingError(f"{refused} ({error}): {remedy}") from None
    if not np.isfinite(result).all() or result[0] < 0.0 or (np.diff(result) < 0.0).any():
        raise SettingError(f"{refused}: delays are numbers from 0 up, and some within the window")
    return tuple(np.minimum(result, window).tolist())


def _cut(quantile: Callable[[float], float], chances: Floats, window: float) -> Floats:
    """A quantile function up to the chance of the window, found by bisection."""
    low, high = 0.0, 1.0
    if float(quantile(1.0)) > window:
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if float(quantile(middle)) <= window else (low, middle)
    else:
        low = 1.0
    return np.array([float(quantile(min(low, _TOP) * chance)) for chance in chances])

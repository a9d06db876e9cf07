"""Lift at any look: how often it errs, what it finds, what that costs, and how wide intervals are.

Studies are drawn by chances as a study with a control draws them: shares of BelMan, of which the
leader gets at most so much beside control (goal *both*), all that the policy wishes (*earn*), or
the same as all others (*decide*); and looked at after every reward. Late rewards are the part
without a proof: how far from 5 % they lead is measured.

`python -m benchmarks.guarantee [RUNS [PART …]]`, with parts out of alike, amounts, found, caps,
widths, late.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import belman
from belman.measures import bet_intervals
from belman.measures.bets import STAKES, ArmBets
from benchmarks.claim import Claim, report
from benchmarks.watching_lift import Lifts, watch_lift

RUNS, SEED, DELTA = 2_000, 29, 0.05
HORIZON, DAY = 40_000, 5_000.0
GOALS = {"decide": 0.0, "both": 0.75, "earn": 1.0}
RATES, ARMS, SWINGS = (0.03, 0.3, 0.5), (2, 10), (0.0, 0.5)
SIGMA = 1.5
CAPS = (0.0, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
SIZES, REPEATS = (1_000, 10_000, 100_000), 20
LATE_TURNS, DELAY, TOLD_EVERY = 5_000, 1_000.0, 50
Floats = NDArray[np.float64]
Part = tuple[list[Claim], dict[str, str]]


def upper(wrong: int, runs: int) -> float:
    """The upper end of a 99 % interval of a chance."""
    return 1.0 if wrong == runs else float(stats.beta.ppf(0.995, wrong + 1, runs - wrong))


def _errors(title: str, result: Lifts, asymptotic: bool) -> Part:
    """False stops, and intervals that were ever wrong, where all arms are alike."""
    runs = result.turns.size
    counts = {
        "stops": result.decided,
        "lift": result.ratio_missed,
        "difference": result.difference_missed,
    }
    if asymptotic:
        counts = {"stops": result.decided, "intervals (asymptotic)": result.ratio_missed}
    claims, words = [], []
    for what, hits in counts.items():
        wrong = int(hits.sum())
        limit = 0.07 if "asymptotic" in what else DELTA
        claims.append(Claim(f"{title}: {what}", wrong / runs, limit, ""))
        words.append(f"{what} {wrong} (99 %: below {upper(wrong, runs):.4f})")
    return claims, {title: f"of {runs} runs, {', '.join(words)}"}


def _alike(runs: int, problems: dict[str, Callable[[int], belman.problems.Problem]]) -> Part:
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    for name, problem in problems.items():
        for arms in ARMS:
            for goal, most in GOALS.items():
                for swing in SWINGS:
                    title = f"A/A {name}, {arms} arms, {goal}{', swinging' if swing else ''}"
                    result = watch_lift(
                        problem(arms), HORIZON, runs, SEED, most=most, delta=DELTA, swing=swing,
                        day=DAY, to_the_end=True,
                    )  # fmt: skip
                    more, words = _errors(title, result, name.startswith("amounts"))
                    claims += more
                    notes |= words
                    print(f"{title}: {words[title]}", flush=True)
    return claims, notes


def alike(runs: int) -> Part:
    """A/A tests of rates."""

    def of(rate: float) -> Callable[[int], belman.problems.Problem]:
        return lambda arms: belman.problems.bernoulli([rate] * arms)

    return _alike(runs, {f"rate {rate}": of(rate) for rate in RATES})


def amounts(runs: int) -> Part:
    """A/A tests of log-normal amounts."""
    mean = math.exp(0.5 * SIGMA**2)
    return _alike(
        runs,
        {f"amounts σ={SIGMA}": lambda arms: belman.problems.log_normal([mean] * arms, sigma=SIGMA)},
    )


def _played(means: tuple[float, ...], horizon: int, runs: int, most: float) -> Lifts:
    problem = belman.problems.bernoulli(means)
    return watch_lift(problem, horizon, runs, SEED, most=most, delta=DELTA)


def result(runs: int) -> Part:
    """Differences that are found, and what they cost."""
    small, large = ((0.03, 0.036), 40_000), ((0.5, 0.52), 20_000)
    split, both = (_played(*small, runs, GOALS[goal]) for goal in ("decide", "both"))
    coins = _played(*large, runs, 0.0)
    claims = [
        Claim("0.03 to 0.036, fixed split: found", _share(split), 0.60, "", more=True),
        Claim("0.03 to 0.036, goal both: found", _share(both), 0.45, "", more=True),
        Claim("0.03 to 0.036, goal both: lost", both.lost.mean() / split.lost.mean(), 0.65, "×"),
        Claim("0.5 to 0.52, fixed split: found", _share(coins), 0.45, "", more=True),
    ]
    wrong = sum(int((one.decided & ~one.right).sum()) for one in (split, both, coins))
    return claims, {"wrong arm": f"{wrong} of {3 * runs} runs"}


def _share(result: Lifts) -> float:
    return float((result.decided & result.right).mean())


def caps(runs: int) -> Part:
    """The largest share of the leader: what it finds and what it loses."""
    notes, split = {}, None
    worlds = {
        "0.03 to 0.036": ((0.03, 0.036), 40_000),
        "0.5 to 0.52": ((0.5, 0.52), 20_000),
        "0.1 to 0.11, and two below": ((0.1, 0.11, 0.09, 0.08), 40_000),
    }
    for name, (means, horizon) in worlds.items():
        for most in CAPS:
            one = _played(means, horizon, runs, most)
            split = one if most == 0.0 else split
            assert split is not None
            notes[f"{name}, at most {most:g}"] = (
                f"found {_share(one):.3f}, turns {one.turns.mean():,.0f}, lost "
                f"{one.lost.mean():.1f} (×{one.lost.mean() / split.lost.mean():.2f})"
            )
            print(name, most, notes[f"{name}, at most {most:g}"], flush=True)
    return [], notes


# Widths, beside those of Waudby-Smith and Ramdas (2023)


def _plug_in(x: Floats, delta: float) -> tuple[Floats, Floats]:
    """Their bets and predictions: by what was seen before."""
    t = np.arange(1.0, x.size + 1.0)
    means = (0.5 + np.cumsum(x)) / (t + 1.0)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1.0)
    before = np.concatenate([[0.25], variances[:-1]])
    bets = np.sqrt(2.0 * math.log(2.0 / delta) / (before * t * np.log1p(t)))
    return bets, np.concatenate([[0.5], means[:-1]])


def betting(x: Floats, delta: float) -> tuple[float, float]:
    """Their hedged capital: means at which neither gambler owns 2/δ."""
    bets, _ = _plug_in(x, delta)
    bar = math.log(2.0 / delta)

    def above(mean: float) -> float:
        return float(np.log1p(np.minimum(bets, 0.5 / max(mean, 1e-9)) * (x - mean)).sum()) - bar

    def below(mean: float) -> float:
        stake = np.minimum(bets, 0.5 / max(1.0 - mean, 1e-9))
        return float(np.log1p(-stake * (x - mean)).sum()) - bar

    return _root(above, x.mean(), 0.0), _root(below, x.mean(), 1.0)


def _root(over: Callable[[float], float], inside: float, end: float) -> float:
    """The end of an interval, by halving."""
    if over(end) < 0.0:
        return end
    for _ in range(50):
        middle = 0.5 * (inside + end)
        inside, end = (middle, end) if over(middle) < 0.0 else (inside, middle)
    return inside


def bernstein(x: Floats, delta: float) -> tuple[float, float]:
    """Their empirical Bernstein sequence."""
    bets, predicted = _plug_in(x, delta)
    bets = np.minimum(bets, 0.5)
    cost = (x - predicted) ** 2 @ (-np.log1p(-bets) - bets)
    middle = float(bets @ x / bets.sum())
    radius = float((math.log(2.0 / delta) + cost) / bets.sum())
    return max(middle - radius, 0.0), min(middle + radius, 1.0)


def widths(runs: int) -> Part:
    """Widths of means and of differences of two arms of a fixed split."""
    rng = np.random.default_rng(SEED)

    def coins(rate: float) -> Callable[[int], Floats]:
        return lambda n: (rng.random(n) < rate).astype(np.float64)

    distributions: dict[str, tuple[str, Callable[[int], Floats]]] = {
        **{f"rate {rate}": ("rate", coins(rate)) for rate in RATES},
        "range, Beta(½, ½)": ("range", lambda n: rng.beta(0.5, 0.5, n)),
        "range, uniform": ("range", lambda n: rng.random(n)),
        "range, Beta(2, 8)": ("range", lambda n: rng.beta(2.0, 8.0, n)),
        "range, Beta(40, 60)": ("range", lambda n: rng.beta(40.0, 60.0, n)),
    }
    claims, notes = [], {}
    for name, (kind, draw) in distributions.items():
        for n in SIZES:
            seen = np.array([_widths(kind, draw(n), rng.integers(0, 2, n)) for _ in range(REPEATS)])
            mine, theirs, second, mean, other, last = seen.mean(axis=0)
            title = f"{name}, {n:,}"
            claims.append(Claim(f"{title}: difference", mine / min(theirs, second), 1.0, "×"))
            claims.append(Claim(f"{title}: mean", mean / min(other, last), 1.0, "×"))
            notes[title] = (
                f"difference {mine:.4f}, betting {theirs:.4f}, Bernstein {second:.4f}; "
                f"mean {mean:.4f}, betting {other:.4f}, Bernstein {last:.4f}"
            )
    return claims, notes


def _widths(kind: str, x: Floats, arms: NDArray[np.int64]) -> list[float]:
    bets = ArmBets(2, 0, kind)
    bets.add_many(arms, [0.5, 0.5], x)
    _, low, high = bet_intervals.difference(bets, 1, 1.0 - DELTA)
    theirs = (betting, bernstein)
    both = (sum(np.ptp(one(x[arms == a], 0.5 * DELTA)) for a in (0, 1)) for one in theirs)
    alone = ArmBets(1, 0, kind)
    alone.add_many(np.zeros(x.size), [1.0], x)
    ends = bet_intervals.mean(alone, 0, 1.0 - DELTA)
    assert ends is not None
    single = (float(np.ptp(one(x, DELTA))) for one in theirs)
    return [high - low, *both, ends[1] - ends[0], *single]


# Late rewards


def late(runs: int) -> Part:
    """A/A tests at a rate of 0.3 whose rewards are told late, counted in the order of telling, by a
    policy that sees which asks are out.
    """
    cases = {
        "told at once": (0.0, 0.0, 0.0),
        "all told late, alike": (DELAY, DELAY, 1.0),
        "successes late, failures at once": (DELAY, 0.0, 1.0),
        "failures late, successes at once": (0.0, DELAY, 1.0),
        "successes late, three times as late for one arm": (DELAY, 0.0, 3.0),
    }
    claims, notes = [], {}
    for name, (success, failure, factor) in cases.items():
        stops = _late_stops(runs, success, failure, factor)
        share = float(stops.mean())
        exact = name == "told at once"
        if exact:
            claims.append(Claim(f"late, {name}: stops", share, DELTA, ""))
        notes[f"late, {name}"] = (
            f"{int(stops.sum())} of {runs} stop falsely in {LATE_TURNS:,} decisions "
            f"({'exact' if exact else 'no proof'}; 99 %: below {upper(int(stops.sum()), runs):.3f})"
        )
        print(name, notes[f"late, {name}"], flush=True)
    return claims, notes


def _late_stops(runs: int, success: float, failure: float, factor: float) -> NDArray[np.bool_]:
    """Which of many runs, played side by side, ever stop."""
    rng = np.random.default_rng(SEED)
    stakes = STAKES.points[STAKES.points > 0.0]
    steps = np.diff(np.concatenate([[0.0], stakes, [stakes[-1]]]))
    prior = 0.5 * (steps[1:] + steps[:-1]) * np.exp(STAKES.log_prior(stakes))
    prior = np.log(prior / prior.sum())
    logs = np.zeros((2, runs, stakes.size))  # of those who bet on more, and on less
    told, won = np.zeros((runs, 2)), np.zeros((runs, 2))
    asked = np.zeros((runs, 2))
    due: dict[int, list[tuple[NDArray[np.int64], ...]]] = {}
    stopped, every = np.zeros(runs, dtype=np.bool_), np.arange(runs)
    bar = math.log(2.0 / DELTA)
    for t in range(LATE_TURNS):
        # asks that are out count as failures of their arm, which shows which arms they are of
        leads = (won[:, 1] + 1.0) / (asked[:, 1] + 2.0) > (won[:, 0] + 1.0) / (asked[:, 0] + 2.0)
        share = np.where(leads, 0.75, 0.25)
        arm = (rng.random(runs) < share).astype(np.int64)
        reward = (rng.random(runs) < 0.3).astype(np.int64)
        asked[every, arm] += 1.0
        usual = np.where(reward == 1, success, failure) * np.where(arm == 1, factor, 1.0)
        at = t + np.floor(rng.exponential(1.0, runs) * usual).astype(np.int64)
        if success or failure:  # told together, after so many decisions
            at += TOLD_EVERY - 1 - at % TOLD_EVERY
        side = np.where(arm == 1, 1.0 - share, -share)
        for moment in np.unique(at):
            part = np.flatnonzero(at == moment)
            due.setdefault(int(moment), []).append((part, arm[part], reward[part], side[part]))
        if t not in due:
            continue
        part, arms, rewards, sides = map(np.concatenate, zip(*due.pop(t), strict=True))
        count = told[part].sum(axis=1)
        guess = np.where(count > 0.0, won[part].sum(axis=1) / np.maximum(count, 1.0), 0.0)
        odds = sides * (rewards - guess) / np.maximum(guess, 1.0 - guess)
        stake = odds[:, None] * stakes
        np.add.at(logs[0], part, np.log1p(stake))
        np.add.at(logs[1], part, np.log1p(-stake))
        np.add.at(told, (part, arms), 1.0)
        np.add.at(won, (part, arms), rewards)
        top = (logs + prior).max(axis=2)
        near = np.flatnonzero((top.max(axis=0) > bar - math.log(stakes.size)) & ~stopped)
        if near.size:
            total = np.logaddexp.reduce(logs[:, near] + prior, axis=2)
            stopped[near] |= total.max(axis=0) >= bar
    return stopped


PARTS = {
    "alike": alike,
    "amounts": amounts,
    "found": result,
    "caps": caps,
    "widths": widths,
    "late": late,
}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    for name in sys.argv[2:] or PARTS:
        part = PARTS[name](runs)
        claims += part[0]
        notes |= part[1]
    report(f"lift at any look, {runs:,} studies each, looked at after every reward", claims, notes)


if __name__ == "__main__":
    main()

"""Other forms of what surprise counts, on the same rewards as the default's: regret at 10³ to 10⁶
turns and its slope beside the bound of Lai and Robbins, on the problems of `asymptotics`. What the
same forms lose in the first turns is in `first_turns`.

`python -m benchmarks.forms [RUNS]`, by default 100 runs of a million turns. The player is one of
its own, for Bernoulli arms with uniform priors: an arm's rewards are the same whatever the form,
and where no other arm can overtake the leader meanwhile it is played for many turns at once, which
takes some 10 ms a run. The shift of the prior is not rounded here. It is for trials of forms; what
is said of the default itself is measured with `asymptotics`.
"""

from __future__ import annotations

import math
import sys

import numba
import numpy as np
from numpy.typing import NDArray

import belman
from belman.suite.tables import half_interval
from belman.table import Table
from benchmarks.asymptotics import ARMS

Floats = NDArray[np.float64]

MARKS = np.array([1_000, 10_000, 100_000, 1_000_000])
POOL, PRIOR_WORTH, LITTLE = 5.0, 2.0, 1e-3
PART = 400.0  # the share of a leader's plays that are made at once, at most
HYPERBOLA, BY_SURPRISE, BY_CLOCK = 0, 1, 2
TURNS, LEADER = False, True
#: Of each form its kind, gain and k of κ = gain·ln(K + k), where and how κ falls, and whether an
#: arm's plays are held against all turns, x = ln(t/ν), or against the leader's, x = ln(ν_L/ν)₊.
FORMS: dict[str, tuple[int, float, float, float, float, bool]] = {
    "default": (HYPERBOLA, 2.25, 0.0, 8.5, 4.0, TURNS),
    "without reach": (HYPERBOLA, 2.25, 0.0, math.inf, 4.0, TURNS),
    "reach 7.5, sixth power": (HYPERBOLA, 2.25, 0.0, 7.5, 6.0, TURNS),
    "reach 10, cubed": (HYPERBOLA, 2.25, 0.0, 10.0, 3.0, TURNS),
    "IMED": (HYPERBOLA, 0.0, 0.0, math.inf, 1.0, TURNS),
    "φ_κ, 1.15 ln(K + 3)": (BY_SURPRISE, 1.15, 3.0, math.inf, 1.0, TURNS),
    "φ_κ, by the clock": (BY_CLOCK, 1.2, 1.0, 10.0, 1.0, TURNS),
    "φ_κ, by surprise": (BY_SURPRISE, 1.25, 1.0, 12.0, 2.0, TURNS),
    "φ_κ, by surprise, later": (BY_SURPRISE, 1.25, 1.0, 11.0, 4.0, TURNS),
    "of the leader's plays": (HYPERBOLA, 2.25, 0.0, 8.5, 4.0, LEADER),
    "of the leader's, 2 ln(K + 2)": (HYPERBOLA, 2.0, 2.0, 8.5, 4.0, LEADER),
    "of the leader's, φ_κ, 1.2 ln(K + 3)": (BY_SURPRISE, 1.2, 3.0, 12.0, 4.0, LEADER),
}


@numba.njit
def counted(x, log_turn, form, greed):
    """What the surprise x counts."""
    kind, _, _, at, power, _ = form
    if x <= 0.0 or greed <= 0.0:
        return x
    if kind == HYPERBOLA:
        return x * x / (x + greed / (1.0 + (x / at) ** power))
    if kind == BY_SURPRISE:
        greed /= 1.0 + (x / at) ** power
    elif log_turn > at:
        greed *= at / log_turn
    return x + greed * math.expm1(-x / greed)


@numba.njit
def divergence(p, q):
    """KL of Bernoulli distributions by their means, 0 < p < 1."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


@numba.njit
def mixed(word):
    """A word of 64 bits scrambled (SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@numba.njit
def successes(key, mean, first, count):
    """The sum of an arm's rewards from its `first` on, `count` of them."""
    total = 0
    for n in range(first, first + count):
        word = mixed(key + np.uint64(n) * np.uint64(0x9E3779B97F4A7C15))
        total += np.float64(word >> np.uint64(11)) * 2.0**-53 < mean
    return total


@numba.njit
def judged(plays, sums, means):
    """Fill in the means with the prior shifted as the default does it; return the leader."""
    moved, learned = 0.0, 0.0
    for a in range(plays.size):
        moved += (sums[a] + 1.0) / (plays[a] + PRIOR_WORTH) - 0.5
        learned += plays[a] / (plays[a] + PRIOR_WORTH)
    shift = min(0.0, moved / (POOL + learned))
    if PRIOR_WORTH * divergence(0.5 + shift, 0.5) < LITTLE:
        shift = 0.0
    for a in range(plays.size):
        means[a] = (sums[a] + 1.0 + PRIOR_WORTH * shift) / (plays[a] + PRIOR_WORTH)
    leader = 0
    for a in range(1, plays.size):  # of equals, the one that was played more
        ahead = means[a] == means[leader] and plays[a] > plays[leader]
        if means[a] > means[leader] or ahead:
            leader = a
    return leader


@numba.njit
def overtakes(a, turn, count, leader, plays, means, form, greed):
    """By how much arm a may exceed the leader's index within `count` turns of the leader's."""
    start, end = math.log(turn), math.log(turn + count - 1.0)
    worth = plays[leader] + PRIOR_WORTH
    lowest = means[leader] * worth / (worth + count - 1.0)
    if means[a] >= lowest and count > 1:
        return np.inf
    own = 0.0
    if form[5]:
        x = max(math.log(worth + count - 1.0) - math.log(plays[a] + PRIOR_WORTH), 0.0)
    else:
        x = end - math.log(plays[a] + PRIOR_WORTH)
        own = counted(start - math.log(worth + count - 1.0), start, form, greed)
    surprise = max(counted(x, start, form, greed), counted(x, end, form, greed))
    return surprise - (plays[a] + PRIOR_WORTH) * divergence(means[a], lowest) - own


@numba.njit
def challenger(turn, count, leader, plays, means, form, greed):
    """The arm whose index may exceed the leader's by most within `count` turns of it; or itself."""
    most, arm = 0.0, leader
    for a in range(plays.size):
        if a != leader:
            by = overtakes(a, turn, count, leader, plays, means, form, greed)
            if by > most:
                most, arm = by, a
    return arm


@numba.njit
def play(arms, seed, form, greed, marks, regret):
    """One run; `regret` is what was lost at the marks."""
    plays, sums, means = np.zeros(arms.size), np.zeros(arms.size), np.zeros(arms.size)
    best, turn, mark, lost, block = arms.max(), 1, 0, 0.0, 1
    while mark < marks.size:
        leader = judged(plays, sums, means)
        count = min(block, marks[mark] - turn + 1)
        while True:
            arm = challenger(turn, count, leader, plays, means, form, greed)
            if count == 1 or arm == leader:
                break
            count = max(count // 4, 1)
        key = mixed(seed + np.uint64(arm + 1) * np.uint64(0xD1342543DE82EF95))
        sums[arm] += successes(key, arms[arm], int(plays[arm]) + 1, count)
        plays[arm] += count
        lost += count * (best - arms[arm])
        turn += count
        block = max(min(2 * count, int(plays[leader] / PART)), 1) if arm == leader else 1
        if turn > marks[mark]:
            regret[mark] = lost
            mark += 1


def greed_of(form: tuple[int, float, float, float, float, bool], arms: int) -> float:
    """κ of a form."""
    return form[1] * math.log(arms + form[2])


def regrets(
    means: tuple[float, ...], name: str, runs: int, seed: int = 11, marks: NDArray[np.int64] = MARKS
) -> Floats:
    """The regret of every run of a form at the marks."""
    form, result = FORMS[name], np.zeros((runs, marks.size))
    greed = greed_of(form, len(means))
    seeds = np.random.default_rng([seed, len(means)]).integers(0, 2**63, size=runs, dtype=np.uint64)
    for own, row in zip(seeds, result, strict=True):
        play(np.array(means), own, form, greed, marks, row)
    return result


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    names = ("arms", "form", "slope / bound", "±", *(f"at {mark:,}" for mark in MARKS), "worst run")
    columns: dict[str, list[object]] = {name: [] for name in names}
    for words, means in ARMS.items():
        bound = belman.problems.lai_robbins(belman.problems.bernoulli(means))
        for name in FORMS:
            result = regrets(means, name, runs)
            slope = (result[:, -1] - result[:, -2]) / math.log(10.0) / bound
            ends = [float(value) for value in result.mean(axis=0)]
            row = (words, name, slope.mean(), half_interval(slope), *ends, result[:, -1].max())
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        print(f"{words}: done", file=sys.stderr, flush=True)
    print(Table(columns, f"mean regret of {runs:,} runs"))


if __name__ == "__main__":
    main()

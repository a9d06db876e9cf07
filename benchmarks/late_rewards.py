"""A shop whose conversions come late: what it loses, and what it believes, by when it is told.

24 hours, 60 visitors a minute, four arms; a conversion is told after an exponential delay of mean
30 minutes, cut at a window of two hours. The trial is plain data (`Trial`) and its outcome too
(`Outcome`), so that whatever asks and tells can be judged: `in_the_lab` plays it here.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import belman
from belman.delays import widened
from belman.families import Bernoulli
from belman.measures.best import best_probabilities
from belman.problems.delayed import TELLINGS
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]


class Trial(NamedTuple):
    """What is tried: chances, visitors, delays and their window in minutes, and hours."""

    chances: tuple[float, ...] = (0.038, 0.031, 0.030, 0.028)
    visitors: float = 60.0  # a minute
    delay: float = 30.0  # on average, before it is cut at the window
    window: float = 120.0
    hours: int = 24

    @property
    def horizon(self) -> int:
        return round(self.hours * 60 * self.visitors)


class Outcome(NamedTuple):
    """What happened in some runs: conversions lost, and what was believed at the end of each hour.

    Beliefs are (α, β), the doubt a variance of the logarithm of every chance.
    """

    lost: Floats  # (runs)
    beliefs: Floats  # (runs, hours, arms, 2)
    doubt: Floats  # (runs, hours, arms)


def in_the_lab(trial: Trial, told: str, runs: int, seed: int) -> Outcome:
    """The trial in the lab, with the default policy."""
    problem = belman.problems.delayed(
        belman.problems.bernoulli(trial.chances),
        stats.expon(scale=trial.delay),
        trial.window,
        arrivals=trial.visitors,
        told=told,
        looks=trial.hours,
    )
    found = belman.simulate({"": belman.BelMan()}, problem, trial.horizon, runs, seed).isel(
        player=0
    )
    return Outcome(found.regret.isel(turn=-1).values, found.belief.values, found.doubt.values)


def coverage(trial: Trial, outcome: Outcome) -> Floats:
    """The share of 95 % intervals that hold the truth, at the end of each hour."""
    rows = widened(outcome.beliefs, outcome.doubt)
    low, high = (stats.beta.ppf(level, rows[..., 0], rows[..., 1]) for level in (0.025, 0.975))
    truth = np.array(trial.chances)
    return ((low <= truth) & (truth <= high)).mean(axis=(0, 2))


def wrong_hours(trial: Trial, outcome: Outcome) -> Floats:
    """Hours at whose end a wrong arm has P(best) above 0.95, of each run."""
    family, right = Bernoulli(), int(np.argmax(trial.chances))
    found = np.zeros(len(outcome.lost))
    for run, hours in enumerate(outcome.beliefs):
        for beliefs in hours:
            best = best_probabilities(family, np.ascontiguousarray(beliefs))
            best[right] = 0.0
            found[run] += best.max() > 0.95
    return found


def half_width(values: Floats) -> float:
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def ratio_half_width(values: Floats, base: Floats) -> float:
    """Of the ratio of two means over the same runs, to first order."""
    ratio = values.mean() / base.mean()
    return half_width((values - ratio * base) / base.mean())


def main(runs: int = 400, seed: int = 1) -> None:
    trial = Trial()
    outcomes = {told: in_the_lab(trial, told, runs, seed) for told in TELLINGS}
    lost = {told: outcome.lost for told, outcome in outcomes.items()}
    wrong = {told: wrong_hours(trial, outcome) for told, outcome in outcomes.items()}
    cover = {told: coverage(trial, outcome) for told, outcome in outcomes.items()}
    print(
        Table(
            {
                "told": list(outcomes),
                "lost": [float(values.mean()) for values in lost.values()],
                "± lost": [half_width(values) for values in lost.values()],
                "wrong hours": [float(values.mean()) for values in wrong.values()],
                "± wrong": [half_width(values) for values in wrong.values()],
                "least cover": [float(100.0 * values[2:].min()) for values in cover.values()],
                "most cover": [float(100.0 * values[2:].max()) for values in cover.values()],
                "cover, hour 1": [float(100.0 * values[0]) for values in cover.values()],
                "cover, hour 2": [float(100.0 * values[1]) for values in cover.values()],
            },
            f"{runs} runs of {trial.hours} hours; coverage in %, least and most from hour 3 on",
        )
    )
    base = lost["at once"].mean()
    notes = {
        "coverage": f"of {4 * runs:,} intervals an hour, a standard error of "
        f"{100.0 * np.sqrt(0.05 * 0.95 / (4 * runs)):.1f} points if arms were independent",
        **{
            f"lost {told}, over at once": f"{lost[told].mean() / base:.3f} ± "
            f"{ratio_half_width(lost[told], lost['at once']):.3f}"
            for told in ("early", "window")
        },
        **{
            f"{told} − at once": f"{(lost[told] - lost['at once']).mean():.1f} ± "
            f"{half_width(lost[told] - lost['at once']):.1f} conversions, paired"
            for told in ("early", "window", "naive")
        },
    }
    claims = [
        Claim("lost early, over told at once", lost["early"].mean() / base, 1.1, "times"),
        Claim("lost at the window's end, over at once", lost["window"].mean() / base, 1.5, "times"),
        Claim(
            "wrong hours early, over told at once",
            wrong["early"].mean(),
            wrong["at once"].mean() + half_width(wrong["early"] - wrong["at once"]),
            "hours",
        ),
        Claim("least coverage early, hour 3 on", 100 * cover["early"][2:].min(), 93.0, "%", True),
        Claim("most coverage early, hour 3 on", 100 * cover["early"][2:].max(), 97.0, "%"),
    ]
    report("late rewards", claims, notes)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

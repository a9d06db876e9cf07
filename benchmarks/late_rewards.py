"""A shop whose conversions come late: what it loses, and what it believes, by when it is told.

24 hours, 60 visitors a minute, four arms; a conversion is told after an exponential delay of mean
30 minutes, cut at a window of two hours. Whoever is told *late* hears of every reward after its
delay, also of one of 0, of which the world says nothing. Early learning knows less than that at
every moment, so that what is lost late and not at once is the price of the delays alone.

The trial is plain data (`Trial`) and its outcome too (`Outcome`), so that whatever asks and tells
can be judged: `in_the_lab` plays it in the lab, and `in_studies` through studies that are kept in
SQLite. `python -m benchmarks.late_rewards [RUNS] [SEED] [STUDIES]` plays so many runs in the lab
and lives of studies. A few runs in a hundred lose most, so that 400 tell a ratio to ± 0.13 only.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import belman
from belman.delays import chance_below
from belman.delays.counts import PRIOR
from belman.families import Bernoulli
from belman.measures.best import best_probabilities
from belman.problems.delayed import TELLINGS
from belman.studies import Ask, Ticket
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]
AT_ONCE = 10  # visitors of a transaction
DISTRIBUTIONS = 60  # of delays, drawn from the prior
BY_DISTRIBUTION = 100  # runs of three hours for each of these distributions, in minutes
OTHERS = {
    "exponential, mean 10": stats.expon(scale=10.0),
    "exponential, mean 60": stats.expon(scale=60.0),
    "Weibull, shape 0.6": stats.weibull_min(0.6, scale=25.0),
    "log-normal, σ = 1": stats.lognorm(1.0, scale=20.0),
    "gamma, shape 4": stats.gamma(4.0, scale=15.0),
    "uniform": stats.uniform(0.0, 120.0),
    "half from 2 to 12, half from 70 to 90": np.append(
        np.linspace(2.0, 12.0, 500), np.linspace(70.0, 90.0, 500)
    ),
    "6 of 10 at 5, 3 at 45, 1 at 100": np.repeat([5.0, 45.0, 100.0], [600, 300, 100]),
    "all from 80 on": np.linspace(80.0, 120.0, 1_000),
}


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

    Beliefs are (α, β), the doubt is about the delays (`belman.delays.intervals`).
    """

    lost: Floats  # (runs)
    beliefs: Floats  # (runs, hours, arms, 2)
    doubt: Floats  # (runs, hours, arms)


def in_the_lab(trial: Trial, told: str, runs: int, seed: int, delays: Any = None) -> Outcome:
    """The trial in the lab, with the default policy, and with such delays if they are given."""
    problem = belman.problems.delayed(
        belman.problems.bernoulli(trial.chances),
        stats.expon(scale=trial.delay) if delays is None else delays,
        trial.window,
        arrivals=trial.visitors,
        told=told,
        looks=trial.hours,
    )
    result = belman.simulate({"": belman.BelMan()}, problem, trial.horizon, runs, seed).isel(
        player=0
    )
    lost = result.regret.isel(turn=-1).values
    return Outcome(lost, result.belief.values, result.doubt.values)


def distributions_of_the_prior(trial: Trial, number: int, seed: int) -> list[Floats]:
    """Delays by distributions drawn from what early learning expects of distributions: a Dirichlet
    process.
    """
    rng, distributions = np.random.default_rng(seed), []
    for _ in range(number):
        left = np.cumprod(1.0 - rng.beta(1.0, PRIOR, 200))
        weights = -np.diff(np.append(1.0, left))
        atoms = trial.window * rng.random(200) ** 2  # F is √(s/window) on average
        distributions.append(np.repeat(atoms, np.rint(10_000 * weights).astype(int)))
    return distributions


def over_distributions(trial: Trial, number: int, seed: int) -> list[tuple[float, float]]:
    """Coverage of early learning in the first two hours over distributions of its prior, and its
    error.
    """
    two = trial._replace(hours=2)
    shares = np.array(
        [
            coverage(two, in_the_lab(two, "early", 10, seed + k, delays))
            for k, delays in enumerate(distributions_of_the_prior(trial, number, seed))
        ]
    )
    return [(float(hour.mean()), half_width(hour)) for hour in shares.T]


def by_distribution(trial: Trial, seed: int) -> Table:
    """Coverage of early learning at the end of the first hours, by how delays are distributed."""
    three = trial._replace(hours=3)
    shares = [
        100.0 * coverage(three, in_the_lab(three, "early", BY_DISTRIBUTION, seed, delays))
        for delays in OTHERS.values()
    ]
    hours = {f"hour {i + 1}": [float(row[i]) for row in shares] for i in range(three.hours)}
    title = f"coverage told early, in %, by the delays (minutes); {BY_DISTRIBUTION} runs each"
    return Table({"delays": list(OTHERS), **hours}, title)


def in_studies(trial: Trial, runs: int, seed: int) -> Outcome:
    """The trial through studies with the defaults, one after another; visitors come ten at once."""
    lives = [_life(trial, np.random.default_rng([seed, run])) for run in range(runs)]
    return Outcome(*(np.array(part) for part in zip(*lives, strict=True)))


def _life(trial: Trial, luck: np.random.Generator) -> tuple[float, Floats, Floats]:
    """One study: conversions lost, and what it believes at the end of each hour."""
    now, chances = [0.0], np.array(trial.chances)
    arms, window = range(len(chances)), 60.0 * trial.window
    delays = stats.truncexpon(trial.window / trial.delay, scale=60.0 * trial.delay)
    told: list[tuple[float, str]] = []
    lost, beliefs, doubt = 0.0, [], []
    with tempfile.TemporaryDirectory() as folder:
        position = f"sqlite:///{folder}/shop.db?synchronous=normal"
        number = int(luck.integers(2**31))
        study = belman.open_study(
            "shop", arms, storage=position, window=window, seed=number, clock=lambda: now[0]
        )
        for block in range(1, trial.horizon // AT_ONCE + 1):
            moment = 60.0 * block * AT_ONCE / trial.visitors
            while told and told[0][0] < moment:
                now[0], ticket = heapq.heappop(told)
                study.tell(ticket, 1)
            now[0] = moment
            for one in study.together([Ask()] * AT_ONCE):
                [visitor] = cast("list[Ticket]", one)
                lost += chances.max() - chances[visitor.arm]
                if luck.random() < chances[visitor.arm]:
                    delay = float(delays.rvs(random_state=luck))
                    heapq.heappush(told, (moment + min(delay, 0.9999 * window), visitor.id))
            if moment % 3600.0 == 0.0:
                agent = study.agent()
                beliefs.append([agent.belief(arm) for arm in arms])
                doubt.append([agent.provisional.get(arm, (0.0,))[-1] for arm in arms])
        study.storage.close()
    return lost, np.array(beliefs), np.array(doubt)


def coverage(trial: Trial, outcome: Outcome) -> Floats:
    """The share of 95 % intervals that hold the truth, at the end of each hour."""
    below = chance_below(outcome.beliefs, outcome.doubt, np.array(trial.chances))
    return ((below >= 0.025) & (below <= 0.975)).mean(axis=(0, 2))


def wrong_hours(trial: Trial, outcome: Outcome) -> Floats:
    """Hours at whose end a wrong arm has P(best) above 0.95, of each run."""
    family, right = Bernoulli(), int(np.argmax(trial.chances))
    result = np.zeros(len(outcome.lost))
    for run, hours in enumerate(outcome.beliefs):
        for beliefs in hours:
            best = best_probabilities(family, np.ascontiguousarray(beliefs))
            best[right] = 0.0
            result[run] += best.max() > 0.95
    return result


def half_width(values: Floats) -> float:
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def ratio_half_width(values: Floats, base: Floats) -> float:
    """Of the ratio of two means over the same runs, to first order."""
    ratio = values.mean() / base.mean()
    return half_width((values - ratio * base) / base.mean())


def main(runs: int = 1_600, seed: int = 1, studies: int = 4) -> None:
    trial = Trial()
    outcomes = {told: in_the_lab(trial, told, runs, seed) for told in TELLINGS}
    real = in_studies(trial, studies, seed)
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
    print(by_distribution(trial, seed))
    base = lost["at once"].mean()
    least = lost["late"].mean()
    other_distributions = over_distributions(trial, DISTRIBUTIONS, seed)
    notes = {
        f"coverage in hours 1 and 2, over {DISTRIBUTIONS} distributions of the prior": ", ".join(
            f"{100.0 * share:.1f} ± {100.0 * error:.1f} %" for share, error in other_distributions
        ),
        "coverage": f"of {4 * runs:,} intervals an hour, a standard error of "
        f"{100.0 * np.sqrt(0.05 * 0.95 / (4 * runs)):.1f} points if arms were independent",
        **{
            f"lost {told}, over at once": f"{lost[told].mean() / base:.3f} ± "
            f"{ratio_half_width(lost[told], lost['at once']):.3f}"
            for told in ("early", "late", "window")
        },
        "lost early, over late": f"{lost['early'].mean() / least:.3f} ± "
        f"{ratio_half_width(lost['early'], lost['late']):.3f}",
        **{
            f"{told} − at once": f"{(lost[told] - lost['at once']).mean():.1f} ± "
            f"{half_width(lost[told] - lost['at once']):.1f} conversions, paired"
            for told in ("early", "late", "window", "naive")
        },
        f"{studies} studies": f"lost {', '.join(f'{value:.0f}' for value in real.lost)}; "
        f"wrong hours {wrong_hours(trial, real).mean():g}; coverage from hour 3 on "
        f"{100.0 * coverage(trial, real)[2:].mean():.1f} %",
    }
    noise = lost["early"].std(ddof=1) * np.sqrt(1.0 / studies + 1.0 / runs)
    claims = [
        Claim("lost early, over told at once", lost["early"].mean() / base, 1.1, "times"),
        Claim("lost early, over every reward late", lost["early"].mean() / least, 1.1, "times"),
        Claim("lost at the window's end, over at once", lost["window"].mean() / base, 1.5, "times"),
        Claim(
            "wrong hours early, over told at once",
            wrong["early"].mean(),
            wrong["at once"].mean() + half_width(wrong["early"] - wrong["at once"]),
            "hours",
        ),
        Claim("least coverage early, of all hours", 100 * cover["early"].min(), 93.0, "%", True),
        Claim("most coverage early, of all hours", 100 * cover["early"].max(), 97.0, "%"),
        Claim(
            "coverage in hour 1, over distributions",
            100 * other_distributions[0][0],
            93.0,
            "%",
            True,
        ),
        Claim(
            "lost in studies, from the lab's early",
            abs(real.lost.mean() - lost["early"].mean()) / noise,
            3.0,
            "standard errors",
        ),
    ]
    report("late rewards", claims, notes)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""How long an experiment will take, for every goal: by playing it many times, beside the customary
calculation for a test of fixed size.

The truth that is played is one arm with the lift asked for, the others at the baseline. An A/A test
is played as well, so that one sees how often the rule stops where there is nothing to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError, listing
from belman.measures.staged_plays import Watched, World, play_stages
from belman.measures.stop_rules import MOST_SHARE, Separated, StopRule, Sure
from belman.table import Table

#: Goals in the order of a reader, the soonest verdict first.
GOALS = ("decide", "both", "earn")
_LONGEST = 6.0  # times a test of fixed size


@dataclass(frozen=True)
class Plan:
    """A planned experiment: what is asked, a test of fixed size, and how each goal did.

    Attributes
    ----------
    baseline
        The rate of control; with a `deviation`, its mean amount.
    lift
        The lift to find, as a share of the baseline.
    arms
        The number of arms.
    risk
        The probability of a wrong verdict.
    per_day
        Decisions a day.
    rule
        The stopping rule that was played.
    power
        The power of the test of fixed size.
    deviation
        The standard deviation of amounts; None for rewards of 0 or 1.
    prior
        What is believed of every arm at first: Beta counts, or a mean and a precision with a
        `deviation`.
    fixed
        Decisions of a test of fixed size, over all arms.
    horizon
        The most decisions of a run; one that is not decided by then is not decided.
    played
        By goal, how its runs did.
    alike
        How runs did in which all arms are alike, under the goal "both".
    """

    baseline: float
    lift: float
    arms: int
    risk: float
    per_day: float
    rule: StopRule
    power: float
    deviation: float | None
    prior: tuple[float, float]
    fixed: float  # decisions of a test of fixed size
    horizon: int
    played: dict[str, Watched]
    alike: Watched  # A/A tests under goal both

    def days(self, name: str) -> NDArray[np.float64]:
        """Return the days until each run of a goal was decided.

        Parameters
        ----------
        name
            The goal: "earn", "decide" or "both".

        Returns
        -------
        ndarray
            Days by run; infinite where it was not decided.
        """
        result = self.played[name]
        return np.where(result.decided, result.turns / self.per_day, math.inf)

    def decided_by(self, name: str, days: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of runs that are decided by given days.

        Parameters
        ----------
        name
            The goal.
        days
            Days.

        Returns
        -------
        ndarray
            A share for each day.
        """
        return (self.days(name)[None, :] <= days[:, None]).mean(axis=1)

    def spans(self, name: str) -> list[float]:
        """Return the days by which a tenth, half and nine tenths of the runs were decided.

        Parameters
        ----------
        name
            The goal.

        Returns
        -------
        list
            Three numbers of days.
        """
        days = np.quantile(self.days(name), [0.1, 0.5, 0.9], method="higher")
        return [float(day) for day in days]

    @property
    def fixed_days(self) -> float:
        """Days of a test of fixed size."""
        return self.fixed / self.per_day

    def found_by_then(self, name: str) -> float:
        """Return the share of runs that are decided, and rightly, when a test of fixed size would
        end.

        Parameters
        ----------
        name
            The goal.

        Returns
        -------
        float
            A share.
        """
        result = self.played[name]
        return float(((result.turns <= self.fixed) & result.right).mean())

    @property
    def false_stops(self) -> float:
        """The share of A/A tests that the rule stopped."""
        return float(self.alike.decided.mean())

    @property
    def _unit(self) -> str:
        return "conversions" if self.deviation is None else "earnings"

    @property
    def sentence(self) -> str:
        """What to expect, in words."""
        most = self.horizon / self.per_day
        parts = [
            f"goal {name} decides in {_days(self.spans(name)[1], most)} in half of the runs and "
            f"gives away {result.lost.mean():,.0f} {self._unit} until then"
            for name, result in self.played.items()
        ]
        over = f"{100.0 * self.baseline:.4g} %" if self.deviation is None else f"{self.baseline:g}"
        words = f"To find a lift of {100.0 * self.lift:.4g} % over {over}"
        return f"{words} among {self.arms} arms, {'; '.join(parts)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How the plan differs from a power calculation, and how often the rule stops for
        nothing.
        """
        size = f"{self.fixed:,.0f} decisions, {_days(self.fixed_days)}"
        pairs = f" (each of {self.arms - 1} comparisons at {self.risk / (self.arms - 1):.2g})"
        fixed = (
            f"A test of fixed size needs {size}, for a power of {100.0 * self.power:.3g} % at "
            f"{100.0 * self.risk:.3g} %, two-sided{pairs if self.arms > 2 else ''}: an even split "
            "that is looked at once, at its end."
        )
        least = min(self.played, key=lambda name: self.spans(name)[1])
        later = self._until(least) / self.fixed_days
        times = f"{later:.2g} times" if math.isfinite(later) else f"more than {_LONGEST:.2g} times"
        more = (
            f"{self.rule!r} may be looked at after every reward and stops as soon as it can. When "
            f"the fixed test would end it has found {100.0 * self.found_by_then(least):.0f} % "
            f"(goal {least}); the same power takes {times} as long."
        )
        if self.rule.guaranteed:
            held = f"at most {100.0 * self.risk:.3g} % whatever the prior, by its guarantee"
        else:
            held = "it holds on average over the prior, and promises nothing of these"
        runs = len(self.alike.turns)
        alike = (
            f"A/A tests that it stopped, watched for {_days(self.horizon / self.per_day)} under "
            f"goal both: {100.0 * self.false_stops:.3g} % of {runs:,} ({held})."
        )
        return fixed, more, alike

    def _until(self, name: str) -> float:
        """Days until as many runs as the power says were decided rightly."""
        result = self.played[name]
        days = np.where(result.right, result.turns / self.per_day, math.inf)
        return float(np.quantile(days, self.power, method="higher"))

    def table(self) -> Table:
        """Return the plan as a table.

        Returns
        -------
        Table
            A row for each goal.
        """
        rows = list(self.played)
        result = [self.played[name] for name in rows]
        ends = [self.spans(name) for name in rows]
        return Table(
            {
                "goal": rows,
                "days (median)": [end[1] for end in ends],
                "10 %": [end[0] for end in ends],
                "90 %": [end[2] for end in ends],
                f"found in {self.fixed_days:,.3g} days": [self.found_by_then(n) for n in rows],
                "decided": [float(one.decided.mean()) for one in result],
                "right": [_mean(one.right[one.decided]) for one in result],
                f"{self._unit} lost": [float(one.lost.mean()) for one in result],
            },
            f"{len(result[0].turns):,} runs, up to {self.horizon / self.per_day:,.3g} days",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data.

        Returns
        -------
        dict
            Its parts by name; days that never came are None.
        """
        goals = {}
        for name, result in self.played.items():
            chosen = result.right[result.decided]
            goals[name] = {
                "days": {
                    key: value if math.isfinite(value) else None
                    for key, value in zip(("q10", "median", "q90"), self.spans(name), strict=True)
                },
                "found_in_fixed_days": self.found_by_then(name),
                "decided": float(result.decided.mean()),
                "right": _mean(chosen) if chosen.size else None,
                "lost": float(result.lost.mean()),
            }
        names = ("baseline", "lift", "arms", "risk", "power", "deviation", "per_day")
        return {
            **{name: getattr(self, name) for name in names},
            "rule": repr(self.rule),
            "prior": list(self.prior),
            "fixed": {"decisions": self.fixed, "days": self.fixed_days},
            "goals": goals,
            "false_stops": self.false_stops,
            "sentence": self.sentence,
            "notes": list(self.notes),
        }


def _mean(chosen: NDArray[np.bool_]) -> float:
    return float(chosen.mean()) if chosen.size else math.nan


def _days(days: float, most: float = math.inf) -> str:
    if not math.isfinite(days):
        return f"more than {most:,.0f} days"
    return f"{days:,.0f} days" if days >= 9.5 else f"{days:.2g} days"


def expected_prior(baseline: float, lift: float) -> tuple[float, float]:
    """A Beta distribution around the baseline whose standard deviation is the lift asked for.

    >>> [round(value, 1) for value in expected_prior(0.03, 0.1)]
    [97.0, 3136.3]
    """
    worth = (1.0 - baseline) / (baseline * lift * lift)
    return baseline * worth, (1.0 - baseline) * worth


def fixed_size(
    baseline: float,
    lift: float,
    arms: int = 2,
    risk: float = 0.05,
    power: float = 0.8,
    deviation: float | None = None,
) -> float:
    """Decisions over all arms of a two-sided test that is looked at once, by Normal quantiles.

    >>> round(fixed_size(0.03, 0.2))
    27822
    """
    from scipy.special import ndtri

    changed = baseline * (1.0 + lift)
    if deviation is None:
        variance = baseline * (1.0 - baseline) + changed * (1.0 - changed)
    else:
        variance = 2.0 * deviation**2
    scores = float(ndtri(1.0 - 0.5 * risk / (arms - 1)) + ndtri(power))
    return arms * scores**2 * variance / (baseline * lift) ** 2


def plan(
    baseline: float,
    lift: float,
    arms: int = 2,
    risk: float = 0.05,
    per_day: float = 1_000.0,
    rule: str = "separated",
    runs: int = 400,
    seed: int = 0,
    *,
    power: float = 0.8,
    deviation: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Plan:
    """Play an experiment until it is decided, for every goal, and as an A/A test.

    Parameters
    ----------
    baseline
        The rate of control; with a `deviation`, its mean amount.
    lift
        The lift to find, as a share of the baseline.
    arms
        The number of arms.
    risk
        The probability of a wrong verdict.
    per_day
        Decisions a day.
    rule
        "separated" (the probability of ever being wrong is at most the risk, whatever the truth) or
        "sure" (the probability of being best is 1 − risk, given a prior that expects such a lift).
    runs
        How often each experiment is played.
    seed
        A whole number.
    power
        The power of the test of fixed size that goals are compared with.
    deviation
        The standard deviation of amounts; by default rewards are 0 or 1.
    progress
        A function that is called with the share that is done.

    Returns
    -------
    Plan
        How each goal did.

    Raises
    ------
    SettingError
        If a setting is invalid.

    >>> result = plan(0.2, 0.5, arms=2, per_day=500, runs=50)
    >>> list(result.played), bool(result.played["decide"].decided.all())
    (['decide', 'both', 'earn'], True)
    """
    _check(baseline, lift, arms, risk, per_day, runs, power, deviation)
    rules: dict[str, Separated | Sure] = {"sure": Sure(1.0 - risk), "separated": Separated(risk)}
    if rule not in rules:
        raise SettingError(f"rule={rule!r} is not a rule of a plan: there are {listing(rules)}")
    means = np.full(arms, float(baseline))
    alike = means.copy()
    means[1] = baseline * (1.0 + lift)
    prior = (1.0, 1.0)
    if deviation is not None:
        prior = (float(baseline), (baseline * lift) ** -2 if rule == "sure" else deviation**-2)
    elif rule == "sure":
        prior = expected_prior(baseline, lift)
    fixed = fixed_size(baseline, lift, arms, risk, power, deviation)
    horizon = int(_LONGEST * max(fixed, 100.0))
    worlds = [(World(means, deviation), name) for name in GOALS]
    worlds.append((World(alike, deviation), "both"))
    played: list[Watched] = []

    def so_far(part: float) -> None:
        progress((len(played) + part) / len(worlds))

    for done, (world, goal) in enumerate(worlds):
        more = (rules[rule], MOST_SHARE[goal], horizon, runs, seed + done, prior)
        played.append(play_stages(world, *more, so_far))
    shown = dict(zip(GOALS, played[:-1], strict=True))
    asked = (baseline, lift, arms, risk, per_day, rules[rule], power, deviation)
    return Plan(*asked, prior, fixed, horizon, shown, played[-1])


def _check(
    baseline: Any,
    lift: Any,
    arms: Any,
    risk: Any,
    per_day: Any,
    runs: Any,
    power: Any,
    deviation: Any,
) -> None:
    """Refuse what cannot be played."""
    rate = (baseline, 0.0, 1.0, "a conversion rate strictly between 0 and 1")
    if deviation is not None:
        rate = (baseline, 0.0, math.inf, "a positive mean of amounts")
    wanted = {
        "baseline": rate,
        "risk": (risk, 0.0, 0.5, "a chance strictly between 0 and 0.5"),
        "power": (power, 0.0, 1.0, "a chance strictly between 0 and 1"),
        "per_day": (per_day, 0.0, math.inf, "a positive number of impressions"),
        "runs": (runs, 0, math.inf, "a whole number from 1 up"),
        "arms": (arms, 1, math.inf, "a whole number from 2 up"),
    }
    if deviation is not None:
        wanted["deviation"] = (deviation, 0.0, math.inf, "a positive standard deviation")
    for name, (value, low, high, allowed) in wanted.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not low < value < high:
            raise SettingError(f"{name}={value!r} is not valid: it must be {allowed}")
    most = 1.0 if deviation is None else math.inf
    if not isinstance(lift, (int, float)) or lift == 0.0 or not 0.0 < baseline * (1 + lift) < most:
        what = f"lift={lift!r} over baseline={baseline!r} is not valid"
        among = "rate between 0 and 1" if deviation is None else "positive mean"
        raise SettingError(f"{what}: baseline·(1 + lift) must be another {among}")

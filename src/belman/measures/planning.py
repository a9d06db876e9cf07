"""How long an experiment on conversions will take: by theory, and by playing it many times.

The prior says what is expected: arms around the baseline that differ by about the lift asked for.
So beliefs are not surprised by the first few conversions, and `Separated` needs less evidence, and
holds whatever the truth. The truth that is played is one arm with that lift, the others at the
baseline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError
from belman.families.bernoulli import Bernoulli
from belman.measures.stop_rules import Separated, StopRule, Sure
from belman.measures.watching import Watched, watch
from belman.policies import BelMan, Policy, Uniform
from belman.problems.lower_bounds import characteristic_time
from belman.problems.stationary import Stationary
from belman.table import Table

#: Who plays: the names that a reader sees.
PLAYERS: dict[str, Policy] = {"fixed split": Uniform(), "bandit": BelMan()}
_LONGEST = 6.0  # times what theory expects of a fixed split


@dataclass(frozen=True)
class Plan:
    """A planned experiment: what is expected, and how its players did."""

    baseline: float
    lift: float
    arms: int
    risk: float
    per_day: float
    rule: StopRule
    prior: tuple[float, float]
    shortest: float
    horizon: int
    played: dict[str, Watched]

    def days(self, name: str) -> NDArray[np.float64]:
        """Days until each run of a player was decided; infinite where it was not."""
        found = self.played[name]
        return np.where(found.decided, found.turns / self.per_day, math.inf)

    def decided_by(self, name: str, days: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of runs that are decided by these days."""
        return (self.days(name)[None, :] <= days[:, None]).mean(axis=1)

    def _spans(self, name: str) -> list[float]:
        """The days by which a tenth, half and nine tenths of the runs were decided."""
        days = np.quantile(self.days(name), [0.1, 0.5, 0.9], method="higher")
        return [float(day) for day in days]

    @property
    def sentence(self) -> str:
        """What to expect, in words."""
        times = {name: self._spans(name)[1] for name in self.played}
        lost = {name: float(found.lost.mean()) for name, found in self.played.items()}
        parts = [
            f"a {name} decides in {_days(times[name], self.horizon / self.per_day)} in half of the "
            f"runs and gives away {lost[name]:,.0f} conversions until then"
            for name in self.played
        ]
        words = f"To find a lift of {100.0 * self.lift:.4g} % over {100.0 * self.baseline:.4g} %"
        return f"{words} among {self.arms} arms, {'; '.join(parts)}."

    def table(self) -> Table:
        """One row a player."""
        rows = list(self.played)
        found = [self.played[name] for name in rows]
        ends = [self._spans(name) for name in rows]
        right = [_mean(one.right[one.decided]) for one in found]
        return Table(
            {
                "player": rows,
                "days (median)": [end[1] for end in ends],
                "10 %": [end[0] for end in ends],
                "90 %": [end[2] for end in ends],
                "decided": [float(one.decided.mean()) for one in found],
                "right": right,
                "conversions lost": [float(one.lost.mean()) for one in found],
            },
            f"{len(found[0].turns):,} runs, up to {self.horizon / self.per_day:,.0f} days; a rule "
            f"that holds for every truth takes about {self.shortest / self.per_day:.3g} at least",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data; days that never came are null."""
        players = {}
        for name, found in self.played.items():
            chosen = found.right[found.decided]
            players[name] = {
                "days": {
                    key: value if math.isfinite(value) else None
                    for key, value in zip(("q10", "median", "q90"), self._spans(name), strict=True)
                },
                "decided": float(found.decided.mean()),
                "right": _mean(chosen) if chosen.size else None,
                "conversions_lost": float(found.lost.mean()),
            }
        asked = {name: getattr(self, name) for name in ("baseline", "lift", "arms", "risk")}
        return {
            **asked,
            "per_day": self.per_day,
            "rule": repr(self.rule),
            "prior": list(self.prior),
            "shortest_days": self.shortest / self.per_day,
            "players": players,
            "sentence": self.sentence,
        }


def _mean(chosen: NDArray[np.bool_]) -> float:
    return float(chosen.mean()) if chosen.size else math.nan


def _days(days: float, most: float) -> str:
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


def plan(
    baseline: float,
    lift: float,
    arms: int = 2,
    risk: float = 0.05,
    per_day: float = 1_000.0,
    rule: str = "sure",
    runs: int = 100,
    seed: int = 0,
    looks: int = 24,
) -> Plan:
    """Play an experiment on conversions until it is decided, with a fixed split and with a bandit.

    `rule` is 'sure' (the chance of being best is 1 − risk, given the prior) or 'separated' (the
    chance of ever being wrong is at most the risk, whatever the truth); `looks` is how often a day
    one looks.

    >>> found = plan(0.2, 0.5, arms=2, per_day=500, runs=20, looks=4)
    >>> sorted(found.played), bool(found.played["fixed split"].decided.all())
    (['bandit', 'fixed split'], True)
    """
    truth = _check(baseline, lift, arms, risk, per_day, runs)
    prior = expected_prior(baseline, lift)
    problem = Stationary(Bernoulli(prior=prior), truth)
    shortest = characteristic_time(problem).turns * max(-math.log(risk), 1.0)
    rules: dict[str, StopRule] = {"sure": Sure(1.0 - risk), "separated": Separated(risk)}
    if rule not in rules:
        raise SettingError(
            f"rule={rule!r} is not a rule of a plan: there are 'sure' and 'separated'"
        )
    horizon = int(_LONGEST * max(shortest, 100.0))
    every = max(int(per_day / looks), 1)
    played = {
        name: watch(player, problem, rules[rule], horizon, runs, seed, every)
        for name, player in PLAYERS.items()
    }
    return Plan(baseline, lift, arms, risk, per_day, rules[rule], prior, shortest, horizon, played)


def _check(
    baseline: Any, lift: Any, arms: Any, risk: Any, per_day: Any, runs: Any
) -> tuple[float, ...]:
    """The chances of the arms that are played, if there are such."""
    wanted = {
        "baseline": (baseline, 0.0, 1.0, "a conversion rate strictly between 0 and 1"),
        "risk": (risk, 0.0, 0.5, "a chance strictly between 0 and 0.5"),
        "per_day": (per_day, 0.0, math.inf, "a positive number of impressions"),
        "runs": (runs, 0, math.inf, "a whole number from 1 up"),
        "arms": (arms, 1, math.inf, "a whole number from 2 up"),
    }
    for name, (value, low, high, allowed) in wanted.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not low < value < high:
            raise SettingError(f"{name}={value!r} is not valid: it must be {allowed}")
    if not isinstance(lift, (int, float)) or lift == 0.0 or not 0.0 < baseline * (1 + lift) < 1.0:
        what = f"lift={lift!r} over baseline={baseline!r} is not valid"
        raise SettingError(f"{what}: baseline·(1 + lift) must be another rate between 0 and 1")
    changed = baseline * (1.0 + lift)
    others = (baseline,) * (arms - 1)
    return (changed, *others) if lift > 0.0 else (*others, changed)

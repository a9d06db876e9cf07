"""Response-adaptive trials as statisticians report them: operating characteristics over scenarios.

Two arms are computed exactly (`trial_plays.py`), all else is played. Tests are of "no arm is better
than control", one-sided: *conditional* on the number of successes, exact after any adaptive
allocation, since under the hypothesis the chance of a state given that number does not depend on
the rate; *unconditional*, which declares as much more as keeps the error at most α at every common
rate, by the conditional p-value (Boschloo's way) or, where trials stop or are played, by the
p-value of the posterior chance of being better at the rate that was seen (`nulls.py`);
*posterior*, a threshold that is given; and *fisher*, the customary test, which does not know how
patients were allocated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from belman import chance
from belman.engine import entry
from belman.errors import SettingError
from belman.families import Bernoulli
from belman.lab.bandit_loop import uniforms
from belman.measures import report_page
from belman.measures.nulls import PLAYED_RATES, Nulls, at_rates, critical_value
from belman.measures.nulls import TIE as _TIE
from belman.measures.trial_plays import (
    Ends,
    Rules,
    all_courses,
    played,
    remembers_counts,
    superiorities,
)
from belman.policies.policy import Policy
from belman.table import Table
from belman.validate import is_between, require_number, require_one_of, require_whole

Floats = NDArray[np.float64]
TESTS = ("conditional", "unconditional", "posterior", "fisher")
#: The most patients of an exact computation: some minutes.
LONGEST = 300
_SCORE = 1.959963984540054  # standard deviations of a central 95 %


@dataclass(frozen=True)
class TrialReport:
    """A design, and how it does in every scenario under every policy.

    Attributes
    ----------
    design
        The design of the trial, a row for each setting.
    table
        Operating characteristics, a row for each policy and scenario.
    notes
        How the numbers were found, in sentences.
    """

    design: Table
    table: Table
    notes: tuple[str, ...]

    def parts(self) -> list[str | Table]:
        """Return what a reader is told, in order.

        Returns
        -------
        list
            The design, the table, and the notes.
        """
        return [self.design, self.table, *self.notes]

    def to_html(self, title: str = "Trial") -> str:
        """Write it as a page that needs nothing from elsewhere.

        Parameters
        ----------
        title
            The title of the page.

        Returns
        -------
        str
            The page, as HTML.
        """
        tables = [
            report_page.table_section(part.title, "", Table(part.columns))
            for part in (self.design, self.table)
        ]
        return report_page.page(title, [report_page.STYLE, *tables, report_page.notes(self.notes)])

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.parts()))


def trial(
    policies: Mapping[str, Policy],
    scenarios: Sequence[Sequence[float]],
    patients: int,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    block: int = 1,
    floor: float = 0.0,
    control_share: float | None = None,
    delay: int = 0,
    test: str = "unconditional",
    alpha: float = 0.05,
    threshold: float | None = None,
    stop: float | None = None,
    exact: bool = True,
    runs: int = 10_000,
    seed: int = 0,
) -> TrialReport:
    """Compute the operating characteristics of a trial with yes-or-no outcomes.

    Parameters
    ----------
    policies
        Who allocates patients, by name.
    scenarios
        Rates of success, control's first; as many in each scenario as there are arms.
    patients
        How many there are.
    prior
        Beta counts of successes and failures that policies and the analysis begin with.
    block
        How many patients are randomised by the same chances before their outcomes are looked at.
    floor
        The least chance of every arm.
    control_share
        The chance of control, in which the policy then has no say.
    delay
        How many patients later an outcome is known to the policy; the analysis knows all.
    test
        "conditional" (two arms, all patients), "unconditional", "posterior" or "fisher".
    alpha
        The level of the test, one-sided, over all comparisons with control.
    threshold
        For "posterior": the chance of being better at which an arm is declared so; 1 − α if None.
    stop
        Stop after a block where that chance is as large, or for two arms as small.
    exact
        Whether to compute two arms exactly: under a minute for 200 patients.
    runs
        How many trials are played of a scenario that is not computed exactly.
    seed
        The same seed gives the same numbers.

    Returns
    -------
    TrialReport
        Type-I error or power, successes, patients on the best arm, bias and coverage.

    Raises
    ------
    SettingError, PolicyError
        If a setting is not allowed, or a policy does not play yes-or-no outcomes.

    >>> from belman.policies import Thompson
    >>> result = trial({"thompson": Thompson()}, [(0.3, 0.3), (0.3, 0.6)], patients=40)
    >>> [round(value, 3) for value in result.table["declared better"]]
    [0.043, 0.354]
    """
    rules = Rules(
        patients, block, floor, -1.0 if control_share is None else control_share,
        2.0 if stop is None else stop, delay,
    )  # fmt: skip
    rates = _checked(scenarios, rules, prior, test, alpha, threshold, runs)
    analysis = _Analysis(prior, test, alpha, 1.0 - alpha if threshold is None else threshold)
    rows: list[dict[str, Any]] = []
    ways: dict[str, str] = {}
    for name, policy in policies.items():
        rows += _judged(name, policy, rates, rules, analysis, exact, runs, seed, ways)
    table = Table({key: [row[key] for row in rows] for key in rows[0]}, "Operating characteristics")
    return TrialReport(
        _design(policies, rates, rules, analysis), table, _notes(ways, analysis, runs)
    )


def randomisation_list(rules: Rules, arms: Sequence[str], seed: int) -> Table:
    """Draw a number for every patient beforehand, by which the chances of a block assign arms.

    A patient gets the first arm at which the chances, summed in the order of the arms, exceed the
    draw. Before any outcome is known arms are alike, so that the first block is assigned already.

    >>> print(randomisation_list(Rules(3, block=2), ["control", "new"], seed=1))
    patient  block    draw  arm
          1      1  0.7821  new
          2      1  0.6724  new
          3      2  0.4796
    """
    count, draws = len(arms), np.empty(rules.patients)
    entry(uniforms)(nature=chance.generator(seed), out=draws)
    own = rules.control if rules.control >= 0.0 else 1.0 / count
    ends = np.cumsum([own, *[(1.0 - own) / (count - 1)] * (count - 1)])
    first = [arms[min(int(np.searchsorted(ends, u, "right")), count - 1)] for u in draws]
    blocks = [1 + i // rules.block for i in range(rules.patients)]
    shown = [arm if block == 1 else "" for arm, block in zip(first, blocks, strict=True)]
    patient = list(range(1, rules.patients + 1))
    return Table({"patient": patient, "block": blocks, "draw": draws.tolist(), "arm": shown})


# Tests


@dataclass(frozen=True)
class _Analysis:
    prior: tuple[float, float]
    test: str
    alpha: float
    threshold: float

    def better(self, ends: Ends) -> Floats:
        """The posterior chance that each arm is better than control (rows × K − 1)."""
        out = np.empty((len(ends.chance), ends.patients.shape[1] - 1))
        prior = np.array(self.prior)
        entry(superiorities)(prior=prior, patients=ends.patients, successes=ends.successes, out=out)
        return out

    def declared(self, ends: Ends, better: Floats, critical: float) -> NDArray[np.bool_]:
        """Which arms are declared better than control."""
        if self.test == "conditional":
            return conditional_values(ends, better[:, 0])[:, None] <= self.alpha + _TIE
        if self.test == "fisher":
            n, s = ends.patients, ends.successes
            both, won = n[:, 1:] + n[:, :1], s[:, 1:] + s[:, :1]
            values = stats.hypergeom.sf(s[:, 1:] - 1, both, won, n[:, 1:])
            return cast("NDArray[np.bool_]", values <= self.alpha / better.shape[1])
        return better >= critical - _TIE


def conditional_values(ends: Ends, better: Floats) -> Floats:
    """The p-value of every end given its number of successes: the share of ends that speak as much
    for the second arm, by their chances of allocation.
    """
    won = ends.successes.sum(axis=1)
    order = np.lexsort((-better, won))
    group, statistic = won[order], better[order]
    share = ends.chance[order] / np.bincount(won, ends.chance)[group]
    summed = np.cumsum(share)  # a whole for every group
    before = np.searchsorted(np.unique(group), group)
    # ends that tie count together: the last of a run of equal statistics stands for all
    differs = (group[1:] != group[:-1]) | (statistic[:-1] - statistic[1:] > _TIE)
    last = np.flatnonzero(np.append(differs, True))
    out = np.empty_like(better)
    out[order] = summed[last[np.searchsorted(last, np.arange(len(won)))]] - before
    return out


# Operating characteristics


def _judged(
    name: str,
    policy: Policy,
    rates: Floats,
    rules: Rules,
    analysis: _Analysis,
    exact: bool,
    runs: int,
    seed: int,
    ways: dict[str, str],
) -> list[dict[str, Any]]:
    """A row a scenario, exactly if that can be."""
    exact &= rates.shape[1] == 2 and rules.delay == 0 and rules.patients <= LONGEST
    ends = (
        all_courses(policy, analysis.prior, rules) if exact and remembers_counts(policy) else None
    )
    if ends is not None and abs(ends.chance.sum() - 1.0) < 1e-9:
        ways[name] = "exact"
        better, critical = analysis.better(ends), analysis.threshold
        statistic = better
        if analysis.test == "unconditional":
            values = (
                conditional_values(ends, better[:, 0])
                if rules.stop > 1.0
                else Nulls.computed(ends, better[:, 0]).values(ends, better[:, 0])
            )
            statistic = 1.0 - values[:, None]
            critical = critical_value(ends, statistic[:, 0], analysis.alpha)
        declared = analysis.declared(ends, statistic, critical)
        result = []
        for row in rates:
            n, s = ends.patients, ends.successes
            chances = at_rates(
                n[:, 1], s[:, 1], at_rates(n[:, 0], s[:, 0], ends.chance, row[0]), row[1]
            )
            result.append(_row(name, row, Ends(n, s, chances), declared, rules))
        return result
    if analysis.test == "conditional":
        raise SettingError(
            f"test='conditional' is for two arms and policies whose chances follow from counts, "
            f"without delay, up to {LONGEST} patients: {name!r} is played instead; "
            "take test='unconditional'"
        )
    ways[name] = "played"

    def play(row: Floats) -> Ends:
        return played(policy, analysis.prior, rules, row, runs, seed)

    critical, nulls = analysis.threshold, None
    if analysis.test == "unconditional":
        arms = rates.shape[1]
        known = sorted({float(rate) for rate in (*PLAYED_RATES, *rates[:, 0])})
        alike = [play(np.full(arms, rate)) for rate in known]
        nulls = Nulls.played(known, [analysis.better(one).max(axis=1) for one in alike])
        critical = max(
            float(
                np.quantile(
                    nulls.statistic(one, analysis.better(one)).max(axis=1), 1.0 - analysis.alpha,
                    method="higher",
                )
            )
            for one in alike
        ) + 2 * _TIE  # fmt: skip
    result = []
    for row in rates:
        ends = play(row)
        better = analysis.better(ends)
        statistic = better if nulls is None else nulls.statistic(ends, better)
        declared = analysis.declared(ends, statistic, critical)
        result.append(_row(name, row, ends, declared, rules))
    return result


def _row(
    name: str, rates: Floats, ends: Ends, declared: NDArray[np.bool_], rules: Rules
) -> dict[str, Any]:
    n, s, weights = ends.patients, ends.successes, ends.chance
    total, best = n.sum(axis=1), rates == rates.max()
    truly = rates[1:] > rates[0]
    right = declared[:, truly].any(axis=1) if truly.any() else declared.any(axis=1)
    arm = 1 + int(np.argmax(rates[1:]))
    seen = (n[:, 0] > 0) & (n[:, arm] > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = s[:, arm] / n[:, arm] - s[:, 0] / n[:, 0]
    bias = _mean(weights[seen], estimate[seen]) - (rates[arm] - rates[0])
    row = {
        "policy": name,
        "rates": ", ".join(f"{rate:g}" for rate in rates),
        "is": "power" if truly.any() else "type-I error",
        "declared better": _mean(weights, right),
        "successes": _mean(weights, s.sum(axis=1)),
        "on the best arm": math.nan
        if best.all()
        else _mean(weights, n[:, best].sum(axis=1) / total),
        "bias": round(float(bias), 12) + 0.0,
        "coverage": _mean(weights, _covered(n, s, arm, rates[arm] - rates[0])),
    }
    if rules.stop <= 1.0:
        row["patients"] = _mean(weights, total)
        order = np.argsort(total)
        summed = np.cumsum(weights[order])
        position = int(np.searchsorted(summed, 0.9 * summed[-1]))
        row["nine of ten by"] = int(total[order][min(position, len(total) - 1)])
    return row


def _mean(weights: Floats, values: Any) -> float:
    return float(weights @ np.asarray(values, dtype=np.float64) / weights.sum())


def _covered(n: Any, s: Any, arm: int, true: float) -> NDArray[np.bool_]:
    """Whether the 95 % interval of a difference by Agresti and Caffo holds the true one."""
    shares = (s + 1.0) / (n + 2.0)
    spread = shares * (1.0 - shares) / (n + 2.0)
    wide = _SCORE * np.sqrt(spread[:, arm] + spread[:, 0])
    return cast("NDArray[np.bool_]", abs(shares[:, arm] - shares[:, 0] - true) <= wide)


# Words


def _checked(
    scenarios: Sequence[Sequence[float]],
    rules: Rules,
    prior: tuple[float, float],
    test: str,
    alpha: float,
    threshold: float | None,
    runs: int,
) -> Floats:
    require_whole("patients", rules.patients, 1, 100_000)
    require_whole("block", rules.block, 1, rules.patients)
    require_whole("delay", rules.delay, 0)
    require_whole("runs", runs, 2)
    require_one_of("test", test, TESTS)
    require_number("alpha", alpha, 1e-6, 0.5)
    require_number("threshold", threshold, 0.5, 1.0, optional=True)
    Bernoulli(prior=prior)
    rows = [tuple(one) for one in scenarios]
    arms = len(rows[0]) if rows else 0
    if arms < 2 or any(len(row) != arms for row in rows):
        raise SettingError(
            "scenarios are rates of success, control's first, as many in each as there are arms, "
            f"at least two: {rows!r} are not"
        )
    if not all(is_between(rate, 0.0, 1.0) for row in rows for rate in row):
        raise SettingError(f"scenarios={rows!r} are not rates: each is a number from 0 to 1")
    require_number("floor", rules.floor, 0.0, 1.0 / arms)
    if rules.control != -1.0:
        require_number("control_share", rules.control, 0.0, 1.0)
        if rules.floor > 0.0:
            raise SettingError("floor and control_share exclude each other: give one of them")
    if rules.stop != 2.0:
        require_number("stop", rules.stop, 0.5, 1.0)
        if test in ("conditional", "fisher"):
            raise SettingError(f"test={test!r} is for trials with all patients: leave out stop")
    return np.array(rows, dtype=np.float64)


def _design(
    policies: Mapping[str, Policy], rates: Floats, rules: Rules, analysis: _Analysis
) -> Table:
    tests = {
        "conditional": "exact conditional test on the number of successes",
        "unconditional": "unconditional test, its error held at every common rate",
        "posterior": f"posterior chance of being better at least {analysis.threshold:g}",
        "fisher": "Fisher's exact test, which does not know the allocation",
    }
    shares = f"at least {rules.floor:g} each" if rules.floor else "by the policy alone"
    shares = f"{rules.control:g} for control" if rules.control >= 0.0 else shares
    lines = {
        "hypothesis": "no arm is better than control (one-sided)",
        "arms": f"{rates.shape[1]}, control first",
        "outcome": "yes or no",
        "patients": f"{rules.patients:,}" if rules.stop > 1.0 else f"at most {rules.patients:,}",
        **{f"policy {name}": repr(one) for name, one in policies.items()},
        "prior of each rate": f"Beta({analysis.prior[0]:g}, {analysis.prior[1]:g})",
        "block": f"{rules.block:,}, randomised by the same chances",
        "chances": shares,
        "outcomes known": f"{rules.delay:,} patients later" if rules.delay else "after the block",
        "success criterion": f"{tests[analysis.test]}, at level {analysis.alpha:g}",
        "stopping": "none" if rules.stop > 1.0 else f"after a block, at {rules.stop:g}",
    }  # fmt: skip
    return Table({"setting": list(lines), "value": list(lines.values())}, "Design")


def _notes(ways: Mapping[str, str], analysis: _Analysis, runs: int) -> tuple[str, ...]:
    exact = [name for name, way in ways.items() if way == "exact"]
    others = [name for name, way in ways.items() if way == "played"]
    notes = []
    if exact:
        notes.append(f"Exact, by a recursion over all courses of the trial: {', '.join(exact)}.")
    if others:
        error = _SCORE * 0.5 / math.sqrt(runs)
        notes.append(
            f"Played {runs:,} times in every scenario: {', '.join(others)}; "
            f"a chance is known to ± {error:.2g} or better (95 %)."
        )
    if analysis.test == "unconditional":
        notes.append(
            f"The error is at most {analysis.alpha:g} at every common rate"
            + (" of a mesh that is computed." if exact else " that was played, but for chance.")
        )
    notes.append(
        "Declared better: the chance that an arm which is better (in truth, or under a type-I "
        "error any arm) is declared so. Bias: of the plain difference of rates between the best "
        "arm beside control and control. Coverage: of its 95 % interval by Agresti and Caffo."
    )
    return tuple(notes)

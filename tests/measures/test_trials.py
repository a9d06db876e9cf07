"""Trials: the recursion against all histories one by one, tests against slow ones, and both ways of
finding operating characteristics against each other.
"""

from __future__ import annotations

import copy
import csv
import itertools
import math

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import belman
from belman import chance, spec
from belman.cli import app, parse
from belman.engine import entry
from belman.errors import SettingError
from belman.families import Bernoulli
from belman.measures import trial
from belman.measures.nulls import _RATES, Nulls, at_rates, critical_value
from belman.measures.trial_plays import (
    Ends,
    Rules,
    all_courses,
    how,
    played,
    remembers_counts,
    superiorities,
)
from belman.measures.trials import conditional_values
from belman.policies.ledger import Ledger, record
from belman.policies.policy import POLICIES

PRIOR = (1.0, 1.0)


def beaten(row):
    """P(θ₁ > θ₀) of two rows of Beta counts, by quadrature."""
    (a, b), (c, d) = row
    points, weights = np.polynomial.legendre.leggauss(60)
    x = 0.5 + 0.5 * points
    return float(0.5 * weights @ (stats.beta(c, d).pdf(x) * stats.beta(a, b).cdf(x)))


def by_histories(policy, patients, floor=0.0):
    """Chances of all ends at even odds, playing every history with a memory of its own."""
    family, result = Bernoulli(prior=PRIOR), {}
    params, values = policy.params(family), policy.turn_values(np.arange(1.0, patients + 1.0), 2)
    kernels, known = policy.kernels, (family.kernels, family.constants)

    def go(ledger, memory, t, likely):
        if t == patients:
            key = (*ledger.plays.astype(int), *ledger.sums.astype(int))
            result[key] = result.get(key, 0.0) + likely
            return
        turn, words = (t + 1, values[t]), chance.generator(3)
        memory = copy.deepcopy(memory)
        arm, ties = kernels.choose(
            kernels, *known, params, ledger, memory, *turn, words, np.zeros(2)
        )
        closed = np.zeros(0, dtype=bool)
        own = kernels.propensity(*known, params, ledger, memory, *turn, closed, arm, ties)
        first = own if arm == 0 else 1.0 - own
        if how(policy) == 2:
            first = 1.0 - beaten(ledger.beliefs)
        first = floor + (1.0 - 2.0 * floor) * first
        for played_arm, reward in itertools.product((0, 1), (0.0, 1.0)):
            share = first if played_arm == 0 else 1.0 - first
            if share > 0.0:
                after, mind = copy.deepcopy((ledger, memory))
                record(*known, after, played_arm, reward)
                kernels.refresh(*known, params, after, mind, played_arm)
                go(after, mind, t + 1, likely * share * 0.5)

    ledger = Ledger.blank(np.tile(np.array(PRIOR), (2, 1)))
    memory = policy.memory(2, 2)
    for arm in (0, 1):
        kernels.refresh(*known, params, ledger, memory, arm)
    go(ledger, memory, 0, 1.0)
    return result


def as_dict(ends):
    rows = zip(ends.patients.tolist(), ends.successes.tolist(), ends.chance, strict=True)
    return {(*n, *s): chance for n, s, chance in rows}


def known_policies():
    """Every policy by name for which the recursion says that it is exact."""
    for name in [*POLICIES, *spec.PRESETS]:
        try:
            policy = parse.policy(name, 5)
            policy.check(Bernoulli(), 2)
        except belman.errors.BelmanError:
            continue
        if remembers_counts(policy):
            yield name, policy


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "policy"), list(known_policies()))
def test_the_recursion_is_all_histories(name, policy):
    expected, result = by_histories(policy, 4), all_courses(policy, PRIOR, Rules(4))
    if not math.isfinite(sum(expected.values())):
        assert result.chance.sum() < 0.99  # its chances are not known: it is played
        return
    assert as_dict(result) == pytest.approx(expected, abs=1e-9), name


@pytest.mark.interpreted
def test_the_recursion_is_all_histories_with_floors():
    for policy in (belman.BelMan(), belman.Thompson()):
        expected, result = (
            by_histories(policy, 5, 0.1),
            all_courses(policy, PRIOR, Rules(5, 1, 0.1)),
        )
        assert as_dict(result) == pytest.approx(expected, abs=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "rules",
    [
        Rules(40),
        Rules(40, block=7, floor=0.05),
        Rules(40, block=5, stop=0.9),
        Rules(30, block=10, control=0.4),
    ],
)
@pytest.mark.parametrize(
    "name", ["belman", "thompson", "epsilon-greedy", "kl-ucb", "med", "ids", "uniform"]
)
def test_exact_and_played_agree(rules, name):
    """56 means of 4,000 trials, each within five standard errors: it errs once in 10⁴ calls."""
    policy, rates = parse.policy(name, rules.patients), np.array([0.3, 0.55])
    ends, runs = all_courses(policy, PRIOR, rules), played(policy, PRIOR, rules, rates, 4_000, 11)
    n, s = ends.patients, ends.successes
    first = at_rates(n[:, 0], s[:, 0], ends.chance, rates[0])
    weights = at_rates(n[:, 1], s[:, 1], first, rates[1])
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    for exact, seen in ((n, runs.patients), (s, runs.successes)):
        error = seen[:, 1].std() / math.sqrt(len(seen)) + 1e-9
        assert abs(weights @ exact[:, 1] - seen[:, 1].mean()) < 5.0 * error, name
    total = runs.patients.sum(axis=1)
    assert abs(weights @ n.sum(axis=1) - total.mean()) < 5.0 * total.std() / 63.0 + 1e-9


def test_the_chance_of_being_better_by_quadrature():
    rng = np.random.default_rng(1)
    patients = rng.integers(0, 30, (50, 3))
    successes = rng.binomial(patients, 0.4)
    out = np.empty((50, 2))
    prior = np.array([0.5, 2.0])
    entry(superiorities)(prior=prior, patients=patients, successes=successes, out=out)
    x = np.linspace(0.0, 1.0, 40_001)[1:-1]
    for n, s, result in zip(patients, successes, out, strict=True):
        distributions = [
            stats.beta(prior[0] + k, prior[1] + m - k) for m, k in zip(n, s, strict=True)
        ]
        for distribution, chance_better in zip(distributions[1:], result, strict=True):
            expected = 1.0 - np.trapezoid(distributions[0].pdf(x) * distribution.cdf(x), x)
            assert chance_better == pytest.approx(expected, abs=2e-2 if min(s) == 0 else 1e-4)


@pytest.mark.compiled
def test_tests_hold_their_level_and_are_the_slow_ones():
    ends = all_courses(belman.Thompson(), PRIOR, Rules(24))
    better = np.empty((len(ends.chance), 1))
    given = {"patients": ends.patients, "successes": ends.successes, "out": better}
    entry(superiorities)(prior=np.array(PRIOR), **given)
    statistic, won = better[:, 0], ends.successes.sum(axis=1)
    values = conditional_values(ends, statistic)
    for i in range(0, len(values), 37):
        like = won == won[i]
        more = like & (statistic >= statistic[i] - 1e-11)
        assert values[i] == pytest.approx(ends.chance[more].sum() / ends.chance[like].sum())
    critical = critical_value(ends, statistic, 0.05)
    errors = {}
    for name, declared in (
        ("conditional", values <= 0.05),
        ("unconditional", statistic >= critical - 1e-11),
    ):
        weights = at_rates(24, won[:, None], ends.chance[:, None], _RATES[::10])
        assert weights.sum(axis=0) == pytest.approx(1.0)
        errors[name] = (weights * declared[:, None]).sum(axis=0).max()
        assert errors[name] <= 0.05 + 1e-12
    assert errors["unconditional"] > 0.03
    below = statistic >= np.unique(statistic[statistic < critical - 1e-9])[-1] - 1e-11
    weights = at_rates(24, won[:, None], ends.chance[:, None], _RATES)
    assert (weights * below[:, None]).sum(axis=0).max() > 0.05  # the least threshold


def test_p_values_at_the_rate_that_was_seen_are_those_of_a_plain_sum():
    """Between two knots straight; the test that they make holds its level at every rate."""
    ends = all_courses(belman.Thompson(), PRIOR, Rules(20, stop=0.95))
    better = np.empty((len(ends.chance), 1))
    given = {"patients": ends.patients, "successes": ends.successes, "out": better}
    entry(superiorities)(prior=np.array(PRIOR), **given)
    statistic, nulls = better[:, 0], Nulls.computed(ends, better[:, 0])
    values = nulls.values(ends, statistic)
    n, s = ends.patients.sum(axis=1), ends.successes.sum(axis=1)
    for i in range(0, len(values), 53):
        tails = [
            at_rates(n, s, ends.chance, rate)[statistic >= statistic[i] - 1e-11].sum()
            for rate in nulls.rates
        ]
        seen = (s[i] + 0.5) / (n[i] + 1.0)
        assert values[i] == pytest.approx(np.interp(seen, nulls.rates, tails))
    errors = {}
    for name, one in (("plain", statistic), ("at the rate", 1.0 - values)):
        declared = one >= critical_value(ends, one, 0.05) - 1e-11
        weights = at_rates(n[:, None], s[:, None], ends.chance[:, None], _RATES)
        errors[name] = (weights * declared[:, None]).sum(axis=0)
        assert errors[name].max() <= 0.05 + 1e-12
    assert errors["at the rate"].mean() > 1.2 * errors["plain"].mean()


def test_played_p_values_are_shares_of_the_trials_that_reach_as_much():
    rng = np.random.default_rng(1)
    samples = [rng.uniform(size=400) for _ in range(2)]
    nulls = Nulls.played([0.2, 0.6], samples)
    ends = Ends(np.array([[10, 9]]), np.array([[4, 3]]), np.ones(1))  # 7.5 of 20: 0.375
    result = nulls.values(ends, np.array([0.8]))[0]
    shares = [(one >= 0.8).mean() for one in samples]
    assert result == pytest.approx(np.interp(0.375, [0.2, 0.6], shares))


def test_a_look_knows_what_the_policy_knows():
    """With outcomes that are known after the trial, no look ever stops it."""
    rates, given = np.array([0.05, 0.95]), (belman.Uniform(), PRIOR)
    late = played(*given, Rules(20, 2, stop=0.9, delay=20), rates, 200, 1)
    assert (late.patients.sum(axis=1) == 20).all()
    soon = played(*given, Rules(20, 2, stop=0.9), rates, 200, 1)
    assert soon.patients.sum(axis=1).mean() < 12
    between = played(*given, Rules(20, 2, stop=0.9, delay=6), rates, 200, 1)
    assert (between.patients.sum(axis=1) >= 8).all()


def test_a_block_beside_controls_share_is_dealt_among_the_others():
    """Control is by far the best: the other arms still share what it leaves, evenly."""
    rates = np.array([0.95, 0.1, 0.1])
    ends = played(belman.BelMan(), PRIOR, Rules(90, 9, control=0.4), rates, 200, 1)
    means = ends.patients.mean(axis=0)
    assert abs(means[0] - 36.0) < 5.0 * math.sqrt(90 * 0.24 / 200)
    assert abs(means[1] - means[2]) < 6.0


@pytest.mark.compiled
def test_the_report_in_numbers():
    both = [(0.3, 0.3), (0.3, 0.6)]
    result = trial({"even": belman.Uniform()}, both, 40, block=40, test="fisher").table
    n = np.arange(41)
    power = 0.0
    for first in n:
        for s in range(first + 1):
            for r in range(41 - first):
                value = stats.hypergeom.sf(r - 1, 40, s + r, 40 - first)
                if value <= 0.05:
                    chances = stats.binom.pmf(
                        [first, s, r], [40, first, 40 - first], [0.5, 0.3, 0.6]
                    )
                    power += chances.prod()
    assert result["declared better"][1] == pytest.approx(power)
    assert result["is"] == ["type-I error", "power"]
    assert result["successes"] == pytest.approx([12.0, 18.0])
    assert result["on the best arm"][1] == pytest.approx(0.5)
    assert result["bias"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert all(0.93 < covered < 0.98 for covered in result["coverage"])


@pytest.mark.compiled
def test_more_arms_and_late_outcomes_are_played():
    given = {"thompson": belman.Thompson(), "belman": belman.BelMan()}
    rates = [(0.2, 0.2, 0.2), (0.2, 0.2, 0.5)]
    result = trial(given, rates, 60, delay=10, block=6, runs=2_000, control_share=0.3)
    assert "Played 2,000 times" in " ".join(result.notes)
    for row in result.table:
        # 0.05 at every common rate that was played, which errs in runs by 0.005: five of these
        assert (
            row["declared better"] <= 0.075
            if row["is"] == "type-I error"
            else row["declared better"] > 0.3
        )
    ends = played(
        belman.BelMan(), PRIOR, Rules(60, 6, 0.0, 0.3, 2.0, 10), np.array(rates[1]), 2_000, 1
    )
    assert abs(ends.patients[:, 0].mean() - 18.0) < 5.0 * math.sqrt(60 * 0.21 / 2_000)
    late = played(belman.Thompson(), PRIOR, Rules(60, delay=60), np.array(rates[1]), 2_000, 1)
    assert abs(late.patients[:, 2].mean() - 20.0) < 5.0 * math.sqrt(60 * 2 / 9 / 2_000)
    assert isinstance(ends, Ends)


def test_what_is_not_allowed_is_refused():
    one = {"thompson": belman.Thompson()}
    for words, message in (
        ({"scenarios": [(0.3,)]}, "at least two"),
        ({"scenarios": [(0.3, 1.2)]}, "not rates"),
        ({"test": "z"}, "test='z' is unknown"),
        ({"floor": 0.6}, "floor=0.6"),
        ({"floor": 0.1, "control_share": 0.3}, "exclude each other"),
        ({"test": "conditional", "stop": 0.9}, "leave out stop"),
        ({"test": "conditional", "delay": 2}, "test='conditional' is for two arms"),
        ({"block": 99}, "block=99"),
    ):
        with pytest.raises(SettingError, match=message):
            trial(one, **{"scenarios": [(0.3, 0.5)], "patients": 20, **words})


@pytest.mark.compiled
def test_the_command_writes_reports_and_the_list(tmp_path):
    words = ["trial", "--patients", "20", "--rates", "0.3,0.3", "--rates", "0.3,0.6"]
    words += ["--policies", "thompson,gittins", "--block", "5", "--floor", "0.1"]
    for name in ("trial.html", "trial.pdf", "trial.csv"):
        done = CliRunner().invoke(
            app, [*words, "--output", str(tmp_path / name), "--list", str(tmp_path / "list.csv")]
        )
        assert done.exit_code == 0, done.output
        assert "type-I error" in done.output
    page = (tmp_path / "trial.html").read_text()
    for said in ("Beta(1, 1)", "success criterion", "Gittins(", "0.3, 0.6", "one-sided"):
        assert said in page
    assert (tmp_path / "trial.pdf").read_bytes().startswith(b"%PDF")
    rows = list(csv.DictReader((tmp_path / "list.csv").read_text().splitlines()))
    assert [row["block"] for row in rows][::5] == ["1", "2", "3", "4"]
    for row in rows:
        first = "control" if float(row["draw"]) < 0.5 else "arm 1"
        assert row["arm"] == (first if row["block"] == "1" else "")
    for wrong in (["--output", "trial.doc"], ["--prior", "1"], ["--prior", "1,2,3"]):
        refused = CliRunner().invoke(app, [*words, *wrong])
        assert isinstance(refused.exception, SettingError)

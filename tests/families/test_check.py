"""Which family fits: log scores against prediction one by one, and advice on data of known
distributions.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from belman.errors import RewardError
from belman.families import Bernoulli, Exponential, GaussianUnknown, Geometric, LogNormal, Poisson
from belman.families.check import check
from belman.families.tally import log_score


def predictive(family, belief):
    """ln p(x | belief), from scipy."""
    a, b = belief[-2:]
    if family.name == "bernoulli":
        return lambda x: math.log((a if x else b) / (a + b))
    if family.name == "poisson":
        return lambda x: stats.nbinom.logpmf(x, a, b / (b + 1.0))
    if family.name == "geometric":
        return lambda x: _beta_geometric(x, a, b)
    if family.name == "exponential":
        return lambda x: stats.lomax.logpdf(x, a, scale=b)
    mean, kappa = belief[:2]
    scale = math.sqrt(b * (kappa + 1.0) / (a * kappa))
    if family.name == "log-normal":
        return lambda x: stats.t.logpdf(math.log(x), 2 * a, mean, scale) - math.log(x)
    return lambda x: stats.t.logpdf(x, 2 * a, mean, scale)


def _beta_geometric(x, a, b):
    return float(
        math.lgamma(a + 1) + math.lgamma(b + x - 1) - math.lgamma(a + b + x)
        - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("family", "rewards"),
    [
        (Bernoulli(), [1, 0, 0, 1, 1]),
        (Poisson(), [3, 0, 2, 7]),
        (Geometric(), [1, 4, 2, 9]),
        (Exponential(), [0.3, 2.0, 0.0, 5.1]),
        (GaussianUnknown(), [-1.0, 2.5, 0.3, 0.4]),
        (LogNormal(typical=2.0), [0.3, 2.0, 11.0, 5.1]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_log_score_is_prediction_one_by_one(family, rewards):
    total, belief = 0.0, family.prior
    for reward in rewards:
        total += float(predictive(family, belief)(reward))
        belief = family.update(belief, reward)
    assert log_score(family, np.array(rewards, dtype=float)) == pytest.approx(total, rel=1e-10)


def rows(result):
    return {fit.family: fit for fit in result.fits}


def test_advice_for_money():
    """Log-normal amounts, gamma ones that a log-normal distribution misjudges, and clicks."""
    rng = np.random.default_rng(6)
    bought = rng.random(6_000) < 0.05
    result = check(np.where(bought, rng.lognormal(3.0, 1.0, 6_000), 0.0).round(2))
    assert "Use belman.families.Money(typical=" in result.recommendation
    assert rows(result)["exponential"].worst > 0.5
    assert "are not whole numbers from 0 up, such as" in rows(result)["poisson"].why_not
    lines = str(result).splitlines()
    assert {line.index("coverage at 1,000") for line in lines[:1]} == {
        lines[1].index(f"{result.fits[0].coverage[1]:.1%}", lines[0].index("coverage at 1,000"))
    }
    assert json.loads(json.dumps(result.to_dict()))["sizes"] == [100, 1000]
    amounts = check(np.where(rng.random(6_000) < 0.2, rng.gamma(0.5, 30.0, 6_000), 0.0))
    assert 'Use belman.families.Money("any"' in amounts.recommendation
    assert rows(amounts)["money (log-normal)"].worst > 0.5


def test_arms_are_kept_apart():
    """Two counts of narrow distribution and different means are no overdispersed one."""
    rng = np.random.default_rng(7)
    values = np.concatenate([rng.poisson(2.0, 1_500), rng.poisson(20.0, 1_500)])
    arms = ["a"] * 1_500 + ["b"] * 1_500
    assert check(values, arms).recommendation.startswith("Use belman.families.Poisson()")
    assert not check(values).recommendation.startswith("Use belman.families.Poisson()")


def test_zeros_and_ones_are_coins():
    """Also where, by the steps of a binomial distribution, their coverage in resamples is not 95
    %.
    """
    result = check([1.0] * 3 + [0.0] * 97)
    assert rows(result)["bernoulli"].worst > 0.025
    assert result.recommendation.startswith("Use belman.families.Bernoulli(): rewards of 0 and 1")


def test_shares_have_a_family_without_a_distribution():
    values = np.random.default_rng(9).integers(0, 5, 300) / 4.0
    fit = rows(check(values))["bounded"]
    assert fit.use == "belman.families.Bounded()"
    assert fit.worst < 0.04  # 400 resamples: some three deviations
    assert "are not numbers from 0 to 1" in rows(check(4.0 * values))["bounded"].why_not


def test_the_same_data_gives_the_same_answer():
    values = np.random.default_rng(8).exponential(4.0, 300)
    first, second = check(values), check(values)
    assert first.recommendation == second.recommendation
    assert str(first.table) == str(second.table)
    assert first.recommendation.startswith("Use belman.families.Exponential()")


def test_doors():
    with pytest.raises(RewardError, match="3 rewards are too few"):
        check([1, 2, 3])
    with pytest.raises(RewardError, match="at place 4 is not a finite number"):
        check([0.0] * 4 + [math.nan] + [1.0] * 30)
    with pytest.raises(RewardError, match="not a list of numbers"):
        check(["a"] * 30)
    with pytest.raises(RewardError, match="30 rewards have 2 arms"):
        check([0.0, 1.0] * 15, ["a", "b"])
    assert "No family" in check(-(np.arange(1.0, 60.0) ** 9)).recommendation

"""What was earned of the attainable: in numbers, in words, and how often its interval is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import belman
from belman.families import Bernoulli, Gaussian
from belman.measures.attained import Attained, attained
from belman.measures.best import expected_losses
from belman.measures.lift import Units
from belman.measures.report import Known
from belman.measures.trial_plays import Rules, played


def known(plays, sums, prior=(1.0, 1.0), **more):
    plays, sums = np.asarray(plays, float), np.asarray(sums, float)
    before = np.tile(np.array(prior), (len(plays), 1))
    beliefs = before + np.stack([sums, plays - sums], axis=1)
    names = list(range(len(plays)))
    return Known(Bernoulli(prior=prior), names, before, beliefs, plays, sums, sums, **more)


def best_mean(told):
    first = told.family.expected_reward(told.beliefs[0])
    return first + float(expected_losses(told.family, told.beliefs)[0])


def test_the_ends_are_those_of_all_arms_at_once():
    told = known([40, 60, 500], [10, 30, 260])
    result = attained(told, 0.53, 600, 300.0)
    ends = [stats.beta(*row).ppf([0.025 / 3.0, 1.0 - 0.025 / 3.0]) for row in told.beliefs]
    low, high = (max(row[i] for row in ends) for i in (0, 1))
    assert result == pytest.approx((600 * 0.53, 300 / 318, 300 / (600 * high), 300 / (600 * low)))
    assert result.to_dict()["credible"] == [result.low, result.high]


def test_words_round_outwards():
    assert (
        "Earned 98 % of what was attainable (96–99 %)"
        in Attained(1259.0, 0.9801, 0.9604, 0.9899).sentence
    )
    narrow = Attained(1e6, 0.99512, 0.99444, 0.99581).sentence
    assert "99.5 % of what was attainable (99.4–99.6 %)" in narrow


def test_what_is_no_share_is_not_said():
    told = known([5, 5], [2, 3])
    assert attained(told, 0.6, 0, 0.0) is None
    costs = known([5, 5], [2, 3], units=Units(0.0, -1.0))
    assert attained(costs, 0.6, 10, 5.0) is None
    shifted = known([5, 5], [2, 3], units=Units(-0.9, 1.0))  # the best may have a mean below 0
    assert attained(shifted, -0.3, 10, -4.0) is None
    gaussian = Gaussian()
    flat = np.array([[0.0, 0.01], [0.1, 0.01]])
    told = Known(gaussian, ["a", "b"], flat, flat, *np.zeros((3, 2)))
    assert attained(told, 0.5, 10, 3.0) is None
    assert attained(known([5, 5], [2, 3]), np.inf, 10, 3.0) is None


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("prior", "rates", "policy"),
    [
        ((1.0, 1.0), None, belman.BelMan()),
        ((2.0, 8.0), None, belman.Thompson()),
        ((1.0, 1.0), (0.1, 0.1, 0.1, 0.1), belman.Thompson()),
        ((2.0, 8.0), (0.5, 0.5, 0.5, 0.5), belman.policies.Uniform()),
    ],
)
def test_the_interval_is_right_as_often_as_it_says(prior, rates, policy):
    """Arms drawn from the prior, and A/A: 400 runs, five deviations below 95 % at the most."""
    rng, hits = np.random.default_rng(1), []
    truths = [np.array(rates)] if rates else rng.beta(*prior, (400, 4))
    for i, truth in enumerate(truths):
        ends = played(policy, prior, Rules(300), truth, 400 // len(truths), seed=i)
        for n, s in zip(ends.patients, ends.successes, strict=True):
            told, total = known(n, s, prior), float(s.sum())
            result = attained(told, best_mean(told), 300, total)
            hits.append(result.low <= total / (300 * truth.max()) <= result.high)
    assert len(hits) == 400
    assert np.mean(hits) > 0.95 - 5.0 * np.sqrt(0.95 * 0.05 / 400)

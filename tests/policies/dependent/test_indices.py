"""Indices against slow, obvious twins that know covariances and no square roots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman import chance
from belman.errors import PolicyError
from belman.models import Linear, Logistic
from belman.policies.dependent import (
    DEPENDENT_POLICIES,
    GLMUCB,
    OFUL,
    LaplaceTS,
    LinBayesUCB,
    LinEpsilonGreedy,
    LinGreedy,
    LinIDS,
    LinIMED,
    LinMED,
    LinTS,
    LinTSUCB,
    LinUCB,
    PaperBelMan,
    SharedBelMan,
)
from tests.policies.dependent.seen import bound, indices, seen

pytestmark = pytest.mark.interpreted


def marginals(at):
    eta = at.features @ at.belief.mean[0]
    return eta, np.einsum("ai,ij,aj->a", at.features, at.wide, at.features)


@pytest.mark.parametrize("turn", [13, 100_000])  # the clock is the turn, or what was learnt
@pytest.mark.parametrize("known", [0.0, 0.75])
def test_the_default_is_surprise_less_evidence(turn, known):
    at, p, q, reach = seen(), 1.3, 7.0, 2.5
    eta, v = marginals(at)
    worth, first = 0.25 / v, 0.25 / (at.features**2).sum(axis=1)
    x = np.maximum(np.log(min(turn, 1.0 + (worth - first).sum()) / (worth + known)), 0.0)
    counted = p + x**2 / (x + q / (1.0 + (x / reach) ** 4))
    best = int(np.argmax(eta))
    upper = eta[best] + math.sqrt(2.0 * counted[best] * v[best])
    expected = counted - (upper - eta) ** 2 / (2.0 * v)
    policy = SharedBelMan(p, q, reach, known)
    np.testing.assert_allclose(indices(policy, at, turn), expected, atol=1e-9)
    assert expected[best] == pytest.approx(0.0, abs=1e-12)
    shown = policy.explanation(at.sight, turn)
    np.testing.assert_allclose(counted - shown["distance on rewards"], expected, atol=1e-9)
    np.testing.assert_allclose(shown["distance on beliefs"], x - 1.0 + np.exp(-x), atol=1e-9)


def test_an_arm_of_which_all_is_known_is_played_if_it_is_best():
    at = seen()
    at.features[2] = 0.0
    at.sight.eta[2] = at.sight.variance[2] = at.sight.first[2] = 0.0
    at.sight.worth[2] = 1e300
    assert indices(SharedBelMan(), at)[2] == -np.inf
    at.sight.eta[2] = 100.0
    result = indices(SharedBelMan(), at)
    assert result[2] == 0.0
    assert np.isfinite(result).all()


def test_the_papers_form_is_pull_less_distance_to_the_barycentre():
    at, turn = seen(), 50
    eta, v = marginals(at)
    centre, wide = eta.mean(), v.mean() + eta.var()
    distance = 0.5 * (v / wide - 1.0 - np.log(v / wide) + (eta - centre) ** 2 / wide)
    pull = math.log(turn) + 15.0 * math.log(math.log(turn))
    np.testing.assert_allclose(indices(PaperBelMan(), at, turn), pull * eta - distance)
    np.testing.assert_allclose(indices(PaperBelMan(), at, 2), -distance, atol=1e-12)


def test_bounds():
    at, turn = seen(), 13
    eta, v = marginals(at)
    deviation = np.sqrt(v)
    np.testing.assert_allclose(indices(LinUCB(1.7), at), eta + 1.7 * deviation)
    score = stats.norm.ppf(1.0 - 1.0 / (turn + 1.0))
    np.testing.assert_allclose(indices(LinBayesUCB(), at, turn), eta + score * deviation)
    ratio = np.linalg.slogdet(np.eye(3))[1] - np.linalg.slogdet(at.wide)[1]
    radius = math.sqrt(2.0 * math.log(100.0) + ratio) + 2.5
    np.testing.assert_allclose(indices(OFUL(0.01, 2.5), at), eta + radius * deviation)
    beta = (math.sqrt(4.0 * math.log(turn + 1.0) + ratio) + math.sqrt(3.0)) ** 2
    expected = np.log(beta * v / 0.25) - (eta.max() - eta) ** 2 / (beta * v)
    np.testing.assert_allclose(indices(LinIMED(), at, turn), expected)
    np.testing.assert_allclose(indices(LinGreedy(), at), eta)


def test_the_bound_of_generalised_models_keeps_its_own_design():
    at, policy = seen(Logistic()), GLMUCB(1.5)
    memory = policy.memory(6, 3)
    for arm in (0, 0, 2, 5):
        policy.kernels.learn(policy.params, memory, at.features[arm])
    rows = at.features[[0, 0, 2, 5]]
    inverse = np.linalg.inv(np.eye(3) + rows.T @ rows)
    length = np.sqrt(np.einsum("ai,ij,aj->a", at.features, inverse, at.features))
    result = indices(policy, at, memory=memory)
    np.testing.assert_allclose(result, at.sight.eta + 1.5 * length)


def shares(policy, at, draws=4_000):
    """How often each arm has the largest index."""
    count = np.zeros(len(at.features))
    call, index = bound(policy, at, rng=chance.generator(3))
    for _ in range(draws):
        call()
        count[np.argmax(index)] += 1.0
    return count / draws


def test_thompson_plays_arms_as_often_as_they_are_best():
    """4,000 draws each: shares within 0.04 of those of 200,000 NumPy draws, five deviations."""
    at = seen()
    theta = np.random.default_rng(1).multivariate_normal(at.belief.mean[0], at.wide, 200_000)
    best = np.bincount((theta @ at.features.T).argmax(axis=1), minlength=6) / 200_000
    np.testing.assert_allclose(shares(LinTS(), at), best, atol=0.04)
    theta = at.belief.mean[0] + 2.0 * (theta - at.belief.mean[0])
    best = np.bincount((theta @ at.features.T).argmax(axis=1), minlength=6) / 200_000
    np.testing.assert_allclose(shares(LinTS(2.0), at), best, atol=0.04)


def test_maillard_plays_arms_by_the_evidence_against_them():
    """4,000 draws: within 0.04, five deviations."""
    at = seen()
    eta, _ = marginals(at)
    apart = at.features[eta.argmax()] - at.features
    wide = np.einsum("ai,ij,aj->a", apart, at.wide, apart)
    against = 0.5 * (eta.max() - eta) ** 2 / np.maximum(wide, 1e-300)
    chances = np.exp(-against) / np.exp(-against).sum()
    np.testing.assert_allclose(shares(LinMED(), at), chances, atol=0.04)


def test_epsilon_greedy_plays_any_arm_with_its_chance():
    """2,000 draws: within 0.04, five deviations."""
    at = seen()
    expected = np.full(6, 0.3 / 6)
    expected[at.sight.eta.argmax()] += 0.7
    np.testing.assert_allclose(shares(LinEpsilonGreedy(0.3), at, 2_000), expected, atol=0.05)


def test_information_directed_play_has_the_least_ratio_of_pairs():
    """20,000 draws: regrets within five deviations, and the pair is the best of a grid."""
    at = seen(arms=4)
    policy = LinIDS(draws=20_000)
    memory = policy.memory(4, 3)
    index = indices(policy, at, memory=memory)
    regret, gain = memory.regret_scratch, memory.gain_scratch
    theta = np.random.default_rng(2).multivariate_normal(at.belief.mean[0], at.wide, 200_000)
    values = theta @ at.features.T
    best = values.argmax(axis=1)
    means = values.mean(axis=0)
    np.testing.assert_allclose(regret, values.max(axis=1).mean() - means, atol=0.08)
    explained = sum(
        (best == b).mean() * (values[best == b].mean(axis=0) - means) ** 2 for b in set(best)
    )
    np.testing.assert_allclose(gain, explained, rtol=0.1, atol=1e-3)
    ratios = [
        ((q * regret[i] + (1 - q) * regret[j]) ** 2 / (q * gain[i] + (1 - q) * gain[j]), i, j)
        for q in np.linspace(0.0, 1.0, 201)
        for i in range(4)
        for j in range(4)
    ]
    _, i, j = min(ratios)
    assert int(np.argmax(index)) in (i, j)


def test_ts_ucb_counts_deviations_below_the_best_of_draws():
    """With 20,000 draws the average best is within 0.02 of NumPy's."""
    at = seen()
    theta = np.random.default_rng(2).multivariate_normal(at.belief.mean[0], at.wide, 200_000)
    highest = (theta @ at.features.T).max(axis=1).mean()
    eta, v = marginals(at)
    result = indices(LinTSUCB(draws=20_000), at)
    np.testing.assert_allclose(result, (eta - highest) / np.sqrt(v), atol=0.02 / np.sqrt(v).min())


def test_laplace_learns_the_mode_and_its_curvature():
    model = LaplaceTS().believing(Logistic())
    pull, noise, _ = model.kernels.assimilate(model.constants, np.zeros(2), 0.0, 2.0, 1.0)
    mode = 2.0 * pull
    assert mode / 2.0 == pytest.approx(1.0 - 1.0 / (1.0 + math.exp(-mode)), abs=1e-9)
    chance_of_one = 1.0 / (1.0 + math.exp(-mode))
    assert 1.0 / noise == pytest.approx(chance_of_one * (1.0 - chance_of_one))
    assert LaplaceTS().believing(Linear()) == Linear()


@pytest.mark.parametrize(
    ("kind", "setting", "bad"),
    [
        (SharedBelMan, "p", -1.0),
        (SharedBelMan, "q", 0.0),
        (LinUCB, "alpha", "2"),
        (LinTS, "inflation", float("nan")),
        (OFUL, "delta", 0.0),
        (LinEpsilonGreedy, "epsilon", 1.5),
        (LinIDS, "draws", 1),
        (LinTSUCB, "draws", True),
        (PaperBelMan, "C", -2.0),
        (GLMUCB, "alpha", None),
    ],
)
def test_settings_that_make_no_policy_are_refused(kind, setting, bad):
    with pytest.raises(PolicyError, match=f"{setting}=.*is not valid for {kind.name}"):
        kind(**{setting: bad})


def test_names_are_those_of_the_classes():
    assert all(kind.name == name for name, kind in DEPENDENT_POLICIES.items())

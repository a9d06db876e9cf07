"""Rewards in [0, 1] by a grid of atoms: K_inf beside a search, NPTS, and one exact state file."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import belman
from belman import chance
from belman.agent import Agent
from belman.errors import FamilyError, PriorError, RewardError
from belman.families import Bernoulli, Bounded, bounded_atoms
from belman.families.family_kernels import term_count
from belman.families.mirror import Mirror
from belman.lab import simulate
from belman.policies import IMED, IMEDKinf
from belman.problems import Tables, shaped
from belman.spec import build, describe

FAMILY = Bounded(atoms=65)
GRID = np.arange(65) / 64


def k_inf(counts: np.ndarray, mean: float) -> float:
    """max over u = λ(1 − μ) of E ln(1 − λ(X − μ)), by a search."""
    seen = counts > 0.0
    values, chances = GRID[seen], counts[seen] / counts.sum()

    def cost(u: float) -> float:
        return -float(chances @ np.log1p(-u / (1.0 - mean) * (values - mean)))

    result = optimize.minimize_scalar(cost, bounds=(0.0, 1.0), options={"xatol": 1e-13})
    return max(-result.fun, -cost(1.0 - 1e-15), 0.0)


def believed(rewards: np.ndarray) -> np.ndarray:
    belief = np.array(FAMILY.prior)
    for reward in rewards:
        belief = FAMILY.update(belief, float(reward))
    return belief


def without_prior(belief: np.ndarray, mean: float) -> float:
    """The evidence of the rewards alone against a mean, as IMED takes it."""
    kernels, constants = FAMILY.kernels, FAMILY.constants
    counts = np.maximum(belief - FAMILY.prior, 0.0)
    plays, average = counts.sum(), float(counts @ GRID / counts.sum())
    spread = float(counts @ (GRID - average) ** 2 / plays)
    size = term_count(FAMILY.dimension)
    column, weights = np.zeros(size), np.zeros(size)
    kernels.terms_of(kernels, constants, belief, plays, average, spread, False, column)
    kernels.weights(constants, mean, weights)
    return float(kernels.evidence(column[:, None], 0, weights))


DRAWS = {
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "wide": lambda rng, n: rng.beta(0.6, 0.9, n),
    "beta": lambda rng, n: rng.beta(3.0, 5.0, n),
    "narrow": lambda rng, n: rng.beta(40.0, 60.0, n),
    "revenue": lambda rng, n: (rng.random(n) < 0.1) * rng.beta(2.0, 2.0, n),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("n", [1, 10, 300])
def test_evidence_is_k_inf(kind: str, n: int) -> None:
    belief = believed(DRAWS[kind](np.random.default_rng(n), n))
    mean = FAMILY.expected_reward(belief)
    for share in (0.01, 0.1, 0.3, 0.6, 0.9, 0.99):
        other = mean + share * (1.0 - mean)
        true = k_inf(belief, other)
        assert FAMILY.evidence(belief, other) == pytest.approx(true, rel=2e-3, abs=1e-7)
    counts = np.maximum(belief - FAMILY.prior, 0.0)
    average = float(counts @ GRID / counts.sum())
    for share in (0.1, 0.5, 0.9):
        other = average + share * (1.0 - average)
        true = k_inf(counts, other)
        assert without_prior(belief, other) == pytest.approx(true, rel=2e-3, abs=1e-7)


@pytest.mark.interpreted
def test_reference_values() -> None:
    assert without_prior(believed(np.array([0.0, 1.0])), 0.75) == pytest.approx(0.143841, abs=5e-5)
    assert without_prior(believed(np.array([0.5])), 0.75) == pytest.approx(np.log(2.0), abs=1e-6)
    fifths = believed(np.array([0.2, 0.4, 0.6]))  # between atoms, which costs a little
    assert without_prior(fifths, 0.5) == pytest.approx(0.143060545, rel=2e-3)


@pytest.mark.interpreted
def test_on_coins_it_is_the_bernoulli_kl() -> None:
    coins, family = believed(np.array([0.0] * 7 + [1.0] * 3)), Bernoulli()
    for other in (0.31, 0.4, 0.7, 0.95):
        true = family.reward_divergence(0.3, other)
        assert without_prior(coins, other) == pytest.approx(true, rel=2e-3)
    assert FAMILY.worth(FAMILY.prior) == pytest.approx(2.0)
    assert FAMILY.expected_reward(coins) == pytest.approx(4.0 / 12.0)


@pytest.mark.interpreted
def test_evidence_lies_above_two_moments() -> None:
    """d₂ is the least K_inf of all distributions with these moments."""
    belief = believed(np.random.default_rng(4).beta(1.0, 3.0, 60))
    mean, spread = FAMILY.expected_reward(belief), FAMILY.spread(belief)
    for other in np.linspace(mean + 0.02, 0.98, 12):
        least = FAMILY.reward_divergence(mean, float(other), spread)
        assert FAMILY.evidence(belief, float(other)) >= least * (1.0 - 1e-3)


@pytest.mark.interpreted
def test_costs_are_read_from_the_other_end() -> None:
    belief = believed(np.random.default_rng(5).beta(2.0, 6.0, 40))
    costs, mean = Mirror(FAMILY), FAMILY.expected_reward(belief)
    for other in (0.9 * mean, 0.5 * mean, 0.1 * mean):
        true = k_inf(belief[::-1], 1.0 - other)
        assert costs.evidence(belief, -other) == pytest.approx(true, rel=2e-3)


@pytest.mark.interpreted
def test_a_prior_that_is_shifted_and_softer_is_fitted() -> None:
    """What the default's shift and the pooled spread make of the prior, atom by atom."""
    belief = believed(np.array([0.25, 0.5, 0.125]))
    kernels, worth = FAMILY.kernels, FAMILY.worth(belief)
    prior_mean, inner = 0.25, 1.2  # moved there from 1/2, and so much of it at its mean
    fitted = belief.copy()
    fitted[0] += 0.5 - inner * (1.0 - prior_mean)
    fitted[16] += inner
    fitted[-1] -= 0.5 + inner * prior_mean
    mean = float(fitted @ GRID / worth)
    spread = float(fitted @ (GRID - mean) ** 2 / worth)
    assert fitted.min() >= 0.0
    size = term_count(FAMILY.dimension)
    column, weights = np.zeros(size), np.zeros(size)
    kernels.terms_of(kernels, FAMILY.constants, belief, worth, mean, spread, False, column)
    for other in (0.4, 0.6, 0.9):
        kernels.weights(FAMILY.constants, other, weights)
        result = kernels.evidence(column[:, None], 0, weights)
        assert result == pytest.approx(k_inf(fitted, other), rel=2e-3)


@pytest.mark.interpreted
def test_draws_are_those_of_dirichlet_weights() -> None:
    """Thompson sampling by these is NPTS; intervals are those of the Bayesian bootstrap, nearly."""
    rewards = np.random.default_rng(6).beta(1.0, 2.0, 12)
    belief = believed(rewards)
    rng = chance.generator(3)
    drawn = [FAMILY.kernels.sample_mean(FAMILY.constants, belief, rng) for _ in range(4_000)]
    twin = np.random.default_rng(7).dirichlet(belief, 200_000) @ GRID
    assert stats.ks_2samp(drawn, twin).pvalue > 1e-6
    for level in (0.025, 0.25, 0.5, 0.75, 0.975):
        near = pytest.approx(np.quantile(twin, level), abs=0.25 * twin.std())
        assert FAMILY.mean_quantile(belief, level) == near


@pytest.mark.interpreted
def test_imed_by_atoms_is_imed_by_k_inf() -> None:
    """The index of every arm after the same rewards, to what the curve is exact to."""
    rng = np.random.default_rng(8)
    rewards = [rng.beta(2.0, 4.0, 30), rng.beta(5.0, 4.0, 20), rng.beta(0.5, 1.0, 4)]
    result = []
    for policy, family in ((IMED(), FAMILY), (IMEDKinf(), Bounded())):
        agent = Agent(["a", "b", "c"], family, policy=policy, seed=1)
        for arm, seen in zip("abc", rewards, strict=True):
            for reward in seen:
                agent.tell(arm, reward)
        result.append(agent.explain()["index"])
    assert result[0] == pytest.approx(result[1], rel=2e-3, abs=1e-6)


def test_policies_play_it() -> None:
    """Indices, bounds and draws, with regrets as of two moments (10 runs: a wide band)."""
    distributions = shaped("beta", 5, np.random.default_rng(3)).distributions
    players = {
        "belman": belman.BelMan(),
        "imed": IMED(),
        "kl-ucb": belman.policies.KLUCB(),
        "thompson": belman.Thompson(),
    }
    one, other = (
        simulate(players, Tables(family, distributions), 500, 10, 3, progress=False)
        for family in (Bounded(), FAMILY)
    )
    for name in players:
        by_moments = float(one.regret.sel(player=name).isel(turn=-1).mean())
        by_atoms = float(other.regret.sel(player=name).isel(turn=-1).mean())
        assert by_atoms < 2.0 * by_moments + 5.0


@pytest.mark.interpreted
def test_state_file_is_exact() -> None:
    rng = np.random.default_rng(9)
    rewards = 50.0 * rng.beta(2.0, 3.0, 120)
    agent = Agent(["a", "b"], FAMILY, range=(0, 50), seed=4)
    for reward in rewards[:60]:
        agent.tell(agent.ask(), reward)
    again = Agent.from_json(agent.to_json())
    assert again.family == FAMILY
    for reward in rewards[60:]:
        arm = agent.ask()
        assert again.ask() == arm
        agent.tell(arm, reward)
        again.tell(arm, reward)
    assert again.to_json() == agent.to_json()
    assert len(agent.belief("a")) == 65


@pytest.mark.interpreted
def test_description_and_doors() -> None:
    for family in (FAMILY, Bounded(atoms=9, prior=(2.0, 3.0)), Mirror(FAMILY)):
        assert build(describe(family)) == family
    assert Bounded(atoms=9, prior=(2.0, 3.0)).expected_reward(
        Bounded(atoms=9, prior=(2.0, 3.0)).prior
    ) == pytest.approx(0.4)
    for bad in (8, 66, -1, 9.0, "65", True, None):
        with pytest.raises(FamilyError, match="from 9 to 65"):
            Bounded(atoms=bad)  # type: ignore[arg-type]
    with pytest.raises(FamilyError, match="leave out moments"):
        Bounded(moments=1, atoms=9)
    with pytest.raises(PriorError, match="at the ends"):
        Bounded(atoms=9, prior=(1.0, 1.0, 1.0))
    with pytest.raises(RewardError):
        FAMILY.update(FAMILY.prior, 1.01)


@pytest.mark.interpreted
def test_starts_with_counts_sums_and_squares() -> None:
    rewards = np.array([10.0, 20.0, 30.0])
    start = {"a": (3, rewards.sum(), (rewards**2).sum())}
    agent = Agent(["a", "b"], FAMILY, range=(0, 50), start=start, seed=1)
    told = believed(rewards / 50.0)
    belief = np.array(agent.belief("a"))
    assert FAMILY.worth(belief) == pytest.approx(5.0)
    assert FAMILY.expected_reward(belief) == pytest.approx(FAMILY.expected_reward(told))
    assert FAMILY.spread(belief) == pytest.approx(FAMILY.spread(told), abs=2e-4)
    bare = np.array(Agent(["a"], FAMILY, range=(0, 50), start={"a": (3, 60)}).belief("a"))
    assert FAMILY.spread(bare) == pytest.approx(2.2 * 2.8 / 25.0, abs=0.01)


@pytest.mark.interpreted
def test_memory_is_bounded() -> None:
    agent = Agent(["a", "b"], Bounded(atoms=17), seed=1)
    for reward in np.random.default_rng(1).random(300):
        agent.tell("a", reward)
    size = len(agent.to_json())
    for reward in np.random.default_rng(2).random(300):
        agent.tell("a", reward)
    assert len(agent.to_json()) < 1.1 * size
    assert bounded_atoms.distribution_of(FAMILY.prior) is not bounded_atoms.distribution_of(
        FAMILY.prior
    )

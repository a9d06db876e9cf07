"""Policies without a distribution of rewards: their draws, duels and blocks against slow twins.

Distributions of draws are tested by χ² at 1e-6: fewer than one false alarm in 100,000 suites.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman import chance
from belman.errors import PolicyError
from belman.families import Bernoulli, Bounded, Gaussian
from belman.policies import BESA, LBSDA, PHE, RBSDA, Giro
from belman.policies.resampling.empirical import (
    CELLS,
    SEEN,
    SUM,
    binomial,
    bootstrap_mean,
    hypergeometric,
    sub_sample_mean,
)
from tests.policies.interpreted_play import Seat, taught

pytestmark = pytest.mark.interpreted

LEVEL = 1e-6


def fits(drawn, constants, support):
    """Whether whole numbers come from a distribution, by χ² over cells that expect five and
    more.
    """
    counts = np.array([np.count_nonzero(np.array(drawn) == value) for value in support])
    expected = constants.pmf(support) * len(drawn)
    rare = expected < 5.0
    seen = np.append(counts[~rare], counts[rare].sum() + len(drawn) - counts.sum())
    wanted = np.append(expected[~rare], len(drawn) - expected[~rare].sum())
    keep = wanted > 1e-6
    assert seen[~keep].sum() == 0
    return stats.chisquare(seen[keep], wanted[keep] * len(drawn) / wanted[keep].sum()).pvalue


@pytest.mark.parametrize(("trials", "p"), [(1, 0.3), (9, 0.5), (40, 0.02), (300, 0.9)])
def test_binomial_draws(trials, p):
    rng = chance.generator(4)
    drawn = [binomial(rng, float(trials), p) for _ in range(2_000)]
    assert fits(drawn, stats.binom(trials, p), np.arange(trials + 1)) > LEVEL


@pytest.mark.parametrize(
    ("good", "bad", "draws"), [(3, 5, 4), (1, 9, 7), (40, 3, 20), (200, 90, 9)]
)
def test_hypergeometric_draws(good, bad, draws):
    rng = chance.generator(5)
    drawn = [hypergeometric(rng, float(good), float(bad), float(draws)) for _ in range(2_000)]
    assert fits(drawn, stats.hypergeom(good + bad, good, draws), np.arange(draws + 1)) > LEVEL


def test_huge_counts_are_drawn_too():
    rng = chance.generator(6)
    drawn = [binomial(rng, 1e8, 0.5) for _ in range(20)]
    assert np.abs(np.array(drawn) - 5e7).max() < 6 * 5e3
    assert 0.0 <= hypergeometric(rng, 1e9, 1e9, 1e5) <= 1e5
    assert binomial(rng, 0.0, 0.5) == 0.0
    assert binomial(rng, 7.0, 1.0) == 7.0


def test_rounding_keeps_sums_and_grid_points():
    rng = np.random.default_rng(1)
    for rewards in (rng.random(300), rng.integers(0, 5, 300) / 4):
        seat = taught(BESA(), Bounded(), [rewards.tolist()])
        counts = seat.memory.counts[0]
        assert counts.sum() == 300
        assert (counts == np.round(counts)).all()
        assert seat.memory.seen[SUM, 0] == pytest.approx(rewards.sum(), abs=0.51 / CELLS)
    fourths = np.bincount((rewards * 4).astype(int), minlength=5)
    assert counts[:: CELLS // 4].tolist() == fourths.tolist()


def test_sub_samples_and_bootstraps_have_the_moments_of_their_distribution():
    """Means of 4,000 draws, within five standard errors; variances within a tenth."""
    rewards = np.random.default_rng(2).integers(0, 9, 40) / 8
    seat, rng = taught(BESA(), Bounded(), [rewards.tolist()]), chance.generator(3)
    counts, plays, size = seat.memory.counts[0], seat.memory.seen[SEEN, 0], 12.0
    drawn = np.array([sub_sample_mean(rng, counts, plays, size) for _ in range(4_000)])
    spread = rewards.var(ddof=1) / size * (1 - size / 40)
    assert abs(drawn.mean() - rewards.mean()) < 5 * math.sqrt(spread / 4_000)
    assert drawn.var() == pytest.approx(spread, rel=0.1)
    full = np.concatenate([rewards, np.zeros(40), np.ones(40)])
    drawn = np.array([bootstrap_mean(rng, counts, plays, 40.0) for _ in range(4_000)])
    assert abs(drawn.mean() - full.mean()) < 5 * full.std() / math.sqrt(120 * 4_000)
    assert drawn.var() == pytest.approx(full.var() / 120, rel=0.1)


def frequencies(seat, turn, draws=3_000):
    return np.bincount([seat.ask(turn) for _ in range(draws)], minlength=seat.arms) / draws


def test_besa_is_its_duel():
    """Two arms: the chance that a sub-sample of the larger is worse, by the hypergeometric
    distribution.
    """
    few, many = [1, 0, 1, 0], [1] * 9 + [0] * 6
    seat = taught(BESA(), Bernoulli(), [few, many])
    constants = stats.hypergeom(15, 9, 4)
    wins = constants.cdf(2)  # ties go to the arm with fewer plays
    assert frequencies(seat, 20)[0] == pytest.approx(wins, abs=5 * 0.5 / math.sqrt(3_000))


def test_besa_of_many_arms_is_a_tournament():
    """An arm that never wins a duel is never played; one that always wins always is."""
    seat = taught(BESA(), Bernoulli(), [[0] * 5, [1] * 5, [1, 0, 1, 0, 1], [0] * 4, [1, 0]])
    assert {seat.ask(30) for _ in range(60)} == {1}
    assert {seat.ask(30, (1,)) for _ in range(200)} <= {2, 4}


def test_phe_and_giro_are_their_definitions():
    """Frequencies beside those of a twin with NumPy's draws, within six standard errors."""
    rewards, rng, draws = (
        [[1, 0, 1, 1], [0, 1], [1, 0, 0, 1, 0, 0]],
        np.random.default_rng(7),
        3_000,
    )
    twin = np.zeros(3)
    for _ in range(draws):
        index = []
        for row in rewards:
            coins = math.ceil(1.1 * len(row))
            index.append((sum(row) + rng.binomial(coins, 0.5)) / (len(row) + coins))
        twin[rng.choice(np.flatnonzero(np.array(index) == max(index)))] += 1 / draws
    close = 6 * 0.5 * math.sqrt(2 / draws)
    assert np.abs(frequencies(taught(PHE(), Bernoulli(), rewards), 13) - twin).max() < close
    for a, told in ((1.0, rewards), (0.1, [[0, 0], [1], [0, 0, 0, 0]])):
        twin = np.zeros(3)
        for _ in range(draws):
            index = []
            for row in told:
                pseudo = math.floor(a * len(row) + rng.random())
                history = row + [0] * pseudo + [1] * pseudo
                index.append(round(float(rng.choice(history, len(history)).mean()), 12))
            twin[rng.choice(np.flatnonzero(np.array(index) == max(index)))] += 1 / draws
        result = frequencies(taught(Giro(a=a), Bernoulli(), told), 13)
        assert np.abs(result - twin).max() < close


class NaiveLastBlock:
    """LB-SDA with whole histories, round by round."""

    def __init__(self, arms):
        self.rewards, self.listed, self.rounds = [[] for _ in range(arms)], [], 0

    def ask(self):
        if not self.listed:
            self.rounds += 1
            plays = [len(row) for row in self.rewards]
            leader = max(range(len(plays)), key=lambda a: (plays[a], sum(self.rewards[a]), -a))
            for a, row in enumerate(self.rewards):
                if a != leader and plays[a] < plays[leader]:
                    forced = plays[a] <= math.sqrt(math.log(self.rounds))
                    block = self.rewards[leader][-plays[a] :]
                    if forced or sum(row) / len(row) >= sum(block) / len(block) - 1e-12:
                        self.listed.append(a)
            self.listed = self.listed or [leader]
        return self.listed.pop(0)


def test_lb_sda_is_its_definition_turn_by_turn():
    rng = np.random.default_rng(9)
    seat, twin = Seat(LBSDA(), Gaussian(), 4), NaiveLastBlock(4)
    for turn in range(1, 400):
        arm = seat.ask(turn)
        if turn > 4:
            assert arm == twin.ask(), turn
        reward = float(rng.normal([0.0, 0.3, 0.5, 0.4][arm]))
        seat.tell(arm, reward)
        twin.rewards[arm].append(reward)


def test_rb_sda_draws_its_block_uniformly():
    """A challenger with two plays meets each of the blocks of two that the leader has kept."""
    leader = [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    seat = taught(RBSDA(), Bernoulli(), [[0.0, 1.0], leader])
    blocks = [np.mean(leader[i : i + 2]) for i in range(5)]
    wins = np.mean([block <= 0.5 for block in blocks])
    result = 0
    for _ in range(2_000):
        seat.memory.rounds[0] = 1.0  # nothing is forced
        seat.memory.listed[:] = 0.0
        result += seat.ask(9) == 0
    assert result / 2_000 == pytest.approx(wins, abs=5 * 0.5 / math.sqrt(2_000))


def test_histories_are_bounded():
    """What is kept does not grow, and the last block is that of the last rewards."""
    seat = Seat(LBSDA(kept=8), Gaussian(), 2)
    for k in range(50):
        seat.tell(0, float(k))
    assert seat.memory.sums.shape == (2, 9)
    from belman.policies.resampling.sub_sampling import block_mean

    assert block_mean(seat.memory, 0, 50, 8) == pytest.approx(np.mean(np.arange(42, 50)))
    with pytest.raises(PolicyError, match="kept=0 is not valid for rb-sda"):
        RBSDA(kept=0)

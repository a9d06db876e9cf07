"""Players of pure exploration against slow twins, on rewards that do not depend on the order of
play, and against theory's bounds.

Bounds on chances are tested at a level of 1e-6: by chance fewer than one suite in 100,000 fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

import belman
from belman import chance
from belman.errors import PolicyError
from belman.families import Bernoulli, Exponential, Gaussian, Poisson
from belman.policies import (
    KLLUCB,
    LUCB,
    Phases,
    Policy,
    SequentialHalving,
    SuccessiveAcceptsRejects,
    SuccessiveRejects,
    Thompson,
    TrackAndStop,
    Uniform,
)
from belman.policies.best_arm.elimination import ACCEPTED, IN_PLAY, REJECTED
from tests.policies.test_index_policies import Table, blank

pytestmark = pytest.mark.interpreted  # but for bounds, which take many runs

Streams = NDArray[np.float64]
LEVEL = 1e-6


def streams(means: list[float], length: int, seed: int) -> Streams:
    """Gaussian rewards, row a for the plays of arm a: whoever plays when, the k-th play of an arm
    gives the same.
    """
    return np.array(means)[:, None] + np.random.default_rng(seed).normal(size=(len(means), length))


def play(policy: Policy, rewards: Streams, turns: int) -> tuple[Table, list[int]]:
    family = Gaussian()
    table, rng, chosen = (
        Table(policy, family, blank(family, len(rewards))),
        chance.generator(9),
        [],
    )
    for turn in range(1, turns + 1):
        arm, _ = table.choose(turn, rng)
        table.tell(arm, rewards[arm][int(table.ledger.plays[arm])])
        chosen.append(arm)
    table.indices(turns + 1)  # closes the last phase
    return table, chosen


# Slow twins: the pseudocode of the papers.


def naive_rejects(rewards: Streams, budget: int) -> tuple[int, list[int]]:
    arms = len(rewards)
    log_bar = 0.5 + sum(1.0 / i for i in range(2, arms + 1))
    left, plays = set(range(arms)), [0] * arms
    for k in range(1, arms):
        n = math.ceil((budget - arms) / (log_bar * (arms + 1 - k)))
        for a in left:
            plays[a] = n
        left.remove(min(left, key=lambda a: rewards[a][:n].mean()))
    return left.pop(), plays


def naive_accepts_rejects(rewards: Streams, budget: int, m: int) -> tuple[set[int], list[int]]:
    arms = len(rewards)
    log_bar = 0.5 + sum(1.0 / i for i in range(2, arms + 1))
    left, accepted, plays = set(range(arms)), set[int](), [0] * arms
    for k in range(1, arms):
        n = math.ceil((budget - arms) / (log_bar * (arms + 1 - k)))
        mean = {a: rewards[a][:n].mean() for a in left}
        for a in left:
            plays[a] = n
        ranked = sorted(left, key=lambda a: -mean[a])
        wanted = m - len(accepted)
        if wanted == 0:
            out = ranked[-1]
        elif wanted == len(left):
            out = ranked[0]
            accepted.add(out)
        else:
            gap = {
                a: mean[a] - mean[ranked[wanted]]
                if i < wanted
                else mean[ranked[wanted - 1]] - mean[a]
                for i, a in enumerate(ranked)
            }
            out = max(left, key=lambda a: (gap[a], -mean[a]))
            if out in ranked[:wanted]:
                accepted.add(out)
        left.remove(out)
    return accepted | (left if len(accepted) < m else set()), plays


def naive_halving(rewards: Streams, budget: int, m: int) -> tuple[set[int], list[int]]:
    left, plays = list(range(len(rewards))), [0] * len(rewards)
    rounds = math.ceil(math.log2(len(left) / m))
    for _ in range(rounds):
        each = max(1, budget // (len(left) * rounds))
        for a in left:
            plays[a] += each
        left = sorted(left, key=lambda a: -rewards[a][: plays[a]].mean())[
            : max(m, math.ceil(len(left) / 2))
        ]
    return set(left), plays


MEANS = [0.6, 0.5, 0.45, 0.4, 0.2, 0.0, -0.1, -0.5]


@pytest.mark.parametrize("budget", [9, 10, 60, 333])
def test_successive_rejects_is_its_pseudocode(budget: int) -> None:
    for seed in range(4):
        rewards = streams(MEANS, budget + 1, seed)
        best, plays = naive_rejects(rewards, budget)
        table, _ = play(SuccessiveRejects(budget), rewards, budget)
        standing = table.memory.standing
        assert np.flatnonzero(standing == ACCEPTED).tolist() == [best]
        spare = budget - sum(plays)
        assert spare >= 0
        assert table.ledger.plays.tolist() == [n + spare * (a == best) for a, n in enumerate(plays)]


@pytest.mark.parametrize("m", [1, 3, 7, 8])
def test_successive_accepts_and_rejects_is_its_pseudocode(m: int) -> None:
    for seed in range(4):
        rewards = streams(MEANS, 401, 10 + seed)
        best, plays = naive_accepts_rejects(rewards, 400, m)
        table, _ = play(SuccessiveAcceptsRejects(400, m), rewards, 400)
        assert set(np.flatnonzero(table.memory.standing == ACCEPTED).tolist()) == best
        assert (table.ledger.plays >= plays).all()
        assert table.ledger.plays.sum() == 400


@pytest.mark.parametrize(("arms", "m"), [(8, 1), (7, 1), (5, 2), (3, 3)])
def test_sequential_halving_is_its_pseudocode(arms: int, m: int) -> None:
    for seed in range(4):
        rewards = streams(MEANS[:arms], 301, 20 + seed)
        best, plays = naive_halving(rewards, 300, m)
        table, _ = play(SequentialHalving(300, m), rewards, 300)
        assert set(np.flatnonzero(table.memory.standing == ACCEPTED).tolist()) == best
        assert (table.ledger.plays >= plays).all()


def test_arms_that_never_differ_are_rejected_one_by_one_at_random() -> None:
    left = set()
    for seed in range(40):
        table, rng = (
            Table(SuccessiveRejects(40), Bernoulli(), blank(Bernoulli(), 3)),
            chance.generator(seed),
        )
        for turn in range(1, 41):
            table.tell(table.choose(turn, rng)[0], 1.0)
        table.indices(41)
        assert sorted(table.memory.standing.tolist()) == [REJECTED, REJECTED, ACCEPTED]
        left.add(int(table.memory.standing.argmax()))
    assert left == {0, 1, 2}


def test_what_is_only_imagined_rejects_nobody() -> None:
    agent = belman.Agent(range(3), policy=SuccessiveRejects(12), seed=1)
    agent.ask(30)
    assert (agent._decider._memory.standing == IN_PLAY).all()


@pytest.mark.compiled
def test_successive_rejects_keeps_the_bound_of_its_authors() -> None:
    """P(error) ≤ K(K − 1)/2 exp(−(T − K)/(c H₂)) with H₂ = max_i i/Δ_i² (Audibert et al., Theorem
    2).
    """
    means, budget, runs = [0.9, 0.5, 0.5, 0.5], 200, 2_000
    arms = len(means)
    log_bar, hardness = 0.5 + sum(1.0 / i for i in range(2, arms + 1)), 4 / 0.4**2
    bound = arms * (arms - 1) / 2 * math.exp(-(budget - arms) / (log_bar * hardness))
    assert 0.01 < bound < 0.1
    result = belman.explore(
        [SuccessiveRejects(budget)], belman.problems.bernoulli(means), runs, 3, budget=budget
    )
    assert int(result.error.isel(turn=-1).sum()) <= stats.binom.isf(LEVEL, runs, bound)


# LUCB


def divergence(mean: float, other: float) -> float:
    """Of exponential distributions."""
    return mean / other - 1.0 - math.log(mean / other)


def naive_bound(plays: float, mean: float, f: float, up: bool) -> float:
    far = mean
    while plays * divergence(mean, far) < f:
        far = far * 2.0 if up else far / 2.0
    return brentq(lambda q: plays * divergence(mean, q) - f, mean, far, xtol=1e-15, rtol=1e-14)


def naive_round(
    plays: NDArray[np.float64], sums: NDArray[np.float64], m: int, f: float
) -> tuple[int, int, float]:
    """The weakest of the leaders, the strongest of the others, and by how much their bounds
    overlap.
    """
    means = sums / plays
    leads = np.argsort(-means)[:m].tolist()
    lower = {a: naive_bound(plays[a], means[a], f, False) for a in leads}
    upper = {
        a: naive_bound(plays[a], means[a], f, True) for a in range(len(plays)) if a not in leads
    }
    weak, strong = min(lower, key=lambda a: lower[a]), max(upper, key=lambda a: upper[a])
    return weak, strong, upper[strong] - lower[weak]


@pytest.mark.parametrize("m", [1, 2])
def test_kl_lucb_is_its_pseudocode(m: int) -> None:
    """Choice by choice, until its own rule stops it, and not a round later."""
    family, policy = Exponential(), KLLUCB(delta=0.2, m=m)
    rewards = np.random.default_rng(m).exponential(size=(4, 3_000)) * np.array(
        [[3.0], [2.0], [1.0], [0.7]]
    )
    table, rng, turn = Table(policy, family, blank(family, 4)), chance.generator(1), 1
    for _ in range(4):
        arm, _ = table.choose(turn, rng)
        table.tell(arm, rewards[arm][0])
        turn += 1
    assert table.ledger.plays.tolist() == [1.0] * 4
    while True:
        f = math.log((1.0 + math.log(turn)) / 0.2)
        weak, strong, overlap = naive_round(table.ledger.plays, table.ledger.sums, m, f)
        first, _ = table.choose(turn, rng)
        assert first == weak
        assert table.memory.overlap[0] == pytest.approx(overlap, rel=1e-6, abs=1e-8)
        if overlap <= 0.0:
            break
        table.tell(first, rewards[first][int(table.ledger.plays[first])])
        second, _ = table.choose(turn + 1, rng)
        assert second == strong
        table.tell(second, rewards[second][int(table.ledger.plays[second])])
        turn += 2
    assert turn > 30
    assert set(np.argsort(-table.ledger.sums / table.ledger.plays)[:m].tolist()) == set(range(m))


def chernoff(mean: float, other: float) -> float:
    """d(x, μ) at the x where it is d(x, μ′)."""

    def d(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    x = brentq(lambda x: d(x, mean) - d(x, other), min(mean, other), max(mean, other))
    return d(x, mean)


@pytest.mark.compiled
def test_kl_lucb_keeps_the_bounds_of_its_authors() -> None:
    """With its proven rate: wrong with chance δ at most, in turns of the order H* ln(k₁K(H*)^α/δ)
    (Theorems 2 and 4, constant 4α).
    """
    means, delta, runs = [0.6, 0.3, 0.2], 0.1, 300
    result = belman.explore(
        [KLLUCB(delta, rate="proven")],
        belman.problems.bernoulli(means),
        runs,
        5,
        delta=delta,
        threshold="own",
    )
    assert bool(result.stopped.all())
    assert int(result.error.sum()) <= stats.binom.isf(LEVEL, runs, delta)
    border = brentq(lambda c: chernoff(0.6, c) - chernoff(0.3, c), 0.31, 0.59)
    hardness = sum(1.0 / chernoff(mean, border) for mean in means)
    x = math.log(405.5 * 3 * hardness**1.1 / delta)
    assert float(result.turns.mean()) <= 4 * 1.1 * hardness * (x + math.log(x))


@pytest.mark.compiled  # as these bounds are nowhere else
def test_lucb_has_the_bounds_of_hoeffding() -> None:
    table, rng = Table(LUCB(delta=0.1), Bernoulli(), blank(Bernoulli(), 3)), chance.generator(1)
    table.ledger.plays[:], table.ledger.sums[:] = [40.0, 90.0, 30.0], [24.0, 45.0, 12.0]
    f = math.log((1.0 + math.log(161)) / 0.1)
    first, _ = table.choose(161, rng)
    second, _ = table.choose(162, rng)
    assert (first, second) == (0, 2)
    assert table.memory.overlap[0] == pytest.approx(
        0.4 + math.sqrt(f / 60.0) - (0.6 - math.sqrt(f / 80.0))
    )


# Track-and-stop


def test_track_and_stop_follows_the_best_proportions() -> None:
    means = [0.5, 0.45, 0.43, 0.4]
    table, rng = Table(TrackAndStop(), Bernoulli(), blank(Bernoulli(), 4)), chance.generator(1)
    for turn in range(1, 4_001):
        arm, _ = table.choose(turn, rng)
        table.tell(arm, means[arm])  # rewards without noise
    wanted = belman.problems.characteristic_time(belman.problems.bernoulli(means)).proportions
    assert table.ledger.plays / 4_000 == pytest.approx(wanted, abs=3 / 4_000)


def test_track_and_stop_at_the_ends_of_the_range() -> None:
    table, rng = Table(TrackAndStop(), Bernoulli(), blank(Bernoulli(), 3)), chance.generator(1)
    for turn in range(1, 60):
        index = table.indices(turn, rng.copy())
        assert not np.isnan(index).any()
        arm, _ = table.choose(turn, rng)
        table.tell(arm, [1.0, 0.0, 0.5][arm])
    assert (table.ledger.plays > 3).all()


def test_uniform_plays_in_turn() -> None:
    agent = belman.Agent(range(4), policy=Uniform(), seed=1)
    for _ in range(3):
        batch = [agent.ask() for _ in range(4)]
        assert sorted(batch) == [0, 1, 2, 3]
        for arm in batch:
            agent.tell(arm, 1)


# Doors


BAD: list[tuple[Callable[[], Policy], str]] = [
    (
        lambda: SuccessiveRejects(0),
        "budget=0 is not valid for successive-rejects: it must be a whole number of turns",
    ),
    (lambda: SuccessiveAcceptsRejects(10, m=0), "m=0"),
    (lambda: SequentialHalving(2.5), "budget=2.5"),  # type: ignore[arg-type]
    (lambda: KLLUCB(delta=1.0), "delta=1.0 is not valid for kl-lucb"),
    (lambda: KLLUCB(rate="provn"), "unknown rate 'provn'.*did you mean 'proven'"),
    (lambda: LUCB(range=(1, 0)), "range="),
    (lambda: Phases(turns=-1), "turns=-1 is not valid for phases"),
    (lambda: Phases(turns=None), "needs an end of its first phase"),
    (lambda: Phases(confidence=1.0), "confidence=1.0"),
    (lambda: Phases(first=Phases()), "first="),
    (lambda: Phases(first=KLLUCB(), confidence=0.9), "must not depend on the clock"),
    (lambda: Phases(then=Thompson), "then="),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_settings(make: Callable[[], Policy], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        make()


def test_policies_that_do_not_fit_the_arms_say_so() -> None:
    for policy, message in (
        (SuccessiveRejects(4), "budget=4 is too small for 4 arms"),
        (SequentialHalving(100, m=5), "the 5 best of 4 arms"),
        (KLLUCB(m=4), "the 4 best of 4 arms"),
    ):
        with pytest.raises(PolicyError, match=message):
            policy.check(Bernoulli(), 4)
    with pytest.raises(PolicyError, match="lucb is made for rewards between two bounds"):
        LUCB().check(Poisson(), 2)
